"""Check the values of a schema's settings, and bring each into one form."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

from metalda.corpus.languages import ENGLISH, stem_algorithm, stop_word_code, stop_words
from metalda.errors import InputError

AUTO = "auto"  # min_df and max_df that follow from the number of documents; stop words of the language of the texts

_MOST_BINS = 10_000


def fixed_vocabulary(vocabulary: Iterable[str] | Mapping[str, int]) -> tuple[str, ...]:
    """Return a vocabulary as a tuple, in its order; a mapping is ordered by its numbers, a set is sorted."""
    if isinstance(vocabulary, str):
        raise InputError("vocabulary is one string: give a list of words")
    if isinstance(vocabulary, Mapping):
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    elif isinstance(vocabulary, set | frozenset):
        vocabulary = sorted(vocabulary)
    words = tuple(vocabulary)
    if not all(isinstance(word, str) for word in words):
        raise InputError("vocabulary must hold strings only")
    if not words:
        raise InputError("vocabulary is empty: give at least one word")
    if len(set(words)) < len(words):
        twice = next(word for word, count in Counter(words).items() if count > 1)
        raise InputError(f"vocabulary has the word {twice!r} twice")
    return words


def names_of_columns(name: str, value: object) -> tuple[str, ...]:
    """Return names of columns as a tuple; a single string is one name."""
    if value is None or isinstance(value, str):
        return (value,) if value else ()
    several = value if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping) else (value,)
    names: tuple[Any, ...] = tuple(several)
    if not all(isinstance(each, str) for each in names):
        raise InputError(f"{name}={value!r}: give the name of a column, or a list of names")
    return names


def by_column(name: str, value: object) -> Mapping[str, object]:
    """Return a mapping from names of columns; None becomes an empty mapping."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(column, str) for column in value):
        raise InputError(f"{name}={value!r}: give a dict with the names of columns as keys")
    return value


def checked_bins(column: str, spec: object) -> int | tuple[float, ...]:
    """Check a number of bins, or rising inner edges."""
    if isinstance(spec, Integral) and not isinstance(spec, bool):
        n_bins = int(spec)
        if n_bins < 2:
            raise InputError(f"bins of {column!r}: at least 2 are needed, not {spec}")
        if n_bins > _MOST_BINS:
            raise InputError(f"bins of {column!r}: at most {_MOST_BINS:,} are possible, not {spec}")
        return n_bins
    if isinstance(spec, str | bytes | Mapping) or not isinstance(spec, Iterable):
        raise InputError(f"bins of {column!r}: give a number of bins or a list of inner edges, not {spec!r}")
    edges = list(spec)
    if not edges or not all(map(is_finite, edges)):
        raise InputError(f"bins of {column!r}: the inner edges must be numbers, at least one")
    if any(low >= high for low, high in pairwise(edges)):
        raise InputError(f"bins of {column!r}: the inner edges must rise")
    return tuple(float(edge) for edge in edges)


def checked_scale(column: str, spec: object) -> tuple[float, float] | None:
    """Check a center and a positive scale."""
    if spec is None:
        return None
    values = list(spec) if isinstance(spec, Iterable) and not isinstance(spec, str | bytes | Mapping) else []
    if len(values) != 2 or not all(map(is_finite, values)) or not values[1] > 0:
        raise InputError(f"numbers of {column!r}: give the center and the scale, not {spec!r}")
    return float(values[0]), float(values[1])


def is_finite(value: object) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def checked_stop_words(value: object) -> str | tuple[str, ...] | None:
    """Return "auto", "english", the code of a language, a sorted tuple of words, or None.

    In a list, "english" adds the English list. Other names and codes are words there, such as "de" and "la" in French.
    """
    if value is None or (isinstance(value, str) and value in (AUTO, ENGLISH)):
        return value
    if isinstance(value, str):
        return stop_word_code(value)
    if not isinstance(value, Iterable):
        raise InputError(f"stop_words={value!r}: give a language such as 'english', or a list of words")
    words = list(value)
    if not all(isinstance(word, str) for word in words):
        raise InputError("stop_words: give a language such as 'english', or a list of words")
    if ENGLISH in words:
        words += stop_words(ENGLISH)
    return tuple(sorted(set(words)))


def checked_stem(value: object) -> str:
    """Return the name of a Snowball stemmer."""
    if not isinstance(value, str):
        raise InputError(f"stem={value!r}: give a language, such as 'german'")
    return stem_algorithm(value)


def checked_phrases(value: object) -> bool | tuple[tuple[str, str], ...]:
    """Return True, False, or a tuple of pairs."""
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"phrases={value!r}: give True, or a list of pairs of words (--phrases)")
    pairs = list(value)
    for pair in pairs:
        is_pair = isinstance(pair, list | tuple) and len(pair) == 2
        if not is_pair or not all(isinstance(word, str) and word for word in pair):
            raise InputError(f"phrases: {pair!r} is not a pair of words, such as ('new', 'york')")
    return tuple((first, second) for first, second in pairs)


def checked_ngram_range(value: object) -> tuple[int, int]:
    """Return the lengths of the shortest and the longest phrase."""
    lengths = tuple(value) if isinstance(value, list | tuple) else ()
    whole = all(isinstance(n, Integral) and not isinstance(n, bool) for n in lengths)
    if len(lengths) != 2 or not whole or not 1 <= lengths[0] <= lengths[1]:
        raise InputError(f"ngram_range={value!r}: two lengths are needed, 1 ≤ shortest ≤ longest")
    return int(lengths[0]), int(lengths[1])
