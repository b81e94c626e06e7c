"""New documents under fixed topics: folding-in, and document completion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.kernels.folding import fold_in, hash_documents, infer_label_sets, score_tokens
from metalda.kernels.pseudo import mix_pseudo_documents, word_probabilities
from metalda.kernels.urn import weigh_new_documents
from metalda.meta.design import Design
from metalda.meta.shards import shard_bounds
from metalda.samplers.pseudo import Mixture
from metalda.utils.threads import thread_map

BURN_IN, SWEEPS = 10, 40
LABEL_BURN_IN, LABEL_SWEEPS = 30, 90  # shared out among the draws
_CHUNK = 512  # documents that a thread takes at a time
_TOKENS = 16384  # tokens that it takes, where their words have a row of probabilities each


class Documents(NamedTuple):
    """Documents as a model sees them."""

    words: NDArray[np.int32]  # rows of phi
    offsets: NDArray[np.int64]
    doc_rows: NDArray[np.int32]  # rows of alpha
    keys: NDArray[np.uint64]  # one per document, from its words and labels and the seed


def key_documents(
    words: NDArray[np.int32], offsets: NDArray[np.int64], word_keys: NDArray[np.uint64], labels: Design, seed: int
) -> NDArray[np.uint64]:
    """A number that depends on a document's words and labels and on the seed, never on its place or its batch."""
    row_keys = np.full(labels.n_rows, seed, np.uint64)
    label_keys = np.arange(len(labels.names), dtype=np.uint64)
    _stir(label_keys, labels.row_labels, labels.row_starts, row_keys)
    keys = row_keys[labels.row_of]
    _stir(word_keys, words, offsets, keys)
    return keys


def _stir(
    word_keys: NDArray[np.uint64], words: NDArray[np.int32], offsets: NDArray[np.int64], keys: NDArray[np.uint64]
) -> None:
    hash_documents(frozen(word_keys, np.uint64), frozen(words, np.int32), frozen(offsets, np.int64), keys)


def infer_theta(
    documents: Documents, alpha: NDArray[np.floating], phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """theta[d, k] of every document, given alpha by row and phi by word."""
    alpha, phi = frozen(alpha, np.float32), frozen(phi, np.float32)
    words = frozen(documents.words, np.int32)

    def fold(chosen: slice, offsets: NDArray[np.int64], theta: NDArray[np.float32]) -> None:
        rows, keys = frozen(documents.doc_rows[chosen], np.int32), frozen(documents.keys[chosen], np.uint64)
        fold_in(words, offsets, rows, keys, alpha, phi, BURN_IN, SWEEPS, theta)

    return _fill_rows(documents, phi.shape[1], fold, n_jobs)


def infer_labels(
    documents: Documents,
    alpha: NDArray[np.float64],
    shares: NDArray[np.float64],
    members: Any,
    phi: NDArray[np.floating],
    n_jobs: int = 1,
) -> NDArray[np.float32]:
    """p(label | words) [d, label], given alpha[draw, set, topic], shares of sets and their members [set, label]."""
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

    return _fill_rows(documents, members.shape[1], infer, n_jobs)


def infer_single_topics(
    documents: Documents, alpha: NDArray[np.floating], phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """theta[d, k] of documents that have one topic each: the probability that it is k, given alpha, and phi by word."""
    alpha, phi = frozen(alpha, np.float64), frozen(phi, np.float32)
    words = frozen(documents.words, np.int32)

    def weigh(chosen: slice, offsets: NDArray[np.int64], theta: NDArray[np.float32]) -> None:
        weigh_new_documents(words, offsets, alpha, phi, theta)

    return _fill_rows(documents, phi.shape[1], weigh, n_jobs)


def _fill_rows(
    documents: Documents,
    n_columns: int,
    fill: Callable[[slice, NDArray[np.int64], NDArray[np.float32]], None],
    n_jobs: int,
) -> NDArray[np.float32]:
    """Call fill(documents, their offsets, their rows of the result) for some documents at a time, in threads."""
    n_documents = len(documents.offsets) - 1
    rows = np.empty((n_documents, n_columns), np.float32)

    def fill_chunk(first: int) -> None:
        last = min(first + _CHUNK, n_documents)
        fill(slice(first, last), frozen(documents.offsets[first : last + 1], np.int64), rows[first:last])

    thread_map(fill_chunk, range(0, n_documents, _CHUNK), n_jobs)
    return rows


def infer_from_mixtures(
    documents: Documents, mixtures: Sequence[Mixture], phi: NDArray[np.floating], n_jobs: int = 1
) -> NDArray[np.float32]:
    """theta[d, k] of documents that have that of one component each, averaged over mixtures. Nothing is drawn."""
    phi = frozen(phi, np.float32)
    priors = [frozen(mixture.prior, np.float64) for mixture in mixtures]
    thetas = [frozen(mixture.theta.T, np.float32) for mixture in mixtures]
    total = np.zeros((len(documents.offsets) - 1, phi.shape[1]), np.float64)

    def mix_chunk(bounds: tuple[int, int]) -> None:
        offsets = documents.offsets[bounds[0] : bounds[1] + 1]
        words, rows = np.unique(documents.words[offsets[0] : offsets[-1]], return_inverse=True)
        words, rows, offsets = frozen(words, np.int32), frozen(rows, np.int32), frozen(offsets - offsets[0], np.int64)
        for prior, theta in zip(priors, thetas, strict=True):
            probabilities = np.empty((len(words), len(prior)), np.float32)
            word_probabilities(phi, words, theta, probabilities)
            mix_pseudo_documents(
                rows, offsets, frozen(probabilities, np.float32), prior, theta, total[bounds[0] : bounds[1]]
            )

    chunks = shard_bounds(documents.offsets, 1 + len(documents.words) // _TOKENS)
    thread_map(mix_chunk, pairwise(chunks), n_jobs)
    return (total / len(mixtures)).astype(np.float32)


def complete(
    scored: Documents, predictions: Iterable[tuple[NDArray[np.floating], NDArray[np.floating]]]
) -> NDArray[np.float64]:
    """p(w) of every scored token, averaged over pairs of theta (of its document's observed half) and phi."""
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
