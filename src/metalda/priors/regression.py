"""Log-linear regression with Gaussian weights: the prior of DMR (documents) and of WF-LDA (words)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.kernels.weights import add_rising
from metalda.meta.design import Concentration
from metalda.meta.shards import Shard
from metalda.priors.loglinear import (
    Blocks,
    LearnsFromDocuments,
    LearnsFromWords,
    Lesson,
    WordCounts,
    count_doc_topics,
)
from metalda.utils.blas import one_blas_thread

STEEPEST = 60.0  # log alpha beyond this, or below its negative, only occurs while a line is searched
DENSE = 0.03  # above this share of entries a dense product is faster than a sparse one


class Occurrences(NamedTuple):
    """How often a count occurs in a cell [row, column] of a table."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    counts: NDArray[np.int64]
    times: NDArray[np.float64]

    @classmethod
    def tally(cls, rows: Any, columns: Any, counts: Any, n_columns: int) -> Occurrences:
        """Put equal ones together."""
        n_counts = int(np.max(counts, initial=0)) + 1
        keys = (np.asarray(rows, np.int64) * n_columns + columns) * n_counts + counts
        found, times = _count_values(keys)
        cells, found_counts = np.divmod(found, n_counts)
        rows, columns = np.divmod(cells, n_columns)
        return cls(
            frozen(rows, np.int32), frozen(columns, np.int32), frozen(found_counts, np.int64), frozen(times, np.float64)
        )

    @classmethod
    def merge(cls, parts: Sequence[Any]) -> Occurrences:
        """Of several shards, together: the same as if they had been tallied at once."""
        if len(parts) == 1:
            return cls(*parts[0])
        rows, columns, counts, times = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((counts, columns, rows))
        rows, columns, counts = rows[order], columns[order], counts[order]
        first = np.flatnonzero((np.diff([rows, columns, counts], prepend=-1) != 0).any(axis=0))
        return cls(
            frozen(rows[first], np.int32),
            frozen(columns[first], np.int32),
            frozen(counts[first], np.int64),
            frozen(np.add.reduceat(times[order], first), np.float64),
        )


@dataclass(frozen=True, eq=False)
class Likelihood:
    """log p(counts | weights) of Dirichlet-multinomials with concentration exp(F W), plus the Gaussian prior of W.

    In the prior of documents a distribution is a row, and its items are topics; in that of words it is a topic, and
    its items are words.
    """

    matrix: Any  # F [row, label]
    row_sizes: NDArray[np.float64] | None  # words in a row; None for documents
    items: Occurrences  # m[d, k] or n[k, v], by row and topic
    totals: Occurrences  # N[d] by row, or n[k, .] by topic
    precision: NDArray[np.float64]  # [label, 1]

    def negative(self, weights: NDArray[np.float64], n_topics: int) -> tuple[float, NDArray[np.float64]]:
        """Minus the logarithm of the posterior, and its gradient, for a flat array of weights."""
        log_weights = weights.reshape(-1, n_topics)
        values = np.exp(np.clip(self.matrix @ log_weights, -STEEPEST, STEEPEST))
        gradient = np.zeros_like(values)
        total = add_rising(frozen(values, np.float64), *self.items, gradient)
        sums = values.sum(axis=1) if self.row_sizes is None else self.row_sizes @ values
        by_sum = np.zeros((len(sums), 1))
        total -= add_rising(frozen(sums[:, None], np.float64), *self.totals, by_sum)
        gradient -= by_sum if self.row_sizes is None else self.row_sizes[:, None] * by_sum.T
        gradient *= values
        total -= 0.5 * float((self.precision * log_weights**2).sum())
        slope = self.matrix.T @ gradient - self.precision * log_weights
        return -total, -slope.ravel()


@dataclass(frozen=True, eq=False)
class Regression(LearnsFromDocuments, LearnsFromWords):
    """Weights are at the maximum of their posterior, found anew every `interval` sweeps after `burn_in`.

    log lambda[l, k] ~ Normal(0, variance), with a variance of its own for the default label. Values of labels may be
    real numbers.
    """

    variance: float
    default_variance: float
    burn_in: int
    interval: int
    max_steps: int = 10  # of each optimisation; the next one goes on from there

    def is_due(self, n_sweeps: int) -> bool:
        return n_sweeps >= self.burn_in and (n_sweeps - self.burn_in) % self.interval == 0

    def observe(
        self, shard: Shard, topics: NDArray[np.uint16], alpha: Concentration, rng: np.random.Generator
    ) -> tuple[Occurrences, Occurrences]:
        """How often every m[d, k] occurs by row and topic, and every N[d] by row."""
        n_topics, lengths = alpha.values.shape[1], np.diff(shard.offsets)
        rows, columns, counts = count_doc_topics(shard, topics, n_topics)
        filled = lengths > 0
        return (
            Occurrences.tally(rows, columns, counts, n_topics),
            Occurrences.tally(shard.doc_rows[filled], np.zeros(filled.sum(), np.int64), lengths[filled], 1),
        )

    def learn_from_documents(
        self, alpha: Concentration, observed: Sequence[tuple[Any, ...]], blocks: Blocks
    ) -> NDArray[np.float64]:
        items, totals = (Occurrences.merge(parts) for parts in zip(*observed, strict=True))
        return self._climb(Likelihood(self._matrix, None, items, totals, self._precision), alpha.log_weights)

    def learn_from_words(self, beta: Concentration, counts: WordCounts, blocks: Blocks) -> Lesson:
        start = time.perf_counter()
        n_topics = beta.values.shape[1]
        cells = counts.to_matrix().tocoo()
        totals = np.asarray(cells.sum(axis=0)).ravel()
        likelihood = Likelihood(
            self._matrix,
            self.design.row_sizes,
            Occurrences.tally(self.design.row_of[cells.row], cells.col, cells.data, n_topics),
            Occurrences.tally(np.arange(n_topics), np.zeros(n_topics, np.int64), totals, 1),
            self._precision,
        )
        seconds = time.perf_counter() - start
        beta.log_weights[:] = self._climb(likelihood, beta.log_weights)
        self.renew_beta(beta, 0, n_topics)
        return Lesson(seconds, 0)

    @cached_property
    def _matrix(self) -> Any:
        matrix = self.design.matrix
        return matrix.toarray() if matrix.nnz > DENSE * np.prod(matrix.shape) else matrix

    @cached_property
    def _precision(self) -> NDArray[np.float64]:
        precision = np.full((len(self.design.names), 1), 1 / self.variance)
        precision[-1] = 1 / self.default_variance
        return precision

    def _climb(self, likelihood: Likelihood, log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Some steps of L-BFGS from where the weights are. One BLAS thread: the result decides later draws."""
        from scipy.optimize import minimize

        n_topics = log_weights.shape[1]
        with one_blas_thread():
            found = minimize(
                likelihood.negative,
                log_weights.ravel(),
                (n_topics,),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_steps},
            )
        return np.asarray(found.x, np.float64).reshape(-1, n_topics)

    def _fill(
        self,
        concentration: Concentration,
        log_weights: NDArray[np.float64],
        first: int,
        last: int,
        row_sums: NDArray[np.float64],
    ) -> None:
        values = np.exp(np.clip(self.design.matrix @ log_weights[:, first:last], -STEEPEST, STEEPEST))
        concentration.values[:, first:last] = values
        row_sums[:] = values.sum(axis=1)
        concentration.topic_sums[first:last] = self.design.row_sizes @ values
        concentration.lifted_sums[first:last] = concentration.topic_sums[first:last]


def _count_values(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different values, sorted, and how often each occurs; without sorting, where they are not far apart."""
    if np.max(keys, initial=0) > 4 * len(keys):
        return np.unique(keys, return_counts=True)
    times = np.bincount(keys)
    found = np.flatnonzero(times)
    return found, times[found]
