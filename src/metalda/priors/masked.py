"""Labels that decide which topics a document may have: the prior of Labeled LDA and its partial kind."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metalda.meta.design import Concentration
from metalda.priors.loglinear import LogLinear


@dataclass(frozen=True, eq=False)
class Masked(LogLinear):
    """alpha is `start` for the topics of a document's labels and for shared topics, and 0 for all others.

    Topics belong to labels in the order of the labels, `topics_per_label` to each; shared topics come last. A document
    without labels may have every topic. The mask is held as weights of 0 (a logarithm of -inf), of which a document
    has the largest of its labels, not the product.
    """

    topics_per_label: int
    n_shared: int

    def start_weights(self, n_topics: int) -> NDArray[np.float64]:
        log_weights = np.full((len(self.design.names), n_topics), -np.inf)
        for label in range(len(self.design.names) - 1):
            log_weights[label, label * self.topics_per_label : (label + 1) * self.topics_per_label] = math.log(
                self.start
            )
        log_weights[-1, n_topics - self.n_shared :] = math.log(self.start)
        return log_weights

    def alpha_of_new(
        self, log_weights: NDArray[np.float64], mean_alpha: NDArray[np.float64], trained_unlabelled: bool
    ) -> NDArray[np.float64]:
        return self.multiply(log_weights).values.astype(np.float64)

    def _fill(
        self,
        concentration: Concentration,
        log_weights: NDArray[np.float64],
        first: int,
        last: int,
        row_sums: NDArray[np.float64],
    ) -> None:
        largest = np.maximum.reduceat(log_weights[self.design.row_labels, first:last], self.design.row_starts[:-1])
        values = concentration.values[:, first:last]
        values[:] = np.exp(largest)
        if self.design.bare_row is not None:
            values[self.design.bare_row] = self.start
        row_sums[:] = values.sum(axis=1, dtype=np.float64)
        concentration.topic_sums[first:last] = self.design.row_sizes @ values.astype(np.float64)
        concentration.lifted_sums[first:last] = concentration.topic_sums[first:last]
