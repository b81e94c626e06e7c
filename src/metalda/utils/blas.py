"""Limit BLAS to one thread, so that the rounding of matrix products does not depend on the number of threads.

Use it for every matrix product that decides a draw or a rank: one seed then gives one result on any number of cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController
_lock = Lock()
_n_inside = 0
_limit = None  # of the controller, while a thread is inside


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let NumPy and SciPy multiply with one thread inside the block.

    The limit applies to the whole process. The first thread that enters sets it, and the last one that leaves restores
    the previous number.
    """
    global _n_inside, _limit
    with _lock:
        if _n_inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # inspects all loaded libraries, which takes milliseconds
