"""How arrays enter compiled code, and how that code is compiled."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic
from numba.misc.appdirs import user_cache_dir
from numpy.typing import DTypeLike, NDArray

# Sums may be reordered and products fused, so that loops vectorise; NaN, inf and denormals keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz"}
_compiled: list[Any] = []


def _cache_folder() -> str:
    """A folder for exactly these sources: Numba does not notice by itself when a callee in another file changes."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    return os.path.join(numba.config.CACHE_DIR or user_cache_dir("metalda"), digest)


_CACHE_FOLDER = _cache_folder()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without the GIL and cached on disk; without a cache where no folder for it can be written."""
    outer = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = _CACHE_FOLDER
        compiled = numba.njit(nogil=True, cache=True, fastmath=_FASTMATH)(function)
    except RuntimeError:  # "cannot cache function …: no locator available"
        compiled = numba.njit(nogil=True, fastmath=_FASTMATH)(function)
    finally:
        numba.config.CACHE_DIR = outer
    _compiled.append(compiled)
    return compiled


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call, into each of them."""
    return numba.njit(nogil=True, fastmath=_FASTMATH, forceinline=True)(function)


@intrinsic
def prefetch(typing_context, array, at):
    """Ask for the memory of array.flat[at], which must be contiguous, ahead of its use."""

    def generate(context, builder, signature, arguments):
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        kinds = [cgutils.voidptr_t, *[cgutils.int32_t] * 3]  # where, to be read, kept near, data
        function_type = cgutils.ir.FunctionType(cgutils.ir.VoidType(), kinds)
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        builder.call(function, [address, *map(cgutils.int32_t, (0, 3, 1))])
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.uintp), generate


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
