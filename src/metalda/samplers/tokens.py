"""A topic for every token: the sampler of LDA, MetaLDA, and all that differ from them in their priors alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from metalda.kernels.tokens import sweep_by_word, sweep_shared
from metalda.meta.design import Concentration
from metalda.samplers.base import Arrays, Assignment, Problem, Run, Sampler
from metalda.samplers.counts import TopicCounts, Topics
from metalda.samplers.sharding import make_scratch, sweep_shards


class Tokens(Sampler):
    """Every token is drawn by itself, given all others."""

    kernels: ClassVar[tuple[Any, ...]] = (sweep_shared, sweep_by_word)

    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """A uniformly random topic for every token, among those that its document may have."""
        prior = problem.doc_prior
        allowed = prior.alpha(prior.start_weights(problem.n_topics)).values > 0
        if allowed.all():
            topics = rng.integers(0, problem.n_topics, len(problem.words), dtype=np.uint16)
            return TokenAssignment(problem, topics, n_threads)
        rows = np.repeat(prior.design.row_of, np.diff(problem.offsets))
        sizes, choices = allowed.sum(axis=1), np.nonzero(allowed)[1].astype(np.uint16)
        chosen = (rng.random(len(rows)) * sizes[rows]).astype(np.int64)
        return TokenAssignment(problem, choices[(np.cumsum(sizes) - sizes)[rows] + chosen], n_threads)

    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        topics = arrays["topics"].copy()
        if len(topics) != len(problem.words):
            raise ValueError("the number of tokens differs")
        return TokenAssignment(problem, topics, n_threads)


class TokenAssignment(Assignment):
    """Topics of tokens, with the counts by word as lists."""

    def __init__(self, problem: Problem, topics: Topics, n_threads: int) -> None:
        self.problem = problem
        self.topics = topics
        self.counts = TopicCounts.count(problem.words, topics, problem.n_topics, problem.word_prior.design)
        self._scratch = make_scratch(self.counts, len(problem.shards), n_threads)

    def sweep(
        self,
        alpha: Concentration,
        beta: Concentration,
        rngs: Sequence[np.random.Generator],
        run: Run,
        n_sweeps: int,
    ) -> tuple[int, float]:
        shards = self.problem.shards
        seeds = [rng.integers(2**64, dtype=np.uint64) for rng in rngs]

        def sweep_shard(s: int, counts: TopicCounts) -> tuple[int, float]:
            return counts.sweep(shards[s], self.topics, alpha, beta, seeds[s])

        results = sweep_shards(self.counts, self._scratch, len(shards), sweep_shard, run)
        log_likelihood = sum(each for _, each in results) + self.counts.log_likelihood(beta)
        return sum(moved for moved, _ in results), log_likelihood
