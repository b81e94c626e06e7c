"""One topic for every document: the kernels against the reference, exact removal, long documents, theta."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from marks import examples
from metalda.kernels.border import COMPILED, frozen
from metalda.kernels.urn import count_repeats
from metalda.meta.design import Design
from metalda.priors import Fixed
from metalda.samplers import Problem, Urn
from metalda.samplers.folding import Documents
from metalda.samplers.urn import infer_single_topics
from metalda.training.gibbs import Generators, resume_chain, start_chain, sweep

N_WORDS = 5
NEIGHBORS = [[1, 2], [0], [], [4, 0, 1] * 6, []]  # one list is long; not symmetric, since some words promote none
DOCUMENTS = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=6), min_size=1, max_size=5).filter(any)


def _problem(documents, n_topics, alpha=0.7, beta=0.3, promotion=0.4, neighbors=NEIGHBORS, bounds=None):
    lists = None
    if neighbors is not None:
        starts = np.concatenate([[0], np.cumsum([len(each) for each in neighbors])]).astype(np.int64)
        lists = starts, np.array([u for each in neighbors for u in each], np.int32)
    words = np.array([v for document in documents for v in document], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(document) for document in documents])]).astype(np.int64)
    return Problem(
        words,
        offsets,
        N_WORDS,
        n_topics,
        Fixed(Design.build(None, len(documents)), alpha),
        Fixed(Design.build(None, N_WORDS), beta),
        Urn(lists, promotion),
        np.array([0, len(documents)] if bounds is None else bounds),
    )


def _nested(problem, state):
    """Topics by document (0 for an empty one), and flags by token."""
    pairs = list(pairwise(problem.offsets))
    flags = state.assignment.promoted if len(state.assignment.promoted) else np.zeros(len(state.topics), np.uint8)
    return [int(state.topics[a]) if a < b else 0 for a, b in pairs], [list(flags[a:b]) for a, b in pairs]


def _assert_counts(problem, state, documents, neighbors):
    m, n, r = reference.count_urns(documents, *_nested(problem, state), neighbors, problem.n_topics, N_WORDS)
    urns, totals, sizes = state.assignment.urns.arrays
    np.testing.assert_array_equal(sizes, m)
    for kind, expected in zip(range(urns.shape[1]), (n, r), strict=False):
        np.testing.assert_array_equal(urns[:, kind].T, expected)
        np.testing.assert_array_equal(totals[kind], expected.sum(axis=1))


@given(documents=DOCUMENTS, n_topics=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), promotes=st.booleans())
@examples(100)
def test_a_sweep_equals_the_formula_document_by_document(documents, n_topics, seed, promotes):
    neighbors = NEIGHBORS if promotes else [[]] * N_WORDS
    problem = _problem(documents, n_topics, neighbors=neighbors if promotes else None)
    state, rngs = start_chain(problem, np.random.default_rng(seed)), Generators.spawn(seed, problem)
    same_rngs = Generators.spawn(seed, problem)
    topics, promoted = _nested(problem, state)
    alpha, beta = np.full(n_topics, np.float32(0.7), float), float(np.float32(0.3))
    for _ in range(3):
        before = state.topics.copy()
        state, record = sweep(problem, state, rngs)
        uniforms = reference.splitmix(same_rngs.shards[0].integers(2**64, dtype=np.uint64))
        reference.sweep_documents(documents, topics, promoted, neighbors, alpha, beta, 0.4, N_WORDS, uniforms)
        assert _nested(problem, state) == (topics, promoted)
        assert record.moved == (state.topics != before).sum()
        _assert_counts(problem, state, documents, neighbors)
        expected = reference.urn_log_likelihood(documents, topics, alpha, beta, N_WORDS)
        assert record.log_likelihood == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("bounds", [[0, 40], [0, 13, 13, 40]])
def test_promotions_are_undone_exactly(bounds):
    """After any moves and promotions the counts are those of the topics and flags, and 0 once all are removed."""
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, N_WORDS, rng.integers(0, 9)).tolist() for _ in range(40)]
    problem = _problem(documents, 6, promotion=0.1, bounds=bounds)
    state, rngs = start_chain(problem, rng), Generators.spawn(0, problem)
    flags = []
    for _ in range(200):
        state, _ = sweep(problem, state, rngs)
        flags.append(state.assignment.promoted.mean())
    assert 0 < np.mean(flags) < 1
    _assert_counts(problem, state, documents, NEIGHBORS)
    urns, totals, sizes = (array.copy() for array in state.assignment.urns.arrays)
    for document, k, promoted in zip(documents, *_nested(problem, state), strict=True):
        sizes[k] -= bool(document)
        for v, flag in zip(document, promoted, strict=True):
            urns[v, 0, k] -= 1
            totals[0, k] -= 1
            for u in NEIGHBORS[v] if flag else ():
                urns[u, 1, k] -= 1
                totals[1, k] -= 1
    assert not urns.any()
    assert not totals.any()
    assert not sizes.any()


def _state(problem, topics, promoted=None):
    arrays = {
        "topics": np.repeat(np.array(topics, np.uint16), np.diff(problem.offsets)),
        "promoted": np.zeros(0, np.uint8) if promoted is None else np.array(promoted, np.uint8),
    }
    log_alpha, log_beta = (p.start_weights(problem.n_topics) for p in (problem.doc_prior, problem.word_prior))
    return resume_chain(problem, arrays, log_alpha, log_beta)


@pytest.mark.parametrize("beta", [1e-30, 1e-3, 0.3, 1e20])
@pytest.mark.parametrize("length", [1, 30, 3000])
@pytest.mark.parametrize("promotes", [False, True])
def test_theta_of_training_documents_is_their_conditional_however_long_they_are(beta, length, promotes):
    """The first half of the long document is unlike topic 0, and the second as unlike topic 1."""
    long = [0] * length + [1] * length + [2]
    documents = [long, [1, 1, 2], [], [0, 0, 2], [3, 4], [0, 1]]
    neighbors = NEIGHBORS if promotes else [[]] * N_WORDS
    problem = _problem(documents, 3, beta=beta, neighbors=neighbors if promotes else None)
    flags = np.arange(len(problem.words)) % 3 == 0
    state = _state(problem, [2, 0, 0, 1, 2, 0], flags if promotes else None)
    kept = [array.copy() for array in state.assignment.urns.arrays]
    theta = np.zeros((len(documents), 3), np.float32)
    state.assignment.add_theta(state.alpha, theta)
    for before, after in zip(kept, state.assignment.urns.arrays, strict=True):
        np.testing.assert_array_equal(before, after)
    alpha = state.alpha.values[0].astype(float)
    topics, promoted = _nested(problem, state)
    for d, document in enumerate(documents):
        m, n, r = reference.count_urns(documents, topics, promoted, neighbors, 3, N_WORDS, without=d)
        logs = reference.document_weights(document, m, n + 0.4 * r, alpha, float(state.beta.values[0, 0]))
        expected = np.exp(logs - logs.max())
        np.testing.assert_allclose(theta[d], expected / expected.sum(), rtol=1e-5, atol=1e-30)


def test_a_topic_of_weight_zero_is_never_drawn():
    """A long document, and topics full of other words: their weights are outside the range of float64."""
    documents = [[0] * 2000, [1] * 3000, [2] * 3000, [3]]
    problem = _problem(documents, 3, beta=1e-3, neighbors=None)
    state, rngs = _state(problem, [1, 0, 2, 0]), Generators.spawn(0, problem)
    theta = np.zeros((4, 3), np.float32)
    state.assignment.add_theta(state.alpha, theta)
    np.testing.assert_array_equal(theta[:3], np.eye(3)[[1, 0, 2]])
    drawn = set()
    for _ in range(300 if COMPILED else 30):
        state, _ = sweep(problem, state, rngs)
        topics, _ = _nested(problem, state)
        assert topics[:3] == [1, 0, 2]
        drawn.add(topics[3])
    assert drawn == {0, 1, 2}


@given(
    documents=st.lists(st.lists(st.integers(0, 3), max_size=40), min_size=1, max_size=4),
    n_topics=st.integers(1, 20),
    repeat=st.sampled_from([1, 1000 if COMPILED else 100]),
    seed=st.integers(0, 999),
)
@examples(60)
def test_theta_of_new_documents_is_the_posterior_of_their_topic(documents, n_topics, repeat, seed):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(4, 0.3), n_topics).T.astype(np.float32) + np.float32(1e-12)
    alpha = rng.gamma(1.0, 10.0, n_topics) + 1e-3
    documents = [document * repeat for document in documents]
    words = np.array([v for document in documents for v in document], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    nothing = np.zeros(len(documents), np.int32)
    theta = infer_single_topics(Documents(words, offsets, nothing, nothing.astype(np.uint64)), alpha, phi)
    np.testing.assert_allclose(theta, reference.weigh_new_documents(documents, alpha, phi), rtol=1e-4, atol=1e-30)


@given(documents=DOCUMENTS)
@examples(30)
def test_repeats_are_earlier_tokens_of_the_same_word(documents):
    words = np.array([v for document in documents for v in document], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    repeats = np.empty(len(words), np.int32)
    count_repeats(frozen(words, np.int32), frozen(offsets, np.int64), N_WORDS, repeats)
    assert repeats.tolist() == reference.count_repeats(documents)
