"""The counts n[k, v] that topics of tokens add up to, in the two forms that the token kernels work on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.kernels.border import frozen
from metalda.kernels.dense import count_dense, shift_dense, sweep_dense, tables_dense
from metalda.kernels.sparse import log_likelihood_sparse, shift_sparse, sweep_sparse, tables_sparse
from metalda.meta.design import Concentration, Design
from metalda.meta.shards import Shard

Topics = NDArray[np.uint16]
Words = NDArray[np.int32]


class Tables(NamedTuple):
    """Auxiliary variables of the words of some topics, and the likelihood of these topics."""

    label_tables: NDArray[np.int64]  # sum of t'[k, v] over words with feature l
    minus_log_q: NDArray[np.float64]  # -log q'[k]
    log_likelihood: float  # log p(w | z, beta)


class TopicCounts(Protocol):
    """n[k, v] and n[k, .], and what is done with them. Changed in place."""

    @property
    def topic_totals(self) -> NDArray[np.int64]:
        """n[k, .]"""

    def sweep(self, shard: Shard, topics: Topics, alpha: Concentration, beta: Concentration, seed: np.uint64) -> Any:
        """Resample the topics of a shard in place; how many tokens moved, and log p(z | alpha)."""

    def shift(self, words: Words, before: Topics, after: Topics) -> None:
        """Move the counts of tokens from one assignment to another."""

    def draw_tables(
        self, design: Design, beta: Concentration, first: int, last: int, rng: np.random.Generator
    ) -> Tables:
        """Step 4's q'[k] and t'[k, v] for topics first … last - 1."""

    def log_likelihood(self, beta: Concentration) -> float:
        """log p(w | z, beta)"""

    def copy(self) -> TopicCounts:
        """Counts that can change on their own."""

    def to_matrix(self) -> Any:
        """A sparse array [word, topic]."""


@dataclass(frozen=True, eq=False)
class DenseCounts:
    """For a beta that differs by word: an array [word, topic]."""

    word_topic: NDArray[np.int32]
    topic_totals: NDArray[np.int64]
    word_rows: NDArray[np.int32]  # rows of beta

    @classmethod
    def count(cls, words: Words, topics: Topics, n_topics: int, design: Design) -> DenseCounts:
        counts = np.zeros((len(design.row_of), n_topics), np.int32)
        totals = np.zeros(n_topics, np.int64)
        count_dense(frozen(words, np.int32), frozen(topics, np.uint16), counts, totals)
        return cls(counts, totals, frozen(design.row_of, np.int32))

    def sweep(self, shard: Shard, topics: Topics, alpha: Concentration, beta: Concentration, seed: np.uint64) -> Any:
        return sweep_dense(
            shard.words,
            shard.offsets,
            shard.doc_rows,
            topics[shard.tokens],
            frozen(alpha.values, np.float32),
            frozen(alpha.row_sums, np.float64),
            self.word_rows,
            frozen(beta.values, np.float32),
            frozen(beta.topic_sums, np.float64),
            self.word_topic,
            self.topic_totals,
            seed,
        )

    def shift(self, words: Words, before: Topics, after: Topics) -> None:
        shift_dense(
            frozen(words, np.int32),
            frozen(before, np.uint16),
            frozen(after, np.uint16),
            self.word_topic,
            self.topic_totals,
        )

    def draw_tables(
        self, design: Design, beta: Concentration, first: int, last: int, rng: np.random.Generator
    ) -> Tables:
        label_tables = np.zeros((len(design.names), len(self.topic_totals)), np.int64)
        minus_log_q = np.zeros(len(self.topic_totals))
        log_likelihood = tables_dense(
            frozen(self.word_topic, np.int32),
            frozen(self.topic_totals, np.int64),
            self.word_rows,
            frozen(beta.values, np.float32),
            frozen(beta.topic_sums, np.float64),
            frozen(design.row_starts, np.int64),
            frozen(design.row_labels, np.int32),
            label_tables,
            minus_log_q,
            first,
            last,
            rng,
        )
        return Tables(label_tables, minus_log_q, log_likelihood)

    def log_likelihood(self, beta: Concentration) -> float:
        raise TypeError("a beta that differs by word is always learnt, and the likelihood comes with its tables")

    def copy(self) -> DenseCounts:
        return replace(self, word_topic=self.word_topic.copy(), topic_totals=self.topic_totals.copy())

    def to_matrix(self) -> Any:
        return sparse.csr_array(self.word_topic)


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """For a beta that is the same for all words: of each word a list of its topics, sorted."""

    starts: NDArray[np.int64]  # the list of word v has room from starts[v] to starts[v + 1]
    sizes: NDArray[np.int32]
    topics: NDArray[np.uint16]
    counts: NDArray[np.int32]
    topic_totals: NDArray[np.int64]

    @classmethod
    def count(cls, words: Words, topics: Topics, n_topics: int, design: Design) -> SparseCounts:
        n_words = len(design.row_of)
        room = np.minimum(np.bincount(words, minlength=n_words), n_topics)
        starts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
        matrix = sparse.coo_array((np.ones(len(words), np.int32), (words, topics)), shape=(n_words, n_topics)).tocsr()
        matrix.sort_indices()
        sizes = np.diff(matrix.indptr)
        at = np.arange(matrix.nnz) + np.repeat(starts[:-1] - matrix.indptr[:-1], sizes)
        list_topics, list_counts = np.zeros(starts[-1], np.uint16), np.zeros(starts[-1], np.int32)
        list_topics[at], list_counts[at] = matrix.indices, matrix.data
        totals = np.bincount(topics, minlength=n_topics).astype(np.int64)
        return cls(frozen(starts, np.int64), sizes.astype(np.int32), list_topics, list_counts, totals)

    def sweep(self, shard: Shard, topics: Topics, alpha: Concentration, beta: Concentration, seed: np.uint64) -> Any:
        return sweep_sparse(
            shard.words,
            shard.offsets,
            shard.doc_order,
            shard.doc_rows,
            topics[shard.tokens],
            frozen(alpha.values, np.float32),
            frozen(alpha.row_sums, np.float64),
            frozen(beta.values[0], np.float32),
            frozen(beta.topic_sums, np.float64),
            *self._lists,
            self.topic_totals,
            seed,
        )

    def shift(self, words: Words, before: Topics, after: Topics) -> None:
        tokens = frozen(words, np.int32), frozen(before, np.uint16), frozen(after, np.uint16)
        shift_sparse(*tokens, *self._lists, self.topic_totals)

    @property
    def _lists(self) -> tuple[NDArray[Any], ...]:
        return self.starts, self.sizes, self.topics, self.counts

    def draw_tables(
        self, design: Design, beta: Concentration, first: int, last: int, rng: np.random.Generator
    ) -> Tables:
        n_topics = len(self.topic_totals)
        assert (first, last) == (0, n_topics), "lists hold all topics of a word"
        topic_tables, minus_log_q = np.zeros(n_topics, np.int64), np.zeros(n_topics)
        log_likelihood = tables_sparse(*self._frozen(beta), topic_tables, minus_log_q, rng)
        return Tables(topic_tables[None], minus_log_q, log_likelihood)

    def log_likelihood(self, beta: Concentration) -> float:
        return log_likelihood_sparse(*self._frozen(beta))

    def _frozen(self, beta: Concentration) -> tuple[NDArray[Any], ...]:
        return (
            self.starts,
            frozen(self.sizes, np.int32),
            frozen(self.topics, np.uint16),
            frozen(self.counts, np.int32),
            frozen(self.topic_totals, np.int64),
            frozen(beta.values[0], np.float32),
            frozen(beta.topic_sums, np.float64),
        )

    def copy(self) -> SparseCounts:
        changing = (self.sizes, self.topics, self.counts, self.topic_totals)
        return SparseCounts(self.starts, *(array.copy() for array in changing))

    def to_matrix(self) -> Any:
        used = np.arange(len(self.topics)) < np.repeat(self.starts[:-1] + self.sizes, np.diff(self.starts))
        ends = np.concatenate([[0], np.cumsum(self.sizes)])
        shape = (len(self.sizes), len(self.topic_totals))
        return sparse.csr_array((self.counts[used], self.topics[used].astype(np.int32), ends), shape=shape)


def counts_for(words: Words, topics: Topics, n_topics: int, word_design: Design) -> TopicCounts:
    """Count topics from scratch, in the form that suits the words' prior."""
    if word_design.n_rows == 1:
        return SparseCounts.count(words, topics, n_topics, word_design)
    return DenseCounts.count(words, topics, n_topics, word_design)
