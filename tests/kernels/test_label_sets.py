"""The label set of a new document."""

import numpy as np
import pytest

import reference
from metalda.kernels.border import frozen
from metalda.kernels.label_sets import infer_label_sets


def _infer(documents, phi, shares, alpha, n_burn_in=50, n_sweeps=100_000, seed=0):
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in documents])])
    chances = np.empty((len(documents), len(shares)))
    infer_label_sets(
        frozen(np.concatenate(documents), np.int32),
        frozen(offsets, np.int64),
        frozen(seed + np.arange(len(documents)), np.uint64),
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
    """Weak and strong priors; a document of no words has the shares of the sets."""
    rng = np.random.default_rng(int(10 * scale))
    phi = rng.dirichlet(np.ones(4), 3).T
    shares = np.array([0.5, 0.3, 0.2])
    alpha = scale * rng.gamma(0.7, 1, (n_draws, 3, 3)) + 0.01
    documents = [[0, 1, 1, 3], [], [2], [3, 3, 3, 0, 2, 2]]
    expected = [
        np.mean([reference.label_set_posterior(words, phi, shares, own) for own in alpha], axis=0)
        for words in documents
    ]
    np.testing.assert_allclose(_infer(documents, phi, shares, alpha), expected, atol=0.015)


def test_long_documents_and_extreme_priors_neither_overflow_nor_vanish():
    """Products of some hundred factors, and of alpha from 1e-30 to 1e30, lie far beyond what a float holds."""
    phi = np.full((2, 3), 0.5)
    phi[0] = [0.9, 0.1, 0.5]
    phi[1] = 1 - phi[0]
    alpha = np.array([[[1e-30, 1e-30, 1e-30], [1e30, 1e-30, 1.0], [1.0, 2.0, 3.0]]])
    chances = _infer([[0] * 400 + [1] * 40, [1] * 300], phi, np.full(3, 1 / 3), alpha, 5, 20)
    assert np.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1)
