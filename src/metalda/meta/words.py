"""Small questions about lists of words that embeddings and word features share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

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
