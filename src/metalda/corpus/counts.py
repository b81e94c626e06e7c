"""Convert a document-term matrix to tokens, in an order that depends only on the document."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from metalda.corpus.settings import fixed_vocabulary
from metalda.corpus.vocabulary import FlatTokens
from metalda.errors import InputError, warn
from metalda.utils.frames import collect_frame, column_names

_MAX_TOKENS = 2**32


def expand_counts(matrix: object, vocabulary: Iterable[str] | None = None) -> FlatTokens:
    """Return the tokens of a dense or sparse matrix of counts, or of a frame whose columns are the words.

    A count matrix has no word order, but document completion needs one, because it scores every second word. The
    tokens of each document are permuted by hashes of its words and counts, so that a document has the same order in
    every matrix, row and column order.
    """
    if hasattr(matrix, "columns"):
        frame = collect_frame(matrix)
        vocabulary = column_names(frame) if vocabulary is None else vocabulary
        matrix = frame.to_numpy()
    cells = _whole_counts(_as_csr(matrix))
    n_documents, n_words = cells.shape
    if n_documents == 0 or n_words == 0:
        raise InputError(f"no {'documents' if n_documents == 0 else 'words'} in a count matrix of shape {cells.shape}")
    words = tuple(f"x{j}" for j in range(n_words)) if vocabulary is None else fixed_vocabulary(vocabulary)
    if len(words) != n_words:
        raise InputError(f"the vocabulary has {len(words):,} words, but the matrix has {n_words:,} columns")
    total = int(cells.data.sum())
    if total > _MAX_TOKENS:
        raise InputError(f"the counts sum to {total:,} tokens, more than the {_MAX_TOKENS:,} a corpus can hold")
    offsets = np.concatenate(([0], np.cumsum(cells.data)))[cells.indptr].astype(np.int64)
    columns = np.repeat(cells.indices, cells.data).astype(np.int32)
    documents = np.repeat(np.arange(n_documents, dtype=np.uint64), np.diff(offsets))
    order = sort_within(documents, _token_keys(cells, words))
    return FlatTokens(columns[order], offsets, words)


def sort_within(documents: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the order by document, then by key; equals ``np.lexsort((keys, documents))`` in a quarter of the time.

    Both are packed into one integer. If the shortened keys of two tokens are equal, the full keys are sorted.
    """
    bits = np.uint64(int(documents.max(initial=0)).bit_length() or 1)
    packed = (documents << (np.uint64(64) - bits)) | (keys >> bits)
    order = np.argsort(packed)
    packed = packed[order]
    return np.lexsort((keys, documents)) if (packed[1:] == packed[:-1]).any() else order


def _as_csr(matrix: Any) -> csr_array:
    """Return a copy as float64 in canonical form."""
    try:
        if not issparse(matrix):
            matrix = np.asarray(matrix)
            if matrix.ndim != 2:
                raise InputError(f"a count matrix has two dimensions, documents × words, not {matrix.ndim}")
        if np.iscomplexobj(matrix):
            raise InputError("counts are complex numbers")
        counts = csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the count matrix holds values that are not numbers: {error}") from error
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return counts


def _whole_counts(counts: csr_array) -> csr_array:
    """Return the counts as int64; weights are rounded, negative and non-finite values are errors."""
    values = counts.data
    for name, wrong in (("NaN", np.isnan(values)), ("infinite", np.isinf(values)), ("negative", values < 0)):
        if wrong.any():
            cell = int(np.flatnonzero(wrong)[0])
            row = int(np.searchsorted(counts.indptr, cell, side="right")) - 1
            raise InputError(
                f"counts must be numbers ≥ 0, but row {row}, column {counts.indices[cell]} is {values[cell]} ({name})"
            )
    whole = np.maximum(1, np.rint(values))
    n_changed = int((whole != values).sum())
    if n_changed:
        warn(
            f"{n_changed:,} of {len(values):,} cells are not whole numbers and were rounded (at least 1): "
            "topic models count words, and tf-idf weights are not counts",
        )
    return csr_array((whole.astype(np.int64), counts.indices, counts.indptr), shape=counts.shape)


def _token_keys(cells: csr_array, vocabulary: Sequence[str]) -> NDArray[np.uint64]:
    """Return a pseudo-random uint64 per token, from its word, its occurrence and its document."""
    word_hash = np.zeros(len(vocabulary), dtype=np.uint64)
    for j in np.unique(cells.indices):
        word_hash[j] = _hash(vocabulary[j])
    counts = cells.data
    cell_hash = word_hash[cells.indices]
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(_mix(cell_hash ^ _mix(counts.astype(np.uint64))))))
    document_hash = np.repeat(sums[cells.indptr[1:]] - sums[cells.indptr[:-1]], np.diff(cells.indptr))
    occurrence = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return _mix(np.repeat(cell_hash ^ document_hash, counts) + _mix(occurrence.astype(np.uint64)))


def _hash(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8, key=b"metalda").digest()
    return int.from_bytes(digest, "little")


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply the finalizer of SplitMix64: every bit of the input affects every bit of the output."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed
