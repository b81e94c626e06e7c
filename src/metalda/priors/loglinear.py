"""Dirichlet parameters that are products of weights: alpha[d, k] = prod_l lambda[l, k]^f[d, l]."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.augmentation import multiply_weights
from metalda.kernels.border import frozen
from metalda.meta.design import Concentration, Design


def concentration_of(log_weights: NDArray[np.float64], design: Design) -> Concentration:
    """Multiply the weights of every row's labels."""
    n_topics = log_weights.shape[1]
    values = np.empty((design.n_rows, n_topics), np.float32)
    row_sums = np.empty(design.n_rows, np.float64)
    topic_sums = np.empty(n_topics, np.float64)
    _multiply(log_weights, design, 0, n_topics, values, row_sums, topic_sums)
    return Concentration(values, row_sums, topic_sums)


def _multiply(
    log_weights: NDArray[np.float64],
    design: Design,
    first: int,
    last: int,
    values: NDArray[np.float32],
    row_sums: NDArray[np.float64],
    topic_sums: NDArray[np.float64],
) -> None:
    multiply_weights(
        frozen(log_weights, np.float64),
        frozen(design.row_starts, np.int64),
        frozen(design.row_labels, np.int32),
        frozen(design.row_sizes, np.float64),
        first,
        last,
        values,
        row_sums,
        topic_sums,
    )


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

    def concentration(self, log_weights: NDArray[np.float64]) -> Concentration:
        return concentration_of(log_weights, self.design)

    def fill_concentration(
        self, log_weights: NDArray[np.float64], first: int, last: int, concentration: Concentration
    ) -> None:
        """Renew the parameters of topics first … last - 1 in place; sums by row are left as they are."""
        row_sums = np.empty(self.design.n_rows)
        _multiply(log_weights, self.design, first, last, concentration.values, row_sums, concentration.topic_sums)


class Fixed(LogLinear):
    """A symmetric Dirichlet that is never updated."""
