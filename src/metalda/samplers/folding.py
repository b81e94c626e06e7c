"""Folding-in of new documents under fixed topics, and document completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.kernels.border import frozen
from metalda.kernels.folding import fold_in, hash_documents, mix_label_sets, score_tokens
from metalda.meta.design import Design
from metalda.utils.threads import thread_map

BURN_IN, SWEEPS = 10, 40
MAX_LABEL_SETS = 2000  # that a document with missing labels may have; the time grows with their number
KEPT_SETS, SCREENED_WORDS = 64, 32  # of more sets, those are kept that explain so many words best
LARGEST_LOG_ALPHA = 40.0
TEMPERED_FROM = 12  # words; the temperatures that fit best on Web Snippets and 20 Newsgroups follow this rule
_CHUNK = 512  # documents that a thread takes at a time


class Documents(NamedTuple):
    """New documents, encoded with the words and labels of a model."""

    words: NDArray[np.int32]  # rows of phi
    offsets: NDArray[np.int64]
    doc_rows: NDArray[np.int32]  # rows of alpha
    keys: NDArray[np.uint64]  # one random key per document, from its words, its labels and the seed

    def take(self, chosen: NDArray[np.bool_]) -> Documents:
        """Return some of the documents."""
        if chosen.all():
            return self
        lengths = np.diff(self.offsets)
        offsets = np.concatenate([[0], np.cumsum(lengths[chosen])])
        return Documents(self.words[np.repeat(chosen, lengths)], offsets, self.doc_rows[chosen], self.keys[chosen])


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


class LabelSets(NamedTuple):
    """The label sets that documents with missing labels may have, by row of the documents: shares [row, set]."""

    shares: csr_array  # rows sum to 1; a row without entries belongs to documents whose labels are all known
    members: csr_array  # labels of each set [set, label], the default label last
    alpha: NDArray[np.float32]  # [set, topic]

    @classmethod
    def of(cls, shares: csr_array, matrix: csr_array, log_weights: Sequence[NDArray[np.float64]]) -> LabelSets:
        """Return at most `MAX_LABEL_SETS` sets of each row, given the labels of all sets [set, label].

        alpha is averaged over the draws of log weights [label, topic]. It is clipped far from 0 and infinity.
        """
        shares = _most_frequent(shares)
        used = np.unique(shares.indices)
        members = matrix[used]
        alpha = np.zeros((len(used), log_weights[0].shape[1]))
        for own in log_weights:
            alpha += np.exp(np.clip(members @ own, -LARGEST_LOG_ALPHA, LARGEST_LOG_ALPHA))
        return cls(shares[:, used], members, (alpha / len(log_weights)).astype(np.float32))


def _most_frequent(shares: csr_array) -> csr_array:
    """Keep the `MAX_LABEL_SETS` largest entries of each row, and make rows sum to 1; ties are spread over all sets."""
    rows, columns, values = [], [], []
    for row, (first, last) in enumerate(pairwise(shares.indptr)):
        own, sizes = shares.indices[first:last], shares.data[first:last]
        spread = np.arange(len(own)) * 0.6180339887498949 % 1
        kept = np.sort(np.lexsort((spread, -sizes))[:MAX_LABEL_SETS])
        rows.append(np.full(len(kept), row))
        columns.append(own[kept])
        values.append(sizes[kept] / sizes[kept].sum())
    cells = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return csr_array(cells, shape=shares.shape)


def infer_mixed_theta(
    documents: Documents, sets: LabelSets, phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """Return theta[d, k] of documents with missing labels: the mean over their label sets, given the words."""

    def fill(chosen: slice, offsets: NDArray[np.int64], theta: NDArray[np.float32]) -> None:
        _mix(documents, chosen, offsets, sets, phi, np.ones(len(theta)), theta)

    return fill_rows(documents, phi.shape[1], fill, n_jobs)


def infer_labels(
    documents: Documents, sets: LabelSets, phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """Return p(label | words) [d, label] without the default label; all documents may have the same label sets."""
    members = sets.members[:, :-1]

    def fill(chosen: slice, offsets: NDArray[np.int64], probabilities: NDArray[np.float32]) -> None:
        theta = np.empty((len(probabilities), phi.shape[1]), np.float32)
        powers = temper(np.diff(offsets))
        probabilities[:] = _mix(documents, chosen, offsets, sets, phi, powers, theta) @ members

    return fill_rows(documents, members.shape[1], fill, n_jobs)


def temper(lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the power of p(words | label set) at which its probabilities are calibrated, by the number of words.

    Words of one document depend on each other more than any topic model assumes, so each further word tells less.
    """
    return np.minimum(1, (TEMPERED_FROM / np.maximum(lengths, 1)) ** (1 / 3))


def _mix(
    documents: Documents,
    chosen: slice,
    offsets: NDArray[np.int64],
    sets: LabelSets,
    phi: NDArray[np.floating],
    powers: NDArray[np.float64],
    theta: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Fill theta of some documents; returns p(label set | words) [document, entry of its row of shares]."""
    shares = sets.shares
    chances = np.empty((len(theta), np.diff(shares.indptr).max(initial=0)), np.float32)
    mix_label_sets(
        frozen(documents.words, np.int32),
        offsets,
        frozen(documents.doc_rows[chosen], np.int32),
        frozen(shares.indptr, np.int64),
        frozen(shares.indices, np.int32),
        frozen(np.log(shares.data), np.float64),
        frozen(sets.alpha, np.float32),
        frozen(sets.alpha.sum(axis=1, dtype=np.float64), np.float64),
        frozen(phi, np.float32),
        frozen(powers, np.float64),
        KEPT_SETS,
        SCREENED_WORDS,
        theta,
        chances,
    )
    return chances


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
