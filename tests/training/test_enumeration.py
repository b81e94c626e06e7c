"""Tiny corpora whose posterior over assignments can be written down in full."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import reference
from exact import assert_visits_follow
from marks import slow_after_first
from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.priors import Fixed, Gamma, Masked
from metalda.samplers import Problem, TopicCounts, Urn
from metalda.samplers.shards import Shard
from metalda.training.gibbs import Generators, start_chain, sweep

DOCUMENTS = [[0, 1, 0], [2, 1], [0]]


def _exact(alpha, beta):
    """p(z | w) for every assignment, in the order of itertools.product."""
    n_topics = len(beta)
    lengths = np.cumsum([len(d) for d in DOCUMENTS])[:-1]
    states = list(itertools.product(range(n_topics), repeat=sum(len(d) for d in DOCUMENTS)))
    logs = [_log_likelihood(np.split(np.array(state), lengths), alpha, beta) for state in states]
    p = np.exp(np.array(logs) - max(logs))
    return p / p.sum()


def _log_likelihood(topics, alpha, beta):
    """-inf where a document has a topic that it may not have."""
    if any((alpha[d][z] == 0).any() for d, z in enumerate(topics)):
        return -np.inf
    return reference.log_likelihood(DOCUMENTS, topics, np.maximum(alpha, 1e-300), beta)


def _design(rows):
    return Design.build(NamedMatrix(sparse.csr_array(np.array(rows, float)), ("a", "b")), len(rows))


@pytest.mark.parametrize("n_topics", slow_after_first([2, 3]))
@pytest.mark.parametrize("by_word", [False, True])
def test_assignments_follow_the_exact_posterior(by_word, n_topics):
    """Alpha differs by document and topic; beta by topic only (the shared kernel), or by word too."""
    rng = np.random.default_rng(n_topics)
    doc_design = _design([[1, 0], [1, 1], [0, 0]])
    word_design = _design([[1, 0], [0, 1], [0, 0]]) if by_word else Design.build(None, 3)
    alpha = Gamma(doc_design, 0.1, 1.0).alpha(rng.normal(0, 1, (3, n_topics)))
    log_delta = rng.normal(0, 1, (len(word_design.names), n_topics))
    beta = Gamma(word_design, 0.1, 1.0).beta(log_delta)
    expected = _exact(alpha.values[doc_design.row_of].astype(float), beta.values[word_design.row_of].T.astype(float))
    _assert_sweeps_follow(expected, doc_design, word_design, alpha, beta, rng)


@pytest.mark.parametrize(("topics_per_label", "n_shared"), slow_after_first([(1, 1), (1, 0), (2, 0)]))
def test_labeled_documents_follow_the_exact_posterior_over_their_topics(topics_per_label, n_shared):
    """Labeled LDA and PLLDA: one document has one label, one has both, and one has none and may have every topic."""
    rng = np.random.default_rng(topics_per_label)
    n_topics = 2 * topics_per_label + n_shared
    design, word_design = _design([[1, 0], [1, 1], [0, 0]]), Design.build(None, 3)
    prior = Masked(design, 0.3, topics_per_label, n_shared)
    alpha = prior.alpha(prior.start_weights(n_topics))
    beta = Fixed(word_design, 0.2).beta(np.full((1, n_topics), np.log(0.2)))
    expected = _exact(alpha.values[design.row_of].astype(float), np.full((n_topics, 3), 0.2))
    assert (expected == 0).any() == (topics_per_label > 0)
    _assert_sweeps_follow(expected, design, word_design, alpha, beta, rng)


def _assert_sweeps_follow(expected, doc_design, word_design, alpha, beta, rng):
    """Chi-square of how often each assignment is visited."""
    n_topics = alpha.values.shape[1]
    words = np.array([v for d in DOCUMENTS for v in d], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in DOCUMENTS])]).astype(np.int64)
    shard = Shard.cut(words, offsets, doc_design.row_of, 0, len(DOCUMENTS))
    first_allowed = (alpha.values > 0).argmax(axis=1)[doc_design.row_of]
    topics = np.repeat(first_allowed, np.diff(offsets)).astype(np.uint16)
    counts = TopicCounts.count(words, topics, n_topics, word_design)
    place = n_topics ** np.arange(len(words))[::-1]
    n_kept, thin = 15_000, 8
    visits = np.zeros(n_topics ** len(words))
    for i in range(n_kept * thin):
        counts.sweep(shard, topics, alpha, beta, rng.integers(2**64, dtype=np.uint64))
        if i % thin == 0:
            visits[place @ topics.astype(int)] += 1

    assert_visits_follow(visits, expected)


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [2, 3])
def test_topics_of_documents_follow_the_exact_posterior_of_dmm(n_topics):
    documents = [[0, 1, 0], [2, 1], [], [0], [2, 2, 1, 0], [1]]
    full = [d for d, document in enumerate(documents) if document]
    alpha, beta = 0.7, 0.4
    states = list(itertools.product(range(n_topics), repeat=len(full)))
    logs = []
    for state in states:
        topics = np.zeros(len(documents), int)
        topics[full] = state
        logs.append(reference.urn_log_likelihood(documents, topics, np.full(n_topics, alpha), beta, 3))
    expected = np.exp(np.array(logs) - max(logs))
    expected /= expected.sum()

    words = np.array([v for d in documents for v in d], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    priors = Fixed(Design.build(None, len(documents)), alpha), Fixed(Design.build(None, 3), beta)
    problem = Problem(words, offsets, 3, n_topics, *priors, Urn(), np.array([0, len(documents)]))
    rng = np.random.default_rng(n_topics)
    state, generators = start_chain(problem, rng), Generators.spawn(n_topics, problem)
    place = n_topics ** np.arange(len(full))[::-1]
    visits = np.zeros(len(states))
    for i in range(15_000 * 4):
        state, _ = sweep(problem, state, generators)
        if i % 4 == 0:
            visits[place @ state.topics[offsets[full]].astype(int)] += 1
    assert_visits_follow(visits, expected)
