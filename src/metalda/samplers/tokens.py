"""A topic for every token: the sampler of LDA, MetaLDA and every model that differs from them only in its priors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.errors import StorageError
from metalda.kernels.border import Kernel
from metalda.kernels.tokens import sweep_by_word, sweep_shared
from metalda.priors import Alpha, Beta
from metalda.samplers.base import Assignment, Problem, Sampler, check_topics
from metalda.samplers.counts import TopicCounts, Topics
from metalda.samplers.shards import Shard, cut_blocks
from metalda.utils.checks import Arrays, check_keys
from metalda.utils.chunks import spans
from metalda.utils.threads import RunEach

FOLLOWING = 0.5  # share of tokens that start in the topic of a word of their document with favored topics


class Tokens(Sampler):
    """Draws every token separately, given all others."""

    kernels: ClassVar[tuple[Kernel, ...]] = (sweep_shared, sweep_by_word)

    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """Return an assignment with random topics, among those that each document may have.

        Words that the prior of words starts in some topics, such as seed words, get one of these, and half of the other
        tokens of their documents follow one of them.
        """
        topics = self._draw_topics(problem, rng)
        favored = problem.word_prior.start_topics(problem.n_topics)
        if favored is not None:
            _start_in(favored, problem, topics, rng)
        return TokenAssignment(problem, topics)

    def _draw_topics(self, problem: Problem, rng: np.random.Generator) -> Topics:
        """Return uniformly random topics, among those that each document may have."""
        prior = problem.doc_prior
        allowed = prior.alpha(prior.start_weights(problem.n_topics)).values > 0
        if allowed.all():
            return rng.integers(0, problem.n_topics, len(problem.words), dtype=np.uint16)
        sizes, choices = allowed.sum(axis=1), np.nonzero(allowed)[1].astype(np.uint16)
        starts = np.cumsum(sizes) - sizes
        topics = np.empty(len(problem.words), np.uint16)
        for first, last in spans(problem.offsets):
            offsets = problem.offsets[first : last + 1]
            rows = np.repeat(prior.design.row_of[first:last], np.diff(offsets))
            chosen = (rng.random(len(rows)) * sizes[rows]).astype(np.int64)
            topics[offsets[0] : offsets[-1]] = choices[starts[rows] + chosen]
        return topics

    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        check_keys("the assignment", arrays, ("topics",))
        check_topics(problem, arrays["topics"])
        prior, topics = problem.doc_prior, arrays["topics"].copy()
        allowed = prior.alpha(prior.start_weights(problem.n_topics)).values > 0
        if not allowed.all():
            for first, last in spans(problem.offsets):
                offsets = problem.offsets[first : last + 1]
                rows = np.repeat(prior.design.row_of[first:last], np.diff(offsets))
                if not allowed[rows, topics[offsets[0] : offsets[-1]]].all():
                    raise StorageError("topics has a topic of a label that the document does not have")
        return TokenAssignment(problem, topics)


def _start_in(favored: NDArray[np.bool_], problem: Problem, topics: Topics, rng: np.random.Generator) -> None:
    """Give tokens of words with favored topics [row, topic] one of these; half of the others of a document follow."""
    sizes, choices = favored.sum(axis=1), np.nonzero(favored)[1].astype(np.uint16)
    starts, row_of = np.cumsum(sizes) - sizes, problem.word_prior.design.row_of
    for first, last in spans(problem.offsets):
        offsets = problem.offsets[first : last + 1]
        tokens = slice(offsets[0], offsets[-1])
        rows = row_of[problem.words[tokens]]
        chosen = starts[rows] + (rng.random(len(rows)) * sizes[rows]).astype(np.int64)
        is_favored = sizes[rows] > 0
        led_by = np.concatenate([[0], np.cumsum(is_favored)])[offsets - offsets[0]]  # favored tokens before a document
        leaders = choices[chosen[is_favored]]
        n_leaders = np.repeat(np.diff(led_by), np.diff(offsets))
        leader = np.repeat(led_by[:-1], np.diff(offsets)) + (rng.random(len(rows)) * n_leaders).astype(np.int64)
        follows = ~is_favored & (n_leaders > 0) & (rng.random(len(rows)) < FOLLOWING)
        own = topics[tokens]
        own[is_favored], own[follows] = leaders, leaders[leader[follows]]


class Turn(NamedTuple):
    """The outcome of a turn for some shards."""

    change: NDArray[np.int64]  # of n[k, .], by all of them
    n_moved: int
    log_likelihoods: list[float]  # of every shard, log p(z | alpha) after the last turn; 0 before


class Share:
    """Consecutive shards in one process, with their topics and the counts of the word groups that they hold.

    A sweep has as many turns as there are shards and word groups. In each turn every shard has one group exclusively,
    so no two shards change the same n[k, v]. Only n[k, .] keeps its values from before the turn. Shards may therefore
    be on different machines, if each gets a group's counts from the shard that had the group in the previous turn.
    """

    def __init__(
        self, shards: Sequence[Shard], first: int, groups: NDArray[np.int64], topics: Topics, counts: TopicCounts
    ) -> None:
        self.shards = shards
        self.first = first  # index of the first shard
        self.groups = groups
        self.topics = topics
        self.counts = counts
        self._blocks = [cut_blocks(shard, groups) for shard in shards]

    def group_of(self, shard: int, turn: int) -> tuple[int, int]:
        """Return the word group of a shard in a turn: first word, and end."""
        group = (shard + turn) % (len(self.groups) - 1)
        return int(self.groups[group]), int(self.groups[group + 1])

    def sweep_turn(self, turn: int, alpha: Alpha, beta: Beta, seeds: Sequence[np.uint64], run: RunEach) -> Turn:
        """Resample one block of every shard. Leaves n[k, .] unchanged and returns its change."""
        before = self.counts.topic_totals
        totals = [before.copy() for _ in self.shards]
        is_last = turn == len(self.groups) - 2  # the likelihood is that after the sweep

        def sweep_block(i: int) -> tuple[int, float]:
            block = self._blocks[i][(self.first + i + turn) % (len(self.groups) - 1)]
            return self.counts.sweep(self.shards[i], self.topics, alpha, beta, seeds[i], block, totals[i], is_last)

        moved, log_likelihoods = zip(*run(sweep_block, range(len(self.shards))), strict=True)
        return Turn(sum((each - before for each in totals), np.zeros_like(before)), sum(moved), list(log_likelihoods))

    def of_words(self, turn: int, beta: Beta, run: RunEach) -> list[float]:
        """Return the log-likelihood terms of the word group of every shard, after a turn."""
        groups = [self.group_of(self.first + i, turn) for i in range(len(self.shards))]
        return list(run(lambda group: self.counts.of_words(beta, *group), groups))


class TokenAssignment(Assignment):
    """Topics of tokens, with all shards in this process."""

    def __init__(self, problem: Problem, topics: Topics) -> None:
        self.problem = problem
        self.topics = topics
        design = problem.word_prior.design
        self.counts = TopicCounts.count(problem.words, topics, problem.n_topics, design, problem.n_groups)
        self._share = Share(problem.shards, 0, problem.word_groups, topics, self.counts)

    def sweep(
        self, alpha: Alpha, beta: Beta, rngs: Sequence[np.random.Generator], run: RunEach, n_sweeps: int
    ) -> tuple[int, float]:
        n_moved, n_turns = 0, len(self.problem.shards)
        for turn in range(n_turns):
            seeds = [rng.integers(2**64, dtype=np.uint64) for rng in rngs]
            done = self._share.sweep_turn(turn, alpha, beta, seeds, run)
            self.counts.topic_totals[:] += done.change
            n_moved += done.n_moved
        of_words = self._share.of_words(n_turns - 1, beta, run)
        return n_moved, sum(done.log_likelihoods) + sum(of_words) - self.counts.of_totals(beta)
