"""One Gibbs sweep: sample the topics of tokens, then lambda, then delta."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.priors import Alpha, Beta, LearnsFromDocuments, LearnsFromWords, Stripes
from metalda.samplers import Assignment, Draw, Problem, TopicCounts
from metalda.utils.checks import Arrays
from metalda.utils.threads import RunEach


class ChainState(NamedTuple):
    """The state of a chain. A sweep changes the assignment and beta in place, and replaces the rest."""

    assignment: Assignment
    alpha: Alpha
    beta: Beta
    n_sweeps: int  # so far

    @property
    def topics(self) -> NDArray[np.uint16]:
        return self.assignment.topics

    @property
    def counts(self) -> TopicCounts:
        return self.assignment.counts

    @property
    def log_doc_weights(self) -> NDArray[np.float64]:
        """Return log lambda[l, k]."""
        return self.alpha.log_weights

    @property
    def log_word_weights(self) -> NDArray[np.float64]:
        """Return log delta[l, k]."""
        return self.beta.log_weights

    def keep(self) -> Draw:
        return self.assignment.keep(self.alpha, self.beta)


class Generators(NamedTuple):
    """One random stream for each unit that is drawn independently. Each stream is used by one thread at a time."""

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
    """The statistics of a sweep."""

    moved: int  # tokens whose topic changed
    log_likelihood: float  # log p(w, z | alpha, beta), after the tokens and before the weights
    n_doc_tables: int  # tables drawn for all documents, and for all topics; 0 if a prior draws none
    n_word_tables: int


def start_chain(problem: Problem, rng: np.random.Generator, n_threads: int = 1) -> ChainState:
    """Return a state with random topics, and weights at their start values."""
    assignment = problem.sampler.start(problem, rng, n_threads)
    log_doc_weights = problem.doc_prior.start_weights(problem.n_topics)
    return _chain(problem, assignment, log_doc_weights, problem.word_prior.start_weights(problem.n_topics), 0)


def resume_chain(
    problem: Problem,
    arrays: Arrays,
    log_doc_weights: NDArray[np.float64],
    log_word_weights: NDArray[np.float64],
    n_sweeps: int = 0,
    n_threads: int = 1,
) -> ChainState:
    """Return the state with these arrays of the assignment and these weights."""
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


def sweep(problem: Problem, state: ChainState, rngs: Generators, run: RunEach = map) -> tuple[ChainState, SweepRecord]:
    """Do step 1 for every token, steps 2 and 3 for the prior of documents, and step 4 for the prior of words."""
    moved, log_likelihood = state.assignment.sweep(state.alpha, state.beta, rngs.shards, run, state.n_sweeps)
    state, n_doc_tables = update_doc_weights(problem, state, rngs, run)
    state, n_word_tables = update_word_weights(problem, state, rngs, run)
    record = SweepRecord(moved, log_likelihood, n_doc_tables, n_word_tables)
    return state._replace(n_sweeps=state.n_sweeps + 1), record


def update_doc_weights(problem: Problem, state: ChainState, rngs: Generators, run: RunEach) -> tuple[ChainState, int]:
    """Do steps 2 and 3, if the prior of documents learns; also return the number of tables."""
    prior = problem.doc_prior
    if not (isinstance(prior, LearnsFromDocuments) and prior.is_due(state.n_sweeps)):
        return state, 0
    observed = state.assignment.observe_documents(prior, state.alpha, rngs.shards, run)
    stripes = Stripes(problem.stripes, rngs.stripes, run)
    log_weights = prior.learn_from_documents(state.alpha, observed, stripes)
    return state._replace(alpha=prior.alpha(log_weights)), prior.count_tables(observed)


def update_word_weights(problem: Problem, state: ChainState, rngs: Generators, run: RunEach) -> tuple[ChainState, int]:
    """Do step 4, if the prior of words learns; also return the number of tables."""
    prior = problem.word_prior
    if not (isinstance(prior, LearnsFromWords) and prior.is_due(state.n_sweeps)):
        return state, 0
    stripes = Stripes(problem.stripes, rngs.stripes, run)
    observed = prior.observe_words(state.beta, state.counts, stripes)
    log_weights = prior.learn_from_words(state.beta, observed, stripes)
    stripes.each(lambda stripe, first, last, rng: prior.renew_beta(state.beta, log_weights, first, last))
    return state, prior.count_tables(observed)
