"""Numeric fields as labels: each number falls into an interval with a readable name, or is taken as it is, to scale."""

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from metalda.corpus.labels import is_missing
from metalda.corpus.named import NamedMatrix
from metalda.errors import InputError


class _Numbers(ABC):
    """Takes the numbers of one field, one document after the other."""

    def __init__(self, field: str) -> None:
        self.field = field
        self._values = array("d")

    def add(self, value: Any) -> None:
        """The next document's number; NaN for a missing or empty one."""
        self._values.append(self._number(value))

    def _number(self, value: Any) -> float:
        if is_missing(value) or (isinstance(value, str) and not value.strip()):
            return float("nan")
        try:
            if isinstance(value, bool):
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"the field {self.field!r} holds {_short(value)}, not a number") from None
        if math.isinf(number):
            raise InputError(f"the field {self.field!r} holds {_short(value)}, which is not finite")
        return number

    @abstractmethod
    def finish(self) -> NamedMatrix:
        """What the numbers come to, in columns with names."""


class Binning(_Numbers):
    """Numbers that fall into intervals; a missing one gives no label.

    Parameters
    ----------
    field : str
        Its name, which is part of the names of the intervals.
    bins : int or sequence of numbers
        How many intervals with about equally many documents, or the inner edges.
    """

    def __init__(self, field: str, bins: int | Sequence[float]) -> None:
        super().__init__(field)
        self._bins = _checked(field, bins)

    def finish(self) -> NamedMatrix:
        """A label per interval, in the order of the intervals."""
        values = np.array(self._values, dtype=np.float64)
        known = ~np.isnan(values)
        edges = self._bins if isinstance(self._bins, list) else _quantile_edges(self.field, values[known], self._bins)
        names = interval_names(self.field, edges)
        columns = np.searchsorted(np.array(edges), values[known], side="right")
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(known)))
        return NamedMatrix(csr_array((np.ones(len(columns)), columns, offsets), shape=(len(values), len(names))), names)


class Scaling(_Numbers):
    """Numbers that are taken as they are, but to scale: less their mean, divided by their standard deviation.

    A missing number counts as the mean. The name of the column says what was done, ``(year - 1998) / 5.5``, so that the
    same can be done to new documents.
    """

    def __init__(self, field: str, centre_and_scale: Sequence[float] | None = None) -> None:
        super().__init__(field)
        self._given = centre_and_scale
        if centre_and_scale is not None and (len(centre_and_scale) != 2 or not centre_and_scale[1] > 0):
            raise InputError(f"numbers of {field!r}: give the centre and the scale, not {centre_and_scale!r}")

    def finish(self) -> NamedMatrix:
        """One column."""
        values = np.array(self._values, dtype=np.float64)
        known = values[~np.isnan(values)]
        if self._given is not None:
            centre, scale = self._given
        elif len(known) == 0 or known.min() == known.max():
            raise InputError(
                f"the field {self.field!r} has fewer than two different numbers: there is nothing to learn"
            )
        else:
            centre, scale = (float(f"{number:.6g}") for number in (known.mean(), known.std()))
        scaled = np.where(np.isnan(values), 0.0, (values - centre) / scale)
        return NamedMatrix(csr_array(scaled[:, None]), (scaled_name(self.field, centre, scale),))


def scaled_name(field: str, centre: float, scale: float) -> str:
    """``(year - 1998) / 5.5``"""
    return f"({field} - {_text(centre)}) / {_text(scale)}"


def interval_names(field: str, edges: Sequence[float]) -> tuple[str, ...]:
    """``"year < 1990", "1990 ≤ year < 2000", "year ≥ 2000"`` for the edges 1990 and 2000."""
    texts = [_text(edge) for edge in edges]
    inner = [f"{low} ≤ {field} < {high}" for low, high in pairwise(texts)]
    return (f"{field} < {texts[0]}", *inner, f"{field} ≥ {texts[-1]}")


def _checked(field: str, bins: Any) -> int | list[float]:
    if isinstance(bins, Integral) and not isinstance(bins, bool):
        if bins < 2:
            raise InputError(f"bins of {field!r}: at least 2 are needed, not {bins}")
        return int(bins)
    if isinstance(bins, str | bytes) or not hasattr(bins, "__iter__"):
        raise InputError(f"bins of {field!r}: give a number of bins or a list of inner edges, not {bins!r}")
    edges = list(bins)
    if not edges or not all(isinstance(e, Real) and math.isfinite(e) for e in edges):
        raise InputError(f"bins of {field!r}: the inner edges must be numbers, at least one")
    if any(low >= high for low, high in pairwise(edges)):
        raise InputError(f"bins of {field!r}: the inner edges must rise")
    return [float(edge) for edge in edges]


def _quantile_edges(field: str, values: np.ndarray, n_bins: int) -> list[float]:
    """Edges that are values themselves, so that their names are exact; ties may give fewer bins."""
    if len(values) == 0 or values.min() == values.max():
        raise InputError(
            f"the field {field!r} has fewer than two different numbers: it cannot be cut into {n_bins} bins"
        )
    edges = np.unique(np.quantile(values, np.arange(1, n_bins) / n_bins, method="higher"))
    edges = edges[edges > values.min()]
    return edges.tolist() or [float(values[values > values.min()].min())]


def _text(edge: float) -> str:
    return str(int(edge)) if float(edge).is_integer() and abs(edge) < 1e15 else repr(float(edge))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
