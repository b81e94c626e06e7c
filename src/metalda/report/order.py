"""The order of labels: of times, numbers and bins, which are found, and orders that are given."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from metalda.errors import InputError
from metalda.meta.label_index import Bin

Order = str | Iterable[str] | Mapping[str, Iterable[str] | None]  # kinds, perhaps each with its labels in their order

_NUMBER = re.compile(r"([-+]?\d+(?:\.\d+)?)s?")  # a number, or a decade
_DATE = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
_QUARTER = re.compile(r"(\d{4})[- ]?Q([1-4])")
_DIGITS = re.compile(r"(\d+)")
_MOST_UNKNOWN = 0.1  # share of the labels of an ordered kind that may stand for no number, or else one


def rank_labels(names: Sequence[str], kinds: Sequence[str], order: Order = ()) -> tuple[float | None, ...]:
    """Return the rank of each label in its kind; None in kinds without an order, and for labels outside of it.

    Years, decades, dates and numbers have their value, bins and labels of a given order their place.
    """
    given = _given_orders(order, names, kinds)
    ranks: dict[tuple[str, str], float] = {}
    for kind in dict.fromkeys(kinds):
        own = [name for name, other in zip(names, kinds, strict=True) if other == kind]
        found = _given_ranks(kind, own, given[kind]) if kind in given else _found_ranks(kind, own)
        ranks |= {(kind, name): rank for name, rank in found.items()}
    return tuple(ranks.get(key) for key in zip(kinds, names, strict=True))


def _given_orders(order: Order, names: Sequence[str], kinds: Sequence[str]) -> dict[str, list[str] | None]:
    """Return the labels of each kind that has a given order; None for the order of their names."""
    if isinstance(order, Mapping):
        given = {kind: None if own is None else list(own) for kind, own in order.items()}
    else:
        given = dict.fromkeys([order] if isinstance(order, str) else order)
    known = {kind for kind, name in zip(kinds, names, strict=True) if kind != name}  # numbers have one value
    for kind in given:
        if kind not in known:
            kinds_text = ", ".join(sorted(map(repr, known))) or "none"
            raise InputError(f"order: there is no kind of labels {kind!r}; kinds are: {kinds_text}")
    return given


def _given_ranks(kind: str, names: Sequence[str], order: list[str] | None) -> dict[str, float]:
    if order is None:
        if (found := _found_ranks(kind, names)) and len(found) == len(names):
            return found
        return {name: float(i) for i, name in enumerate(sorted(names, key=_natural))}
    own = {_value(name, kind): name for name in names} | {name: name for name in names}
    if (unknown := next((name for name in order if name not in own), None)) is not None:
        raise InputError(f"order of {kind!r}: there is no label {unknown!r}")
    places = {own[name]: float(i) for i, name in enumerate(order)}
    if len(places) < len(order):
        raise InputError(f"order of {kind!r}: a label is in it twice")
    if (missing := next((name for name in names if name not in places), None)) is not None:
        raise InputError(f"order of {kind!r}: the label {_value(missing, kind)!r} is missing; give all labels in order")
    return places


def _found_ranks(kind: str, names: Sequence[str]) -> dict[str, float]:
    """Return the numbers that labels stand for, or the places of bins; empty if too many stand for none."""
    bins = {name: own for name in names if (own := Bin.parse(name)) is not None}
    if bins:
        ordered = sorted(bins, key=lambda name: (bins[name].low, bins[name].high))
        found = {name: float(i) for i, name in enumerate(ordered)}
    else:
        numbers = {name: _number(_value(name, kind)) for name in names}
        found = {name: number for name, number in numbers.items() if number is not None}
    unknown = len(names) - len(found)
    return found if unknown <= max(_MOST_UNKNOWN * len(names), 1) and len(found) > 2 * unknown else {}


def _number(text: str) -> float | None:
    """Return the number of ``1994``, ``1990s``, ``2021-03``, ``2021-03-15`` or ``2021Q3``, in years if it is a time."""
    if (found := _NUMBER.fullmatch(text)) is not None:
        number = float(found[1])
        return number if math.isfinite(number) else None  # hundreds of digits are infinity
    if (found := _QUARTER.fullmatch(text)) is not None:
        return int(found[1]) + (int(found[2]) - 1) / 4
    if (found := _DATE.fullmatch(text)) is None:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
    return year + (month - 1) / 12 + (day - 1) / 372 if 1 <= month <= 12 and 1 <= day <= 31 else None


def _value(name: str, kind: str) -> str:
    return name.removeprefix(f"{kind}=")


def _natural(name: str) -> list[tuple[bool, float, str]]:
    """Return a key that sorts grade2 before grade10."""
    parts = enumerate(_DIGITS.split(name))
    return [(bool(i % 2), float(part) if i % 2 and math.isfinite(float(part)) else 0.0, part) for i, part in parts]
