"""Matrix products by one thread, so that their rounding cannot depend on how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_lock = Lock()
_n_inside = 0
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, NumPy and SciPy multiply with one thread.

    The number is one for the whole process. So the first who enters sets it, and the last who leaves sets it back.
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
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks through all loaded libraries: some milliseconds
