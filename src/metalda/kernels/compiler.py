"""Numba's part of `border`, which imports it when the first kernel is called: compilation, cache and intrinsics."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.core.datamodel import PrimitiveModel
from numba.core.registry import cpu_target
from numba.extending import intrinsic, register_model
from numba.misc.appdirs import user_cache_dir

from metalda.kernels.border import LANES

# Sums may be reordered and products fused, so that loops vectorize; NaN, inf and denormals keep their meaning. A loop
# that sums must therefore not store to arrays: for a loop with a store, the compiler emits a vectorized and a scalar
# version, which sum in different orders, and the addresses of the arrays decide which one runs.
_FASTMATH = {"reassoc", "contract", "nsz"}


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


def compile_kernel(function: Callable[..., object]) -> Any:
    """Return the dispatcher of a function without the GIL; it is cached on disk, if some folder can be written."""
    compiled = numba.njit(nogil=True, fastmath=_FASTMATH)(function)
    outer = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = _CACHE_FOLDER
        with suppress(RuntimeError):  # "cannot cache function …: no locator available"
            compiled._cache = _Cache(function)  # as njit(cache=True) does, with Numba's class
    finally:
        numba.config.CACHE_DIR = outer
    return compiled


def compile_helper(function: Callable[..., object]) -> Any:
    """Return the dispatcher of a function that is compiled into each kernel that calls it."""
    return numba.njit(nogil=True, fastmath=_FASTMATH, forceinline=True)(function)


def find_intrinsic(function: Callable[..., object]) -> Any:
    """Return the intrinsic with the name of a function."""
    return globals()[function.__name__]


def type_of(compiled: Any) -> Any:
    """Return Numba's type of a dispatcher or an intrinsic, by which a kernel that calls it finds it."""
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(compiled)


def is_cached(compiled: Any) -> bool:
    """Return whether the cache on disk has the compiled code of a kernel."""
    folder = compiled.stats.cache_path
    if folder is None:
        return False
    function = compiled.py_func
    module = os.path.splitext(os.path.basename(function.__code__.co_filename))[0]
    name = f"{module}.{function.__qualname__}-{function.__code__.co_firstlineno}.*.nbi"
    return bool(glob.glob(os.path.join(glob.escape(folder), name)))


@intrinsic
def prefetch(typing_context, array, at):
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


@intrinsic
def load(typing_context, array, row):
    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=4)

    return _lanes(array, types.uintp), generate


@intrinsic
def store(typing_context, array, row, value):
    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.uintp, _lanes), generate


@intrinsic
def fill(typing_context, number):
    def generate(context, builder, signature, arguments):
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        return builder.shuffle_vector(first, undefined, _FIRST)

    return _lanes(types.float32), generate


@intrinsic
def add(typing_context, a, b):
    return _lanes(_lanes, _lanes), lambda context, builder, signature, arguments: builder.fadd(*arguments)


@intrinsic
def multiply(typing_context, a, b):
    return _lanes(_lanes, _lanes), lambda context, builder, signature, arguments: builder.fmul(*arguments)
