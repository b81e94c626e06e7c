"""Nearest words by cosine, exactly, in blocks: no words × words array is ever held."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from metalda.errors import InputError
from metalda.utils.blas import one_blas_thread

_BLOCK_ENTRIES = 1 << 24  # similarities held at once: 64 MB


def nearest_neighbours(
    vectors: np.ndarray, n_neighbours: int, min_similarity: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs (row, neighbour, cosine), rows ascending and each row's nearest first; ties go to the lower index.

    A vector of zeros is no one's neighbour. One BLAS thread, so that rounding cannot depend on how many there are.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    block = max(1, _BLOCK_ENTRIES // max(len(unit), 1))
    with one_blas_thread():
        parts = [
            _block_neighbours(unit, start, min(start + block, len(unit)), n_neighbours, min_similarity)
            for start in range(0, len(unit), block)
        ]
    rows, columns, similarities = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, columns, similarities


def _block_neighbours(
    unit: np.ndarray, start: int, stop: int, n_neighbours: int, min_similarity: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    similarity = unit[start:stop] @ unit.T
    empty = np.logical_not(np.any(unit, axis=1))
    similarity[:, empty] = -np.inf
    similarity[empty[start:stop]] = -np.inf
    similarity[np.arange(stop - start), np.arange(start, stop)] = -np.inf
    threshold = np.full(stop - start, max(min_similarity, -1.0), dtype=np.float32)
    crowded = np.flatnonzero((similarity >= threshold[:, None]).sum(axis=1) > n_neighbours)
    if len(crowded):  # only these rows need their n-th largest
        last = similarity.shape[1] - n_neighbours
        threshold[crowded] = np.partition(similarity[crowded], last, axis=1)[:, last]
    rows, columns = np.nonzero(similarity >= threshold[:, None])
    values = similarity[rows, columns]
    order = np.lexsort((columns, -values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    keep = rank < n_neighbours
    return rows[keep] + start, columns[keep], values[keep]


def neighbour_features(
    vectors: np.ndarray, n_neighbours: int, min_similarity: float
) -> tuple[sparse.csr_array, np.ndarray]:
    """Words × features and which word each feature stands for; a word has its own and those of its neighbours.

    Features of one word alone are left out.
    """
    if n_neighbours < 1:
        raise InputError(f"n_neighbours must be at least 1, not {n_neighbours}")
    if not -1 <= min_similarity <= 1:
        raise InputError(f"min_similarity is a cosine, between -1 and 1, not {min_similarity}")
    n_words = len(vectors)
    rows, columns, _ = nearest_neighbours(vectors, n_neighbours, min_similarity)
    everyone = np.arange(n_words)
    rows, columns = np.concatenate([everyone, rows]), np.concatenate([everyone, columns])
    matrix = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_words, n_words)).tocsr()
    shared = np.flatnonzero(np.bincount(columns, minlength=n_words) > 1)
    return sparse.csr_array(matrix[:, shared]), shared


def neighbour_lists(vectors: np.ndarray, max_neighbours: int, similarity: float) -> tuple[np.ndarray, np.ndarray]:
    """Of every word those whose cosine exceeds `similarity`, as starts and indices; none, where they are too many."""
    rows, columns, similarities = nearest_neighbours(vectors, max_neighbours + 1, similarity)
    near = similarities > similarity
    sizes = np.bincount(rows[near], minlength=len(vectors))
    near &= sizes[rows] <= max_neighbours
    sizes[sizes > max_neighbours] = 0
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), columns[near].astype(np.int32)
