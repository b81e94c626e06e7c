"""A topic for every document: the sampler of DMM, and of GPU-DMM, in which words promote similar words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.errors import StorageError
from metalda.kernels.border import Kernel, frozen
from metalda.kernels.urn import (
    ROOM,
    Neighbors,
    Texts,
    UrnCounts,
    UrnPriors,
    count_repeats,
    promotion_chances,
    sweep_documents,
    urn_log_likelihood,
    weigh_new_documents,
)
from metalda.priors import Alpha, Beta
from metalda.samplers.base import Assignment, Problem, Sampler, check_topics
from metalda.samplers.counts import Topics
from metalda.samplers.draws import Draw
from metalda.samplers.folding import Documents, fill_rows
from metalda.samplers.shards import ArrayCounts, count_scratch, make_scratch, sweep_shards
from metalda.utils.checks import Arrays, check_array, check_keys, check_range
from metalda.utils.threads import RunEach

_SAFE_BITS = 500  # of a product, so that the quotient of two products fits into float64


@dataclass(frozen=True, eq=False)
class Urn(Sampler):
    """Draws every document separately, given all others. The priors are equal for all documents and for all words.

    A token whose word has neighbors promotes them with some probability. A promoted word gains `promotion` in the
    topic. Without neighbors this is DMM.
    """

    neighbors: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None  # starts by word, and indices
    promotion: float = 0.0

    kernels: ClassVar[tuple[Kernel, ...]] = (sweep_documents,)

    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """Return an assignment with a uniformly random topic for every document, without promotions."""
        lengths = np.diff(problem.offsets)
        topics = np.repeat(rng.integers(0, problem.n_topics, len(lengths), dtype=np.uint16), lengths)
        promoted = np.zeros(len(topics) if self._promotes else 0, np.uint8)
        return UrnAssignment(problem, self, topics, promoted, n_threads)

    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        names = ("topics", "promoted")
        check_keys("the assignment", arrays, names)
        topics, promoted = (arrays[name].copy() for name in names)
        check_topics(problem, topics)
        check_array("promoted", promoted, np.uint8, (len(topics) if self._promotes else 0,))
        check_range("promoted", promoted, 0, 1)
        lengths = np.diff(problem.offsets)
        if (np.repeat(topics[problem.offsets[:-1][lengths > 0]], lengths[lengths > 0]) != topics).any():
            raise StorageError("topics must be equal for all tokens of a document")
        return UrnAssignment(problem, self, topics, promoted, n_threads)

    @property
    def _promotes(self) -> bool:
        return self.neighbors is not None and len(self.neighbors[1]) > 0

    @property
    def inputs(self) -> tuple[NDArray[np.generic], ...]:
        return self.neighbors or ()

    def memory(self, problem: Problem, n_threads: int) -> int:
        n_copies = 1 + count_scratch(len(problem.shards), n_threads)
        kinds = 2 * n_copies + 1 if self._promotes else n_copies  # n, r, and the chances of promotion
        return 4 * problem.n_words * problem.n_topics * kinds + 5 * len(problem.words)

    def count(self, problem: Problem, topics: Topics, promoted: NDArray[np.uint8]) -> UrnCounts:
        """Count topics and promotions of all tokens."""
        counted = [_tally(problem, topics, np.ones(len(topics), np.bool_))]
        if self._promotes:
            assert self.neighbors is not None
            starts, indices = self.neighbors
            ones = np.ones(len(indices), np.int32)
            similar = sparse.csr_array((ones, indices, starts), shape=(problem.n_words, problem.n_words))
            counted.append(similar.T @ _tally(problem, topics, promoted > 0))
        urns = np.stack([kind.toarray() for kind in counted], axis=1).astype(np.int32)
        begins = problem.offsets[:-1][np.diff(problem.offsets) > 0]  # of documents that have words
        documents = np.bincount(topics[begins], minlength=problem.n_topics)
        return UrnCounts(urns, urns.sum(axis=0, dtype=np.int64), documents.astype(np.int64))


def _tally(problem: Problem, topics: Topics, chosen: NDArray[np.bool_]) -> sparse.csr_array:
    """Count how often each word has each topic, among the chosen tokens."""
    ones, at = np.ones(int(chosen.sum()), np.int32), (problem.words[chosen], topics[chosen])
    return sparse.coo_array((ones, at), shape=(problem.n_words, problem.n_topics)).tocsr()


class UrnAssignment(Assignment):
    """Topics of documents, stored for each of their tokens, and which tokens promote the neighbors of their word."""

    def __init__(
        self, problem: Problem, sampler: Urn, topics: Topics, promoted: NDArray[np.uint8], n_threads: int
    ) -> None:
        self.problem = problem
        self.topics = topics
        self.promoted = promoted
        self.urns = ArrayCounts(sampler.count(problem, topics, promoted))
        self._promotion = float(sampler.promotion)
        starts, indices = sampler.neighbors or (np.zeros(problem.n_words + 1, np.int64), np.zeros(0, np.int32))
        so_far = np.concatenate([[0], np.cumsum(np.diff(starts)[problem.words])])  # neighbors of the tokens
        most = int(np.diff(so_far[problem.offsets]).max())
        self._neighbors = Neighbors(frozen(starts, np.int64), frozen(np.pad(indices, (0, ROOM)), np.int32), most)
        self._chances = np.ones((problem.n_words if sampler._promotes else 0, problem.n_topics), np.float32)
        self._repeats = np.empty(len(topics), np.int32)
        count_repeats(
            frozen(problem.words, np.int32), frozen(problem.offsets, np.int64), problem.n_words, self._repeats
        )
        self._scratch = make_scratch(self.urns, len(problem.shards), n_threads)

    def sweep(
        self, alpha: Alpha, beta: Beta, rngs: Sequence[np.random.Generator], run: RunEach, n_sweeps: int
    ) -> tuple[int, float]:
        """Resample every document, see `Assignment.sweep`. The likelihood is that of DMM, without promotions."""
        priors = self._priors(alpha, beta)
        seeds = [rng.integers(2**64, dtype=np.uint64) for rng in rngs]
        if len(self._chances):
            promotion_chances(self._neighbors, priors, _as_input(self._counts), self._chances)
        chances = frozen(self._chances, np.float32)

        def sweep_shard(s: int, urns: ArrayCounts) -> int:
            counts, nowhere = UrnCounts(*urns.arrays), np.empty((0, self.problem.n_topics), np.float32)
            return int(sweep_documents(self._texts(s), self._neighbors, chances, priors, counts, nowhere, seeds[s]))

        moved = sweep_shards(self.urns, self._scratch, len(seeds), sweep_shard, run)
        return sum(moved), urn_log_likelihood(priors, _as_input(self._counts))

    @property
    def arrays(self) -> Arrays:
        return {"topics": self.topics, "promoted": self.promoted}

    def keep(self, alpha: Alpha, beta: Beta) -> Draw:
        """Return the draw: the prior of a new document is alpha[k] + M[k], and c replaces n."""
        urns, totals, documents = self._counts
        priors = self._priors(alpha, beta)
        return Draw(
            alpha.log_weights.copy(),
            beta.log_weights.copy(),
            priors.alpha + documents,
            totals[0].astype(np.int64),
            np.asarray(priors.beta_sum + self._with_promotions(totals), np.float64),
            sparse.csr_array(self._with_promotions(urns.swapaxes(0, 1))),
        )

    def add_theta(self, alpha: Alpha, total: NDArray[np.float32]) -> None:
        """Add p(z = k) of every document, given all others in this state; for a document without words, the prior."""
        prior, bounds = self.problem.word_prior, self.problem.shard_bounds
        priors = self._priors(alpha, prior.beta(prior.start_weights(self.problem.n_topics)))
        for s, (first, last) in enumerate(pairwise(bounds)):
            if first < last:
                part, chances = total[first:last], frozen(self._chances, np.float32)
                sweep_documents(self._texts(s), self._neighbors, chances, priors, self._counts, part, np.uint64(0))
        expected = priors.alpha + self._counts.documents
        total[np.diff(self.problem.offsets) == 0] += (expected / expected.sum()).astype(np.float32)

    @property
    def _counts(self) -> UrnCounts:
        return UrnCounts(*self.urns.arrays)

    def _texts(self, s: int) -> Texts:
        """Return the documents of a shard."""
        shard = self.problem.shards[s]
        repeats = frozen(self._repeats[shard.tokens], np.int32)
        return Texts(shard.words, repeats, shard.offsets, self.topics[shard.tokens], self.promoted[shard.tokens])

    def _with_promotions(self, kinds: NDArray[np.integer]) -> NDArray[np.integer] | NDArray[np.float64]:
        """Return c = n + promotion * r."""
        if len(kinds) == 1:
            return np.array(kinds[0])
        return np.asarray(kinds[0] + self._promotion * kinds[1])

    def _priors(self, alpha: Alpha, beta: Beta) -> UrnPriors:
        value, total = float(beta.values[0, 0]), float(beta.rescaled_sums[0])
        most_neighbors = int(np.diff(self._neighbors.starts).max())
        largest = total + len(self.topics) * (1 + self._promotion * most_neighbors)
        at_a_time = int(_SAFE_BITS / max(abs(math.log2(value)), abs(math.log2(largest)), 1))
        return UrnPriors(frozen(alpha.values[0], np.float64), value, total, self._promotion, max(at_a_time, 1))


def _as_input(counts: UrnCounts) -> UrnCounts:
    """Return counts as read-only arrays for kernels."""
    return UrnCounts(frozen(counts.urns, np.int32), frozen(counts.totals, np.int64), frozen(counts.documents, np.int64))


def infer_single_topics(
    documents: Documents, alpha: NDArray[np.floating], phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """Return theta[d, k] of documents with one topic each: p(topic = k | words), given alpha, and phi by word."""
    alpha, phi = frozen(alpha, np.float64), frozen(phi, np.float32)
    words = frozen(documents.words, np.int32)

    def weigh(chosen: slice, offsets: NDArray[np.int64], theta: NDArray[np.float32]) -> None:
        weigh_new_documents(words, offsets, alpha, phi, theta)

    return fill_rows(documents, phi.shape[1], weigh, n_jobs)
