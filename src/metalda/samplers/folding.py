"""Folding-in of new documents under fixed topics, and document completion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.kernels.folding import fold_in, hash_documents, infer_label_sets, score_tokens
from metalda.meta.design import Design
from metalda.utils.threads import thread_map

BURN_IN, SWEEPS = 10, 40
LABEL_BURN_IN, LABEL_SWEEPS = 30, 90  # divided among the draws
_CHUNK = 512  # documents that a thread takes at a time


class Documents(NamedTuple):
    """New documents, encoded with the words and labels of a model."""

    words: NDArray[np.int32]  # rows of phi
    offsets: NDArray[np.int64]
    doc_rows: NDArray[np.int32]  # rows of alpha
    keys: NDArray[np.uint64]  # one random key per document, from its words, its labels and the seed


def key_documents(
    words: NDArray[np.int32], offsets: NDArray[np.int64], word_keys: NDArray[np.uint64], labels: Design, seed: int
) -> NDArray[np.uint64]:
    """Return a random key per document that depends on its words, its labels and the seed, not on its position."""
    row_keys = np.full(labels.n_rows, seed, np.uint64)
    label_keys = np.arange(len(labels.names), dtype=np.uint64)
    _hash(label_keys, labels.row_labels, labels.row_starts, row_keys)
    keys = row_keys[labels.row_of]
    _hash(word_keys, words, offsets, keys)
    return keys


def _hash(
    word_keys: NDArray[np.uint64], words: NDArray[np.int32], offsets: NDArray[np.int64], keys: NDArray[np.uint64]
) -> None:
    hash_documents(frozen(word_keys, np.uint64), frozen(words, np.int32), frozen(offsets, np.int64), keys)


def infer_theta(
    documents: Documents, alpha: NDArray[np.floating], phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """Return theta[d, k] of every document, given alpha by row and phi by word."""
    alpha, phi = frozen(alpha, np.float32), frozen(phi, np.float32)
    words = frozen(documents.words, np.int32)

    def fold(chosen: slice, offsets: NDArray[np.int64], theta: NDArray[np.float32]) -> None:
        rows, keys = frozen(documents.doc_rows[chosen], np.int32), frozen(documents.keys[chosen], np.uint64)
        fold_in(words, offsets, rows, keys, alpha, phi, BURN_IN, SWEEPS, theta)

    return fill_rows(documents, phi.shape[1], fold, n_jobs)


def infer_labels(
    documents: Documents,
    alpha: NDArray[np.float64],
    shares: NDArray[np.float64],
    members: Any,
    phi: NDArray[np.floating],
    n_jobs: int = 1,
) -> NDArray[np.float32]:
    """Return p(label | words) [d, label], given alpha[draw, set, topic], shares of sets and members [set, label]."""
    phi, words = frozen(phi, np.float32), frozen(documents.words, np.int32)
    start = frozen(np.tensordot(alpha.mean(axis=0), shares, axes=(0, 0)), np.float64)
    alpha, log_shares = frozen(alpha, np.float64), frozen(np.log(shares), np.float64)
    alpha_sums = frozen(alpha.sum(axis=2), np.float64)
    sweeps = [math.ceil(n / len(alpha)) for n in (LABEL_BURN_IN, LABEL_SWEEPS)]

    def infer(chosen: slice, offsets: NDArray[np.int64], probabilities: NDArray[np.float32]) -> None:
        chances, keys = (
            np.zeros((len(probabilities), len(shares)), np.float32),
            frozen(documents.keys[chosen], np.uint64),
        )
        infer_label_sets(words, offsets, keys, phi, log_shares, alpha, alpha_sums, start, *sweeps, chances)
        probabilities[:] = chances @ members

    return fill_rows(documents, members.shape[1], infer, n_jobs)


def fill_rows(
    documents: Documents,
    n_columns: int,
    fill: Callable[[slice, NDArray[np.int64], NDArray[np.float32]], None],
    n_jobs: int,
) -> NDArray[np.float32]:
    """Call ``fill(documents, offsets, rows)`` for chunks of documents, in threads; returns all rows."""
    n_documents = len(documents.offsets) - 1
    rows = np.empty((n_documents, n_columns), np.float32)

    def fill_chunk(first: int) -> None:
        last = min(first + _CHUNK, n_documents)
        fill(slice(first, last), frozen(documents.offsets[first : last + 1], np.int64), rows[first:last])

    thread_map(fill_chunk, range(0, n_documents, _CHUNK), n_jobs)
    return rows


def complete(
    scored: Documents, predictions: Iterable[tuple[NDArray[np.floating], NDArray[np.floating]]]
) -> NDArray[np.float64]:
    """Return p(w) of every scored token, averaged over pairs of theta (from the observed half) and phi."""
    probabilities = np.zeros(len(scored.words), np.float64)
    n = 0
    for theta, phi in predictions:
        score_tokens(
            frozen(scored.words, np.int32),
            frozen(scored.offsets, np.int64),
            frozen(theta, np.float32),
            frozen(phi, np.float32),
            probabilities,
        )
        n += 1
    return probabilities / n
