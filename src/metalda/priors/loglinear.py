"""Dirichlet parameters that are products of weights: alpha[d, k] = prod_l lambda[l, k]^f[d, l].

The same product gives beta[k, v] from the features of words. A prior of documents computes `alpha`, and a prior of
words computes `beta`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logsumexp

from metalda.errors import InputError
from metalda.kernels.border import frozen
from metalda.kernels.weights import CEILING, FLOOR, count_topics, multiply_weights
from metalda.meta.design import Design
from metalda.utils.checks import Array, check_array, check_finite, check_range
from metalda.utils.threads import RunEach

FAINTEST = 1e-20  # smaller sums of parameters are rescaled to this, which is still negligible relative to a count
LARGEST_LOG = 230.0  # logarithms of parameters are clipped here, so that sums over a corpus stay finite

Weights = NDArray[np.float64]  # log weights [label, topic]
Statistics: TypeAlias = tuple[Any, ...]  # small arrays, or tuples of them; only the prior that made them knows which

R = TypeVar("R")


class Alpha(NamedTuple):
    """Dirichlet parameters of documents. Documents with equal labels share a row."""

    values: NDArray[np.float32]  # alpha[row, k]; rescaled in rows whose sum is below FAINTEST
    row_sums: NDArray[np.float64]  # alpha[row, .] before rescaling
    is_rescaled: bool  # whether any row was
    log_weights: Weights  # [label, k]


class Beta(NamedTuple):
    """Dirichlet parameters of words. Words with equal features share a row. `LogLinear.renew_beta` refills it."""

    values: NDArray[np.float32]  # beta[k, row] as [row, k]; rescaled in topics whose sum is below FAINTEST
    topic_sums: NDArray[np.float64]  # beta[k, .] before rescaling
    rescaled_sums: NDArray[np.float64]  # beta[k, .] after it
    log_weights: Weights  # [feature, k]


class Stripes(NamedTuple):
    """Ranges of topics whose weights are drawn together, each with a generator, and the function that runs them."""

    bounds: Sequence[tuple[int, int]]  # topics first … last - 1
    rngs: Sequence[np.random.Generator]
    run: RunEach

    def each(self, update: Callable[[int, int, int, np.random.Generator], R]) -> list[R]:
        """Call ``update(stripe, first, last, rng)`` for every stripe, possibly in threads; return results in order."""

        def call(stripe: int) -> R:
            return update(stripe, *self.bounds[stripe], self.rngs[stripe])

        return list(self.run(call, range(len(self.bounds))))


class AssignedDocuments(NamedTuple):
    """Documents with a topic for every token: document d has ``topics[offsets[d]:offsets[d + 1]]``."""

    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]  # the row of alpha of every document
    topics: NDArray[np.uint16]

    def frozen(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Return the arrays in the form that kernels read."""
        return frozen(self.offsets, np.int64), frozen(self.rows, np.int32), frozen(self.topics, np.uint16)

    def count_topics(self, n_topics: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the row of the document, the topic and the count of every m[d, k] > 0."""
        rows, topics, counts = np.empty((3, len(self.topics)), np.int64)
        size = count_topics(*self.frozen(), n_topics, rows, topics, counts)
        return rows[:size], topics[:size], counts[:size]


class WordTables(NamedTuple):
    """Auxiliary variables of the words of some topics."""

    label_tables: NDArray[np.float64]  # sum of t'[k, v] times the value of feature l over words
    minus_log_q: NDArray[np.float64]  # -log q'[k]


class WordTopicCounts(Protocol):
    """The counts n[k, v] from which a prior of words learns."""

    def draw_tables(self, beta: Beta, first: int, last: int, rng: np.random.Generator) -> WordTables: ...

    def to_matrix(self) -> csr_array: ...


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A prior whose weights start at `start` for the default label and at 1 for all others.

    This base class never updates its weights. `LearnsFromDocuments` and `LearnsFromWords` do.
    """

    design: Design
    start: float
    samples_weights: ClassVar[bool] = True  # False if weights are point estimates
    mixes_label_sets: ClassVar[bool] = True  # False if a missing label means something of its own

    def start_weights(self, n_topics: int) -> Weights:
        """Return the log weights [label, topic] before the first iteration."""
        log_weights = np.zeros((len(self.design.names), n_topics))
        log_weights[-1] = math.log(self.start)
        return log_weights

    def start_topics(self, n_topics: int) -> NDArray[np.bool_] | None:
        """Return in which topics [row, topic] the tokens of words start; None, or a row without any, for all topics."""
        return None

    def check_weights(self, name: str, log_weights: Array, n_draws: int | None, n_topics: int) -> None:
        """Raise StorageError unless these are log weights of this prior: of one state, or of several draws."""
        draws = () if n_draws is None else (n_draws,)
        check_array(name, log_weights, np.float64, (*draws, len(self.design.names), n_topics))
        check_finite(name, log_weights)

    def check_kept_weights(self, name: str, log_weights: Array, n_topics: int) -> None:
        """Raise StorageError unless these are log weights [draw, label, topic] that were kept apart from draws."""
        check_array(name, log_weights, np.float32, (None, len(self.design.names), n_topics))
        check_finite(name, log_weights)

    def products(self, log_weights: Weights) -> NDArray[np.float32]:
        """Return the product of the weights of every row [row, topic], without rescaling."""
        values = _empty(self.design, log_weights)
        self._multiply(log_weights, 0, log_weights.shape[1], values)
        return values

    def alpha(self, log_weights: Weights) -> Alpha:
        """Return the parameters of documents.

        Rows whose sum is below `FAINTEST` are rescaled to this sum, which keeps their ratios.
        """
        values = _empty(self.design, log_weights)
        row_sums, _ = self._multiply(log_weights, 0, log_weights.shape[1], values)
        faint = np.flatnonzero(row_sums < FAINTEST)
        if len(faint):
            logs = self.design.multiply(log_weights, faint)
            values[faint] = np.exp(logs - logs.max(axis=1, keepdims=True)) * FAINTEST
            np.maximum(values, 1e-38, out=values)
        return Alpha(values, row_sums, len(faint) > 0, log_weights.copy())

    def beta(self, log_weights: Weights, bounds: Iterable[tuple[int, int]] = ()) -> Beta:
        """Return the parameters of words, computed by stripes of topics; by default in one stripe."""
        n_topics = log_weights.shape[1]
        beta = Beta(_empty(self.design, log_weights), np.empty(n_topics), np.empty(n_topics), log_weights.copy())
        for first, last in bounds or ((0, n_topics),):
            self.renew_beta(beta, log_weights, first, last)
        return beta

    def renew_beta(self, beta: Beta, log_weights: Weights, first: int, last: int) -> None:
        """Refill the parameters of topics first … last - 1 in place, from new weights.

        Topics whose sum is below `FAINTEST` are rescaled to this sum. Their ratios beta[k, v] / beta[k, .] matter
        while the topic has no tokens.
        """
        beta.log_weights[:, first:last] = log_weights[:, first:last]
        _, beta.topic_sums[first:last] = self._multiply(log_weights, first, last, beta.values)
        beta.rescaled_sums[first:last] = beta.topic_sums[first:last]
        faint = first + np.flatnonzero(beta.topic_sums[first:last] < FAINTEST)
        if len(faint):
            logs = self.design.multiply(log_weights[:, faint], np.arange(self.design.n_rows))
            logs -= logsumexp(logs, axis=0, b=self.design.row_sizes[:, None])
            beta.values[:, faint] = np.maximum(np.exp(logs) * FAINTEST, 1e-38)
            beta.rescaled_sums[faint] = FAINTEST

    def _multiply(
        self, log_weights: Weights, first: int, last: int, values: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fill ``values[:, first:last]`` with the products of the rows' weights.

        Returns their sums over these topics, by row, and their sums over all documents or words, by topic.
        """
        design = self.design
        if design.has_numbers:
            return self._exponentiate(log_weights, first, last, values)
        row_sums, topic_sums = np.zeros(design.n_rows), np.empty(log_weights.shape[1])
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
        return row_sums, topic_sums[first:last]

    def _exponentiate(
        self, log_weights: Weights, first: int, last: int, values: NDArray[np.float32], limit: float = LARGEST_LOG
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Do the same as `_multiply` for labels with real values: exp(F W), with logarithms clipped at ± `limit`."""
        products = np.exp(np.clip(self.design.matrix @ log_weights[:, first:last], -limit, limit))
        values[:, first:last] = np.clip(products, FLOOR, CEILING)
        return products.sum(axis=1), self.design.row_sizes @ products


def _empty(design: Design, log_weights: Weights) -> NDArray[np.float32]:
    return np.empty((design.n_rows, log_weights.shape[1]), np.float32)


class Fixed(LogLinear):
    """A symmetric Dirichlet that is never updated."""

    def check_weights(self, name: str, log_weights: Array, n_draws: int | None, n_topics: int) -> None:
        """Require also that weights are logarithms of positive floats."""
        super().check_weights(name, log_weights, n_draws, n_topics)
        check_range(name, log_weights, -750, 710)


class Learning(LogLinear):
    """A prior that updates its weights after an iteration: from documents, from the words of topics, or from either."""

    def is_due(self, n_sweeps: int) -> bool:
        """Return whether the prior updates its weights after `n_sweeps` iterations."""
        return True

    def count_tables(self, observed: Sequence[Statistics]) -> int:
        """Return the number of tables that were drawn; 0 for a prior that draws none."""
        return 0


class LearnsFromDocuments(Learning, ABC):
    """A prior of documents that updates its weights."""

    @abstractmethod
    def observe_documents(self, documents: AssignedDocuments, alpha: Alpha, rng: np.random.Generator) -> Statistics:
        """Return statistics of the documents of one shard: a few small arrays.

        Runs where the shard is, possibly on another machine.
        """

    @abstractmethod
    def learn_from_documents(self, alpha: Alpha, observed: Sequence[Statistics], stripes: Stripes) -> Weights:
        """Return new log weights from the statistics of all shards. Leaves ``alpha.log_weights`` unchanged."""


class LearnsFromWords(Learning, ABC):
    """A prior of words that updates its weights."""

    @abstractmethod
    def observe_words(self, beta: Beta, counts: WordTopicCounts, stripes: Stripes) -> Sequence[Statistics]:
        """Return statistics of n[k, v]."""

    @abstractmethod
    def learn_from_words(self, beta: Beta, observed: Sequence[Statistics], stripes: Stripes) -> Weights:
        """Return new log weights from these statistics. Leaves ``beta.log_weights`` unchanged."""


def require_binary(design: Design, prior: str) -> None:
    """Raise an error for labels with real values, in a prior that is defined for 0 and 1 only."""
    if design.has_numbers:
        raise InputError(
            f"{prior} needs labels and features that are 0 or 1, but this design has other values; "
            "cut numbers into intervals (bins, --bins), or use a normal prior"
        )
