"""What must hold of the parts of a corpus; checked once, so that nothing inside needs to ask again."""

from collections.abc import Sized
from typing import Any

import numpy as np

from metalda.corpus.named import first_duplicate
from metalda.errors import InputError


def frozen_integers(values: Any, dtype: type) -> np.ndarray:
    """Read-only, contiguous and one-dimensional; a copy of what somebody might still write to, or of another kind."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"words and offsets must be integers in one dimension, not {array.dtype} in {array.ndim}")
    limits = np.iinfo(dtype)
    fits = array.dtype == dtype or not array.size or (limits.min <= array.min() and array.max() <= limits.max)
    if not fits:
        raise InputError(f"words and offsets must fit into {limits.dtype}")
    whole: np.ndarray = np.ascontiguousarray(array, dtype=dtype)
    if whole.flags.writeable and np.may_share_memory(whole, array):
        whole = whole.copy()
    whole.flags.writeable = False
    return whole


def freeze(*arrays: np.ndarray) -> None:
    """Nobody will write to these again, so that a corpus need not copy them."""
    for array in arrays:
        array.flags.writeable = False


def check_parts(
    words: np.ndarray, offsets: np.ndarray, vocabulary: tuple[str, ...], labels: Sized | None, ids: Sized | None
) -> None:
    """Kernels index by these numbers without asking, so a wrong one must not pass, not even from a damaged file."""
    n_words, n_documents = len(vocabulary), len(offsets) - 1
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(words) or (np.diff(offsets) < 0).any():
        raise InputError(f"offsets must rise from 0 to the number of words, {len(words):,}")
    # as unsigned numbers, negative ids are too large as well: one pass over the words
    if len(words) and words.view(np.uint32).max() >= n_words:
        raise InputError(f"words must be indices into the vocabulary of {n_words:,} words")
    if not all(isinstance(word, str) for word in vocabulary):
        raise InputError("the vocabulary must hold strings only")
    if len(set(vocabulary)) < n_words:
        raise InputError(f"the vocabulary has the word {first_duplicate(vocabulary)!r} twice")
    for name, rows in (("labels", labels), ("ids", ids)):
        if rows is not None and len(rows) != n_documents:
            raise InputError(f"{name} for {len(rows):,} documents, but there are {n_documents:,} documents")
