"""Dirichlet parameters that are products of weights: alpha[d, k] = prod_l lambda[l, k]^f[d, l]."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from metalda.kernels.border import frozen
from metalda.kernels.weights import count_topics, multiply_weights
from metalda.meta.design import Concentration, Design
from metalda.meta.shards import Shard

FAINTEST = 1e-20  # parameters that add up to less are lifted to this: beside a count it is still nothing


class WordCounts(Protocol):
    """What a prior of words learns from: n[k, v]."""

    def draw_tables(self, beta: Concentration, first: int, last: int, rng: np.random.Generator) -> Any: ...

    def to_matrix(self) -> Any: ...


class Blocks(NamedTuple):
    """How work on weights is shared out: topics first … last - 1 with a generator each, and what runs them."""

    stripes: Sequence[tuple[int, int]]
    rngs: Sequence[np.random.Generator]
    run: Any


class Lesson(NamedTuple):
    """What learning from words was like."""

    seconds: float  # that statistics took
    n_tables: int  # that were drawn for all topics, if the prior is one of tables


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A prior whose weights start at `start` for the default label and at 1 for all others.

    This one is never updated; those that are `Learning` are.
    """

    design: Design
    start: float

    def start_weights(self, n_topics: int) -> NDArray[np.float64]:
        """Log weights [label, topic] before the first sweep."""
        log_weights = np.zeros((len(self.design.names), n_topics))
        log_weights[-1] = math.log(self.start)
        return log_weights

    def multiply(self, log_weights: NDArray[np.float64]) -> Concentration:
        """The product of every row's weights, as it is."""
        concentration = _empty(self.design.n_rows, log_weights)
        self._fill(concentration, log_weights, 0, log_weights.shape[1], concentration.row_sums)
        return concentration

    def alpha(self, log_weights: NDArray[np.float64]) -> Concentration:
        """The parameters of documents.

        What matters of an alpha that is tiny as a whole is its ratios: they are kept when the row is lifted.
        """
        concentration = self.multiply(log_weights)
        faint = np.flatnonzero(concentration.row_sums < FAINTEST)
        if len(faint):
            logs = self.design.multiply(log_weights, faint)
            concentration.values[faint] = np.exp(logs - logs.max(axis=1, keepdims=True)) * FAINTEST
            np.maximum(concentration.values, 1e-38, out=concentration.values)
            concentration.lifted_sums[:] = self.design.row_sizes @ concentration.values
        return concentration

    def alpha_of_new(
        self, log_weights: NDArray[np.float64], mean_alpha: NDArray[np.float64], trained_unlabelled: bool
    ) -> NDArray[np.float64]:
        """alpha by row of new documents.

        The default weight alone is held by the data only if documents without labels were trained on; otherwise such
        a document gets the mean alpha of the training documents.
        """
        alpha = self.multiply(log_weights).values.astype(np.float64)
        if self.design.bare_row is not None and not trained_unlabelled:
            alpha[self.design.bare_row] = mean_alpha
        return alpha

    def beta(self, log_weights: NDArray[np.float64], stripes: Iterable[tuple[int, int]] = ()) -> Concentration:
        """The parameters of words, formed by stripes of topics (one, if none are given)."""
        beta = _empty(self.design.n_rows, log_weights)
        for first, last in stripes or ((0, log_weights.shape[1]),):
            self.renew_beta(beta, first, last)
        return beta

    def renew_beta(self, beta: Concentration, first: int, last: int) -> None:
        """Renew the parameters of topics first … last - 1 in place, after their weights have changed.

        Sums by row, which nobody needs, are left.
        """
        self._fill(beta, beta.log_weights, first, last, np.empty(self.design.n_rows))
        self._lift_topics(beta, beta.log_weights, first, last)

    def _fill(
        self,
        concentration: Concentration,
        log_weights: NDArray[np.float64],
        first: int,
        last: int,
        row_sums: NDArray[np.float64],
    ) -> None:
        """Multiply the weights of every row's labels, for topics first … last - 1."""
        multiply_weights(
            frozen(log_weights, np.float64),
            frozen(self.design.row_starts, np.int64),
            frozen(self.design.row_labels, np.int32),
            frozen(self.design.row_sizes, np.float64),
            first,
            last,
            concentration.values,
            row_sums,
            concentration.topic_sums,
        )
        concentration.lifted_sums[first:last] = concentration.topic_sums[first:last]

    def _lift_topics(self, beta: Concentration, log_weights: NDArray[np.float64], first: int, last: int) -> None:
        """Of a topic whose beta is tiny as a whole, the ratios beta[k, w] / beta[k, .] matter while it has no words."""
        faint = first + np.flatnonzero(beta.topic_sums[first:last] < FAINTEST)
        if len(faint):
            logs = self.design.multiply(log_weights[:, faint], np.arange(self.design.n_rows))
            logs -= logsumexp(logs, axis=0, b=self.design.row_sizes[:, None])
            beta.values[:, faint] = np.maximum(np.exp(logs) * FAINTEST, 1e-38)
            beta.lifted_sums[faint] = FAINTEST


def _empty(n_rows: int, log_weights: NDArray[np.float64]) -> Concentration:
    """Room for what these weights make."""
    n_topics = log_weights.shape[1]
    values = np.empty((n_rows, n_topics), np.float32)
    return Concentration(values, np.zeros(n_rows), np.empty(n_topics), np.empty(n_topics), log_weights.copy())


class Fixed(LogLinear):
    """A symmetric Dirichlet that is never updated."""


class Learning(LogLinear):
    """A prior that learns its weights after a sweep: from documents, from the words of topics, or from either."""

    def is_due(self, n_sweeps: int) -> bool:
        """Whether it learns after this sweep, before which there were `n_sweeps`."""
        return True


class LearnsFromDocuments(Learning, ABC):
    """A prior of documents that learns."""

    @abstractmethod
    def observe(
        self, shard: Shard, topics: NDArray[np.uint16], alpha: Concentration, rng: np.random.Generator
    ) -> tuple[Any, ...]:
        """All that it needs to know of the documents of a shard: a few small arrays.

        Called where the shard is, which may be another machine. Document d of the shard has the topics
        ``topics[shard.offsets[d]:shard.offsets[d + 1]]``, if any, and row ``shard.doc_rows[d]`` of ``alpha.values``.
        """

    def count_tables(self, observed: Sequence[tuple[Any, ...]]) -> int:
        """How many tables were drawn for all documents, if the prior is one of tables."""
        return 0

    @abstractmethod
    def learn_from_documents(
        self, alpha: Concentration, observed: Sequence[tuple[Any, ...]], blocks: Blocks
    ) -> NDArray[np.float64]:
        """New log weights, from what was observed in every shard; ``alpha.log_weights`` are left as they are."""


class LearnsFromWords(Learning, ABC):
    """A prior of words that learns."""

    @abstractmethod
    def learn_from_words(self, beta: Concentration, counts: WordCounts, blocks: Blocks) -> Lesson:
        """Change ``beta.log_weights`` in place, and renew `beta` with `renew_beta`."""


def count_doc_topics(shard: Shard, topics: NDArray[np.uint16], n_topics: int) -> tuple[NDArray[np.int64], ...]:
    """m[d, k] > 0 of a shard's documents: the row of each document, the topic, and the count."""
    found = tuple(np.empty(len(shard.words), np.int64) for _ in range(3))
    size = count_topics(shard.offsets, shard.doc_rows, frozen(topics, np.uint16), n_topics, *found)
    return tuple(each[:size] for each in found)
