"""The values that parameters of models may have, in scikit-learn's terms and with its messages."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from metalda.errors import InputError


class Constraint(Protocol):
    """A set of values; its text says what a value must be."""

    def is_satisfied_by(self, value: object) -> bool: ...


class Interval:
    """Integers or real numbers between two ends, which `closed` ("left", "right", "both", "neither") may include."""

    def __init__(self, kind: type, left: float | None, right: float | None, *, closed: str) -> None:
        self.kind, self.left, self.right, self.closed = kind, left, right, closed

    def is_satisfied_by(self, value: Any) -> bool:
        if not isinstance(value, self.kind):
            return False
        above = operator.ge if self.closed in ("left", "both") else operator.gt
        below = operator.le if self.closed in ("right", "both") else operator.lt
        left, right = -inf if self.left is None else self.left, inf if self.right is None else self.right
        number: Any = value
        return bool(above(number, left) and below(number, right))  # NaN is in no interval

    def __str__(self) -> str:
        is_integer = self.kind is Integral
        left, right = (end if end is None or is_integer else _number(end) for end in (self.left, self.right))
        ends = f"{'-inf' if left is None else left}, {'inf' if right is None else right}"
        opening, closing = "[("[self.closed not in ("left", "both")], "])"[self.closed not in ("right", "both")]
        return f"{'an int' if is_integer else 'a float'} in the range {opening}{ends}{closing}"


@dataclass(frozen=True)
class StrOptions:
    """One of several strings."""

    options: Iterable[str]

    def is_satisfied_by(self, value: object) -> bool:
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"


def _number(value: float) -> str:
    """Write a number as Python does, and a large one with an exponent."""
    return f"{value:g}" if abs(value) >= 1e6 else str(float(value))


@dataclass(frozen=True)
class Instance:
    """An object of one of these types."""

    types: tuple[type, ...]

    def is_satisfied_by(self, value: object) -> bool:
        return isinstance(value, self.types)

    def __str__(self) -> str:
        return " or ".join(f"an instance of {_name_of(each)!r}" for each in self.types)


@dataclass(frozen=True)
class Nothing:
    """None."""

    def is_satisfied_by(self, value: object) -> bool:
        return value is None

    def __str__(self) -> str:
        return "None"


class ArrayLike:
    """A list, a tuple, an array or a frame."""

    def is_satisfied_by(self, value: object) -> bool:
        return not np.isscalar(value) and any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))

    def __str__(self) -> str:
        return "an array-like"


_NAMED: Mapping[object, tuple[Constraint, ...]] = {
    None: (Nothing(),),
    "array-like": (ArrayLike(),),
    "boolean": (Instance((bool, np.bool_)),),
    "random_state": (
        Interval(Integral, 0, 2**32 - 1, closed="both"),
        Instance((np.random.RandomState,)),
        Nothing(),
    ),
}


def constraints_from(declared: object) -> list[Constraint]:
    """Return the constraints of a parameter, of which a value must satisfy one; none if all values are valid.

    They are declared as "no_validation" or as a list. It holds constraints, types, None, or these names: "array-like",
    "boolean", "random_state".
    """
    found: list[Constraint] = []
    for each in declared if isinstance(declared, list) else ():
        if isinstance(each, type):
            found.append(Instance((each,)))
        else:
            found += _NAMED[each] if each is None or isinstance(each, str) else (each,)
    return found


def check_parameters(owner: str, declared: Mapping[str, object], values: Mapping[str, object]) -> None:
    """Raise InputError for the first value that satisfies none of the constraints of its parameter."""
    for name, value in values.items():
        allowed = constraints_from(declared.get(name, "no_validation"))
        if allowed and not any(each.is_satisfied_by(value) for each in allowed):
            *others, last = map(str, allowed)
            expected = f"{', '.join(others)} or {last}" if others else last
            raise InputError(f"The {name!r} parameter of {owner} must be {expected}. Got {value!r} instead.")


def _name_of(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
