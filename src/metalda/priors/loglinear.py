"""Dirichlet parameters that are products of weights: alpha[d, k] = prod_l lambda[l, k]^f[d, l]."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from metalda.kernels.augmentation import multiply_weights
from metalda.kernels.border import frozen
from metalda.meta.design import Concentration, Design

FAINTEST = 1e-20  # parameters that add up to less are lifted to this: beside a count it is still nothing


def concentration_of(log_weights: NDArray[np.float64], design: Design) -> Concentration:
    """Multiply the weights of every row's labels."""
    concentration = _empty(design.n_rows, log_weights.shape[1])
    _fill(concentration, log_weights, design, 0, log_weights.shape[1], concentration.row_sums)
    return concentration


def _empty(n_rows: int, n_topics: int) -> Concentration:
    return Concentration(
        np.empty((n_rows, n_topics), np.float32), np.zeros(n_rows), np.empty(n_topics), np.empty(n_topics)
    )


def _fill(
    concentration: Concentration,
    log_weights: NDArray[np.float64],
    design: Design,
    first: int,
    last: int,
    row_sums: NDArray[np.float64],
) -> None:
    multiply_weights(
        frozen(log_weights, np.float64),
        frozen(design.row_starts, np.int64),
        frozen(design.row_labels, np.int32),
        frozen(design.row_sizes, np.float64),
        first,
        last,
        concentration.values,
        row_sums,
        concentration.topic_sums,
    )
    concentration.lifted_sums[first:last] = concentration.topic_sums[first:last]


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A prior whose weights start at `start` for the default label and at 1 for all others."""

    design: Design
    start: float

    def start_weights(self, n_topics: int) -> NDArray[np.float64]:
        """Log weights [label, topic] before the first sweep."""
        log_weights = np.zeros((len(self.design.names), n_topics))
        log_weights[-1] = math.log(self.start)
        return log_weights

    def alpha(self, log_weights: NDArray[np.float64]) -> Concentration:
        """The parameters of documents.

        What matters of an alpha that is tiny as a whole is its ratios: they are kept when the row is lifted.
        """
        concentration = concentration_of(log_weights, self.design)
        faint = np.flatnonzero(concentration.row_sums < FAINTEST)
        if len(faint):
            logs = self.design.multiply(log_weights, faint)
            concentration.values[faint] = np.exp(logs - logs.max(axis=1, keepdims=True)) * FAINTEST
            np.maximum(concentration.values, 1e-38, out=concentration.values)
            concentration.lifted_sums[:] = self.design.row_sizes @ concentration.values
        return concentration

    def beta(self, log_weights: NDArray[np.float64], stripes: Iterable[tuple[int, int]] = ()) -> Concentration:
        """The parameters of words, formed by stripes of topics (one, if none are given)."""
        beta = _empty(self.design.n_rows, log_weights.shape[1])
        for first, last in stripes or ((0, log_weights.shape[1]),):
            self.renew_beta(beta, log_weights, first, last)
        return beta

    def renew_beta(self, beta: Concentration, log_weights: NDArray[np.float64], first: int, last: int) -> None:
        """Renew the parameters of topics first … last - 1 in place; sums by row, which nobody needs, are left."""
        _fill(beta, log_weights, self.design, first, last, np.empty(self.design.n_rows))
        self._lift_topics(beta, log_weights, first, last)

    def _lift_topics(self, beta: Concentration, log_weights: NDArray[np.float64], first: int, last: int) -> None:
        """Of a topic whose beta is tiny as a whole, the ratios beta[k, w] / beta[k, .] matter while it has no words."""
        faint = first + np.flatnonzero(beta.topic_sums[first:last] < FAINTEST)
        if len(faint):
            logs = self.design.multiply(log_weights[:, faint], np.arange(self.design.n_rows))
            logs -= logsumexp(logs, axis=0, b=self.design.row_sizes[:, None])
            beta.values[:, faint] = np.maximum(np.exp(logs) * FAINTEST, 1e-38)
            beta.lifted_sums[faint] = FAINTEST


class Fixed(LogLinear):
    """A symmetric Dirichlet that is never updated."""
