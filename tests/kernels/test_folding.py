"""Folding-in: the proportions of a document depend on that document alone."""

import numpy as np
import pytest

from metalda.kernels.border import frozen
from metalda.kernels.folding import fold_in

N_WORDS, N_DOCUMENTS = 300, 60


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
    for trial in range(100):
        others.append(np.empty(int(rng.integers(1, 5000)), np.uint8))  # so that the next arrays are elsewhere
        first = int(rng.integers(0, N_DOCUMENTS))
        last = int(rng.integers(first + 1, N_DOCUMENTS + 1))
        np.testing.assert_array_equal(fold(first, last, trial % 17), expected[first:last])
