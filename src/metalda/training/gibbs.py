"""One Gibbs sweep: tokens, then lambda, then delta."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.kernels.likelihood import document_log_likelihood, word_log_likelihood
from metalda.meta.design import Concentration
from metalda.priors import Augmentation, Gamma, LogLinear
from metalda.samplers import Assignments, start_assignments, sweep_tokens

# Runs a function on every item and gives the results in order: the built-in map, or that of a pool of threads.
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be sampled: tokens, the two priors, and how the documents are cut into shards."""

    words: NDArray[np.int32]
    offsets: NDArray[np.int64]
    n_words: int
    n_topics: int
    doc_prior: LogLinear
    word_prior: LogLinear
    shard_bounds: NDArray[np.int64]  # shard s: documents shard_bounds[s] … shard_bounds[s + 1] - 1

    @property
    def n_shards(self) -> int:
        return len(self.shard_bounds) - 1

    def shard(self, s: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offsets and alpha rows of the documents of a shard."""
        first, last = self.shard_bounds[s], self.shard_bounds[s + 1]
        return self.offsets[first : last + 1], self.doc_prior.design.row_of[first:last]


class ChainState(NamedTuple):
    """Where the chain stands. Assignments are changed in place by a sweep, the rest is replaced."""

    assignments: Assignments
    log_doc_weights: NDArray[np.float64]  # log lambda[l, k]
    log_word_weights: NDArray[np.float64]  # log delta[l, k]
    alpha: Concentration
    beta: Concentration


class Generators(NamedTuple):
    """One stream of randomness for each thing that is drawn on its own; never one in two threads."""

    doc_weights: np.random.Generator
    word_weights: np.random.Generator
    shards: tuple[np.random.Generator, ...]

    @classmethod
    def spawn(cls, seed: int, n_shards: int) -> Generators:
        streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2 + n_shards)]
        return cls(streams[0], streams[1], tuple(streams[2:]))


class SweepRecord(NamedTuple):
    """What a sweep did, and the seconds that its stages took."""

    moved: int
    tokens: float
    tables: float
    doc_weights: float
    word_weights: float

    @property
    def seconds(self) -> float:
        return self.tokens + self.tables + self.doc_weights + self.word_weights


def shard_bounds(offsets: NDArray[np.int64], n_shards: int) -> NDArray[np.int64]:
    """Cut the documents into shards with about as many tokens each."""
    n_tokens = offsets[-1] - offsets[0]
    targets = offsets[0] + n_tokens * np.arange(1, n_shards) / n_shards
    return np.concatenate([[0], np.searchsorted(offsets, targets), [len(offsets) - 1]]).astype(np.int64)


def start_chain(problem: Problem, rng: np.random.Generator) -> ChainState:
    """Random topics, and weights at their start values."""
    log_doc_weights = problem.doc_prior.start_weights(problem.n_topics)
    log_word_weights = problem.word_prior.start_weights(problem.n_topics)
    return ChainState(
        start_assignments(problem.words, problem.n_words, problem.n_topics, rng),
        log_doc_weights,
        log_word_weights,
        problem.doc_prior.concentration(log_doc_weights),
        problem.word_prior.concentration(log_word_weights),
    )


def sweep(problem: Problem, state: ChainState, rngs: Generators, run: Run = map) -> tuple[ChainState, SweepRecord]:
    """Step 1 for every token, steps 2 and 3 for the documents' prior, step 4 for the words' prior."""
    clock = [time.perf_counter()]

    def lap() -> float:
        clock.append(time.perf_counter())
        return clock[-1] - clock[-2]

    moved = _sweep_shards(problem, state, rngs, run)
    tokens = lap()
    tables = doc_weights = word_weights = 0.0
    doc_prior, word_prior = problem.doc_prior, problem.word_prior
    if isinstance(doc_prior, Gamma):
        augmentation = _augment_documents(problem, state, doc_prior, rngs, run)
        tables += lap()
        log_weights = doc_prior.update(state.log_doc_weights, augmentation, rngs.doc_weights)
        state = state._replace(log_doc_weights=log_weights, alpha=doc_prior.concentration(log_weights))
        doc_weights = lap()
    if isinstance(word_prior, Gamma):
        _, counts, totals = state.assignments
        augmentation = word_prior.augment_words(counts, totals, state.beta, rngs.word_weights)
        tables += lap()
        log_weights = word_prior.update(state.log_word_weights, augmentation, rngs.word_weights)
        state = state._replace(log_word_weights=log_weights, beta=word_prior.concentration(log_weights))
        word_weights = lap()
    return state, SweepRecord(moved, tokens, tables, doc_weights, word_weights)


def _augment_documents(problem: Problem, state: ChainState, prior: Gamma, rngs: Generators, run: Run) -> Augmentation:
    def augment_shard(s: int) -> Augmentation:
        offsets, doc_rows = problem.shard(s)
        return prior.augment_documents(offsets, doc_rows, state.assignments.topics, state.alpha, rngs.shards[s])

    return Augmentation.merge(list(run(augment_shard, range(problem.n_shards))))


def _sweep_shards(problem: Problem, state: ChainState, rngs: Generators, run: Run) -> int:
    """Exact with one shard. With more, each starts from the same counts, and their changes are added in order."""
    word_rows = problem.word_prior.design.row_of

    def sweep_shard(s: int, assignments: Assignments) -> int:
        offsets, doc_rows = problem.shard(s)
        rng = rngs.shards[s]
        return sweep_tokens(problem.words, offsets, doc_rows, state.alpha, word_rows, state.beta, assignments, rng)

    if problem.n_shards == 1:
        return sweep_shard(0, state.assignments)
    topics, counts, totals = state.assignments
    before = counts.copy(), totals.copy()

    def sweep_copy(s: int) -> tuple[int, Assignments]:
        own = Assignments(topics, before[0].copy(), before[1].copy())
        return sweep_shard(s, own), own

    moved = 0
    for moved_here, own in run(sweep_copy, range(problem.n_shards)):
        counts += own.word_topic_counts - before[0]
        totals += own.topic_totals - before[1]
        moved += moved_here
    return moved


def log_likelihood(problem: Problem, state: ChainState) -> float:
    """log p(w, z | alpha, beta)"""
    topics, counts, totals = state.assignments
    documents = document_log_likelihood(
        frozen(problem.offsets, np.int64),
        frozen(problem.doc_prior.design.row_of, np.int32),
        frozen(topics, np.uint16),
        frozen(state.alpha.values, np.float32),
        frozen(state.alpha.row_sums, np.float64),
    )
    words = word_log_likelihood(
        frozen(counts, np.int32),
        frozen(totals, np.int64),
        frozen(problem.word_prior.design.row_of, np.int32),
        frozen(state.beta.values, np.float32),
        frozen(state.beta.topic_sums, np.float64),
    )
    return float(documents + words)
