"""Compile functions to kernels, and convert arrays for them.

`kernel` compiles functions that Python calls, `helper` functions that only kernels call, and `frozen` gives arrays the
dtype and layout that a kernel is compiled for. With ``NUMBA_DISABLE_JIT=1`` all of them are plain Python, for debugging
or coverage.

The intrinsics at the end are machine instructions that Numba has no function for. Each has an equivalent in NumPy,
which runs without compilation.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.core.datamodel import PrimitiveModel
from numba.extending import intrinsic, register_model
from numba.misc.appdirs import user_cache_dir
from numpy.typing import ArrayLike, NDArray

Kernel: TypeAlias = Any  # a function that Numba has compiled, or with NUMBA_DISABLE_JIT=1 the function itself
S = TypeVar("S", bound=np.generic)

COMPILED = not numba.config.DISABLE_JIT
LANES = 32  # float32 values of one vector: two registers of AVX-512, four of AVX2, eight of NEON

# Sums may be reordered and products fused, so that loops vectorize; NaN, inf and denormals keep their meaning. A loop
# that sums must therefore not store to arrays: for a loop with a store, the compiler emits a vectorized and a scalar
# version, which sum in different orders, and the addresses of the arrays decide which one runs.
_FASTMATH = {"reassoc", "contract", "nsz"}
_compiled: list[Kernel] = []


def _cache_folder() -> str:
    """Return a cache folder for exactly these sources: Numba does not notice changes of a callee in another file."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    return os.path.join(numba.config.CACHE_DIR or user_cache_dir("metalda"), digest)


_CACHE_FOLDER = _cache_folder()


class _Cache(FunctionCache):
    """Numba's cache; a full disk or a damaged file costs the time of a compilation, and nothing else."""

    def load_overload(self, *signature):
        try:
            return super().load_overload(*signature)
        except Exception:  # whatever unpickling raises
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *overload):
        with suppress(OSError):
            super().save_overload(*overload)


def kernel(function: Callable[..., object]) -> Kernel:
    """Compile a function without the GIL and cache it on disk, or only in memory if no folder can be written."""
    if not COMPILED:
        return _silent(function)
    compiled = numba.njit(nogil=True, fastmath=_FASTMATH)(function)
    outer = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = _CACHE_FOLDER
        with suppress(RuntimeError):  # "cannot cache function …: no locator available"
            compiled._cache = _Cache(function)  # as njit(cache=True) does, with Numba's class
    finally:
        numba.config.CACHE_DIR = outer
    _compiled.append(compiled)
    return compiled


def helper(function: Callable[..., object]) -> Kernel:
    """Compile a function that only kernels call into each of them."""
    if not COMPILED:
        return _silent(function)
    return numba.njit(nogil=True, fastmath=_FASTMATH, forceinline=True)(function)


_silent = np.errstate(all="ignore")  # integers wrap around and floats overflow without a warning, as in compiled code


def compiled_kernels() -> tuple[Kernel, ...]:
    """Return every kernel that has been imported so far."""
    return tuple(_compiled)


def needs_compiling(*kernels: Kernel) -> bool:
    """Return whether the first call of one of these has to compile it, which takes seconds."""
    return COMPILED and any(not each.signatures and not _is_cached(each) for each in kernels)


def _is_cached(compiled: Kernel) -> bool:
    folder = compiled.stats.cache_path
    if folder is None:
        return False
    function = compiled.py_func
    module = os.path.splitext(os.path.basename(function.__code__.co_filename))[0]
    name = f"{module}.{function.__qualname__}-{function.__code__.co_firstlineno}.*.nbi"
    return bool(glob.glob(os.path.join(glob.escape(folder), name)))


def frozen(array: ArrayLike, dtype: type[S] | np.dtype[S]) -> NDArray[S]:
    """Return a read-only, C-contiguous view of an array with this dtype, or a copy if a view is impossible."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def _intrinsic(plain: Callable[..., object]) -> Callable[[Callable[..., object]], Kernel]:
    """Make an intrinsic; without compilation, `plain` replaces it."""
    return intrinsic if COMPILED else lambda _: plain


@_intrinsic(plain=lambda array, at: None)
def prefetch(typing_context, array, at):
    """Prefetch the memory of array.flat[at] before its use; the array is contiguous."""

    def generate(context, builder, signature, arguments):
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        kinds = [cgutils.voidptr_t, *[cgutils.int32_t] * 3]  # address, read or write, locality, data or code
        function_type = cgutils.ir.FunctionType(cgutils.ir.VoidType(), kinds)
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        builder.call(function, [address, *map(cgutils.int32_t, (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.uintp), generate


# LANES topics of a row as one value, which stays in registers while it is added to or multiplied. LLVM vectorizes loops
# whose length is known only at run time, but then loads and stores a sum in every round; it unrolls loops of constant
# length before it could vectorize them. So these vectors are explicit.

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__("Lanes")


@register_model(_Lanes)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


_lanes = _Lanes()


def _address(context, builder, array_type, array, row):
    data = cgutils.create_struct_proxy(array_type)(context, builder, value=array).data
    return builder.bitcast(builder.gep(data, [builder.mul(row, row.type(LANES))]), _VECTOR.as_pointer())


@_intrinsic(plain=lambda array, row: array[row].copy())
def load(typing_context, array, row):
    """Return array[row] of a contiguous array [row, lane] of float32."""

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=4)

    return _lanes(array, types.uintp), generate


@_intrinsic(plain=lambda array, row, value: array.__setitem__(row, value))
def store(typing_context, array, row, value):
    """Set array[row] = value."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.uintp, _lanes), generate


@_intrinsic(plain=lambda number: np.full(LANES, number, np.float32))
def fill(typing_context, number):
    """Return a vector with the same float32 in every lane."""

    def generate(context, builder, signature, arguments):
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        return builder.shuffle_vector(first, undefined, _FIRST)

    return _lanes(types.float32), generate


@_intrinsic(plain=np.add)
def add(typing_context, a, b):
    """Return a + b, lane by lane."""
    return _lanes(_lanes, _lanes), lambda context, builder, signature, arguments: builder.fadd(*arguments)


@_intrinsic(plain=np.multiply)
def multiply(typing_context, a, b):
    """Return a * b, lane by lane."""
    return _lanes(_lanes, _lanes), lambda context, builder, signature, arguments: builder.fmul(*arguments)
