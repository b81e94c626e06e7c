"""Run a function in several processes, for Python code that holds the GIL.

Only a few items are in flight at a time, so `items` may be a generator over data that do not fit into memory.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process

from metalda.errors import InputError

MOST_PROCESSES = 61 if sys.platform == "win32" else 1 << 16  # of a pool: Windows waits for 63 handles at a time
_function: Callable[..., None] | None = None  # set in worker processes


def run_in_processes(function: Callable[..., None], items: Iterable[tuple[object, ...]], n_jobs: int) -> None:
    """Call the function with every item, in any order, in `n_jobs` worker processes; with one job, in this process.

    The first error of a call or of `items` ends the run, after the calls in flight have returned.
    """
    if n_jobs == 1:
        for item in items:
            function(*item)
        return
    try:
        pickle.dumps(function)
    except Exception as error:
        raise InputError(
            f"with n_jobs={n_jobs} other processes must be able to import the analyzer: "
            f"define it in a module, or use n_jobs=1 ({' '.join(str(error).split())})"
        ) from error
    running: set[Future[None]] = set()
    pool = ProcessPoolExecutor(min(n_jobs, MOST_PROCESSES), get_context("spawn"), _start, (function,))
    try:
        for item in items:
            running.add(pool.submit(_call, *item))
            if len(running) > n_jobs:
                running = _finish_some(running)
        while running:
            running = _finish_some(running)
    except BrokenProcessPool as error:
        raise MemoryError(
            "a worker process died, possibly for lack of memory: use fewer processes (n_jobs, --jobs); "
            "a script must guard its code with: if __name__ == '__main__':"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _finish_some(running: set[Future[None]]) -> set[Future[None]]:
    done, others = wait(running, return_when=FIRST_COMPLETED)
    for each in done:
        each.result()
    return others


def _start(function: Callable[..., None]) -> None:
    """Initialize a worker: it ignores Ctrl-C, which its parent handles, and exits when its parent does."""
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _call(*item: object) -> None:
    assert _function is not None
    _function(*item)
