"""The counts n[k, v] of topics by word: updates by a sweep, the likelihood, and packing for other processes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.kernels.border import frozen
from metalda.kernels.lists import (
    add_changes,
    copy_counts,
    totals_log_likelihood,
    word_log_likelihood,
    word_tables,
)
from metalda.kernels.tokens import sweep_by_word, sweep_shared
from metalda.meta.design import Design
from metalda.priors import Alpha, Beta
from metalda.priors.loglinear import WordTables
from metalda.samplers.shards import Block, Shard
from metalda.utils.chunks import slices, tally

Topics = NDArray[np.uint16]
Words = NDArray[np.int32]


class PackedCounts(NamedTuple):
    """The lists of some words without their unused capacity."""

    sizes: NDArray[np.int32]
    topics: NDArray[np.uint16]
    counts: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)


@dataclass(frozen=True, eq=False)
class TopicCounts:
    """n[k, v] as a sorted list of topics for every word, and n[k, .]. Changed in place.

    With several groups of documents, word v of group g has the list ``v * n_groups + g``; the totals are n[g, k, .].
    """

    starts: NDArray[np.int64]  # the list of word v has capacity from starts[v] to starts[v + 1]
    sizes: NDArray[np.int32]
    topics: NDArray[np.uint16]
    counts: NDArray[np.int32]
    topic_totals: NDArray[np.int64]
    design: Design  # of the words: the row of beta of each
    n_groups: int = 1

    @classmethod
    def count(cls, words: Words, topics: Topics, n_topics: int, design: Design, n_groups: int = 1) -> TopicCounts:
        """Count the topics of all tokens."""
        n_words = len(design.row_of)
        room = np.minimum(tally(words, n_words), n_topics)
        starts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
        matrix = sparse.csr_array((n_words, n_topics), dtype=np.int32)
        for some in slices(len(words)):
            cells = np.ones(len(words[some]), np.int32), (words[some], topics[some])
            matrix = matrix + sparse.coo_array(cells, shape=matrix.shape).tocsr()
        matrix.sort_indices()
        sizes = np.diff(matrix.indptr)
        at = np.arange(matrix.nnz) + np.repeat(starts[:-1] - matrix.indptr[:-1], sizes)
        list_topics, list_counts = np.zeros(starts[-1], np.uint16), np.zeros(starts[-1], np.int32)
        list_topics[at], list_counts[at] = matrix.indices, matrix.data
        totals = tally(topics, n_topics)
        if n_groups > 1:
            totals = np.stack([np.asarray(matrix[g::n_groups].sum(axis=0), np.int64) for g in range(n_groups)])
        return cls(frozen(starts, np.int64), sizes.astype(np.int32), list_topics, list_counts, totals, design, n_groups)

    @property
    def n_topics(self) -> int:
        return int(self.topic_totals.shape[-1])

    def sweep(
        self,
        shard: Shard,
        topics: Topics,
        alpha: Alpha,
        beta: Beta,
        seed: np.uint64,
        block: Block | None = None,
        topic_totals: NDArray[np.int64] | None = None,
        with_likelihood: bool = True,
    ) -> tuple[int, float]:
        """Resample the topics of a shard, or of one block, in place; returns how many moved, and log p(z | alpha).

        With a block, only the lists of its words change. `topic_totals` is updated instead of ``self.topic_totals``.
        The likelihood is 0 without `with_likelihood`.
        """
        block = block or Block(shard.offsets[:-1], shard.offsets[1:])
        totals = self.topic_totals if topic_totals is None else topic_totals
        if self.n_groups == 1:
            return self._sweep(shard, shard.doc_order, topics, alpha, beta, seed, block, totals, with_likelihood)
        n_moved, log_likelihood = 0, 0.0
        seeds = np.random.default_rng(int(seed)).integers(2**64, size=self.n_groups, dtype=np.uint64)
        for own, order, of_group in zip(seeds, shard.orders_by_group(self.n_groups), totals, strict=True):
            moved, of_topics = self._sweep(shard, order, topics, alpha, beta, own, block, of_group, with_likelihood)
            n_moved += moved
            log_likelihood += of_topics
        return n_moved, log_likelihood

    def _sweep(
        self,
        shard: Shard,
        doc_order: NDArray[np.int64],
        topics: Topics,
        alpha: Alpha,
        beta: Beta,
        seed: np.uint64,
        block: Block,
        topic_totals: NDArray[np.int64],
        with_likelihood: bool,
    ) -> tuple[int, float]:
        """Resample the topics of some documents of a block."""
        documents = (
            shard.words,
            shard.offsets,
            *block,
            doc_order,
            shard.doc_rows,
            topics[shard.tokens],
            frozen(alpha.values, np.float32),
            frozen(alpha.row_sums, np.float64),
        )
        values, sums = frozen(beta.values, np.float32), frozen(beta.rescaled_sums, np.float64)
        counts = (*self._lists, topic_totals, with_likelihood, seed)
        if self.design.n_rows == 1:
            moved, log_likelihood = sweep_shared(*documents, values[0], sums, *counts)
        else:
            word_rows = frozen(self.design.row_of, np.int32)
            moved, log_likelihood = sweep_by_word(*documents, word_rows, values, sums, *counts)
        return int(moved), float(log_likelihood)

    def add_changes(self, old: TopicCounts, new: TopicCounts) -> None:
        """Add the difference between two states of the counts."""
        add_changes(
            self.starts, *old._as_input, *new._as_input, self.sizes, self.topics, self.counts, self.topic_totals
        )

    def copy_from(self, other: TopicCounts) -> None:
        """Copy the counts of another object."""
        copy_counts(self.starts, *other._as_input, self.sizes, self.topics, self.counts, self.topic_totals)

    def draw_tables(self, beta: Beta, first: int, last: int, rng: np.random.Generator) -> WordTables:
        """Draw q'[k] and t'[k, v] of step 4 for topics first … last - 1."""
        n_topics = self.n_topics
        drawn = WordTables(np.zeros((len(self.design.names), n_topics)), np.zeros(n_topics))
        rows = (
            frozen(self.design.row_starts, np.int64),
            frozen(self.design.row_labels, np.int32),
            frozen(self.design.row_values, np.float64),
        )
        values, sums = frozen(beta.values, np.float32), frozen(beta.topic_sums, np.float64)
        word_rows = frozen(self.design.row_of, np.int32)
        word_tables(self.starts, *self._as_input, word_rows, values, sums, *rows, *drawn, first, last, rng)
        return drawn

    def log_likelihood(self, beta: Beta) -> float:
        """Return log p(w | z, beta)."""
        return self.of_words(beta, 0, len(self.sizes)) - self.of_totals(beta)

    def of_words(self, beta: Beta, first: int, last: int) -> float:
        """Return the log-likelihood terms of words first … last - 1."""
        rows, values = frozen(self.design.row_of, np.int32), frozen(beta.values, np.float32)
        return float(word_log_likelihood(self.starts, *self._as_input[:3], rows, values, first, last))

    def of_totals(self, beta: Beta) -> float:
        """Return the log-likelihood terms of the topic totals, which are subtracted."""
        sums = frozen(beta.rescaled_sums, np.float64)
        by_group = frozen(np.atleast_2d(self.topic_totals), np.int64)
        return sum(float(totals_log_likelihood(totals, sums)) for totals in by_group)

    def pack(self, first: int, last: int) -> PackedCounts:
        """Return the lists of words first … last - 1, packed for another process."""
        room, sizes = slice(self.starts[first], self.starts[last]), self.sizes[first:last]
        used = self._used(first, last)
        return PackedCounts(sizes.copy(), self.topics[room][used], self.counts[room][used])

    def unpack(self, first: int, last: int, packed: PackedCounts) -> None:
        """Store packed lists of words first … last - 1."""
        self.sizes[first:last] = packed.sizes
        room, used = slice(self.starts[first], self.starts[last]), self._used(first, last)
        self.topics[room][used], self.counts[room][used] = packed.topics, packed.counts

    def _used(self, first: int, last: int) -> NDArray[np.bool_]:
        """Return a mask of the used entries in the lists of words first … last - 1."""
        starts = self.starts[first : last + 1]
        return np.arange(starts[0], starts[-1]) < np.repeat(starts[:-1] + self.sizes[first:last], np.diff(starts))

    def copy(self) -> TopicCounts:
        """Return an independent copy."""
        names = ("sizes", "topics", "counts", "topic_totals")
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    def to_matrix(self) -> sparse.csr_array:
        """Return a sparse array [word, topic]."""
        used = self._used(0, len(self.sizes))
        ends = np.concatenate([[0], np.cumsum(self.sizes)])
        shape = (len(self.sizes), self.n_topics)
        return sparse.csr_array((self.counts[used], self.topics[used].astype(np.int32), ends), shape=shape)

    @property
    def _lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Topics, NDArray[np.int32]]:
        return self.starts, self.sizes, self.topics, self.counts

    @property
    def _as_input(self) -> tuple[NDArray[np.int32], Topics, NDArray[np.int32], NDArray[np.int64]]:
        """Return lists and totals as read-only arrays for kernels."""
        return (
            frozen(self.sizes, np.int32),
            frozen(self.topics, np.uint16),
            frozen(self.counts, np.int32),
            frozen(self.topic_totals, np.int64),
        )
