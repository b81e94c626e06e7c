"""Phrases: pairs of neighboring words that occur together more often than by chance, joined to one word.

The measure is the normalized pointwise mutual information (NPMI) of neighbors: 1 for words that always occur together,
0 for independent words. Pairs are joined from left to right; a word belongs to one phrase at most.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.utils.chunks import spans, tally

logger = logging.getLogger(__name__)

BETWEEN = "_"
_MOST_COUNTED = 1 << 24  # pairs that are kept before equal ones are added up

Pair = tuple[str, str]


class TokenArrays(NamedTuple):
    """Documents as flat word ids: document d is ``words[offsets[d]:offsets[d + 1]]``."""

    words: NDArray[np.int32]
    offsets: NDArray[np.int64]


def find_pairs(
    pieces: Iterable[TokenArrays], totals: NDArray[np.int64], min_count: int, threshold: float
) -> NDArray[np.int64]:
    """Return the pairs of word ids that are phrases, as rows (first, second) in ascending order.

    `totals` has the number of tokens of each word. A pair that occurs `min_count` times has two words that do, so other
    words are not counted. Memory grows with the number of different pairs of such words.
    """
    n_words, n_tokens = len(totals), int(totals.sum())
    frequent = totals >= min_count
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    waiting: list[NDArray[np.int64]] = []
    for words, offsets in pieces:
        for first, last in spans(offsets):
            piece = words[offsets[first] : offsets[last]]
            inside = _inside(offsets[first : last + 1] - offsets[first])
            is_frequent = frequent[piece]
            pairs = np.flatnonzero(inside & is_frequent[:-1] & is_frequent[1:] & (piece[:-1] != piece[1:]))
            waiting.append(piece[pairs].astype(np.int64) * n_words + piece[pairs + 1])
        if sum(map(len, waiting)) > _MOST_COUNTED:
            keys, counts = _add_up(keys, counts, waiting)
            waiting = []
    keys, counts = _add_up(keys, counts, waiting)
    kept = counts >= min_count
    keys, counts = keys[kept], counts[kept]
    first_words, second_words = np.divmod(keys, max(n_words, 1))
    log_counts, log_n = np.log(counts), np.log(max(n_tokens, 1))
    information = log_counts + log_n - np.log(totals[first_words]) - np.log(totals[second_words])
    is_phrase = information >= threshold * (log_n - log_counts)
    return np.stack([first_words[is_phrase], second_words[is_phrase]], axis=1)


def _inside(offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, for all tokens but the last, whether the next token belongs to the same document."""
    inside = np.ones(max(int(offsets[-1]) - 1, 0), dtype=bool)
    ends = offsets[1:-1]
    inside[ends[(ends > 0) & (ends < offsets[-1])] - 1] = False
    return inside


def _add_up(
    keys: NDArray[np.int64], counts: NDArray[np.int64], waiting: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return distinct keys in ascending order with their counts; each waiting key counts once."""
    new_keys, new_counts = np.unique(np.concatenate([np.zeros(0, np.int64), *waiting]), return_counts=True)
    if not len(keys):
        return new_keys, new_counts
    all_keys, places = np.unique(np.concatenate([keys, new_keys]), return_inverse=True)
    totals = np.zeros(len(all_keys), np.int64)
    np.add.at(totals, places, np.concatenate([counts, new_counts]))
    return all_keys, totals


def join_pairs(
    words: NDArray[np.int32], offsets: NDArray[np.int64], vocabulary: Sequence[str], pairs: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], tuple[str, ...]]:
    """Replace pairs of neighbors by one word; equals `PhraseJoiner`, document by document.

    Returns words, offsets and the vocabulary: the words that are left, then the phrases.
    """
    ids = {word: i for i, word in enumerate(vocabulary)}
    phrase_ids = [ids.setdefault(_joined(vocabulary[a], vocabulary[b]), len(ids)) for a, b in pairs.tolist()]
    keys = pairs[:, 0] * len(vocabulary) + pairs[:, 1]
    order = np.argsort(keys)
    keys, new_words = keys[order], np.array(phrase_ids, np.int32)[order]
    is_first, is_second = np.zeros(len(vocabulary), bool), np.zeros(len(vocabulary), bool)
    is_first[pairs[:, 0]] = is_second[pairs[:, 1]] = True
    pieces, new_offsets = [np.zeros(0, np.int32)], np.zeros(len(offsets), np.int64)
    for first, last in spans(offsets):
        piece, own = np.array(words[offsets[first] : offsets[last]]), offsets[first : last + 1] - offsets[first]
        candidates = np.flatnonzero(_inside(own) & is_first[piece[:-1]] & is_second[piece[1:]])
        wanted = piece[candidates].astype(np.int64) * len(vocabulary) + piece[candidates + 1]
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = keys[places] == wanted if len(keys) else np.zeros(0, bool)
        candidates, places = candidates[found], places[found]
        chosen = _alternate(candidates)
        piece[candidates[chosen]] = new_words[places[chosen]]
        stays = np.ones(len(piece), dtype=bool)
        stays[candidates[chosen] + 1] = False
        total = np.concatenate((np.zeros(1, np.int64), np.cumsum(stays)))
        new_offsets[first + 1 : last + 1] = new_offsets[first] + total[own[1:]]
        pieces.append(piece[stays])
    joined = np.concatenate(pieces)
    used = tally(joined, len(ids)) > 0
    new_ids = (np.cumsum(used) - 1).astype(np.int32)
    return new_ids[joined], new_offsets, tuple(compress(ids, used))


def _alternate(places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Choose, in every run of consecutive places, the first, third, fifth, …: phrases do not overlap."""
    order = np.arange(len(places))
    begins = np.ones(len(places), dtype=bool)
    begins[1:] = places[1:] != places[:-1] + 1
    start = np.maximum.accumulate(np.where(begins, order, 0))
    chosen: NDArray[np.bool_] = (order - start) % 2 == 0
    return chosen


class PhraseJoiner:
    """Joins the phrases in lists of tokens.

    Examples
    --------
    >>> PhraseJoiner([("new", "york")])(["the", "new", "york", "times"])
    ['the', 'new_york', 'times']
    """

    def __init__(self, pairs: Iterable[Sequence[str]]) -> None:
        self._seconds: dict[str, set[str]] = {}
        for first, second in pairs:
            self._seconds.setdefault(first, set()).add(second)

    def __call__(self, tokens: Sequence[str]) -> Sequence[str]:
        seconds = self._seconds
        if seconds.keys().isdisjoint(tokens):
            return tokens
        return [word for word, _ in self.units(tokens)]

    def units(self, tokens: Sequence[str]) -> list[tuple[str, int]]:
        """Return words and phrases, each with the number of tokens that it consists of."""
        seconds = self._seconds
        result: list[tuple[str, int]] = []
        previous: str | None = None  # which may begin a phrase
        for token in tokens:
            if previous is not None and token in seconds[previous]:
                result[-1] = _joined(previous, token), 2
                previous = None
            else:
                result.append((token, 1))
                previous = token if token in seconds else None
        return result


def _joined(first: str, second: str) -> str:
    return f"{first}{BETWEEN}{second}"


def as_pairs(vocabulary: Sequence[str], pairs: NDArray[np.int64]) -> tuple[Pair, ...]:
    """Return pairs of word ids as pairs of words, in sorted order."""
    return tuple(sorted((vocabulary[first], vocabulary[second]) for first, second in pairs.tolist()))


def log_phrases(pairs: Sequence[Pair]) -> None:
    """Log how many phrases were found, with examples."""
    shown = ", ".join(_joined(*pair) for pair in pairs[:: max(1, len(pairs) // 4)][:4])
    if pairs:
        logger.info("found %s phrases, such as %s", f"{len(pairs):,}", shown)
    else:
        logger.info("found no phrases: lower phrase_min_count (--phrase-min-count) or phrase_threshold")
