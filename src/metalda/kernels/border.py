"""Compile functions to kernels, and convert arrays for them.

`kernel` compiles functions that Python calls, `helper` functions that only kernels call, and `frozen` gives arrays the
dtype and layout that a kernel is compiled for. Numba, which takes a third of a second to import, is imported when the
first kernel is called (`compiler`). With ``NUMBA_DISABLE_JIT=1`` kernels are plain Python, for debugging or coverage.

The intrinsics at the end are machine instructions that Numba has no function for. Their code here is the equivalent in
NumPy, which runs without compilation.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Kernel: TypeAlias = Any  # a function that Numba compiles, or with NUMBA_DISABLE_JIT=1 the function itself
S = TypeVar("S", bound=np.generic)

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "") in ("", "0")
LANES = 32  # float32 values of one vector: two registers of AVX-512, four of AVX2, eight of NEON

_kernels: list[Kernel] = []
_lock = RLock()  # threads may call a kernel for the first time together


class CompiledFunction:
    """A function whose compiled form, `dispatcher`, is made by a function of `compiler` when it is first needed.

    Other attributes are those of the dispatcher.
    """

    def __init__(self, function: Callable[..., object], maker: str) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._maker, self._made = maker, None

    @property
    def dispatcher(self) -> Kernel:
        with _lock:
            if self._made is None:
                from metalda.kernels import compiler

                self._made = getattr(compiler, self._maker)(self.py_func)
            return self._made

    def __call__(self, *arguments: object) -> object:
        return (self._made or self.dispatcher)(*arguments)

    @property
    def _numba_type_(self) -> object:
        """Numba's type, by which it compiles a call in a kernel to a call of the dispatcher."""
        from metalda.kernels.compiler import type_of

        return type_of(self.dispatcher)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[no-any-return]


def _made_by(maker: str, function: Callable[..., object]) -> Kernel:
    """Return the compiled function; without compilation the function itself."""
    return CompiledFunction(function, maker) if COMPILED else _silent(function)


def kernel(function: Callable[..., object]) -> Kernel:
    """Compile a function without the GIL and cache it on disk, or only in memory if no folder can be written."""
    made = _made_by("compile_kernel", function)
    if COMPILED:
        _kernels.append(made)
    return made


def helper(function: Callable[..., object]) -> Kernel:
    """Compile a function that only kernels call into each of them."""
    return _made_by("compile_helper", function)


def _intrinsic(function: Callable[..., object]) -> Kernel:
    """Replace a function in compiled code by the machine instruction of its name in `compiler`."""
    return _made_by("find_intrinsic", function)


_silent = np.errstate(all="ignore")  # integers wrap around and floats overflow without a warning, as in compiled code


def compiled_kernels() -> tuple[Kernel, ...]:
    """Return every kernel that has been imported so far."""
    return tuple(_kernels)


def needs_compiling(*kernels: Kernel) -> bool:
    """Return whether the first call of one of these has to compile it, which takes seconds."""
    if not COMPILED:
        return False
    from metalda.kernels.compiler import is_cached

    return any(not each.signatures and not is_cached(each.dispatcher) for each in kernels)


def frozen(array: ArrayLike, dtype: type[S] | np.dtype[S]) -> NDArray[S]:
    """Return a read-only, C-contiguous view of an array with this dtype, or a copy if a view is impossible."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


@_intrinsic
def prefetch(array, at):
    """Prefetch the memory of array.flat[at] before its use; the array is contiguous."""


@_intrinsic
def load(array, row):
    """Return array[row] of a contiguous array [row, lane] of float32."""
    return array[row].copy()


@_intrinsic
def store(array, row, value):
    """Set array[row] = value."""
    array[row] = value


@_intrinsic
def fill(number):
    """Return a vector with the same float32 in every lane."""
    return np.full(LANES, number, np.float32)


@_intrinsic
def add(a, b):
    """Return a + b, lane by lane."""
    return np.add(a, b)


@_intrinsic
def multiply(a, b):
    """Return a * b, lane by lane."""
    return np.multiply(a, b)
