"""Threads over kernels that release the GIL."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from metalda.utils.processes import count_jobs

__all__ = ["Run", "count_jobs", "deferred_interrupt", "thread_map"]

# Runs a function on every item and gives the results in order: the built-in map, or that of a pool of threads.
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


def thread_map(function: Callable[[Any], Any], items: Iterable[Any], n_jobs: int) -> list[Any]:
    """Results in order, computed by so many threads."""
    if n_jobs == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(function, items))


@contextmanager
def deferred_interrupt() -> Iterator[threading.Event]:
    """Ctrl-C sets the event instead of raising, so that work can stop at a safe place; a second Ctrl-C raises.

    Outside the main thread signals cannot be caught, and the event is never set.
    """
    interrupted = threading.Event()

    def handle(signum: int, frame: Any) -> None:
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
