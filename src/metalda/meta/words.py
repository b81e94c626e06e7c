"""Small questions about lists of words that embeddings and word features share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice, pairwise

import numpy as np

from metalda.errors import InputError


def as_vocabulary(words: Iterable[str], argument: str) -> tuple[str, ...]:
    """A tuple of strings; a single string would silently be taken as its letters."""
    if isinstance(words, str):
        raise InputError(f"{argument} must be a list of words, not the string {words[:40]!r}")
    result = words if isinstance(words, tuple) else tuple(words)
    for word in result:
        if not isinstance(word, str):
            raise InputError(f"{argument} must be strings, not {type(word).__name__}: {str(word)[:40]!r}")
    return result


def coverage(known: Collection[str], vocabulary: Sequence[str]) -> float:
    """Share of the vocabulary that is known; 0 of an empty vocabulary."""
    known = set(known)
    return sum(word in known for word in vocabulary) / len(vocabulary) if vocabulary else 0.0


def examples(words: Iterable[str], n: int = 3) -> str:
    """The first words, for an error message: ``'the', 'of', 'and'``."""
    return ", ".join(repr(word[:40]) for word in islice(words, n)) or "nothing"


def pack_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """All words as one run of UTF-8 bytes, and where each begins and ends: quick to save, and no pickle."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_words(data: np.ndarray, offsets: np.ndarray) -> tuple[str, ...]:
    """The inverse of ``pack_words``; a ValueError where the offsets do not fit."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
        raise ValueError("the offsets of its words do not fit")
    text, ends = np.asarray(data, dtype=np.uint8).tobytes(), offsets.tolist()
    return tuple(text[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(ends))
