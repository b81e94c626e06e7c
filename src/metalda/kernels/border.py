"""How arrays enter compiled code, and how that code is compiled."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import DTypeLike, NDArray

# Sums may be reordered and products fused, so that loops vectorise; NaN, inf and denormals keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz"}
_compiled: list[Any] = []


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL and cached on disk; without a cache where no folder for it can be written."""
    try:
        compiled = njit(nogil=True, cache=True, fastmath=_FASTMATH)(function)
    except RuntimeError:  # "cannot cache function …: no locator available"
        compiled = njit(nogil=True, fastmath=_FASTMATH)(function)
    _compiled.append(compiled)
    return compiled


def compiled_kernels() -> tuple[Any, ...]:
    """Every kernel that has been imported so far."""
    return tuple(_compiled)


def needs_compiling(*kernels: Any) -> bool:
    """Whether the first call of one of these will have to compile it (some seconds) instead of reading the cache."""
    return any(not each.signatures and not _is_cached(each) for each in kernels)


def _is_cached(compiled: Any) -> bool:
    folder = compiled.stats.cache_path
    if folder is None:
        return False
    function = compiled.py_func
    module = os.path.splitext(os.path.basename(function.__code__.co_filename))[0]
    name = f"{module}.{function.__qualname__}-{function.__code__.co_firstlineno}.*.nbi"
    return bool(glob.glob(os.path.join(glob.escape(folder), name)))


def frozen(array: Any, dtype: DTypeLike) -> NDArray[Any]:
    """A read-only, C-contiguous view (or copy, where the array is not yet so) of one dtype."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view
