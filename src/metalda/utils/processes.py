"""Work in processes of their own, for what Python cannot do in threads; few items are under way at a time."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from typing import Any

from metalda.errors import InputError

_function: Callable[..., None] | None = None  # of this process, if it is a worker


def count_jobs(n_jobs: int | None) -> int:
    """Joblib's convention: None is 1, -1 is all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        from joblib import cpu_count  # those that this process may use: a container may have fewer than the machine

        return max(1, int(cpu_count()) + 1 + n_jobs)
    return n_jobs


def run_in_processes(function: Callable[..., None], items: Iterable[tuple[Any, ...]], n_jobs: int) -> None:
    """Call the function with every item, in any order; with one job here, otherwise in so many other processes.

    The first error ends it, after what was under way; so does an error of `items` itself.
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
    pool = ProcessPoolExecutor(n_jobs, get_context("spawn"), _start, (function,))
    try:
        for item in items:
            running.add(pool.submit(_call, *item))
            if len(running) > n_jobs:
                running = _finish_some(running)
        while running:
            running = _finish_some(running)
    except BrokenProcessPool as error:
        raise MemoryError(
            "a process that tokenised texts has died: take fewer of them (n_jobs, --jobs); "
            "a program of your own needs the line: if __name__ == '__main__':"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _finish_some(running: set[Future[None]]) -> set[Future[None]]:
    done, others = wait(running, return_when=FIRST_COMPLETED)
    for each in done:
        each.result()
    return others


def _start(function: Callable[..., None]) -> None:
    """A worker leaves Ctrl-C to the process that started it, and ends with that process, however it ended."""
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _call(*item: Any) -> None:
    assert _function is not None
    _function(*item)
