"""Labels that decide which topics a document may have: the prior of Labeled LDA and Partially Labeled LDA."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from metalda.errors import StorageError
from metalda.priors.loglinear import LogLinear, Weights, require_binary
from metalda.utils.checks import Array, check_array, check_range


@dataclass(frozen=True, eq=False)
class Masked(LogLinear):
    """alpha is `start` for the topics of a document's labels and for shared topics, and 0 for all others.

    Topics belong to labels in the order of the labels, `topics_per_label` to each. Shared topics come last. A document
    without labels may have every topic. The mask is stored as weights of 0 (a logarithm of -inf). The alpha of a
    document is the maximum over its labels, not the product.
    """

    topics_per_label: int
    n_shared: int
    mixes_label_sets: ClassVar[bool] = False  # a document without labels may have every topic

    def __post_init__(self) -> None:
        require_binary(self.design, "a mask of topics")

    def start_weights(self, n_topics: int) -> Weights:
        log_weights = np.full((len(self.design.names), n_topics), -np.inf)
        for label in range(len(self.design.names) - 1):
            own = slice(label * self.topics_per_label, (label + 1) * self.topics_per_label)
            log_weights[label, own] = math.log(self.start)
        log_weights[-1, n_topics - self.n_shared :] = math.log(self.start)
        return log_weights

    def check_weights(self, name: str, log_weights: Array, n_draws: int | None, n_topics: int) -> None:
        """Require the mask of the labels, and that all other weights are finite."""
        draws = () if n_draws is None else (n_draws,)
        n_labels = len(self.design.names)
        check_array(name, log_weights, np.float64, (*draws, n_labels, n_topics))
        if n_topics != self.topics_per_label * (n_labels - 1) + self.n_shared:
            raise StorageError(f"{name} must have the topics of {n_labels - 1:,} labels, not {n_topics:,} topics")
        masked = np.isneginf(self.start_weights(n_topics))
        if not (np.isneginf(log_weights) == masked).all():
            raise StorageError(f"{name} must be -inf for the topics of other labels only")
        check_range(name, log_weights, -math.inf, float(np.finfo(np.float64).max))

    def _multiply(
        self, log_weights: Weights, first: int, last: int, values: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fill ``values`` with the maximum over the labels of each row instead of the product."""
        design = self.design
        filled = values[:, first:last]
        filled[:] = np.exp(np.maximum.reduceat(log_weights[design.row_labels, first:last], design.row_starts[:-1]))
        if design.bare_row is not None:
            filled[design.bare_row] = self.start
        return filled.sum(axis=1, dtype=np.float64), design.row_sizes @ filled.astype(np.float64)
