"""New documents: topics given phi, probabilities of words, and label sets."""

import numpy as np
import pytest

import reference
from metalda.kernels.border import COMPILED, frozen
from metalda.kernels.folding import fold_in, hash_documents, mix_label_sets, score_tokens

# without compilation a sweep is 1,000 times slower, and the tolerance of a Monte Carlo mean grows
N_SWEEPS, TOLERANCE = (100_000, 0.015) if COMPILED else (1500, 0.06)
N_WORDS, N_DOCUMENTS = 300, 60


def _flat(documents):
    """Words, offsets, and a key for each document."""
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in documents])])
    keys = frozen(np.arange(len(documents)), np.uint64)
    return frozen(np.concatenate(documents), np.int32), frozen(offsets, np.int64), keys


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_topics_of_new_documents_are_those_of_the_sum_over_all_topics(scale):
    """Weak and strong priors; an empty document has the mean of its prior."""
    rng = np.random.default_rng(int(10 * scale))
    phi = rng.dirichlet(np.ones(4), 3).T
    alpha = (scale * rng.gamma(0.7, 1, (2, 3)) + 0.01).astype(np.float32)
    documents, rows = [[0, 1, 1, 3], [], [2], [3, 3, 3, 0, 2, 2]], [0, 1, 1, 0]
    words, offsets, keys = _flat(documents)
    theta = np.empty((len(documents), 3), np.float32)
    prior, likelihood = frozen(alpha, np.float32), frozen(phi, np.float32)
    fold_in(words, offsets, frozen(rows, np.int32), keys, prior, likelihood, 50, N_SWEEPS // 5, theta)
    expected = [
        reference.fold_in(each, alpha[row].astype(float), phi) for each, row in zip(documents, rows, strict=True)
    ]
    np.testing.assert_allclose(theta, expected, atol=TOLERANCE)


@pytest.mark.parametrize("n_topics", [1, 7, 10, 40])
def test_theta_does_not_depend_on_the_batch_or_on_the_addresses_of_arrays(n_topics):
    """A sum whose loop also stores is compiled twice, in two orders of summation, and addresses decide between them."""
    rng = np.random.default_rng(n_topics)
    alpha = frozen(rng.gamma(1, 1, (3, n_topics)), np.float32)
    phi = frozen(rng.dirichlet(np.full(N_WORDS, 0.1), n_topics).T, np.float32)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 30, N_DOCUMENTS))]).astype(np.int64)
    words = frozen(rng.integers(0, N_WORDS, offsets[-1]), np.int32)
    rows = frozen(rng.integers(0, 3, N_DOCUMENTS), np.int32)
    keys = frozen(rng.integers(0, 2**63, N_DOCUMENTS), np.uint64)

    def fold(first: int, last: int, offset: int) -> np.ndarray:
        theta = np.empty((last - first) * n_topics + offset, np.float32)[offset:].reshape(-1, n_topics)
        part = frozen(offsets[first : last + 1], np.int64)
        fold_in(words, part, rows[first:last], keys[first:last], alpha, phi, 2, 4, theta)
        return theta

    expected, others = fold(0, N_DOCUMENTS, 0), []
    for trial in range(100 if COMPILED else 2):
        others.append(np.empty(int(rng.integers(1, 5000)), np.uint8))  # so that the next arrays are elsewhere
        first = int(rng.integers(0, N_DOCUMENTS))
        last = int(rng.integers(first + 1, N_DOCUMENTS + 1))
        np.testing.assert_array_equal(fold(first, last, trial % 17), expected[first:last])


def test_a_word_has_the_probability_of_its_topics():
    rng = np.random.default_rng(0)
    theta, phi = rng.dirichlet(np.ones(5), 3).astype(np.float32), rng.dirichlet(np.ones(4), 5).T.astype(np.float32)
    documents = [[0, 3, 3], [], [2]]
    words, offsets, _ = _flat(documents)
    probabilities = np.ones(len(words))
    score_tokens(words, offsets, frozen(theta, np.float32), frozen(phi, np.float32), probabilities)
    np.testing.assert_allclose(probabilities, 1 + np.array(reference.score_tokens(documents, theta, phi)), rtol=1e-6)


def test_the_key_of_a_document_depends_on_its_words_and_their_order():
    words, offsets, _ = _flat([[0, 1, 2], [0, 1, 2], [2, 1, 0], [0, 1], []])
    keys = np.full(5, 7, np.uint64)
    hash_documents(frozen([11, 12, 13], np.uint64), words, offsets, keys)
    assert keys[0] == keys[1]
    assert len(set(keys.tolist())) == 4
    assert keys[4] == 7


def _mix(documents, phi, shares, alpha, powers=None, rows=None, n_kept=64, n_screened=32):
    """p(set | words) and theta; shares is a row for every row of the documents, with 0 for sets that it cannot have."""
    words, offsets, _ = _flat(documents)
    shares = np.atleast_2d(shares)
    entries = [np.flatnonzero(row) for row in shares]
    rows = np.zeros(len(documents)) if rows is None else rows
    chances = np.empty((len(documents), max(map(len, entries))), np.float32)
    theta = np.empty((len(documents), alpha.shape[1]), np.float32)
    mix_label_sets(
        words,
        offsets,
        frozen(rows, np.int32),
        frozen(np.cumsum([0, *map(len, entries)]), np.int64),
        frozen(np.concatenate(entries), np.int32),
        frozen(np.log(shares[shares > 0]), np.float64),
        frozen(alpha, np.float32),
        frozen(alpha.sum(axis=1), np.float64),
        frozen(phi, np.float32),
        frozen(np.ones(len(documents)) if powers is None else powers, np.float64),
        n_kept,
        n_screened,
        theta,
        chances,
    )
    return chances, theta


SHARES = np.array([0.5, 0.3, 0.2])


def _random(seed, scale, n_topics=3):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(4), n_topics).T, scale * rng.gamma(0.7, 1, (3, n_topics)) + 0.01


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_label_sets_and_topics_equal_the_reference(scale):
    phi, alpha = _random(1, scale, n_topics=37)
    documents = [[0, 1, 1, 3], [], [2], [3, 3, 3, 0, 2, 2], [0, 1], [1, 2, 3] * 20]
    powers = [1, 0.5, 0.2, 0.7, 1, 0.3]
    chances, theta = _mix(documents, phi, SHARES, alpha, powers)
    for d, words in enumerate(documents):
        expected = reference.mix_label_sets(words, phi, SHARES, alpha, powers[d])
        np.testing.assert_allclose(chances[d], expected[0], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(theta[d], expected[1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_label_sets_of_two_words_and_topics_of_one_word_are_exact(scale):
    phi, alpha = _random(2, scale)
    documents = [[], [2], [0], [0, 1], [3, 3]]
    chances, theta = _mix(documents, phi, SHARES, alpha)
    expected = [reference.label_set_posterior(words, phi, SHARES, alpha) for words in documents]
    np.testing.assert_allclose(chances, expected, rtol=1e-5)
    expected = [reference.mixed_theta(words, phi, SHARES, alpha) for words in documents[:3]]
    np.testing.assert_allclose(theta[:3], expected, rtol=1e-5)


@pytest.mark.parametrize(("scale", "tolerance"), [(0.05, 0.3), (1.0, 0.1), (30.0, 0.005)])
def test_label_sets_and_topics_are_near_those_of_the_sum_over_all_topics(scale, tolerance):
    """The topics of a word are not revised given later words, so theta stays nearer to its prior where that is weak."""
    phi, alpha = _random(3, scale)
    documents = [[0, 1, 1, 3], [3, 3, 3, 0, 2, 2], [1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 0]]
    chances, theta = _mix(documents, phi, SHARES, alpha)
    for d, words in enumerate(documents):
        expected = reference.label_set_posterior(words, phi, SHARES, alpha)
        np.testing.assert_allclose(chances[d], expected, atol=tolerance / 2)
        np.testing.assert_allclose(theta[d], reference.mixed_theta(words, phi, SHARES, alpha), atol=tolerance)


def test_a_document_has_the_label_sets_of_its_row_only():
    phi, alpha = _random(4, 1.0)
    shares = np.array([[0.5, 0.3, 0.2], [0, 0.4, 0.6]])
    chances, theta = _mix([[0, 1, 3], [0, 1, 3]], phi, shares, alpha, rows=[1, 0])
    expected = reference.mix_label_sets([0, 1, 3], phi, shares[1, 1:], alpha[1:])
    np.testing.assert_allclose(chances[0, :2], expected[0], rtol=1e-4)
    np.testing.assert_allclose(theta[0], expected[1], rtol=1e-4)
    expected = reference.mix_label_sets([0, 1, 3], phi, shares[0], alpha)
    np.testing.assert_allclose(chances[1], expected[0], rtol=1e-4)
    np.testing.assert_allclose(theta[1], expected[1], rtol=1e-4)


def test_of_many_label_sets_those_are_kept_that_explain_the_first_words_best():
    phi, alpha = _random(5, 1.0)
    every = _mix([[0, 1, 3]], phi, SHARES, alpha)[0][0]
    two = _mix([[0, 1, 3]], phi, SHARES, alpha, n_kept=2)[0][0]
    worst = every.argmin()
    assert two[worst] == 0
    np.testing.assert_allclose(two, np.where(np.arange(3) == worst, 0, every) / (1 - every[worst]), rtol=1e-5)
    nothing_read = _mix([[0, 1, 3]], phi, SHARES, alpha, n_kept=1, n_screened=0)[0][0]
    np.testing.assert_array_equal(nothing_read, [1, 0, 0])  # the most frequent set


def test_long_documents_and_extreme_priors_neither_overflow_nor_vanish():
    """Products of hundreds of factors are far outside the range of floats; a word may have no probability at all."""
    phi = np.array([[0.9, 0.1, 1e-38], [0.1, 0.9, 1e-20], [0, 0, 0]])
    alpha = np.exp([[-40.0, -40, -40], [40, -40, 0], [0, 0.5, 1]])
    chances, theta = _mix([[0] * 400 + [1] * 40, [1] * 300, [2, 2, 0]], phi, np.full(3, 1 / 3), alpha)
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
    assert (theta >= 0).all()
