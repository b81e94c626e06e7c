"""LF-LDA's sampler: its sweeps against their twin, and against exact posteriors."""

import itertools
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from exact import assert_visits_follow
from metalda.kernels.latent import choose_kind
from metalda.meta.design import Design
from metalda.priors import Alpha, Fixed
from metalda.samplers import LatentFeatures, Problem
from metalda.samplers.latent import LatentAssignment, count_kinds

HAS_VECTOR = np.array([True, True, False, True])
VECTORS = np.array([[1.0, 0.2], [-0.5, 1.0], [0.0, 0.0], [0.3, -1.0]], np.float32)
INITIAL, JOINT = 0, 10**6  # sweeps done before


@dataclass(frozen=True, eq=False)
class FixedVectors(LatentFeatures):
    """The sampler with vectors of topics that are given once and for all."""

    topic_vectors: np.ndarray

    def fit(self, latent_counts, start):
        return self.topic_vectors


def _assignment(documents, n_topics, topics, kinds, weight, topic_vectors, alpha=0.1, beta=0.01):
    words = np.array([v for document in documents for v in document], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    sampler = FixedVectors(VECTORS[HAS_VECTOR], HAS_VECTOR, weight, JOINT, 0.01, np.asarray(topic_vectors, np.float32))
    priors = Fixed(Design.build(None, len(documents)), alpha), Fixed(Design.build(None, len(HAS_VECTOR)), beta)
    bounds = np.array([0, len(documents)])
    problem = Problem(words, offsets, len(HAS_VECTOR), n_topics, *priors, sampler, bounds)
    nothing = np.zeros((n_topics, 2), np.float32)
    return LatentAssignment(problem, sampler, np.array(topics, np.uint16), np.array(kinds, np.uint8), nothing, 1)


def _concentrations(assignment):
    problem = assignment.problem
    alpha = problem.doc_prior.alpha(problem.doc_prior.start_weights(problem.n_topics))
    return alpha, problem.word_prior.beta(problem.word_prior.start_weights(problem.n_topics))


def _nest(flat, offsets):
    return [[int(x) for x in flat[a:b]] for a, b in pairwise(offsets)]


def _assert_counts_follow(assignment):
    problem = assignment.problem
    again = count_kinds(problem.words, assignment.topics, assignment.kinds, problem.n_words, problem.n_topics)
    for found, expected in zip(assignment.kind_counts.arrays, again.arrays, strict=True):
        np.testing.assert_array_equal(found, expected)


@given(
    documents=st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=4),
    n_topics=st.integers(1, 40),
    weight=st.sampled_from([0.0, 0.3, 0.6, 0.9]),
    joint=st.booleans(),
    faint=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(derandomize=True, max_examples=100, deadline=None)
def test_a_sweep_equals_the_formula_token_by_token(documents, n_topics, weight, joint, faint, seed):
    rng = np.random.default_rng(seed)
    words = np.array([v for document in documents for v in document], int)
    kinds = (rng.random(len(words)) < weight) & HAS_VECTOR[words]
    topic_vectors = rng.normal(0, 1, (n_topics, 2)).astype(np.float32)
    topics = rng.integers(0, n_topics, len(words))
    beta = 1e-30 if faint else 0.2
    assignment = _assignment(documents, n_topics, topics, kinds, weight, topic_vectors, beta=beta)
    by_topic = (rng.gamma(1.0, 1.0, n_topics) * (1e-30 if faint else 1)).astype(np.float32)
    alpha = Alpha(by_topic[None], by_topic[None].sum(axis=1, dtype=float), False, np.log(by_topic)[None])
    beta = _concentrations(assignment)[1]
    nested, nested_kinds = (_nest(flat, assignment.problem.offsets) for flat in (topics, kinds))
    before = [*zip(assignment.topics.tolist(), assignment.kinds.tolist(), strict=True)]
    softmax = reference.softmax(topic_vectors.astype(float), VECTORS.astype(float), HAS_VECTOR) if joint else None
    arguments = (by_topic.astype(float), float(beta.values[0, 0]), weight, HAS_VECTOR, softmax)

    seeds = deepcopy(rng)
    moved, log_likelihood = assignment.sweep(alpha, beta, [rng], map, JOINT if joint else INITIAL)
    uniforms = reference.splitmix(seeds.integers(2**64, dtype=np.uint64))
    reference.sweep_latent(documents, nested, nested_kinds, *arguments, uniforms)

    assert assignment.topics.tolist() == list(itertools.chain(*nested))
    assert assignment.kinds.tolist() == list(itertools.chain(*nested_kinds))
    after = [*zip(assignment.topics.tolist(), assignment.kinds.tolist(), strict=True)]
    assert moved == sum(a != b for a, b in zip(before, after, strict=True))
    _assert_counts_follow(assignment)
    expected = reference.latent_log_likelihood(documents, nested, nested_kinds, *arguments)
    assert log_likelihood == pytest.approx(expected, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2.0**-24, 1 - 2.0**-53])
def test_a_kind_of_weight_zero_is_never_chosen(uniform):
    for weight in (1e-300, 0.1, 1 / 3, 1.0):
        assert choose_kind(weight, 0.0, uniform) == 0
        assert choose_kind(0.0, weight, uniform) == 1
    assert choose_kind(1.0, 1.0, uniform) == reference.choose_kind(1.0, 1.0, uniform) == (uniform >= 0.5)


DOCUMENTS = [[0, 1, 0], [2, 1], [0]]  # word 2 has no vector


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "n_sweeps"), [(0.6, JOINT), (0.6, INITIAL), (0.0, JOINT), (0.0, INITIAL)])
def test_topics_and_kinds_follow_the_exact_posterior(weight, n_sweeps):
    """Topics by topic vectors that are fixed, or by n1. With weight 0 the posterior is that of LDA."""
    topic_vectors = np.array([[1.5, 0.0], [-1.0, 1.0]], np.float32)
    n_tokens = sum(map(len, DOCUMENTS))
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in DOCUMENTS])])
    assignment = _assignment(DOCUMENTS, 2, [0] * n_tokens, [0] * n_tokens, weight, topic_vectors, 0.3, 0.2)
    alpha, beta = _concentrations(assignment)
    table = reference.softmax(topic_vectors, VECTORS, HAS_VECTOR) if n_sweeps == JOINT else None
    states = (
        [*itertools.product(range(4), repeat=n_tokens)] if weight else [*itertools.product((0, 1), repeat=n_tokens)]
    )
    logs = []
    for state in states:
        z, s = (_nest(flat, offsets) for flat in (np.array(state) % 2, np.array(state) // 2))
        if weight:
            known = reference.latent_log_likelihood(DOCUMENTS, z, s, np.full(2, 0.3), 0.2, weight, HAS_VECTOR, table)
        else:
            known = reference.log_likelihood(DOCUMENTS, z, np.full((3, 2), 0.3), np.full((2, 4), 0.2))
        logs.append(known)
    expected = np.exp(np.array(logs) - max(logs))
    expected /= expected.sum()
    place = (4 if weight else 2) ** np.arange(n_tokens)[::-1]
    visits = np.zeros(len(states))
    rng = np.random.default_rng(1)
    for i in range(6_000 * 5):
        assignment.sweep(alpha, beta, [rng], map, n_sweeps)
        if i % 5 == 0:
            visits[place @ (assignment.topics.astype(int) + 2 * assignment.kinds.astype(int))] += 1
    assert not visits[expected == 0].any()
    assert_visits_follow(visits[expected > 0], expected[expected > 0])
