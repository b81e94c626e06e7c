"""One Gibbs sweep: tokens, then lambda, then delta."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.meta.design import Concentration
from metalda.priors import Blocks, LearnsFromDocuments, LearnsFromWords, Lesson
from metalda.samplers import Assignment, Draw, Problem, Run, TopicCounts


class ChainState(NamedTuple):
    """Where the chain stands. A sweep changes the assignment and beta in place and replaces the rest."""

    assignment: Assignment
    alpha: Concentration
    beta: Concentration
    n_sweeps: int  # so far

    @property
    def topics(self) -> NDArray[np.uint16]:
        return self.assignment.topics

    @property
    def counts(self) -> TopicCounts:
        return self.assignment.counts

    @property
    def log_doc_weights(self) -> NDArray[np.float64]:
        """log lambda[l, k]"""
        return self.alpha.log_weights

    @property
    def log_word_weights(self) -> NDArray[np.float64]:
        """log delta[l, k]"""
        return self.beta.log_weights

    def keep(self) -> Draw:
        return self.assignment.keep(self.alpha, self.beta)


class Generators(NamedTuple):
    """One stream of randomness for each thing that is drawn on its own; never one in two threads."""

    start: np.random.Generator
    shards: tuple[np.random.Generator, ...]
    stripes: tuple[np.random.Generator, ...]

    @classmethod
    def spawn(cls, seed: int, problem: Problem) -> Generators:
        n_shards, n_stripes = len(problem.shards), len(problem.stripes)
        streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(1 + n_shards + n_stripes)]
        return cls(streams[0], tuple(streams[1 : 1 + n_shards]), tuple(streams[1 + n_shards :]))

    @property
    def all(self) -> tuple[np.random.Generator, ...]:
        return (self.start, *self.shards, *self.stripes)


class SweepRecord(NamedTuple):
    """What a sweep did, and the seconds that it took: in all, and by stage."""

    moved: int
    log_likelihood: float  # log p(w, z | alpha, beta), after the tokens and before the weights
    seconds: float
    tokens: float
    tables: float
    doc_weights: float
    word_weights: float
    n_doc_tables: int  # that all documents have, and that all topics have; 0 if a prior has none
    n_word_tables: int


def start_chain(problem: Problem, rng: np.random.Generator, n_threads: int = 1) -> ChainState:
    """Topics at random, and weights at their start values."""
    assignment = problem.sampler.start(problem, rng, n_threads)
    log_doc_weights = problem.doc_prior.start_weights(problem.n_topics)
    return _chain(problem, assignment, log_doc_weights, problem.word_prior.start_weights(problem.n_topics), 0)


def resume_chain(
    problem: Problem,
    arrays: Mapping[str, NDArray[Any]],
    log_doc_weights: NDArray[np.float64],
    log_word_weights: NDArray[np.float64],
    n_sweeps: int = 0,
    n_threads: int = 1,
) -> ChainState:
    """The state whose assignment has these arrays, with these weights."""
    assignment = problem.sampler.restore(problem, arrays, n_threads)
    return _chain(problem, assignment, log_doc_weights, log_word_weights, n_sweeps)


def _chain(
    problem: Problem,
    assignment: Assignment,
    log_doc_weights: NDArray[np.float64],
    log_word_weights: NDArray[np.float64],
    n_sweeps: int,
) -> ChainState:
    alpha = problem.doc_prior.alpha(log_doc_weights)
    beta = problem.word_prior.beta(log_word_weights, problem.stripes)
    return ChainState(assignment, alpha, beta, n_sweeps)


def sweep(problem: Problem, state: ChainState, rngs: Generators, run: Run = map) -> tuple[ChainState, SweepRecord]:
    """Step 1 for every token, steps 2 and 3 for the documents' prior, step 4 for the words' prior."""
    start = time.perf_counter()
    moved, log_likelihood = state.assignment.sweep(state.alpha, state.beta, rngs.shards, run, state.n_sweeps)
    after_tokens = time.perf_counter()
    blocks = Blocks(problem.stripes, rngs.stripes, run)
    doc_prior, word_prior = problem.doc_prior, problem.word_prior
    doc_tables, n_doc_tables, lesson = 0.0, 0, Lesson(0.0, 0)
    if isinstance(doc_prior, LearnsFromDocuments) and doc_prior.is_due(state.n_sweeps):
        observed = state.assignment.observe(doc_prior, state.alpha, rngs.shards, run)
        n_doc_tables = doc_prior.count_tables(observed)
        doc_tables = time.perf_counter() - after_tokens
        state = state._replace(alpha=doc_prior.alpha(doc_prior.learn_from_documents(state.alpha, observed, blocks)))
    after_documents = time.perf_counter()
    if isinstance(word_prior, LearnsFromWords) and word_prior.is_due(state.n_sweeps):
        lesson = word_prior.learn_from_words(state.beta, state.counts, blocks)
    end = time.perf_counter()
    record = SweepRecord(
        moved,
        log_likelihood,
        seconds=end - start,
        tokens=after_tokens - start,
        tables=doc_tables + lesson.seconds,
        doc_weights=after_documents - after_tokens - doc_tables,
        word_weights=end - after_documents - lesson.seconds,
        n_doc_tables=n_doc_tables,
        n_word_tables=lesson.n_tables,
    )
    return state._replace(n_sweeps=state.n_sweeps + 1), record
