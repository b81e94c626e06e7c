"""Values of a summary: rounded numbers, shortened names, and dataclasses as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

Numbers = tuple[float, ...]
Grid = tuple[tuple[float | None, ...], ...]  # [label][topic]; None where a number is missing

MAX_NAME = 120  # letters


def cut(text: str, longest: int = MAX_NAME) -> str:
    """Shorten a long name."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def rounded(values: object, decimals: int = 4) -> Numbers:
    """Round to a number of decimals."""
    return tuple(np.round(np.asarray(values, np.float64), decimals).tolist())


def significant(values: Iterable[float], digits: int = 4) -> Numbers:
    """Round to a number of significant digits."""
    return tuple(float(f"{value:.{digits}g}") for value in values)


def grid(values: object, decimals: int) -> Grid:
    """Round a matrix; None for values that are not finite."""
    rows = np.round(np.asarray(values, np.float64), decimals)
    if np.isfinite(rows).all():
        return tuple(map(tuple, rows.tolist()))
    return tuple(tuple(value if math.isfinite(value) else None for value in row) for row in rows.tolist())


def to_plain(value: object) -> Any:
    """Convert dataclasses and tuples to dictionaries and lists."""
    if isinstance(value, tuple):
        nested = any(isinstance(each, tuple) or is_dataclass(each) for each in (*value[:1], *value[-1:]))
        return [to_plain(each) for each in value] if nested else list(value)
    if is_dataclass(value):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    return value
