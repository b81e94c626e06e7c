"""What a sampler is: how topics are assigned to tokens, whatever the priors are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from metalda.meta.design import Concentration
from metalda.meta.shards import Shard, group_words
from metalda.priors import LearnsFromDocuments, LogLinear
from metalda.samplers.counts import TopicCounts, Topics
from metalda.samplers.draws import Draw
from metalda.utils.chunks import tally

# Runs a function on every item and gives the results in order: the built-in map, or that of a pool of threads.
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be sampled: tokens, the two priors, how topics are assigned, and how documents are cut into shards."""

    words: NDArray[np.int32]  # those of a document in the order of their groups, if there are several shards
    offsets: NDArray[np.int64]
    n_words: int
    n_topics: int
    doc_prior: LogLinear
    word_prior: LogLinear
    sampler: Sampler
    shard_bounds: NDArray[np.int64]  # shard s: documents shard_bounds[s] … shard_bounds[s + 1] - 1
    source: NDArray[np.int32] | None = None  # the words in the order of the corpus, if there is one

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        rows, bounds = self.doc_prior.design.row_of, self.shard_bounds
        return tuple(Shard.cut(self.words, self.offsets, rows, a, b) for a, b in pairwise(bounds))

    @cached_property
    def n_cells(self) -> int:
        """How many of n[k, v] can be other than 0."""
        return int(np.minimum(tally(self.words, self.n_words), self.n_topics).sum())

    @cached_property
    def word_groups(self) -> NDArray[np.int64]:
        """As many groups of words as there are shards: where each begins, and where the last ends."""
        return group_words(self.words, self.n_words, len(self.shards))

    @cached_property
    def stripes(self) -> tuple[tuple[int, int], ...]:
        """Topics whose weights are drawn together: wide enough for long vectors, and enough for some threads."""
        n_stripes, n_rows = 1, max(self.doc_prior.design.n_rows, self.word_prior.design.n_rows)
        while n_rows > 1 and n_stripes < 8 and self.n_topics >= 128 * n_stripes:
            n_stripes *= 2
        bounds = [self.n_topics * i // n_stripes for i in range(n_stripes + 1)]
        return tuple(pairwise(bounds))


class Sampler(ABC):
    """Makes assignments: at random, or from the arrays of a checkpoint."""

    kernels: ClassVar[tuple[Any, ...]]  # what a sweep runs, and the first one on a machine has to compile

    @abstractmethod
    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """Topics at random."""

    @abstractmethod
    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        """The assignment that had these arrays; ValueError if they do not fit the problem."""

    @property
    def inputs(self) -> tuple[NDArray[Any], ...]:
        """What the result depends on besides documents, priors and parameters."""
        return ()

    def memory(self, problem: Problem, n_threads: int) -> int:
        """Bytes beyond those of tokens, their topics and n[k, v]."""
        return 0


class Assignment(ABC):
    """Where every token stands, and the counts that this adds up to. A sweep changes it in place."""

    problem: Problem
    topics: Topics  # z, of every token
    counts: TopicCounts  # n[k, v]

    @abstractmethod
    def sweep(
        self,
        alpha: Concentration,
        beta: Concentration,
        rngs: Sequence[np.random.Generator],
        run: Run,
        n_sweeps: int,
    ) -> tuple[int, float]:
        """Assign every token anew, given the priors; how many moved, and log p(w, z | alpha, beta).

        There is a generator for every shard; `n_sweeps` were done before.
        """

    @property
    def arrays(self) -> Arrays:
        """What `Sampler.restore` needs, and a checkpoint keeps."""
        return {"topics": self.topics}

    def observe(
        self, prior: LearnsFromDocuments, alpha: Concentration, rngs: Sequence[np.random.Generator], run: Run
    ) -> list[tuple[Any, ...]]:
        """What a prior of documents learns from, of every shard."""
        shards = self.problem.shards
        return list(
            run(lambda s: prior.observe(shards[s], self.topics[shards[s].tokens], alpha, rngs[s]), range(len(shards)))
        )

    def keep(self, alpha: Concentration, beta: Concentration) -> Draw:
        """What is kept of this state."""
        sizes = self.problem.doc_prior.design.row_sizes
        return Draw(
            alpha.log_weights.copy(),
            beta.log_weights.copy(),
            sizes @ alpha.values.astype(np.float64) / sizes.sum(),
            self.counts.topic_totals.copy(),
            self.counts.topic_totals + beta.lifted_sums,
            self.counts.to_matrix(),
        )

    def add_theta(self, alpha: Concentration, total: NDArray[np.float32]) -> None:
        """Add (alpha[d, k] + m[d, k]) / (alpha[d, .] + N[d]) of this state, some documents at a time."""
        rows, offsets = self.problem.doc_prior.design.row_of, self.problem.offsets
        for first in range(0, len(total), 4096):
            last = min(first + 4096, len(total))
            documents = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
            theta = alpha.values[rows[first:last]]
            np.add.at(theta, (documents, self.topics[offsets[first] : offsets[last]]), np.float32(1))
            total[first:last] += theta / theta.sum(axis=1, keepdims=True)
