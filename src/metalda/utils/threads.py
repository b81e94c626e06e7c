"""Run kernels, which release the GIL, in threads; count jobs; defer Ctrl-C until work can stop safely."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class RunEach(Protocol):
    """Runs a function on every item and returns the results in order: the built-in map, or that of a thread pool."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]: ...


def count_jobs(n_jobs: int | None) -> int:
    """Return the number of jobs by the convention of joblib: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        from joblib import cpu_count  # the cores that this process may use; a container may have fewer than the machine

        return max(1, int(cpu_count()) + 1 + n_jobs)
    return n_jobs


def thread_map(function: Callable[[T], R], items: Iterable[T], n_jobs: int) -> list[R]:
    """Call the function with every item in `n_jobs` threads, and return the results in order."""
    if n_jobs == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(function, items))


@contextmanager
def deferred_interrupt() -> Iterator[threading.Event]:
    """Let Ctrl-C set the event instead of raising, so that work can stop safely; a second Ctrl-C raises.

    Signals can only be handled in the main thread. In other threads the event is never set.
    """
    interrupted = threading.Event()

    def handle(signum: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, previous)
