"""New documents: topics given phi, probabilities of words, and label sets."""

import numpy as np
import pytest

import reference
from metalda.kernels.border import COMPILED, frozen
from metalda.kernels.folding import fold_in, hash_documents, infer_label_sets, score_tokens

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


def _infer(documents, phi, shares, alpha, n_burn_in=50, n_sweeps=N_SWEEPS):
    words, offsets, keys = _flat(documents)
    chances = np.empty((len(documents), len(shares)), np.float32)
    infer_label_sets(
        words,
        offsets,
        keys,
        frozen(phi, np.float32),
        frozen(np.log(shares), np.float64),
        frozen(alpha, np.float64),
        frozen(alpha.sum(axis=2), np.float64),
        frozen(alpha.mean(axis=(0, 1)), np.float64),
        n_burn_in,
        n_sweeps,
        chances,
    )
    return chances


@pytest.mark.parametrize("n_draws", [1, 2])
@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_probabilities_are_those_of_the_sum_over_all_topics(scale, n_draws):
    """Weak and strong priors; an empty document has the shares of the sets."""
    rng = np.random.default_rng(int(10 * scale))
    phi = rng.dirichlet(np.ones(4), 3).T
    shares = np.array([0.5, 0.3, 0.2])
    alpha = scale * rng.gamma(0.7, 1, (n_draws, 3, 3)) + 0.01
    documents = [[0, 1, 1, 3], [], [2], [3, 3, 3, 0, 2, 2]]
    expected = [
        np.mean([reference.label_set_posterior(words, phi, shares, own) for own in alpha], axis=0)
        for words in documents
    ]
    np.testing.assert_allclose(_infer(documents, phi, shares, alpha), expected, atol=TOLERANCE)


def test_long_documents_and_extreme_priors_neither_overflow_nor_vanish():
    """Products of hundreds of factors, with alpha from 1e-30 to 1e30, are far outside the range of floats."""
    phi = np.full((2, 3), 0.5)
    phi[0] = [0.9, 0.1, 0.5]
    phi[1] = 1 - phi[0]
    alpha = np.array([[[1e-30, 1e-30, 1e-30], [1e30, 1e-30, 1.0], [1.0, 2.0, 3.0]]])
    chances = _infer([[0] * 400 + [1] * 40, [1] * 300], phi, np.full(3, 1 / 3), alpha, 5, 20)
    assert np.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-5)
