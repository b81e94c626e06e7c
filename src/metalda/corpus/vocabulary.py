"""Convert texts or token lists to word ids in one pass, by the conventions of scikit-learn's `CountVectorizer`.

Tokens become integers as they are read, so that only the vocabulary is held as strings. Words are then filtered by
document frequency and renumbered in sorted order, as in `CountVectorizer`; the order of the tokens is kept.
"""

from __future__ import annotations

import logging
import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.corpus.languages import ENGLISH, Stemmer, stop_words
from metalda.corpus.phrases import Pair, PhraseJoiner, TokenArrays, as_pairs, find_pairs, join_pairs
from metalda.corpus.schema import TOKEN_PATTERN, Schema
from metalda.corpus.settings import AUTO
from metalda.corpus.token_pattern import TokenFinder
from metalda.corpus.tokenizers import load_tokenizer
from metalda.corpus.unicode import find_words, normalize
from metalda.errors import EmptyVocabularyError, InputError
from metalda.utils.chunks import spans

logger = logging.getLogger(__name__)

Analyzer = Callable[[str], Sequence[str]]


class FlatTokens(NamedTuple):
    """Documents as flat word ids: document d is ``words[offsets[d]:offsets[d + 1]]``."""

    words: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: tuple[str, ...]


def make_analyzer(schema: Schema) -> Analyzer:
    """Return the function from a text to its tokens: those of `CountVectorizer` if there are no further settings.

    Texts are normalized, then lower-cased and split into words; stop words are dropped, the others reduced to stems
    and joined to n-grams.
    """
    schema.require_tokenizer()
    if callable(schema.analyzer):
        return schema.analyzer
    prepare = _lowered if schema.lowercase else normalize
    if schema.analyzer not in (None, "word"):
        return _vectorizer(analyzer=schema.analyzer, preprocessor=prepare, ngram_range=schema.ngram_range)
    find: Callable[[str], list[str]] = find_words
    if schema.tokenizer is not None:
        find = load_tokenizer(schema.tokenizer)
    elif schema.token_pattern != TOKEN_PATTERN:
        find = TokenFinder(schema.token_pattern)
    dropped = stop_list(schema.stop_words)
    stems = None if schema.stem is None else Stemmer(schema.stem)
    join = None if schema.ngram_range == (1, 1) else _joiner(schema.ngram_range)

    def analyze(text: str) -> Sequence[str]:
        tokens = find(prepare(text))
        if dropped:
            tokens = [token for token in tokens if token not in dropped]
        if stems is not None:
            tokens = [stems[token] for token in tokens]
        return tokens if join is None else join(tokens)

    return analyze


def _lowered(text: str) -> str:
    return normalize(text).lower()


def _joiner(ngram_range: tuple[int, int]) -> Callable[[list[str]], Sequence[str]]:
    """Return the function from tokens to n-grams."""
    return _vectorizer(tokenizer=list, token_pattern=None, preprocessor=list, ngram_range=ngram_range)


def _vectorizer(**settings: object) -> Callable[..., Sequence[str]]:
    from sklearn.feature_extraction.text import CountVectorizer

    analyzer: Callable[..., Sequence[str]] = CountVectorizer(**settings).build_analyzer()
    return analyzer


def require_unicode(words: Collection[str]) -> None:
    """Raise an error for a word with half of a surrogate pair, which JSON can represent but no file can contain."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        word = next(word for word in words if half in word)
        raise InputError(f"the token {word!r} is not valid Unicode: it contains half of a surrogate pair") from None


def stop_list(words: str | Iterable[str] | None) -> frozenset[str]:
    """Return the words that `stop_words` of a schema names. "auto" means English, unless the language was guessed."""
    if words is None:
        return frozenset()
    if isinstance(words, str):
        return stop_words(ENGLISH if words == AUTO else words)
    return frozenset(map(normalize, words))


def choose_words(
    schema: Schema,
    n_documents: int,
    n_words: int,
    frequency: Callable[[], NDArray[np.int64]],
    totals: Callable[[], NDArray[np.int64]],
) -> NDArray[np.bool_]:
    """Return which words pass the filters of the schema.

    Word ids must be in sorted order, on which ties for `max_features` depend. `frequency` and `totals` return in how
    many documents each word occurs, and how often; they are called only if they are needed.
    """
    filters = schema.frequency_filters(n_documents)
    low, high = (v if isinstance(v, Integral) else v * n_documents for v in filters)
    kept = np.ones(n_words, dtype=bool)
    if low > 1 or high < n_documents:
        n_with = frequency()
        kept = (n_with >= low) & (n_with <= high)
        if kept.any():
            _log_dropped(low, high, n_with, totals())
        elif schema.min_df == schema.max_df == AUTO:  # which always leaves words
            kept[:] = True
    if schema.max_features is not None and kept.sum() > schema.max_features:
        candidates = np.flatnonzero(kept)
        order = (-totals()[candidates]).argsort()
        kept = np.zeros(n_words, dtype=bool)
        kept[candidates[order[: schema.max_features]]] = True
    return kept


def _log_dropped(low: float, high: float, n_with: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
    """Log how many words are too rare or too frequent, and their share of the tokens."""
    for dropped, reason, option in (
        (n_with < low, f"in fewer than {math.ceil(low):,} documents", "min_df=1 (--min-df 1)"),
        (n_with > high, f"in more than {math.floor(high):,} documents", "max_df=1.0 (--max-df 1.0)"),
    ):
        if n_dropped := int(dropped.sum()):
            share = totals[dropped].sum() / totals.sum()
            message = "dropped %s of %s words: %s, %s of the tokens; %s keeps them"
            logger.info(message, f"{n_dropped:,}", f"{len(n_with):,}", reason, f"{share:.1%}", option)


class TokenCollector:
    """Collects documents one by one, and numbers their words.

    Parameters
    ----------
    schema : Schema
        How texts become words, and which words are kept. Without a vocabulary all words are. Given phrases are joined
        in all documents, also in lists of tokens; with ``phrases=True`` they are found in `finish`.
    texts : bool
        Whether documents may be texts. Lists of tokens among them are used unchanged. If not, all documents are lists
        of tokens, and stop words are dropped from them; this needs no analyzer, and no scikit-learn.
    """

    def __init__(self, schema: Schema, *, texts: bool) -> None:
        self._schema = schema
        self._texts = texts
        self._analyze: Analyzer | None = None  # made for the first text: lists of tokens need none
        self._stop_words = frozenset() if texts else stop_list(schema.stop_words)
        self._join = None if isinstance(schema.phrases, bool) else PhraseJoiner(schema.phrases)
        self.phrases: tuple[Pair, ...] | None = None  # that were found
        self._fixed = None if schema.vocabulary is None else tuple(schema.vocabulary)
        self._ids: defaultdict[str, int] = defaultdict()
        if self._fixed is None:
            self._ids.default_factory = self._ids.__len__
        else:
            self._ids.update((word, i) for i, word in enumerate(self._fixed))
        self._words = array("i")
        self._offsets = array("q", [0])

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, content: str | Sequence[str]) -> None:
        """Add the next document: a text, or a list of tokens."""
        if isinstance(content, str):
            if not self._texts:
                raise InputError(
                    f"document {len(self)} is one string, not a list of tokens: split it, or use Corpus.from_texts"
                )
            if self._analyze is None:
                self._analyze = make_analyzer(self._schema)
            tokens = self._analyze(content)
        elif self._stop_words:
            tokens = [token for token in content if token not in self._stop_words]
        else:
            tokens = content
        try:
            if self._join is not None:
                tokens = self._join(tokens)
            if self._fixed is None:
                self._words.extend(map(self._ids.__getitem__, tokens))
            else:
                self._words.extend(i for i in map(self._ids.get, tokens) if i is not None)
        except TypeError as error:
            raise InputError(f"document {len(self)}: tokens must be strings ({error})") from error
        self._offsets.append(len(self._words))

    def numbered(self) -> FlatTokens:
        """Return all documents so far; words are numbered in order of first occurrence."""
        words = np.array(self._words, dtype=np.int32)
        offsets = np.array(self._offsets, dtype=np.int64)
        if self._fixed is not None:
            return FlatTokens(words, offsets, self._fixed)
        for word in self._ids:
            if not isinstance(word, str):
                raise InputError(f"tokens must be strings, but {word!r} is {type(word).__name__}")
        require_unicode(self._ids)
        return FlatTokens(words, offsets, tuple(map(str, self._ids)))

    def finish(self) -> FlatTokens:
        """Return all documents so far over the filtered vocabulary, in sorted order."""
        words, offsets, found = self.numbered()
        if self._fixed is not None:
            return FlatTokens(words, offsets, found)
        ids: Mapping[str, int] = self._ids
        if self._schema.phrases is True:
            totals = np.bincount(words, minlength=len(found))
            pairs = find_pairs([TokenArrays(words, offsets)], totals, *self._schema.phrase_limits)
            self.phrases = as_pairs(found, pairs)
            words, offsets, found = join_pairs(words, offsets, found, pairs)
            ids = {word: i for i, word in enumerate(found)}
        vocabulary = sorted(found)
        rank = np.empty(len(vocabulary), dtype=np.int32)
        rank[np.fromiter(map(ids.__getitem__, vocabulary), dtype=np.int64, count=len(vocabulary))] = np.arange(
            len(vocabulary), dtype=np.int32
        )
        words = rank[words]
        n_words = len(vocabulary)
        kept = choose_words(
            self._schema,
            len(self),
            n_words,
            lambda: document_frequency(words, offsets, n_words),
            lambda: np.bincount(words, minlength=n_words),
        )
        if not kept.any():
            raise no_words_left(n_words, len(self), self._schema)
        if not kept.all():
            words, offsets = keep_words(words, offsets, kept)
        return FlatTokens(words, offsets, tuple(vocabulary[i] for i in np.flatnonzero(kept)))


def document_frequency(words: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int) -> NDArray[np.int64]:
    """Count the documents in which each word occurs, by transposing, which needs no sort."""
    by_word = csr_array((np.ones(len(words), np.int8), words, offsets), shape=(len(offsets) - 1, n_words)).tocsc()
    documents, starts = by_word.indices, by_word.indptr
    is_new = np.ones(len(documents), dtype=np.int64)
    is_new[1:] = documents[1:] != documents[:-1]
    is_new[starts[:-1][np.diff(starts) > 0]] = 1
    total = np.concatenate(([0], np.cumsum(is_new)))
    frequency: NDArray[np.int64] = total[starts[1:]] - total[starts[:-1]]
    return frequency


def keep_words(
    words: NDArray[np.int32], offsets: NDArray[np.int64], kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Drop the tokens of all other words and renumber; the order of the rest is kept."""
    return renumber(words, offsets, np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32))


def renumber(
    words: NDArray[np.int32],
    offsets: NDArray[np.int64],
    new_id: NDArray[np.int32],
    choose: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Replace word ids by new ones, and drop the tokens of words whose new id is negative.

    `choose` returns, given the offsets of some documents, which of their tokens to keep.
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


def no_words_left(n_before: int, n_documents: int, schema: Schema) -> EmptyVocabularyError:
    """Return the error for an empty vocabulary, with its cause."""
    if n_before == 0:
        return EmptyVocabularyError(
            f"no words in {n_documents:,} documents: check the text field, token_pattern (--token-pattern) "
            "and stop_words (--stop-words)"
        )
    filters = "min_df={}, max_df={}".format(*schema.frequency_filters(n_documents))
    if schema.max_features is not None:
        filters += f", max_features={schema.max_features}"
    return EmptyVocabularyError(
        f"no words left: {n_before:,} words in {n_documents:,} documents, and none passes {filters}: "
        "lower min_df (--min-df) or raise max_df (--max-df)"
    )
