"""What a word's form says about it: stem classes, endings and shape; no download needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from metalda.errors import InputError

_FREQUENT = 5  # an ending counts if this many words have it
_PARTS = re.compile(r"[^\W\d_]+")


def morphological_classes(words: Sequence[str], language: str) -> dict[str, list[str]]:
    """The features of each word.

    ``stem:connect`` for each part of a word (``connect_timeout`` is in the classes of both), ``suffix:-ing`` for what
    the stemmer cuts off, ``shape:…`` for identifiers, numbers and abbreviations. A class of fewer than two words, and
    an ending of fewer than five, is left out.
    """
    stem_of = _stems({part for word in words for part in _parts(word)}, language)
    found = {word: list(dict.fromkeys(_classes(word, stem_of))) for word in words}
    sizes = Counter(name for names in found.values() for name in names)
    return {word: [name for name in names if sizes[name] >= _least(name)] for word, names in found.items()}


def _least(name: str) -> int:
    return _FREQUENT if name.startswith("suffix:") else 2


def _parts(word: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(word)]


def _stems(parts: Iterable[str], language: str) -> dict[str, str]:
    import snowballstemmer

    if language not in snowballstemmer.algorithms():
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise InputError(f"no stemmer for language {language!r}; choose from: {known}")
    stemmer = snowballstemmer.stemmer(language)
    return {part: stemmer.stemWord(part) for part in sorted(parts)}


def _classes(word: str, stem_of: dict[str, str]) -> Iterator[str]:
    parts = _parts(word)
    for part in parts:
        yield f"stem:{stem_of[part]}"
    if parts and (suffix := _rest(parts[-1], stem_of[parts[-1]])):
        yield f"suffix:-{suffix}"
    yield from _shapes(word, parts)


def _rest(word: str, stem: str) -> str:
    """What the word has beyond its stem; stemmers may also change a letter (``happiness``, ``happi``)."""
    shared = next((i for i, (a, b) in enumerate(zip(word, stem, strict=False)) if a != b), min(len(word), len(stem)))
    return word[shared:]


def _shapes(word: str, parts: list[str]) -> Iterator[str]:
    if "_" in word:
        yield "shape:underscore"
    if "." in word:
        yield "shape:dotted"
    if any(character.isdigit() for character in word):
        yield "shape:digit"
    if len(word) <= 3:
        yield "shape:short"
    if len(parts) == 1 and len(word) > 12:
        yield "shape:long"
