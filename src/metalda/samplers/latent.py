"""Tokens that come from counts or from the vectors of words: the sampler of LF-LDA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from metalda.kernels.border import frozen
from metalda.kernels.latent import (
    BY_COUNTS,
    BY_VECTORS,
    NO_VECTOR,
    counts_log_likelihood,
    softmax_log_likelihood,
    sweep_latent,
)
from metalda.meta.design import Concentration
from metalda.samplers.base import Arrays, Assignment, Problem, Run, Sampler
from metalda.samplers.counts import TopicCounts, Topics, Words
from metalda.samplers.draws import Draw
from metalda.samplers.sharding import ArrayCounts, count_scratch, make_scratch, sweep_shards
from metalda.samplers.topic_vectors import WordVectors

Kinds = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class LatentFeatures(Sampler):
    """Tokens are drawn with their kind; after the initial sweeps, vectors of topics are fitted before each."""

    vectors: NDArray[np.float32]  # of the words that have one
    has_vector: NDArray[np.bool_]  # of every word
    weight: float  # how probable it is that a token comes from vectors
    initial_sweeps: int
    regularization: float

    kernels: ClassVar[tuple[Any, ...]] = (sweep_latent,)

    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """A random topic for every token, and a random kind for those that have a vector."""
        topics = rng.integers(0, problem.n_topics, len(problem.words), dtype=np.uint16)
        kinds = (rng.random(len(topics)) < self.weight) & self.has_vector[problem.words]
        topic_vectors = np.zeros((problem.n_topics, self.vectors.shape[1]), np.float32)
        return LatentAssignment(problem, self, topics, kinds.astype(np.uint8), topic_vectors, n_threads)

    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        topics, kinds, topic_vectors = (arrays[name].copy() for name in ("topics", "kinds", "topic_vectors"))
        if not len(topics) == len(kinds) == len(problem.words):
            raise ValueError("the number of tokens differs")
        if topic_vectors.shape != (problem.n_topics, self.vectors.shape[1]):
            raise ValueError("the vectors of topics have another shape")
        return LatentAssignment(problem, self, topics, kinds, topic_vectors, n_threads)

    @property
    def inputs(self) -> tuple[NDArray[Any], ...]:
        return self.vectors, self.has_vector

    def memory(self, problem: Problem, n_threads: int) -> int:
        n_copies = 1 + count_scratch(len(problem.shards), n_threads)
        cells = problem.n_words * problem.n_topics
        return 8 * cells * n_copies + 12 * cells  # n0 and n1; the softmax, and two more of its size while it is fitted

    @cached_property
    def words(self) -> WordVectors:
        return WordVectors(self.vectors)

    @cached_property
    def vector_rows(self) -> NDArray[np.int32]:
        """The row of every word in the softmax."""
        return frozen(np.where(self.has_vector, np.cumsum(self.has_vector), NO_VECTOR), np.int32)

    def fit(self, latent_counts: NDArray[np.int32], start: NDArray[np.float32]) -> NDArray[np.float32]:
        """The best vectors of topics for n1."""
        return self.words.fit(latent_counts[self.has_vector], start, self.regularization)

    def tabulate(self, topic_vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """weight * softmax[row, k]"""
        table = np.zeros((1 + len(self.vectors), len(topic_vectors)), np.float32)
        np.multiply(self.words.softmax(topic_vectors), np.float32(self.weight), out=table[1:])
        return table


class LatentAssignment(Assignment):
    """Topics and kinds of tokens, n0 and n1 as plain arrays, and the vectors of topics."""

    def __init__(
        self,
        problem: Problem,
        sampler: LatentFeatures,
        topics: Topics,
        kinds: Kinds,
        topic_vectors: NDArray[np.float32],
        n_threads: int,
    ) -> None:
        self.problem = problem
        self.sampler = sampler
        self.topics = topics
        self.kinds = kinds
        self.topic_vectors = topic_vectors
        self.kind_counts = count_kinds(problem.words, topics, kinds, problem.n_words, problem.n_topics)
        self._scratch = make_scratch(self.kind_counts, len(problem.shards), n_threads)

    @property
    def arrays(self) -> Arrays:
        return {"topics": self.topics, "kinds": self.kinds, "topic_vectors": self.topic_vectors}

    def sweep(
        self,
        alpha: Concentration,
        beta: Concentration,
        rngs: Sequence[np.random.Generator],
        run: Run,
        n_sweeps: int,
    ) -> tuple[int, float]:
        """Vectors of topics, unless it is an initial sweep; then every token.

        The log-likelihood is log p(w, z, s | alpha, beta, tau), in the initial sweeps without tau.
        """
        sampler, shards = self.sampler, self.problem.shards
        joint = n_sweeps >= sampler.initial_sweeps
        softmax = np.zeros((1, self.problem.n_topics), np.float32)
        if joint:
            self.topic_vectors = sampler.fit(self.kind_counts.arrays[0][BY_VECTORS], self.topic_vectors)
            softmax = sampler.tabulate(self.topic_vectors)
        seeds = [rng.integers(2**64, dtype=np.uint64) for rng in rngs]
        each_beta = float(beta.values[0, 0])
        masses = frozen(each_beta * np.array([self.problem.n_words, len(sampler.vectors)]), np.float64)
        shares = frozen([1 - sampler.weight, sampler.weight], np.float64)

        def sweep_shard(s: int, counts: ArrayCounts) -> tuple[int, float]:
            shard = shards[s]
            return sweep_latent(
                shard.words,
                shard.offsets,
                shard.doc_order,
                shard.doc_rows,
                self.topics[shard.tokens],
                self.kinds[shard.tokens],
                frozen(alpha.values, np.float32),
                frozen(alpha.row_sums, np.float64),
                each_beta,
                masses,
                shares,
                sampler.vector_rows,
                frozen(softmax, np.float32),
                joint,
                *counts.arrays,
                seeds[s],
            )

        results = sweep_shards(self.kind_counts, self._scratch, len(shards), sweep_shard, run)
        of_words = self._log_likelihood(each_beta, masses, shares, softmax, joint)
        return sum(moved for moved, _ in results), sum(of_topics for _, of_topics in results) + of_words

    def _log_likelihood(self, beta: float, masses: Any, shares: Any, softmax: Any, joint: bool) -> float:
        """log p(w, s | z)"""
        counts, totals = (frozen(array, array.dtype) for array in self.kind_counts.arrays)
        n_tokens = totals.sum(axis=1)
        found = float(xlogy(n_tokens[BY_COUNTS], shares[BY_COUNTS]))
        found += counts_log_likelihood(counts[BY_COUNTS], totals[BY_COUNTS], beta, masses[BY_COUNTS])
        if joint:
            rows, table = self.sampler.vector_rows, frozen(softmax, np.float32)
            return found + softmax_log_likelihood(counts[BY_VECTORS], rows, table)
        found += float(xlogy(n_tokens[BY_VECTORS], shares[BY_VECTORS]))
        return found + counts_log_likelihood(counts[BY_VECTORS], totals[BY_VECTORS], beta, masses[BY_VECTORS])

    @property
    def counts(self) -> TopicCounts:  # type: ignore[override]
        """n0 as lists, which are made for a draw only."""
        which = self.kinds == BY_COUNTS
        design = self.problem.word_prior.design
        return TopicCounts.count(self.problem.words[which], self.topics[which], self.problem.n_topics, design)

    def keep(self, alpha: Concentration, beta: Concentration) -> Draw:
        """n0, how many tokens of both kinds topics have, and the vectors of topics.

        A draw from the initial sweeps, where there are no vectors of topics, gets the best ones for its n1.
        """
        draw = super().keep(alpha, beta)
        counts, totals = self.kind_counts.arrays
        vectors = self.topic_vectors
        if not vectors.any():
            vectors = self.sampler.fit(counts[BY_VECTORS], vectors)
        return replace(draw, topic_totals=totals.sum(axis=0), extra={"topic_vectors": vectors.copy()})


def count_kinds(words: Words, topics: Topics, kinds: Kinds, n_words: int, n_topics: int) -> ArrayCounts:
    """n0 and n1 [kind, word, topic], and their sums over words."""
    cells = (kinds.astype(np.int64) * n_words + words) * n_topics + topics
    counts = np.bincount(cells, minlength=2 * n_words * n_topics).astype(np.int32).reshape(2, n_words, n_topics)
    return ArrayCounts((counts, counts.sum(axis=1, dtype=np.int64)))


def mean_softmax(
    draws: Sequence[Draw], vectors: NDArray[np.float32], has_vector: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """softmax[word, k] averaged over draws: 0 for words without a vector, and one distribution over the others."""
    total = np.zeros((len(has_vector), len(draws[0].mean_alpha)), np.float32)
    words = WordVectors(vectors[has_vector])
    for draw in draws:
        total[has_vector] += words.softmax(draw.extra["topic_vectors"])
    return total / np.float32(len(draws))


def mean_softmax_alone(
    draws: Sequence[Draw], seen: NDArray[np.float32], unseen: NDArray[np.float32]
) -> NDArray[np.float32]:
    """softmax[word, k] of unseen words averaged over draws, each as if it had joined the seen ones by itself."""
    total = np.zeros((len(unseen), len(draws[0].mean_alpha)))
    words = WordVectors(seen)
    for draw in draws:
        topic_vectors = draw.extra["topic_vectors"]
        normaliser = words.log_normaliser(topic_vectors)
        for u, vector in enumerate(unseen):  # one by one: a product of matrices would round by their number
            total[u] += expit((topic_vectors @ vector) - normaliser)
    return (total / len(draws)).astype(np.float32)
