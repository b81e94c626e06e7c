"""Log-linear regression with Gaussian weights: the prior of DMR (documents) and of WF-LDA (words)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.kernels.border import frozen
from metalda.kernels.weights import add_rising
from metalda.priors.loglinear import (
    Alpha,
    AssignedDocuments,
    Beta,
    LearnsFromDocuments,
    LearnsFromWords,
    Statistics,
    Stripes,
    Weights,
    WordTopicCounts,
)
from metalda.utils.blas import one_blas_thread

STEEPEST = 60.0  # log alpha is clipped at ± this; larger values occur in line searches only
Integers = NDArray[np.integer]

DENSE = 0.03  # above this share of entries a dense product is faster than a sparse one


class Occurrences(NamedTuple):
    """How often a count occurs in a cell [row, column] of a table."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    counts: NDArray[np.int64]
    times: NDArray[np.float64]

    @classmethod
    def tally(cls, rows: Integers, columns: Integers, counts: Integers, n_columns: int) -> Occurrences:
        """Count how often each (row, column, count) occurs."""
        n_counts = int(np.max(counts, initial=0)) + 1
        keys = (np.asarray(rows, np.int64) * n_columns + columns) * n_counts + counts
        found, times = _count_values(keys)
        cells, found_counts = np.divmod(found, n_counts)
        rows, columns = np.divmod(cells, n_columns)
        return cls(
            frozen(rows, np.int32), frozen(columns, np.int32), frozen(found_counts, np.int64), frozen(times, np.float64)
        )

    @classmethod
    def merge(cls, parts: Sequence[Statistics]) -> Occurrences:
        """Merge the tallies of several shards. The result equals one tally of all documents."""
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
class RegressionPosterior:
    """log p(counts | W) of Dirichlet-multinomials with concentration exp(F W), plus log p(W), which is Gaussian.

    In the prior of documents, a distribution belongs to a row and its items are topics. In the prior of words, it
    belongs to a topic and its items are words.
    """

    matrix: NDArray[np.float64] | csr_array  # F [row, label]
    row_sizes: NDArray[np.float64] | None  # words in a row; None for documents
    items: Occurrences  # m[d, k] or n[k, v], by row and topic
    totals: Occurrences  # N[d] by row, or n[k, .] by topic
    precision: NDArray[np.float64]  # [label, 1]

    def negative(self, weights: NDArray[np.float64], n_topics: int) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log posterior and its gradient, for a flat array of weights."""
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
    """Weights at the maximum of their posterior, optimized every `interval` iterations after `burn_in`.

    log lambda[l, k] ~ Normal(0, variance), with a separate variance for the default label. Labels may have real values.
    """

    variance: float
    default_variance: float
    burn_in: int
    interval: int
    samples_weights: ClassVar[bool] = False
    max_steps: int = 10  # of each optimization; the next one continues from its result

    def is_due(self, n_sweeps: int) -> bool:
        return n_sweeps >= self.burn_in and (n_sweeps - self.burn_in) % self.interval == 0

    def observe_documents(
        self, documents: AssignedDocuments, alpha: Alpha, rng: np.random.Generator
    ) -> tuple[Occurrences, Occurrences]:
        """Count how often every m[d, k] occurs by row and topic, and every N[d] by row."""
        n_topics, lengths = alpha.values.shape[1], np.diff(documents.offsets)
        filled = lengths > 0
        return (
            Occurrences.tally(*documents.count_topics(n_topics), n_topics),
            Occurrences.tally(documents.rows[filled], np.zeros(filled.sum(), np.int64), lengths[filled], 1),
        )

    def learn_from_documents(self, alpha: Alpha, observed: Sequence[Statistics], stripes: Stripes) -> Weights:
        items, totals = (Occurrences.merge(parts) for parts in zip(*observed, strict=True))
        return self._climb(RegressionPosterior(self._matrix, None, items, totals, self._precision), alpha.log_weights)

    def observe_words(self, beta: Beta, counts: WordTopicCounts, stripes: Stripes) -> tuple[Occurrences, Occurrences]:
        """Count how often every n[k, v] occurs by row and topic, and every n[k, .] by topic."""
        n_topics = beta.values.shape[1]
        cells = counts.to_matrix().tocoo()
        totals = np.asarray(cells.sum(axis=0)).ravel()
        return (
            Occurrences.tally(self.design.row_of[cells.row], cells.col, cells.data, n_topics),
            Occurrences.tally(np.arange(n_topics), np.zeros(n_topics, np.int64), totals, 1),
        )

    def learn_from_words(self, beta: Beta, observed: Sequence[Statistics], stripes: Stripes) -> Weights:
        items, totals = (Occurrences(*each) for each in observed)
        posterior = RegressionPosterior(self._matrix, self.design.row_sizes, items, totals, self._precision)
        return self._climb(posterior, beta.log_weights)

    @cached_property
    def _matrix(self) -> NDArray[np.float64] | csr_array:
        matrix = self.design.matrix
        return matrix.toarray() if matrix.nnz > DENSE * np.prod(matrix.shape) else matrix

    @cached_property
    def _precision(self) -> NDArray[np.float64]:
        precision = np.full((len(self.design.names), 1), 1 / self.variance)
        precision[-1] = 1 / self.default_variance
        return precision

    def _climb(self, posterior: RegressionPosterior, log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take a few L-BFGS steps from the current weights; one BLAS thread makes the result reproducible."""
        from scipy.optimize import minimize

        n_topics = log_weights.shape[1]
        with one_blas_thread():
            found = minimize(
                posterior.negative,
                log_weights.ravel(),
                (n_topics,),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_steps},
            )
        return np.asarray(found.x, np.float64).reshape(-1, n_topics)

    def _multiply(
        self, log_weights: Weights, first: int, last: int, values: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute exp(F W), clipped as in the optimizer."""
        return self._exponentiate(log_weights, first, last, values, STEEPEST)


def _count_values(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values in order, and how often each occurs. Dense values are counted without sorting."""
    if np.max(keys, initial=0) > 4 * len(keys):
        return np.unique(keys, return_counts=True)
    times = np.bincount(keys)
    found = np.flatnonzero(times)
    return found, times[found]
