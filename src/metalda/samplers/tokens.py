"""A topic for every token: the sampler of LDA, MetaLDA, and all that differ from them in their priors alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from metalda.kernels.tokens import sweep_by_word, sweep_shared
from metalda.meta.design import Concentration
from metalda.meta.shards import cut_blocks
from metalda.samplers.base import Arrays, Assignment, Problem, Run, Sampler
from metalda.samplers.counts import TopicCounts, Topics


class Tokens(Sampler):
    """Every token is drawn by itself, given all others."""

    kernels: ClassVar[tuple[Any, ...]] = (sweep_shared, sweep_by_word)

    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """A uniformly random topic for every token, among those that its document may have."""
        prior = problem.doc_prior
        allowed = prior.alpha(prior.start_weights(problem.n_topics)).values > 0
        if allowed.all():
            topics = rng.integers(0, problem.n_topics, len(problem.words), dtype=np.uint16)
            return TokenAssignment(problem, topics)
        rows = np.repeat(prior.design.row_of, np.diff(problem.offsets))
        sizes, choices = allowed.sum(axis=1), np.nonzero(allowed)[1].astype(np.uint16)
        chosen = (rng.random(len(rows)) * sizes[rows]).astype(np.int64)
        return TokenAssignment(problem, choices[(np.cumsum(sizes) - sizes)[rows] + chosen])

    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        topics = arrays["topics"].copy()
        if len(topics) != len(problem.words):
            raise ValueError("the number of tokens differs")
        return TokenAssignment(problem, topics)


class TokenAssignment(Assignment):
    """Topics of tokens, with the counts by word as lists.

    With several shards there are as many groups of words, and a sweep has as many rounds: in each, every shard has
    a group for itself, so that no two touch the same counts n[k, v]. Only n[k, .] is that before the round.
    """

    def __init__(self, problem: Problem, topics: Topics) -> None:
        self.problem = problem
        self.topics = topics
        self.counts = TopicCounts.count(problem.words, topics, problem.n_topics, problem.word_prior.design)
        self._blocks = [cut_blocks(shard, problem.word_groups) for shard in problem.shards]

    def sweep(
        self,
        alpha: Concentration,
        beta: Concentration,
        rngs: Sequence[np.random.Generator],
        run: Run,
        n_sweeps: int,
    ) -> tuple[int, float]:
        shards, counts = self.problem.shards, self.counts
        n_moved, log_likelihood = 0, 0.0
        for turn in range(len(shards)):
            seeds = [rng.integers(2**64, dtype=np.uint64) for rng in rngs]
            before = counts.topic_totals.copy()
            totals = [before.copy() for _ in shards]

            def sweep_block(s: int) -> tuple[int, float]:
                block = self._blocks[s][(s + turn) % len(shards)]  # noqa: B023
                return counts.sweep(shards[s], self.topics, alpha, beta, seeds[s], block, totals[s])  # noqa: B023

            results = list(run(sweep_block, range(len(shards))))
            for each in totals:
                counts.topic_totals[:] += each - before
            n_moved += sum(moved for moved, _ in results)
            log_likelihood = sum(each for _, each in results)  # after the last turn, that of all tokens
        return n_moved, log_likelihood + counts.log_likelihood(beta)
