"""The kernels of pseudo-documents against the reference, and at the limits of floats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from contracts import assert_distributions
from marks import examples
from metalda.kernels.border import frozen
from metalda.kernels.pseudo import log_multinomials, mix_pseudo_documents, move_documents, word_probabilities


def _seed_of(bits):
    """The seed whose first uniform has these 64 bits: splitmix64 backwards."""
    x = bits ^ (bits >> 31) ^ (bits >> 62)
    x = x * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    x = x ^ (x >> 27) ^ (x >> 54)
    x = x * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    x = x ^ (x >> 30) ^ (x >> 60)
    return np.uint64((x - 0x9E3779B97F4A7C15) % 2**64)


def _count(topics, pseudo, n_topics, n_pseudo):
    """N as [topic or zeros, pseudo-document], N[l] and M[l]."""
    counts = np.zeros((n_topics + 1, n_pseudo), np.int32)
    for z, where in zip(topics, pseudo, strict=True):
        np.add.at(counts, (np.array(z, int), where), 1)
    sizes = np.bincount(np.array(pseudo, int), minlength=n_pseudo).astype(np.int32)
    return counts, counts.sum(axis=0).astype(np.int64), sizes


def _move(topics, pseudo, n_pseudo, alpha, concentration, seed):
    """Move all documents; their new pseudo-documents, and the counts that the kernel keeps."""
    order = np.argsort([len(z) for z in topics], kind="stable")
    moved, kept = np.array(pseudo, np.int32), _count(topics, pseudo, len(alpha), n_pseudo)
    _call(topics, order, alpha, concentration, moved, kept, np.uint64(seed))
    return moved, kept, order


def _call(topics, order, alpha, concentration, moved, counts, seed):
    offsets = frozen(np.concatenate([[0], np.cumsum([len(z) for z in topics])]), np.int64)
    flat = frozen([k for z in topics for k in z], np.uint16)
    order, alpha = frozen(order, np.int64), frozen(alpha, np.float64)
    move_documents(flat, offsets, order, alpha, float(concentration), moved, *counts, seed)


@given(
    lengths=st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 9, 40, 300]), min_size=1, max_size=7),
    n_topics=st.integers(1, 6),
    n_pseudo=st.integers(1, 40),
    prior=st.sampled_from([1e-20, 1e-3, 0.1, 3.0, 1e20]),
    seed=st.integers(0, 2**32 - 1),
)
@examples(150)
def test_moving_documents_equals_the_formula(lengths, n_topics, n_pseudo, prior, seed):
    """Also where a product of the factors is outside the range of floats."""
    rng = np.random.default_rng(seed)
    alpha = prior * rng.uniform(0.5, 2, n_topics)
    topics = [rng.integers(0, n_topics, n) for n in lengths]
    pseudo = rng.integers(0, n_pseudo, len(lengths)).tolist()
    moved, kept, order = _move(topics, pseudo, n_pseudo, alpha, 0.5, seed)
    reference.move_documents(topics, pseudo, order, n_pseudo, alpha, 0.5, reference.splitmix(seed))
    assert moved.tolist() == pseudo
    for found, expected in zip(kept, _count(topics, moved, n_topics, n_pseudo), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_pseudo_document_may_fall_behind_by_more_than_a_float_and_come_back():
    """Three documents of 600 tokens in topic 0, in topic 1, and half in each: the third fits both others alike."""
    topics = [[0] * 600, [1] * 600, [0] * 300 + [1] * 300]
    chosen = {int(_move(topics, [0, 1, 0], 2, [1e-3, 1e-3], 0.1, seed)[0][2]) for seed in range(40)}
    assert chosen == {0, 1}


@pytest.mark.parametrize("bits", [0, 2**64 - 1], ids=["u = 0", "u = 1 - 2^-53"])
@pytest.mark.parametrize("right", [0, 17, 39])
def test_a_pseudo_document_of_weight_zero_is_never_drawn(bits, right):
    """A long document of topic 0: relative to the pseudo-document with topic 0, all other weights underflow."""
    topics = [[0 if p == right else 1] * 600 for p in range(40)] + [[0] * 900]
    pseudo = [*range(40), 5]
    moved = np.array(pseudo, np.int32)
    _call(topics, [40], [1e-3, 1e-3], 1e-3, moved, _count(topics, pseudo, 2, 40), _seed_of(bits))
    assert moved[40] == right


def test_seeds_can_be_found_for_both_ends():
    assert next(reference.splitmix(_seed_of(0))) == 0
    assert next(reference.splitmix(_seed_of(2**64 - 1))) == 1 - 2.0**-53


@given(
    rows=st.lists(st.lists(st.integers(0, 60), min_size=3, max_size=3), min_size=1, max_size=6),
    seed=st.integers(0, 999),
)
@examples(60)
def test_the_likelihood_of_rows_is_a_dirichlet_multinomial_each(rows, seed):
    concentration = np.random.default_rng(seed).gamma(0.5, 1, 3) + 1e-6
    expected = sum(reference.dirichlet_multinomial(concentration, np.array(row)) for row in rows)
    found = log_multinomials(frozen(rows, np.int32), frozen(concentration, np.float64))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def _mix(documents, prior, theta, phi):
    offsets = frozen(np.concatenate([[0], np.cumsum([len(d) for d in documents])]), np.int64)
    words, rows = np.unique(np.array([v for d in documents for v in d], np.int32), return_inverse=True)
    by_topic, prior = frozen(theta.T, np.float32), frozen(prior, np.float64)
    probabilities = np.empty((len(words), len(prior)), np.float32)
    word_probabilities(frozen(phi, np.float32), frozen(words, np.int32), by_topic, probabilities)
    total = np.zeros((len(documents), theta.shape[1]))
    mix_pseudo_documents(frozen(rows, np.int32), offsets, frozen(probabilities, np.float32), prior, by_topic, total)
    return total


@given(
    lengths=st.lists(st.sampled_from([0, 1, 6, 7, 8, 14, 400]), min_size=1, max_size=5),
    n_topics=st.integers(1, 9),
    n_pseudo=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
)
@examples(60)
def test_mixing_pseudo_documents_equals_the_formula(lengths, n_topics, n_pseudo, seed):
    rng = np.random.default_rng(seed)
    documents = [rng.integers(0, 12, n) for n in lengths]
    theta, prior = rng.dirichlet(np.full(n_topics, 0.3), n_pseudo), rng.dirichlet(np.ones(n_pseudo))
    theta = (theta + 1e-4) / (theta + 1e-4).sum(axis=1, keepdims=True)
    phi = rng.dirichlet(np.full(12, 0.3), n_topics).T + 1e-9
    found = _mix(documents, prior, theta, phi)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(found, reference.mix_pseudo_documents(documents, prior, theta, phi), atol=2e-4)


def test_words_without_probability_still_leave_a_distribution():
    """Word 0 has probability 0 in one pseudo-document, word 1 in all of them."""
    phi = np.array([[0.5, 0.0], [0.0, 0.0], [0.5, 1.0]])
    found = _mix([[0], [1], [0, 1, 2] * 30], np.array([0.25, 0.75]), np.eye(2), phi)
    np.testing.assert_allclose(found[0], [1, 0], atol=1e-12)
    assert_distributions(found)


def test_documents_of_a_batch_do_not_touch_each_other():
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 12, n) for n in (3, 0, 9, 20)]
    theta, prior = rng.dirichlet(np.ones(5), 7), rng.dirichlet(np.ones(7))
    phi = rng.dirichlet(np.ones(12), 5).T
    together = _mix(documents, prior, theta, phi)
    for d, row in enumerate(together):
        np.testing.assert_array_equal(row, _mix(documents[d : d + 1], prior, theta, phi)[0])
