"""What all tests share."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from numba.core import event

from metalda.training import loop

# The same examples every time, however busy the machine is: what was green stays green.
settings.register_profile("metalda", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("metalda")


class _Untraced(event.Listener):
    """Coverage is not measured while Numba compiles, which would take half as long again."""

    def __init__(self) -> None:
        self.tracers: list[Any] = []  # a kernel may compile others

    def on_start(self, event: event.Event) -> None:
        self.tracers.append(sys.gettrace())
        sys.settrace(None)

    def on_end(self, event: event.Event) -> None:
        sys.settrace(self.tracers.pop())


event.register("numba:compile", _Untraced())


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on real corpora are slow."""
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The real corpora: the folder that METALDA_DATA names, or shared/data beside the repository."""
    folder = Path(os.environ.get("METALDA_DATA") or Path(__file__).parents[1].parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no real data: set METALDA_DATA to the folder that holds WS, TMN, …")
    return folder


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ctrl-C in the midst of the sweep of this number."""

    def press(number: int) -> None:
        advance, sweeps = loop._advance, []

        def advance_interrupted(*arguments: object) -> float:
            sweeps.append(1)
            if len(sweeps) == number:
                signal.raise_signal(signal.SIGINT)
            return advance(*arguments)

        monkeypatch.setattr(loop, "_advance", advance_interrupted)

    return press


@pytest.fixture(scope="module")
def swept_up() -> Iterator[None]:
    """What Dask leaves behind complains when it is collected: here, where that is expected, not in another test."""
    yield
    gc.collect()
