"""The interface of samplers: how topics are assigned to tokens, for any priors.

A `Problem` is the posterior to sample from. A `Sampler` starts an `Assignment`, which a sweep changes in place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import Kernel
from metalda.priors import Alpha, Beta, LearnsFromDocuments, LogLinear
from metalda.priors.loglinear import Statistics
from metalda.samplers.counts import TopicCounts, Topics
from metalda.samplers.draws import Draw, no_extra
from metalda.samplers.shards import Shard, group_words
from metalda.utils.checks import Array, Arrays, check_array, check_indices
from metalda.utils.chunks import tally
from metalda.utils.threads import RunEach


@dataclass(frozen=True, eq=False)
class Problem:
    """The posterior to sample from: tokens, two priors and a sampler, with the documents cut into shards."""

    words: NDArray[np.int32]  # sorted by word group within a document, if there are several shards
    offsets: NDArray[np.int64]
    n_words: int
    n_topics: int
    doc_prior: LogLinear
    word_prior: LogLinear
    sampler: Sampler
    shard_bounds: NDArray[np.int64]  # shard s: documents shard_bounds[s] … shard_bounds[s + 1] - 1
    corpus_words: NDArray[np.int32] | None = None  # the words in the order of the corpus
    n_groups: int = 1  # of documents, if their words are counted by group: word v of group g is v * n_groups + g

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        rows, bounds = self.doc_prior.design.row_of, self.shard_bounds
        return tuple(Shard.cut(self.words, self.offsets, rows, a, b) for a, b in pairwise(bounds))

    @cached_property
    def n_cells(self) -> int:
        """Return the largest possible number of nonzero n[k, v]."""
        return int(np.minimum(tally(self.words, self.n_words), self.n_topics).sum())

    @cached_property
    def word_groups(self) -> NDArray[np.int64]:
        """Return the bounds of the word groups, one group per shard: the first word of each, and the end."""
        n_groups, n_shards = self.n_groups, len(self.shards)
        if n_groups > 1:
            return group_words(self.words // n_groups, self.n_words // n_groups, n_shards) * n_groups
        return group_words(self.words, self.n_words, n_shards)

    @cached_property
    def stripes(self) -> tuple[tuple[int, int], ...]:
        """Return ranges of topics whose weights are drawn together: wide enough to vectorize, enough for threads."""
        n_stripes, n_rows = 1, max(self.doc_prior.design.n_rows, self.word_prior.design.n_rows)
        while n_rows > 1 and n_stripes < 8 and self.n_topics >= 128 * n_stripes:
            n_stripes *= 2
        bounds = [self.n_topics * i // n_stripes for i in range(n_stripes + 1)]
        return tuple(pairwise(bounds))


class Sampler(ABC):
    """Creates assignments: at random, or from the arrays of a checkpoint."""

    kernels: ClassVar[tuple[Kernel, ...]]  # the kernels of a sweep, which the first run on a machine compiles

    @abstractmethod
    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """Return an assignment with random topics."""

    @abstractmethod
    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        """Return the assignment with these arrays; StorageError if they do not fit the problem."""

    def check_extra(self, extra: Arrays, n_draws: int, n_topics: int) -> None:
        """Raise StorageError unless these are the `Draw.extra` of some draws, stacked."""
        no_extra(extra, n_draws, n_topics)

    @property
    def n_wording_groups(self) -> int | None:
        """Return the number of groups of documents whose counts a draw has; None if it has those of all documents."""
        return None

    @property
    def inputs(self) -> tuple[NDArray[np.generic], ...]:
        """Return arrays that the result depends on, in addition to documents, priors and parameters."""
        return ()

    def memory(self, problem: Problem, n_threads: int) -> int:
        """Return the number of bytes needed in addition to tokens, their topics and n[k, v]."""
        return 0

    def draw_memory(self, problem: Problem) -> int:
        """Return the number of bytes of a draw in addition to weights and n[k, v]."""
        return 0


def check_topics(problem: Problem, topics: Array) -> None:
    """Raise StorageError unless there is a topic for every token."""
    check_array("topics", topics, np.uint16, problem.words.shape)
    check_indices("topics", topics, problem.n_topics)


class Assignment(ABC):
    """The topics of all tokens, and the counts that follow from them. A sweep changes both in place."""

    problem: Problem
    topics: Topics  # z, of every token
    counts: TopicCounts  # n[k, v]

    @property
    def tokens(self) -> Assignment:
        """Return the assignment that sweeps tokens: this one, unless it holds one that does."""
        return self

    def with_tokens(self, tokens: Assignment) -> Assignment:
        """Return this assignment with `tokens` in another place: on a cluster, or on this machine."""
        return tokens

    def restart(self, problem: Problem) -> Assignment:
        """Return an assignment of the same topics to the tokens of another problem, in the same place."""
        return problem.sampler.restore(problem, {"topics": self.topics}, 1)

    @abstractmethod
    def sweep(
        self, alpha: Alpha, beta: Beta, rngs: Sequence[np.random.Generator], run: RunEach, n_sweeps: int
    ) -> tuple[int, float]:
        """Resample every token, given the priors; returns how many moved, and log p(w, z | alpha, beta).

        There is one generator for each shard. `n_sweeps` is the number of earlier sweeps.
        """

    @property
    def arrays(self) -> Arrays:
        """Return the arrays that a checkpoint stores and `Sampler.restore` needs."""
        return {"topics": self.topics}

    def observe_documents(
        self, prior: LearnsFromDocuments, alpha: Alpha, rngs: Sequence[np.random.Generator], run: RunEach
    ) -> list[Statistics]:
        """Return the statistics of every shard, from which the prior of documents learns."""
        shards = self.problem.shards

        def observe(s: int) -> Statistics:
            return prior.observe_documents(shards[s].assign(self.topics), alpha, rngs[s])

        return list(run(observe, range(len(shards))))

    def keep(self, alpha: Alpha, beta: Beta) -> Draw:
        """Return this state as a draw."""
        sizes = self.problem.doc_prior.design.row_sizes
        return Draw(
            alpha.log_weights.copy(),
            beta.log_weights.copy(),
            sizes @ alpha.values.astype(np.float64) / sizes.sum(),
            self.counts.topic_totals.copy(),
            self.counts.topic_totals + beta.rescaled_sums,
            self.counts.to_matrix(),
        )

    def add_theta(self, alpha: Alpha, total: NDArray[np.float32]) -> None:
        """Add (alpha[d, k] + m[d, k]) / (alpha[d, .] + N[d]) of this state to `total`."""
        rows, offsets = self.problem.doc_prior.design.row_of, self.problem.offsets
        for first in range(0, len(total), 4096):
            last = min(first + 4096, len(total))
            documents = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
            theta = alpha.values[rows[first:last]]
            np.add.at(theta, (documents, self.topics[offsets[first] : offsets[last]]), np.float32(1))
            total[first:last] += theta / theta.sum(axis=1, keepdims=True)
