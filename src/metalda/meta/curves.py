"""Smooth curves over a number, as columns of the design.

The curve is a penalized B-spline (P-spline; Eilers and Marx, 1996) with coefficients b on equidistant knots. Its
second differences u = D b are independent normal variables with variance tau², which is a random walk of second order.
The coefficients are a straight line plus D' (D D')⁻¹ u, so that u can be sampled like the weights of any other numbers,
and tau² like their variance. The columns of u are made orthogonal to a constant and to the number itself over the
training documents: the default label keeps the level, and the number's own weight the slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.meta.formulas import LEAST_DF, MOST_DF

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

DEGREE = 3


@dataclass(frozen=True)
class Curve:
    """The curvature columns of a penalized spline over a standardized number, fitted to the training documents."""

    df: int
    low: float
    high: float
    offsets: tuple[float, ...]
    slopes: tuple[float, ...]
    size: float

    @classmethod
    def fit(cls, df: int, numbers: NDArray[np.float64], name: str) -> Curve:
        """Place knots over the range of the numbers, and make the columns orthogonal to a constant and a line."""
        n_distinct = len(np.unique(numbers))
        if n_distinct <= df:
            raise InputError(
                f"{name} with df={df} needs more than {df} distinct numbers, but there are {n_distinct}: use a smaller "
                "df, the number itself, or labels"
            )
        low, high = float(numbers.min()), float(numbers.max())
        raw = cls(df, low, high, (0.0,) * (df - 1), (0.0,) * (df - 1), 1.0).columns(numbers)
        line = np.column_stack([np.ones(len(numbers)), numbers])
        (offsets, slopes), *_ = np.linalg.lstsq(line, raw, rcond=None)
        # With variance 1 of u the curve has variance 1, averaged over documents, so that tau is on the scale of sigma.
        size = float(np.sqrt(((raw - line @ np.stack([offsets, slopes])) ** 2).sum(axis=1).mean()))
        return cls(df, low, high, tuple(offsets.tolist()), tuple(slopes.tolist()), size)

    @cached_property
    def _spline(self) -> BSpline:
        from scipy.interpolate import BSpline

        n_basis = self.df + 1
        step = (self.high - self.low) / (n_basis - DEGREE)
        knots = self.low + step * np.arange(-DEGREE, n_basis + 1)
        differences = np.diff(np.eye(n_basis), 2, axis=0)
        coefficients = differences.T @ np.linalg.inv(differences @ differences.T)
        return BSpline(knots, coefficients, DEGREE)

    def columns(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the curvature columns [number, df - 1] at numbers; beyond the training range curves go on straight."""
        inside = np.clip(numbers, self.low, self.high)
        values = self._spline(inside) + self._spline.derivative()(inside) * (numbers - inside)[:, None]
        line = np.asarray(self.offsets) + np.outer(numbers, self.slopes)
        columns: NDArray[np.float64] = (values - line) / self.size
        return columns

    def check(self) -> None:
        """Raise ValueError unless the values, which come from a file, can be those of a curve."""
        fits = isinstance(self.df, int) and LEAST_DF <= self.df <= MOST_DF
        fits = fits and all(isinstance(own, list) and len(own) == self.df - 1 for own in (self.offsets, self.slopes))
        if not (fits and are_finite(self.low, self.high, self.size, *self.offsets, *self.slopes)):
            raise ValueError("a curve of the terms is not valid")
        if not (self.low < self.high and self.size > 0):
            raise ValueError("a curve of the terms has no width")


def are_finite(*values: object) -> bool:
    """Return whether values, which come from a file, are finite numbers."""
    return all(isinstance(value, int | float) and np.isfinite(value) for value in values)
