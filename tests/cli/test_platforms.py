"""Other systems, as far as this one can play them: consoles without UTF-8, and files and processes of Windows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from metalda import LDA, load
from metalda.datasets import catalog
from metalda.storage import manifest
from metalda.utils import processes
from metalda.utils.terminal import LOOK_ALIKE

PROGRAM = [sys.executable, "-c", "from metalda.cli import main; main()"]


def test_characters_that_a_console_does_not_have_look_alike_or_are_escaped() -> None:
    text = "+1 (–) … 1990 ≤ year ≥ 3 × ± 2 é 名"
    assert text.encode("ascii", LOOK_ALIKE) == rb"+1 (-) ... 1990 <= year >= 3 x +/- 2 \xe9 \u540d"
    assert text.encode("cp1252", LOOK_ALIKE).decode("cp1252") == r"+1 (–) … 1990 <= year >= 3 × ± 2 é \u540d"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", LOOK_ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_the_demo_prints_on_a_console_without_utf_8(encoding: str, tmp_path: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    command = [*PROGRAM, "demo", "--topics", "5", "--iterations", "20", "--jobs", "1", "--save", str(tmp_path / "m")]
    result = subprocess.run(command, env=environment, capture_output=True, check=True)
    shown = result.stdout.decode(encoding)
    assert "Held-out perplexity" in shown
    assert ("(–)" if encoding == "cp1252" else "(-)") in shown
    assert "\\u2013" not in shown


def test_a_save_waits_while_somebody_reads_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses to replace a file that is open."""
    model = LDA(2, n_iter=5, random_state=0, verbose=False).fit(["cat dog", "rain sun"] * 3)
    model.save(tmp_path / "m")
    refusals = [PermissionError(13, "Access is denied")] * 2
    replace = os.replace

    def refuse(new: str, old: str) -> None:
        if refusals:
            raise refusals.pop()
        replace(new, old)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(Exception, match="m: cannot"):
        model.save(tmp_path / "m")  # without waiting, as elsewhere
    assert len(refusals) == 1
    refusals.append(PermissionError(13, "Access is denied"))
    monkeypatch.setattr(manifest, "_WAITS", (0, 0, 0))
    model.save(tmp_path / "m")
    assert not refusals
    assert load(tmp_path / "m").n_components == 2


def test_a_pool_has_no_more_processes_than_windows_can_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Pool:
        def __init__(self, n_processes: int, *details: object) -> None:
            started.append(n_processes)

        def shutdown(self, **how: bool) -> None: ...

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(processes, "MOST_PROCESSES", 61)
    processes.run_in_processes(print, [], 96)
    processes.run_in_processes(print, [], 4)
    assert started == [61, 4]


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("win32", "LOCALAPPDATA", "local/metalda/datasets"),
        ("win32", None, "home/AppData/Local/metalda/datasets"),
        ("darwin", None, "home/Library/Caches/metalda/datasets"),
        ("linux", "XDG_CACHE_HOME", "local/metalda/datasets"),
        ("linux", None, "home/.cache/metalda/datasets"),
    ],
)
def test_data_are_looked_for_in_the_cache_folder_of_the_system(
    platform: str, variable: str | None, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    for name in ("LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path / "local"))
    assert catalog.cache_folder() == tmp_path / expected
