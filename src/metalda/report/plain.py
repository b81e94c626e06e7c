"""Frozen dataclasses as JSON's own types and back; and how numbers and names are cut to a size worth keeping."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")

LONGEST_NAME = 120


def to_plain(value: Any) -> Any:
    """Dictionaries, lists, numbers and strings."""
    if isinstance(value, tuple):
        nested = any(isinstance(first, tuple) or is_dataclass(first) for first in value[:1])
        return [to_plain(each) for each in value] if nested else list(value)
    if is_dataclass(value):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    return value


def from_plain(kind: type[T], value: Any) -> T:
    """The dataclass that `to_plain` took apart."""
    return _read(kind, value)


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


def cut(text: str, longest: int = LONGEST_NAME) -> str:
    """A name that fits on a page."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def rounded(values: Any, decimals: int = 4) -> tuple[float, ...]:
    """Numbers with so many digits behind the point."""
    return tuple(np.round(np.asarray(values, np.float64), decimals).tolist())


def significant(values: Iterable[float], digits: int = 4) -> tuple[float, ...]:
    """Numbers with so many digits that count."""
    return tuple(float(f"{value:.{digits}g}") for value in values)


def grid(values: Any, decimals: int) -> tuple[tuple[float | None, ...], ...]:
    """A matrix, row by row; what is not a number is None."""
    rows = np.round(np.asarray(values, np.float64), decimals)
    if np.isfinite(rows).all():
        return tuple(map(tuple, rows.tolist()))
    return tuple(tuple(value if math.isfinite(value) else None for value in row) for row in rows.tolist())
