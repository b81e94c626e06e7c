"""Geweke's joint test of the sweep with wording by group, and that it sees slips of each step."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import geweke
from metalda.corpus import NamedMatrix
from metalda.kernels.border import frozen
from metalda.kernels.wording import draw_concentrations
from metalda.meta.design import Design
from metalda.priors import Fixed, Gamma
from metalda.samplers import GroupTokens, Problem
from metalda.samplers.shards import shard_bounds
from metalda.samplers.wording import GroupAssignment
from metalda.training.gibbs import Generators, resume_chain, sweep

GROUPS = np.array([0, 1, 0, 1, 2, 1], np.int32)
LENGTHS = [3, 2, 4, 0, 5, 3]  # the fourth document has no word
FEATURES = [[1, 0], [1, 1], [0, 0], [0, 1]]  # the third word has no feature
SHAPE, RATE = 2.0, 0.5  # of the prior of c: mean 4


def _problem(word_prior=None, sampler=None, shards=1):
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    features = NamedMatrix(sparse.csr_array(np.array(FEATURES, float)), ("a", "b"))
    doc_prior = Gamma(Design.build(None, len(LENGTHS)), 0.1, 2.0)
    word_prior = word_prior or Gamma(Design.build(features, len(FEATURES)), 0.01, 2.0)
    sampler = sampler or GroupTokens(GROUPS, 3, 0, SHAPE, RATE)
    words = np.zeros(offsets[-1], np.int32)
    return Problem(words, offsets, len(FEATURES), 2, doc_prior, word_prior, sampler, shard_bounds(offsets, shards))


def _draw_words(problem, topics, log_word_weights, concentrations, rng):
    """w given z, delta and c, with phi[k] and phi[k, g] drawn from their priors; also returns c phi[v, k]."""
    beta = np.exp(geweke._dense(problem.word_prior.design) @ log_word_weights)
    phi = geweke._dirichlet(beta.swapaxes(1, 2), rng)  # [sample, topic, word]
    shared = concentrations[:, :, None] * phi
    by_group = geweke._dirichlet(np.repeat(shared[:, None], 3, axis=1), rng)  # [sample, group, topic, word]
    groups = np.repeat(GROUPS, LENGTHS)
    words = geweke._choose(by_group[np.arange(len(topics))[:, None], groups, topics], rng)
    return words.astype(np.int32), shared


def _forward(problem, n, rng):
    log_lambda = geweke._prior_weights(problem.doc_prior, n, 2, rng)
    log_delta = geweke._prior_weights(problem.word_prior, n, 2, rng)
    concentrations = rng.gamma(SHAPE, 1 / RATE, (n, 2))
    theta = geweke._dirichlet(np.exp(geweke._dense(problem.doc_prior.design) @ log_lambda), rng)
    topics = geweke._choose(np.repeat(theta, LENGTHS, axis=1), rng).astype(np.uint16)
    words, shared = _draw_words(problem, topics, log_delta, concentrations, rng)
    return (words, topics, log_lambda, log_delta, concentrations), shared


def _draw_tables(words, topics, shared, rng):
    """Tables of the restaurants of groups, seat by seat: the arrays of an assignment."""
    groups, tables = np.repeat(GROUPS, LENGTHS), np.zeros((4, 2), np.int64)
    for g in range(3):
        for v in range(4):
            for k in range(2):
                customers = np.sum((groups == g) & (words == v) & (topics == k))
                a = shared[k, v]
                tables[v, k] += sum(i == 0 or rng.random() < a / (a + i) for i in range(customers))
    used = tables > 0
    return {
        "table_sizes": used.sum(axis=1).astype(np.int32),
        "table_topics": np.nonzero(used)[1].astype(np.uint16),
        "table_counts": tables[used].astype(np.int32),
    }


def _statistics(problem, words, topics, log_lambda, log_delta, concentrations):
    found = geweke.statistics(problem, geweke.Sample(words, topics, log_lambda, log_delta))
    groups = np.repeat(GROUPS, LENGTHS)
    cells = (groups * 4 + words) * 2 + topics
    by_group = geweke._tally(cells, 24) / len(groups)
    same = (by_group.reshape(-1, 3, 8) ** 2).sum(axis=2)
    bounded = concentrations / (4 + concentrations)
    return np.concatenate([found, by_group, same, bounded, concentrations < 1, bounded[:, :1] * bounded[:, 1:]], axis=1)


def _joint_test(problem, n_sweeps, seed=1):
    rng = np.random.default_rng(seed)
    samples, _ = _forward(problem, geweke.FORWARD, rng)
    expected = _statistics(problem, *samples)
    samples, shared = _forward(problem, 1, rng)
    (words, *latent), shared = (each[0] for each in samples), shared[0]
    rngs, found = Generators.spawn(seed, problem), []
    for _ in range(n_sweeps):
        topics, log_lambda, log_delta, concentrations = latent
        arrays = {"topics": topics, "concentrations": concentrations, **_draw_tables(words, topics, shared, rng)}
        current = replace(problem, words=words)
        state, _ = sweep(current, resume_chain(current, arrays, log_lambda, log_delta), rngs)
        weights = state.log_doc_weights.copy(), state.log_word_weights.copy()
        latent = state.topics, *weights, state.assignment.concentrations
        drawn = _draw_words(problem, latent[0][None], latent[2][None], latent[3][None], rng)
        words, shared = (each[0] for each in drawn)
        found.append((words, *latent))
    chain = _statistics(problem, *map(np.array, zip(*found, strict=True)))
    return geweke.smallest_p_value(geweke.compare(expected, chain))


def test_wording_keeps_the_joint_distribution_for_a_while():
    assert _joint_test(_problem(), 400) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [False, True])
def test_wording_keeps_the_joint_distribution(fixed):
    word_prior = Fixed(Design.build(None, len(FEATURES)), 0.4) if fixed else None
    assert _joint_test(_problem(word_prior), 5_000) > 1e-3


class _Slipped(GroupAssignment):
    """An assignment that makes one of the slips below."""

    slip: ClassVar[str]

    def draw_shared(self, beta, rngs, run):
        if self.slip != "phi without tables":
            return super().draw_shared(beta, rngs, run)
        sizes, totals = self.counts.sizes.copy(), self.counts.topic_totals.copy()
        self.counts.sizes[:] = 0
        shared = super().draw_shared(beta, rngs, run)
        self.counts.sizes[:], self.counts.topic_totals[:] = sizes, totals
        return shared

    def draw_tables(self, shared, rngs, run):
        if self.slip == "tables without phi":
            shared = shared._replace(values=np.tile(self.concentrations.astype(np.float32), (4, 1)))
        super().draw_tables(shared, rngs, run)

    def draw_concentrations(self, rng):
        if self.slip != "q of empty groups":
            super().draw_concentrations(rng)
            return
        totals = self._tokens.counts.topic_totals  # as if an empty group had a token
        prior = float(self.sampler.shape), float(self.sampler.rate)
        tables = frozen(self.counts.topic_totals, np.int64)
        draw_concentrations(frozen(np.maximum(totals, 1), np.int64), tables, *prior, self.concentrations, rng)


@dataclass(frozen=True, eq=False)
class _SlippedTokens(GroupTokens):
    slip: str = ""

    def restore(self, problem, arrays, n_threads):
        made = super().restore(problem, arrays, n_threads)
        slipped = type("Slipped", (_Slipped,), {"slip": self.slip})
        return slipped(made.problem, made.sampler, made.tokens, made.counts, made.concentrations)


@pytest.mark.slow
@pytest.mark.parametrize("slip", ["phi without tables", "tables without phi", "q of empty groups"])
def test_the_joint_test_sees_a_slip(slip):
    sampler = _SlippedTokens(GROUPS, 3, 0, SHAPE, RATE, slip)
    assert _joint_test(_problem(sampler=sampler), 3_000) < 1e-6


@pytest.mark.slow
def test_a_shape_of_the_prior_that_is_not_that_of_the_model_is_seen():
    assert _joint_test(_problem(sampler=GroupTokens(GROUPS, 3, 0, SHAPE / 2, RATE)), 3_000) < 1e-6
