"""One Gibbs sweep: tokens, then lambda, then delta."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from queue import SimpleQueue
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.meta.design import Concentration
from metalda.meta.shards import Shard
from metalda.priors import Augmentation, Gamma, LogLinear
from metalda.samplers import TopicCounts

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

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        rows, bounds = self.doc_prior.design.row_of, self.shard_bounds
        return tuple(Shard.cut(self.words, self.offsets, rows, a, b) for a, b in pairwise(bounds))

    @cached_property
    def stripes(self) -> tuple[tuple[int, int], ...]:
        """Topics whose words' weights are drawn together: wide enough for long vectors, and enough for some threads."""
        n_stripes = 1
        while self.word_prior.design.n_rows > 1 and n_stripes < 8 and self.n_topics >= 128 * n_stripes:
            n_stripes *= 2
        bounds = [self.n_topics * i // n_stripes for i in range(n_stripes + 1)]
        return tuple(pairwise(bounds))


class ChainState(NamedTuple):
    """Where the chain stands. A sweep changes topics, counts and beta in place and replaces the rest."""

    topics: NDArray[np.uint16]  # z
    counts: TopicCounts  # n
    scratch: tuple[TopicCounts, ...]  # where shards are swept and merged, if there are several; not part of the state
    log_doc_weights: NDArray[np.float64]  # log lambda[l, k]
    log_word_weights: NDArray[np.float64]  # log delta[l, k]
    alpha: Concentration
    beta: Concentration


class Generators(NamedTuple):
    """One stream of randomness for each thing that is drawn on its own; never one in two threads."""

    doc_weights: np.random.Generator
    shards: tuple[np.random.Generator, ...]
    stripes: tuple[np.random.Generator, ...]

    @classmethod
    def spawn(cls, seed: int, problem: Problem) -> Generators:
        n_shards, n_stripes = len(problem.shards), len(problem.stripes)
        streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(1 + n_shards + n_stripes)]
        return cls(streams[0], tuple(streams[1 : 1 + n_shards]), tuple(streams[1 + n_shards :]))


class SweepRecord(NamedTuple):
    """What a sweep did, and the seconds that it took: in all, and by stage (summed over threads)."""

    moved: int
    log_likelihood: float  # log p(w, z | alpha, beta), after the tokens and before the weights
    seconds: float
    tokens: float
    tables: float
    doc_weights: float
    word_weights: float


def start_chain(problem: Problem, rng: np.random.Generator, n_threads: int = 1) -> ChainState:
    """A uniformly random topic for every token, and weights at their start values."""
    return resume_chain(
        problem,
        rng.integers(0, problem.n_topics, len(problem.words), dtype=np.uint16),
        problem.doc_prior.start_weights(problem.n_topics),
        problem.word_prior.start_weights(problem.n_topics),
        n_threads,
    )


def resume_chain(
    problem: Problem,
    topics: NDArray[np.uint16],
    log_doc_weights: NDArray[np.float64],
    log_word_weights: NDArray[np.float64],
    n_threads: int = 1,
) -> ChainState:
    """The state with these topics and weights."""
    counts = TopicCounts.count(problem.words, topics, problem.n_topics, problem.word_prior.design)
    n_scratch = 1 + n_threads if len(problem.shards) > 1 else 0
    return ChainState(
        topics,
        counts,
        tuple(counts.copy() for _ in range(n_scratch)),
        log_doc_weights,
        log_word_weights,
        problem.doc_prior.alpha(log_doc_weights),
        problem.word_prior.beta(log_word_weights, problem.stripes),
    )


def sweep(problem: Problem, state: ChainState, rngs: Generators, run: Run = map) -> tuple[ChainState, SweepRecord]:
    """Step 1 for every token, steps 2 and 3 for the documents' prior, step 4 for the words' prior."""
    start = time.perf_counter()
    moved, log_likelihood = _sweep_tokens(problem, state, rngs, run)
    tokens = time.perf_counter() - start
    log_likelihood += state.counts.log_likelihood(state.beta)
    tables = doc_weights = word_weights = 0.0
    if isinstance(problem.doc_prior, Gamma):
        state, tables, doc_weights = _update_documents(problem, problem.doc_prior, state, rngs, run)
    if isinstance(problem.word_prior, Gamma):
        state, by_stripe = _update_words(problem, problem.word_prior, state, rngs, run)
        tables += sum(seconds for seconds, _ in by_stripe)
        word_weights = sum(seconds for _, seconds in by_stripe)
    seconds = time.perf_counter() - start
    return state, SweepRecord(moved, log_likelihood, seconds, tokens, tables, doc_weights, word_weights)


def _sweep_tokens(problem: Problem, state: ChainState, rngs: Generators, run: Run) -> tuple[int, float]:
    """Exact with one shard. With more, each starts from the counts before the sweep, and then all changes are added."""
    topics, counts, scratch = state.topics, state.counts, state.scratch
    seeds = [rng.integers(2**64, dtype=np.uint64) for rng in rngs.shards]
    if len(problem.shards) == 1:
        return counts.sweep(problem.shards[0], topics, state.alpha, state.beta, seeds[0])
    merged, *spare = scratch
    merged.copy_from(counts)
    free: SimpleQueue[TopicCounts] = SimpleQueue()
    for each in spare:
        free.put(each)
    merging = Lock()

    def sweep_shard(s: int) -> tuple[int, float]:
        own = free.get()
        try:
            own.copy_from(counts)
            result = own.sweep(problem.shards[s], topics, state.alpha, state.beta, seeds[s])
            with merging:  # in any order: counts are integers, and lists are sorted
                merged.add_changes(counts, own)
            return result
        finally:
            free.put(own)

    results = list(run(sweep_shard, range(len(problem.shards))))
    counts.copy_from(merged)
    return sum(moved for moved, _ in results), sum(log_likelihood for _, log_likelihood in results)


def _update_documents(
    problem: Problem, prior: Gamma, state: ChainState, rngs: Generators, run: Run
) -> tuple[ChainState, float, float]:
    """Steps 2 and 3, and the seconds of each."""
    start = time.perf_counter()

    def augment(s: int) -> Augmentation:
        shard = problem.shards[s]
        return prior.augment_documents(shard, state.topics, state.alpha, rngs.shards[s])

    augmentation = Augmentation.merge(list(run(augment, range(len(problem.shards)))))
    middle = time.perf_counter()
    log_weights = state.log_doc_weights.copy()
    prior.update(log_weights, state.alpha, augmentation, 0, problem.n_topics, rngs.doc_weights)
    alpha = prior.alpha(log_weights)
    state = state._replace(log_doc_weights=log_weights, alpha=alpha)
    return state, middle - start, time.perf_counter() - middle


def _update_words(
    problem: Problem, prior: Gamma, state: ChainState, rngs: Generators, run: Run
) -> tuple[ChainState, list[tuple[float, float]]]:
    """Step 4 by stripes of topics, and the seconds of each for tables and for weights."""
    log_weights = state.log_word_weights.copy()

    def update(stripe: int) -> tuple[float, float]:
        (first, last), rng = problem.stripes[stripe], rngs.stripes[stripe]
        start = time.perf_counter()
        drawn = state.counts.draw_tables(state.beta, first, last, rng)
        middle = time.perf_counter()
        augmentation = Augmentation(drawn.label_tables, prior.design.row_sizes, drawn.minus_log_q)
        prior.update(log_weights, state.beta, augmentation, first, last, rng)
        prior.renew_beta(state.beta, log_weights, first, last)
        return middle - start, time.perf_counter() - middle

    by_stripe = list(run(update, range(len(problem.stripes))))
    return state._replace(log_word_weights=log_weights), by_stripe
