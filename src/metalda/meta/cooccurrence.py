"""Word vectors from the co-occurrences of a corpus: positive pointwise mutual information and its truncated SVD."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.utils.blas import one_blas_thread
from metalda.utils.chunks import spans

_CONTEXT_POWER = 0.75  # of the frequency of context words, so that rare ones do not have the largest values
_OVERSAMPLES, _POWER_ITERATIONS = 20, 6


def count_pairs(words: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int, window: int) -> csr_array:
    """Count how often two words are at most `window` tokens apart in a document: a symmetric matrix."""
    counts = csr_array((n_words, n_words), dtype=np.int64)
    for first, last in spans(offsets):
        piece = words[offsets[first] : offsets[last]]
        document = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
        for distance in range(1, window + 1):
            same = document[distance:] == document[:-distance]
            if not same.any():  # then no document has words that are further apart
                break
            pairs = piece[:-distance][same], piece[distance:][same]
            counts += csr_array((np.ones(len(pairs[0]), np.int64), pairs), shape=counts.shape)
    return csr_array(counts + counts.T)


def positive_information(counts: csr_array) -> csr_array:
    """Return max(0, log p(i, j) / (p(i) q(j))) for pairs that occur, where q(j) ∝ p(j)^0.75; other pairs are 0."""
    totals = counts.sum(axis=1).astype(np.float64)
    contexts = totals**_CONTEXT_POWER
    contexts /= max(contexts.sum(), 1.0)
    pairs = counts.tocoo()
    rows, columns = pairs.coords
    information = np.log(pairs.data / (totals[rows] * contexts[columns]))
    kept = information > 0
    return csr_array((information[kept], (rows[kept], columns[kept])), shape=counts.shape)


def factorize(matrix: csr_array, dimension: int) -> NDArray[np.float64]:
    """Return U √S of the truncated SVD of a matrix, in a random projection with a fixed seed."""
    from sklearn.utils.extmath import randomized_svd

    with one_blas_thread():
        left, values, _ = randomized_svd(
            matrix, dimension, n_oversamples=_OVERSAMPLES, n_iter=_POWER_ITERATIONS, random_state=0
        )
    vectors: NDArray[np.float64] = left * np.sqrt(values)
    return vectors
