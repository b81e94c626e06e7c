"""Documents that move between pseudo-documents: the sampler of PTM (Zuo et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.errors import StorageError
from metalda.kernels.border import Kernel, frozen
from metalda.kernels.pseudo import log_multinomials, mix_pseudo_documents, move_documents, word_probabilities
from metalda.priors import Alpha, Beta
from metalda.samplers.base import Assignment, Problem, Sampler, check_topics
from metalda.samplers.counts import TopicCounts, Topics
from metalda.samplers.draws import Draw
from metalda.samplers.folding import Documents
from metalda.samplers.shards import Shard, count_scratch, make_scratch, shard_bounds, sweep_shards
from metalda.samplers.tokens import Tokens
from metalda.utils.checks import Arrays, check_array, check_keys, check_range
from metalda.utils.threads import RunEach, thread_map

_TOKENS = 16384  # tokens that a thread takes at a time, because each token needs a row of probabilities

Pseudo = NDArray[np.int32]


@dataclass(frozen=True)
class PseudoDocuments(Sampler):
    """Draws a pseudo-document for every document, then a topic for every token, given its pseudo-document.

    A document without words has no pseudo-document: its number is `n_pseudo`.
    """

    n_pseudo: int
    concentration: float  # lambda

    kernels: ClassVar[tuple[Kernel, ...]] = (move_documents, *Tokens.kernels)

    def start(self, problem: Problem, rng: np.random.Generator, n_threads: int) -> Assignment:
        """Return an assignment with random topics and pseudo-documents."""
        topics = rng.integers(0, problem.n_topics, len(problem.words), dtype=np.uint16)
        lengths = np.diff(problem.offsets)
        pseudo = np.where(lengths > 0, rng.integers(0, self.n_pseudo, len(lengths)), self.n_pseudo)
        return PseudoAssignment(problem, self, topics, pseudo.astype(np.int32), n_threads)

    def restore(self, problem: Problem, arrays: Arrays, n_threads: int) -> Assignment:
        names = ("topics", "pseudo_documents")
        check_keys("the assignment", arrays, names)
        topics, pseudo = (arrays[name].copy() for name in names)
        check_topics(problem, topics)
        check_array("pseudo_documents", pseudo, np.int32, (len(problem.offsets) - 1,))
        check_range("pseudo_documents", pseudo, 0, self.n_pseudo)
        if ((pseudo == self.n_pseudo) != (np.diff(problem.offsets) == 0)).any():
            raise StorageError("pseudo_documents must have a pseudo-document for every document with words")
        return PseudoAssignment(problem, self, topics, pseudo, n_threads)

    def check_extra(self, extra: Arrays, n_draws: int, n_topics: int) -> None:
        check_pseudo_counts(extra, n_draws, n_topics)
        check_array("pseudo_sizes", extra["pseudo_sizes"], np.int32, (n_draws, self.n_pseudo))

    def memory(self, problem: Problem, n_threads: int) -> int:
        """Return the bytes of N[l, k] by shard with working copies, and of copies of n[k, v]."""
        n_shards = len(problem.shards)
        copies = 6 * problem.n_cells * count_scratch(n_shards, n_threads)
        return 4 * self.n_pseudo * problem.n_topics * (n_shards + 4) + copies


class _Merged(NamedTuple):
    """The tokens of a shard, sorted by pseudo-document."""

    tokens: NDArray[np.int64]  # the position of each in the shard
    offsets: NDArray[np.int64]  # by pseudo-document, into these

    @classmethod
    def merge(cls, shard: Shard, pseudo: Pseudo, n_pseudo: int) -> _Merged:
        lengths, documents = np.diff(shard.offsets), np.argsort(pseudo, kind="stable")
        ends = np.cumsum(lengths[documents])
        starts = shard.offsets[documents] - ends + lengths[documents]
        tokens = np.repeat(starts, lengths[documents]) + np.arange(len(shard.words))
        sizes = np.bincount(np.repeat(pseudo, lengths), minlength=n_pseudo)
        return cls(tokens, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    def count_topics(self, topics: Topics, n_topics: int) -> NDArray[np.int32]:
        """Count N[l, k], given the topics of the tokens in this order."""
        n_pseudo = len(self.offsets) - 1
        cells = np.repeat(np.arange(n_pseudo), np.diff(self.offsets)) * n_topics + topics
        return np.bincount(cells, minlength=n_pseudo * n_topics).reshape(n_pseudo, n_topics).astype(np.int32)


class PseudoAssignment(Assignment):
    """Topics of tokens, and pseudo-documents of documents.

    A sweep first moves all documents, then all tokens. With the documents of a pseudo-document concatenated, the second
    step is the sweep of LDA, in which the tokens of other shards in the pseudo-document are part of the prior.
    """

    def __init__(
        self, problem: Problem, sampler: PseudoDocuments, topics: Topics, pseudo: Pseudo, n_threads: int
    ) -> None:
        self.problem = problem
        self.sampler = sampler
        self.topics = topics
        self.pseudo = pseudo  # l, of every document
        self.counts = TopicCounts.count(problem.words, topics, problem.n_topics, problem.word_prior.design)
        self._scratch = make_scratch(self.counts, len(problem.shards), n_threads)
        self._shares = [self._share(s) for s in range(len(problem.shards))]

    @property
    def arrays(self) -> Arrays:
        return {"topics": self.topics, "pseudo_documents": self.pseudo}

    @property
    def pseudo_counts(self) -> NDArray[np.int32]:
        """Return N[l, k]."""
        return np.asarray(np.sum(self._shares, axis=0, dtype=np.int32))

    @property
    def pseudo_sizes(self) -> NDArray[np.int32]:
        """Return M[l]."""
        return np.bincount(self.pseudo, minlength=self.sampler.n_pseudo)[: self.sampler.n_pseudo].astype(np.int32)

    def sweep(
        self, alpha: Alpha, beta: Beta, rngs: Sequence[np.random.Generator], run: RunEach, n_sweeps: int
    ) -> tuple[int, float]:
        seeds = [rng.integers(2**64, size=2, dtype=np.uint64) for rng in rngs]
        counts, sizes = self.pseudo_counts, self.pseudo_sizes

        def sweep_shard(s: int, words: TopicCounts) -> tuple[int, NDArray[np.int32]]:
            self._move_documents(s, alpha, counts, sizes, seeds[s][0])
            return self._sweep_tokens(s, words, alpha, beta, counts - self._shares[s], seeds[s][1])

        results = sweep_shards(self.counts, self._scratch, len(self.problem.shards), sweep_shard, run)
        self._shares = [share for _, share in results]
        by_words = self.counts.log_likelihood(beta)
        return sum(moved for moved, _ in results), by_words + self._log_likelihood(alpha)

    def _move_documents(
        self, s: int, alpha: Alpha, counts: NDArray[np.int32], sizes: NDArray[np.int32], seed: np.uint64
    ) -> None:
        """Draw the pseudo-documents of a shard's documents, shortest first, starting from these counts."""
        shard = self.problem.shards[s]
        lengths = np.diff(shard.offsets)
        order = np.argsort(lengths, kind="stable")
        by_topic = np.zeros((counts.shape[1] + 1, counts.shape[0]), np.int32)
        by_topic[:-1] = counts.T
        move_documents(
            frozen(self.topics[shard.tokens], np.uint16),
            shard.offsets,
            frozen(order[lengths[order] > 0], np.int64),
            frozen(alpha.values[0], np.float64),
            float(self.sampler.concentration),
            self._pseudo_of(s),
            by_topic,
            counts.sum(axis=1, dtype=np.int64),
            sizes.copy(),
            seed,
        )

    def _sweep_tokens(
        self,
        s: int,
        words: TopicCounts,
        alpha: Alpha,
        beta: Beta,
        others: NDArray[np.int32],
        seed: np.uint64,
    ) -> tuple[int, NDArray[np.int32]]:
        """Draw the topics of a shard's tokens, given those of other shards; returns how many moved, and N[l, k]."""
        shard, n_pseudo = self.problem.shards[s], self.sampler.n_pseudo
        merged = _Merged.merge(shard, self._pseudo_of(s), n_pseudo)
        numbers = np.arange(n_pseudo)
        if others.any():
            rows = numbers
            values = alpha.values[0] + others.astype(np.float32)
            alpha = alpha._replace(values=values, row_sums=values.sum(axis=1, dtype=np.float64))
        else:
            rows = np.zeros_like(numbers)
        pseudo_documents = Shard(
            frozen(shard.words[merged.tokens], np.int32),
            frozen(merged.offsets, np.int64),
            frozen(rows, np.int32),
            frozen(numbers, np.int64),
            slice(0, len(shard.words)),
        )
        own = self.topics[shard.tokens]
        topics = own[merged.tokens]
        moved, _ = words.sweep(pseudo_documents, topics, alpha, beta, seed)
        own[merged.tokens] = topics
        return moved, merged.count_topics(topics, self.problem.n_topics)

    def _log_likelihood(self, alpha: Alpha) -> float:
        """Return log p(z, l | alpha, lambda)."""
        by_pseudo = frozen(self.pseudo_counts, np.int32), frozen(alpha.values[0], np.float64)
        spread = np.full(self.sampler.n_pseudo, self.sampler.concentration)
        sizes = frozen(self.pseudo_sizes[None], np.int32), frozen(spread, np.float64)
        return float(log_multinomials(*by_pseudo) + log_multinomials(*sizes))

    def _pseudo_of(self, s: int) -> Pseudo:
        return self.pseudo[self.problem.shard_bounds[s] : self.problem.shard_bounds[s + 1]]

    def _share(self, s: int) -> NDArray[np.int32]:
        """Count N[l, k] of a shard."""
        shard = self.problem.shards[s]
        merged = _Merged.merge(shard, self._pseudo_of(s), self.sampler.n_pseudo)
        return merged.count_topics(self.topics[shard.tokens][merged.tokens], self.problem.n_topics)

    def keep(self, alpha: Alpha, beta: Beta) -> Draw:
        """Return the draw with N[l, k] and M[l]; mean alpha is proportional to the mean theta of pseudo-documents."""
        draw = super().keep(alpha, beta)
        counts, sizes = self.pseudo_counts, self.pseudo_sizes
        mean = Mixture.of(counts, sizes, alpha.values[0], self.sampler.concentration).mean
        extra = {"pseudo_counts": counts, "pseudo_sizes": sizes}
        return replace(draw, mean_alpha=mean * draw.mean_alpha.sum(), extra=extra)

    def add_theta(self, alpha: Alpha, total: NDArray[np.float32]) -> None:
        """Add theta of every document's pseudo-document; for a document without words, the expected theta."""
        counts, prior = self.pseudo_counts, alpha.values[0]
        mean = Mixture.of(counts, self.pseudo_sizes, prior, self.sampler.concentration).mean
        total += np.vstack([_proportions(counts, prior), mean]).astype(np.float32)[self.pseudo]


def _proportions(counts: NDArray[np.int32], alpha: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return theta[l, k] = (N[l, k] + alpha[k]) / (N[l] + alpha.)."""
    weights = counts + alpha.astype(np.float64)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class Mixture(NamedTuple):
    """A mixture of pseudo-documents: the prior of the topic proportions of a new document."""

    prior: NDArray[np.float64]  # p(l), in proportion to M[l] + lambda
    theta: NDArray[np.float64]  # theta[l, k]

    @classmethod
    def of(
        cls, counts: NDArray[np.int32], sizes: NDArray[np.int32], alpha: NDArray[np.floating], concentration: float
    ) -> Mixture:
        """Return the mixture with these N and M. Empty pseudo-documents are equal and form one component."""
        used = sizes > 0
        n_empty = len(sizes) - int(used.sum())
        nothing = np.zeros((min(n_empty, 1), counts.shape[1]), np.int32)
        prior = np.append(sizes[used] + concentration, [n_empty * concentration] * len(nothing))
        return cls(prior / prior.sum(), _proportions(np.vstack([counts[used], nothing]), alpha))

    @property
    def mean(self) -> NDArray[np.float64]:
        """Return the expected proportions of a document without words."""
        return self.prior @ self.theta


def check_pseudo_counts(extra: Arrays, n_draws: int, n_topics: int) -> None:
    """Raise StorageError unless the draws have N[l, k] and M[l] of the same pseudo-documents."""
    check_keys("the draws", extra, ("pseudo_counts", "pseudo_sizes"))
    counts, sizes = extra["pseudo_counts"], extra["pseudo_sizes"]
    check_array("pseudo_sizes", sizes, np.int32, (n_draws, None))
    check_array("pseudo_counts", counts, np.int32, (n_draws, sizes.shape[1], n_topics))
    for name, array in extra.items():
        check_range(name, array, 0, np.iinfo(np.int32).max)
    if not sizes.any(axis=1).all():
        raise StorageError("pseudo_sizes must have a pseudo-document with documents")


def infer_from_mixtures(
    documents: Documents, mixtures: Sequence[Mixture], phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """Return theta[d, k] of documents with one component each, averaged over mixtures; deterministic."""
    phi = frozen(phi, np.float32)
    priors = [frozen(mixture.prior, np.float64) for mixture in mixtures]
    thetas = [frozen(mixture.theta.T, np.float32) for mixture in mixtures]
    total = np.zeros((len(documents.offsets) - 1, phi.shape[1]), np.float64)

    def mix_chunk(bounds: tuple[int, int]) -> None:
        offsets = documents.offsets[bounds[0] : bounds[1] + 1]
        distinct, inverse = np.unique(documents.words[offsets[0] : offsets[-1]], return_inverse=True)
        words, rows = frozen(distinct, np.int32), frozen(inverse, np.int32)
        offsets = frozen(offsets - offsets[0], np.int64)
        for prior, theta in zip(priors, thetas, strict=True):
            probabilities = np.empty((len(words), len(prior)), np.float32)
            word_probabilities(phi, words, theta, probabilities)
            mix_pseudo_documents(
                rows, offsets, frozen(probabilities, np.float32), prior, theta, total[bounds[0] : bounds[1]]
            )

    chunks = shard_bounds(documents.offsets, 1 + len(documents.words) // _TOKENS)
    thread_map(mix_chunk, pairwise(chunks), n_jobs)
    return (total / len(mixtures)).astype(np.float32)
