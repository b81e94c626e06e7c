"""Checks of numbers that callers give. `utils.checks` has those of values from files."""

from __future__ import annotations

import math
from numbers import Integral, Real

from metalda.errors import InputError


def check_count(name: str, value: object) -> int:
    """Return a whole number of at least 1; InputError otherwise."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    if value < 1:
        raise InputError(f"{name} must be at least 1, not {value}")
    return int(value)


def as_number(value: object) -> float:
    """Return a number to compare, or NaN, which lies in no range, if the value is none."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
