"""Laws for values that are read from files.

A file may be damaged, or made by someone who wants to crash the reader, and kernels and SciPy index without checks. So
every array and every plain value is checked before it is used. Each function raises StorageError with the name of the
value and what is wrong; `reading_damage` adds the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from metalda.errors import StorageError

JsonObject: TypeAlias = dict[str, Any]  # from a file, before its values are checked; or plain data for a file
Array: TypeAlias = NDArray[Any]  # from a file, before its type is checked
Arrays: TypeAlias = Mapping[str, Array]


@contextmanager
def reading_damage(place: object, what: str, remedy: str) -> Iterator[None]:
    """Turn every error that wrong contents can cause into one line that names the file."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise StorageError(f"{place}: the {what} is damaged ({' '.join(reason.split())}); {remedy}") from error


def check_array(name: str, array: Array, dtype: DTypeLike | Sequence[DTypeLike], shape: Sequence[int | None]) -> None:
    """Require a type (or one of several) and a shape; None stands for any length."""
    dtypes = [np.dtype(each) for each in (dtype if isinstance(dtype, tuple) else (dtype,))]
    if array.dtype not in dtypes:
        raise StorageError(f"{name} must be {' or '.join(map(str, dtypes))}, not {array.dtype}")
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("any" if n is None else f"{n:,}" for n in shape)
        raise StorageError(f"{name} must have the shape ({wanted}), not {array.shape}")


def check_range(name: str, array: Array, low: float, high: float) -> None:
    """Require ``low <= value <= high`` of all values, and no NaN."""
    if array.size and not (low <= array.min() and array.max() <= high):  # the minimum of an array with NaN is NaN
        raise StorageError(f"{name} has values outside of {low:,} … {high:,}")


def check_finite(name: str, array: NDArray[np.floating], low: float | None = None) -> None:
    """Require finite numbers, and none below `low`."""
    largest = float(np.finfo(array.dtype).max)
    least = -largest if low is None else low
    if array.size and not (least <= array.min() and array.max() <= largest):
        raise StorageError(f"{name} has values that are not finite" + ("" if low is None else f", or below {low:g}"))


def check_indices(name: str, array: Array, n: int) -> None:
    """Require integers from 0 to n - 1 in one dimension."""
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise StorageError(f"{name} must be integers in one dimension, not {array.dtype} in {array.ndim}")
    if array.size and not (array.min() >= 0 and array.max() < n):
        raise StorageError(f"{name} has values outside of 0 … {n - 1:,}")


def check_starts(name: str, starts: Array, n_items: int) -> None:
    """Require integers that rise from 0 to the number of items."""
    if starts.ndim != 1 or starts.dtype.kind not in "iu":
        raise StorageError(f"{name} must be integers in one dimension, not {starts.dtype} in {starts.ndim}")
    # compared instead of subtracted: differences of extreme values overflow
    if not len(starts) or starts[0] != 0 or starts[-1] != n_items or (starts[1:] < starts[:-1]).any():
        raise StorageError(f"{name} must rise from 0 to {n_items:,}")


def check_ascending(name: str, values: Array, starts: Array) -> None:
    """Require values that rise strictly within each row ``values[starts[r]:starts[r + 1]]``; starts are checked."""
    falls = values[1:] <= values[:-1]
    first = starts[(starts > 0) & (starts < len(values))]
    falls[first - 1] = False
    if falls.any():
        raise StorageError(f"{name} must be sorted and distinct within each row")


def check_names(name: str, names: object) -> tuple[str, ...]:
    """Require a list of distinct strings."""
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise StorageError(f"{name} must be a list of strings")
    if len(set(names)) < len(names):
        raise StorageError(f"{name} must be distinct")
    return tuple(names)


def check_integer(name: str, value: object, low: int, high: int = 2**63 - 1) -> int:
    """Require an integer from low to high."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise StorageError(f"{name} must be an integer of at least {low}, not {_shown(value)}")
    return value


def check_flag(name: str, value: object) -> bool:
    """Require true or false."""
    if not isinstance(value, bool):
        raise StorageError(f"{name} must be true or false, not {_shown(value)}")
    return value


def check_object(name: str, value: object) -> JsonObject:
    """Require a JSON object."""
    if not isinstance(value, dict):
        raise StorageError(f"{name} must be an object, not {_shown(value)}")
    return value


def check_list(name: str, value: object, length: int | None = None) -> list[Any]:
    """Require a JSON list; None stands for any length."""
    if not isinstance(value, list) or length not in (None, len(value)):
        wanted = "a list" if length is None else f"a list of {length}"
        raise StorageError(f"{name} must be {wanted}, not {_shown(value)}")
    return value


def check_keys(name: str, found: Collection[str], expected: Iterable[str]) -> None:
    """Require exactly these names."""
    missing, extra = set(expected) - set(found), set(found) - set(expected)
    if missing or extra:
        which = f"lack {min(missing)!r}" if missing else f"have an unknown {_shown(min(extra))}"
        raise StorageError(f"{name} {which}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
