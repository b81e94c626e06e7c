"""Values of a summary: rounded numbers, shortened names, and dataclasses as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

Numbers = tuple[float, ...]
Grid = tuple[tuple[float | None, ...], ...]  # [label][topic]; None where a number is missing

MAX_NAME = 120  # letters

T = TypeVar("T")


def cut(text: str, longest: int = MAX_NAME) -> str:
    """Shorten a long name."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def rounded(values: Any, decimals: int = 4) -> Numbers:
    """Round to a number of decimals."""
    return tuple(np.round(np.asarray(values, np.float64), decimals).tolist())


def significant(values: Iterable[float], digits: int = 4) -> Numbers:
    """Round to a number of significant digits."""
    return tuple(float(f"{value:.{digits}g}") for value in values)


def grid(values: Any, decimals: int) -> Grid:
    """Round a matrix; None for values that are not finite."""
    rows = np.round(np.asarray(values, np.float64), decimals)
    if np.isfinite(rows).all():
        return tuple(map(tuple, rows.tolist()))
    return tuple(tuple(value if math.isfinite(value) else None for value in row) for row in rows.tolist())


def to_plain(value: Any) -> Any:
    """Convert dataclasses and tuples to dictionaries and lists."""
    if isinstance(value, tuple):
        nested = any(isinstance(first, tuple) or is_dataclass(first) for first in value[:1])
        return [to_plain(each) for each in value] if nested else list(value)
    if is_dataclass(value):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    return value


def from_plain(kind: type[T], value: Any) -> T:
    """Restore a dataclass from the result of `to_plain`."""
    restored: T = _read(kind, value)
    return restored


def _read(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _read(hint, value[name]) for name, hint in hints.items()})  # type: ignore[operator]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        inner = next(each for each in arguments if each is not type(None))
        return None if value is None else _read(inner, value)
    if origin is tuple:
        kinds = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        return tuple(_read(each, item) for each, item in zip(kinds, value, strict=True))
    return value
