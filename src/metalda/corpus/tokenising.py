"""From texts or token lists to word ids, in one pass, by scikit-learn's conventions.

Tokens become integers as they come, so that only the vocabulary is held as strings; words are then filtered by
document frequency and renumbered in sorted order, as `CountVectorizer` does, but with the word order kept.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from metalda.corpus.named import first_duplicate
from metalda.errors import EmptyVocabularyError, InputError
from metalda.utils.chunks import spans

Analyser = Callable[[str], Sequence[str]]

TOKEN_PATTERN = r"(?u)\b\w\w+\b"


FUNCTION = "function"  # in place of an analyzer that is one: it cannot be kept


@dataclass(frozen=True)
class Tokenising:
    """How texts became words: kept with a corpus and the model that learnt from it, for new texts."""

    lowercase: bool = True
    token_pattern: str = TOKEN_PATTERN
    stop_words: str | tuple[str, ...] | None = None
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: str | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Those of `Corpus.from_texts`."""
        if self.analyzer == FUNCTION:
            raise InputError(
                "the model learnt from texts that a function of your own made into words, and models keep no "
                "functions; give new documents as Corpus.from_texts(texts, analyzer=...)"
            )
        return dict(vars(self))

    def to_saved(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return dict(vars(self))

    @classmethod
    def from_saved(cls, saved: Mapping[str, Any]) -> "Tokenising":
        """The inverse; a ValueError of what it cannot be."""
        stop_words, ngram_range = saved["stop_words"], tuple(saved["ngram_range"])
        if isinstance(stop_words, list):
            stop_words = tuple(stop_words)
        types = (bool, str, str | tuple | None, tuple, str | None)
        found = cls(saved["lowercase"], saved["token_pattern"], stop_words, ngram_range, saved["analyzer"])
        texts = stop_words if isinstance(stop_words, tuple) else ()
        if not (
            all(isinstance(value, kind) for value, kind in zip(vars(found).values(), types, strict=True))
            and all(isinstance(word, str) for word in texts)
            and [type(n) for n in ngram_range] == [int, int]
        ):
            raise ValueError("how its texts became words makes no sense")
        return found


class Tokens(NamedTuple):
    """Documents as flat word ids: document d is ``words[offsets[d]:offsets[d + 1]]``."""

    words: np.ndarray
    offsets: np.ndarray
    vocabulary: tuple[str, ...]


def make_analyser(
    *,
    lowercase: bool = True,
    token_pattern: str = TOKEN_PATTERN,
    stop_words: str | Iterable[str] | None = None,
    ngram_range: tuple[int, int] = (1, 1),
    analyzer: str | Callable[[str], Sequence[str]] | None = None,
) -> Analyser:
    """The function from a text to its tokens that `CountVectorizer` builds from these settings."""
    from sklearn.feature_extraction.text import CountVectorizer

    low, high = ngram_range
    if not 1 <= low <= high:
        raise InputError(f"ngram_range={ngram_range!r}: two lengths are needed, 1 ≤ shortest ≤ longest")
    if callable(analyzer):
        return analyzer
    try:
        return CountVectorizer(
            lowercase=lowercase,
            token_pattern=token_pattern,
            stop_words=stop_words if stop_words is None or isinstance(stop_words, str) else list(stop_words),
            ngram_range=(low, high),
            analyzer="word" if analyzer is None else analyzer,
        ).build_analyzer()
    except re.error as error:
        raise InputError(f"token_pattern={token_pattern!r} is not a regular expression: {error}") from error
    except ValueError as error:
        raise InputError(f"tokenising: {error}") from error


def stop_list(stop_words: str | Iterable[str] | None) -> frozenset[str]:
    """The words that ``stop_words`` means: ``"english"``, a list, or none."""
    if stop_words is None:
        return frozenset()
    if not isinstance(stop_words, str):
        return frozenset(stop_words)
    if stop_words != "english":
        raise InputError(f"stop_words={stop_words!r}: give 'english' or a list of words")
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


@dataclass(frozen=True)
class Filters:
    """Which words stay: an integer counts documents, a float is a share of them, as in `CountVectorizer`."""

    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None

    def __post_init__(self) -> None:
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InputError(f"{name}={value!r}: a number of documents or a share of them is needed")
            if value < 0 or (not isinstance(value, Integral) and not value <= 1):
                raise InputError(f"{name}={value!r}: an integer counts documents, a float is a share between 0 and 1")
        if self.max_features is not None and self.max_features < 1:
            raise InputError(f"max_features={self.max_features!r}: at least 1")

    def mask(self, words: np.ndarray, offsets: np.ndarray, n_words: int) -> np.ndarray:
        """Which of the words stay; their ids must be in sorted order, on which ties for `max_features` depend."""
        return self.choose(
            len(offsets) - 1,
            n_words,
            lambda: document_frequency(words, offsets, n_words),
            lambda: np.bincount(words, minlength=n_words),
        )

    def choose(
        self, n_documents: int, n_words: int, frequency: Callable[[], np.ndarray], totals: Callable[[], np.ndarray]
    ) -> np.ndarray:
        """The same, given how many documents have each word, and how often it occurs; asked for only if needed."""
        low, high = (v if isinstance(v, Integral) else v * n_documents for v in (self.min_df, self.max_df))
        kept = np.ones(n_words, dtype=bool)
        if low > 1 or high < n_documents:
            n_with = frequency()
            kept = (n_with >= low) & (n_with <= high)
        if self.max_features is not None and kept.sum() > self.max_features:
            candidates = np.flatnonzero(kept)
            order = (-totals()[candidates]).argsort()
            kept = np.zeros(n_words, dtype=bool)
            kept[candidates[order[: self.max_features]]] = True
        return kept

    def __str__(self) -> str:
        parts = [f"min_df={self.min_df}", f"max_df={self.max_df}"]
        return ", ".join(parts if self.max_features is None else [*parts, f"max_features={self.max_features}"])


class TokenCollector:
    """Takes documents one by one and numbers their words.

    Parameters
    ----------
    analyse : callable or None
        From a text to its tokens; None if all documents come as tokens.
    stop_words : set of str
        Dropped from documents that come as tokens (the analyser does so itself).
    vocabulary : sequence or mapping, optional
        The words to keep, in this order; all others are dropped, and no filter is used.
    """

    def __init__(
        self,
        analyse: Analyser | None = None,
        *,
        stop_words: frozenset[str] = frozenset(),
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
    ) -> None:
        self._analyse = analyse
        self._stop_words = stop_words
        self._fixed = None if vocabulary is None else fixed_vocabulary(vocabulary)
        self._ids: defaultdict[Any, int] = defaultdict()
        if self._fixed is None:
            self._ids.default_factory = self._ids.__len__
        else:
            self._ids.update((word, i) for i, word in enumerate(self._fixed))
        self._words = array("i")
        self._offsets = array("q", [0])

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, content: str | Sequence[str]) -> None:
        """The next document: a text, or its tokens."""
        if isinstance(content, str):
            if self._analyse is None:
                raise InputError(
                    f"document {len(self)} is one string, not a list of tokens: split it, or use Corpus.from_texts"
                )
            tokens = self._analyse(content)
        elif self._stop_words:
            tokens = [token for token in content if token not in self._stop_words]
        else:
            tokens = content
        try:
            if self._fixed is None:
                self._words.extend(map(self._ids.__getitem__, tokens))
            else:
                self._words.extend(i for i in map(self._ids.get, tokens) if i is not None)
        except TypeError as error:
            raise InputError(f"document {len(self)}: tokens must be strings ({error})") from error
        self._offsets.append(len(self._words))

    def numbered(self) -> Tokens:
        """All documents so far, over the vocabulary as it came."""
        words = np.array(self._words, dtype=np.int32)
        offsets = np.array(self._offsets, dtype=np.int64)
        if self._fixed is not None:
            return Tokens(words, offsets, self._fixed)
        for word in self._ids:
            if not isinstance(word, str):
                raise InputError(f"tokens must be strings, but {word!r} is {type(word).__name__}")
        return Tokens(words, offsets, tuple(map(str, self._ids)))

    def finish(self, filters: Filters) -> Tokens:
        """All documents so far, over the filtered vocabulary in sorted order."""
        words, offsets, found = self.numbered()
        if self._fixed is not None:
            return Tokens(words, offsets, found)
        vocabulary = sorted(found)
        rank = np.empty(len(vocabulary), dtype=np.int32)
        rank[np.fromiter(map(self._ids.__getitem__, vocabulary), dtype=np.int64, count=len(vocabulary))] = np.arange(
            len(vocabulary), dtype=np.int32
        )
        words = rank[words]
        kept = filters.mask(words, offsets, len(vocabulary))
        if not kept.any():
            raise EmptyVocabularyError(no_words(len(vocabulary), len(self), filters))
        if not kept.all():
            words, offsets = keep_words(words, offsets, kept)
        return Tokens(words, offsets, tuple(vocabulary[i] for i in np.flatnonzero(kept)))


def fixed_vocabulary(vocabulary: Iterable[str] | Mapping[str, int]) -> tuple[str, ...]:
    """A vocabulary in its own order: of a mapping by its numbers, of a set sorted."""
    if isinstance(vocabulary, str):
        raise InputError("vocabulary is one string: give a list of words")
    if isinstance(vocabulary, Mapping):
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    elif isinstance(vocabulary, set | frozenset):
        vocabulary = sorted(vocabulary)
    words = tuple(vocabulary)
    if not words:
        raise InputError("vocabulary is empty: give at least one word")
    if len(set(words)) < len(words):
        raise InputError(f"vocabulary has the word {first_duplicate(words)!r} twice")
    return words


def document_frequency(words: np.ndarray, offsets: np.ndarray, n_words: int) -> np.ndarray:
    """In how many documents each word occurs; by transposing, which needs no sort."""
    by_word = csr_array((np.ones(len(words), np.int8), words, offsets), shape=(len(offsets) - 1, n_words)).tocsc()
    documents, starts = by_word.indices, by_word.indptr
    is_new = np.ones(len(documents), dtype=np.int64)
    is_new[1:] = documents[1:] != documents[:-1]
    is_new[starts[:-1][np.diff(starts) > 0]] = 1
    total = np.concatenate(([0], np.cumsum(is_new)))
    return total[starts[1:]] - total[starts[:-1]]


def keep_words(words: np.ndarray, offsets: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop the tokens of all other words and renumber; the order of the rest stays."""
    return renumber(words, offsets, np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32))


def renumber(
    words: np.ndarray,
    offsets: np.ndarray,
    new_id: np.ndarray,
    choose: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Give words their new numbers, and drop the tokens of those whose new number is negative.

    `choose` says, given the offsets of some documents, which of their tokens may stay at all.
    """
    pieces, new_offsets = [np.empty(0, np.int32)], np.zeros(len(offsets), np.int64)
    for first, last in spans(offsets):
        piece = new_id[words[offsets[first] : offsets[last]]]
        stays = piece >= 0
        if choose is not None:
            stays &= choose(offsets[first : last + 1] - offsets[first])
        total = np.concatenate((np.zeros(1, np.int64), np.cumsum(stays)))
        new_offsets[first + 1 : last + 1] = new_offsets[first] + total[offsets[first + 1 : last + 1] - offsets[first]]
        pieces.append(piece[stays])
    return np.concatenate(pieces), new_offsets


def no_words(n_before: int, n_documents: int, filters: Filters) -> str:
    """What an empty vocabulary is due to."""
    if n_before == 0:
        return (
            f"no words in {n_documents:,} documents: check the text field, token_pattern (--token-pattern) "
            "and stop_words (--stop-words)"
        )
    return (
        f"no words left: {n_before:,} words in {n_documents:,} documents, none of which passes {filters}: "
        "lower min_df (--min-df) or raise max_df (--max-df)"
    )
