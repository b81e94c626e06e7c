"""Find the words of a corpus again in a text as written, to mark them where they occur.

The text is normalized and split as in training, with a map back to the places in the text. No function of a tokenizer
runs: in scripts without spaces, the longest words of the vocabulary are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from metalda.corpus.languages import Stemmer
from metalda.corpus.phrases import PhraseJoiner
from metalda.corpus.schema import FUNCTION, TOKEN_PATTERN, Schema
from metalda.corpus.token_pattern import TokenFinder
from metalda.corpus.tokenizers import unspaced_runs
from metalda.corpus.unicode import mark_class, normalize, word_pattern
from metalda.corpus.vocabulary import stop_list

_LONGEST_UNSPACED = 12  # characters of a word in a script without spaces


class Span(NamedTuple):
    """A word in a text: ``text[start:end]``, and its index in the vocabulary."""

    start: int
    end: int
    word: int


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class WordFinder:
    """Finds the words of a vocabulary in texts as written.

    Parameters
    ----------
    vocabulary : mapping from words to their numbers
    schema : Schema, optional
        How the texts became words. Without it, and for tokens that a function of the caller made, a word is found if it
        occurs as it is or in lowercase.

    Examples
    --------
    >>> from metalda import Corpus
    >>> corpus = Corpus.from_texts(["The CATS saw New York."], stem="english", phrases=[("new", "york")])
    >>> find = WordFinder({word: i for i, word in enumerate(corpus.vocabulary)}, corpus.schema)
    >>> [(corpus.texts[0][start:end], corpus.vocabulary[word]) for start, end, word in find(corpus.texts[0])]
    [('CATS', 'cat'), ('saw', 'saw'), ('New York', 'new_york')]
    """

    def __init__(self, vocabulary: Mapping[str, int], schema: Schema | None) -> None:
        self._index = vocabulary
        self._is_known = schema is not None and FUNCTION not in (schema.analyzer, schema.tokenizer)
        self._schema = schema if schema is not None and self._is_known else Schema(lowercase=False, stop_words=None)
        own = self._schema
        self._has_words = own.analyzer in (None, "word")
        has_pattern = self._has_words and own.tokenizer is None and own.token_pattern != TOKEN_PATTERN
        self._pattern = TokenFinder(own.token_pattern) if has_pattern else None
        self._stop_words = stop_list(own.stop_words)
        self._stems = None if own.stem is None else Stemmer(own.stem)
        self._join = None if isinstance(own.phrases, bool) else PhraseJoiner(own.phrases)
        unspaced = [word for word in vocabulary if not word.isascii() and unspaced_runs().search(word)]
        self._lengths = sorted({len(word) for word in unspaced if len(word) <= _LONGEST_UNSPACED}, reverse=True)

    def __call__(self, text: str) -> list[Span]:
        """Return the words in a text, in their order; they do not overlap."""
        if not self._has_words:  # parts of words, which overlap
            return []
        prepared, places = _align(text, self._schema.lowercase)
        spans: list[Span] = []
        for start, end, word in self._words([token for token in self._tokens(prepared) if self._is_kept(token)]):
            begin, finish = (start, end) if places is None else (places[start][0], places[end - 1][1])
            if begin >= (spans[-1].end if spans else 0):
                spans.append(Span(begin, finish, word))
        return spans

    def _is_kept(self, token: _Token) -> bool:
        return token.text not in self._stop_words

    def _tokens(self, text: str) -> Iterator[_Token]:
        """Yield the tokens of a text, with their places."""
        if self._pattern is not None:
            yield from (_Token(text[start:end], start, end) for start, end in self._pattern.spans(text))
            return
        pattern, end = word_pattern(text), 0
        if self._lengths:
            for run in unspaced_runs().finditer(text):
                yield from _matches(pattern, text, end, run.start())
                yield from self._longest(text, run.start(), run.end())
                end = run.end()
        yield from _matches(pattern, text, end, len(text))

    def _longest(self, text: str, start: int, end: int) -> Iterator[_Token]:
        """Yield the longest words of the vocabulary in a run of a script without spaces, from left to right."""
        while start < end:
            candidates = (text[start : start + n] for n in self._lengths if start + n <= end)
            found = next((word for word in candidates if word in self._index), "")
            if found:
                yield _Token(found, start, start + len(found))
            start += max(len(found), 1)

    def _words(self, tokens: Sequence[_Token]) -> Iterator[tuple[int, int, int]]:
        """Yield the places and the numbers of words: tokens, phrases or n-grams that are in the vocabulary."""
        forms = [token.text for token in tokens]
        if self._stems is not None:
            forms = [self._stems[form] for form in forms]
        first = 0
        for form, n in self._units(forms):
            number = self._index.get(form)
            if number is None and not self._is_known:
                number = self._index.get(form.lower())
            if number is not None:
                yield tokens[first].start, tokens[first + n - 1].end, number
            first += n

    def _units(self, forms: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Yield words, each with the number of tokens that it consists of."""
        if self._join is not None:
            yield from self._join.units(forms)
            return
        shortest, longest = self._schema.ngram_range
        first = 0
        while first < len(forms):
            sizes = range(min(longest, len(forms) - first), shortest - 1, -1)
            units = ((" ".join(forms[first : first + n]), n) for n in sizes)
            form, n = next((unit for unit in units if unit[0] in self._index), (forms[first], 1))
            yield form, n
            first += n


def _matches(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[_Token]:
    return (_Token(found.group(), *found.span()) for found in pattern.finditer(text, start, end))


def _align(text: str, lowercase: bool) -> tuple[str, list[tuple[int, int]] | None]:
    """Return the normalized text and the place in the text of each of its characters; None if places are the same."""
    normal = normalize(text)
    lowered = normal.lower() if lowercase else normal
    if len(lowered) == len(text) and normal == text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"):
        return lowered, None
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    for found in _cluster().finditer(text):
        piece = normalize(found.group())
        piece = piece.lower() if lowercase else piece
        pieces.append(piece)
        places += [found.span()] * len(piece)
    joined = "".join(pieces)
    return lowered if len(lowered) == len(joined) else joined, places  # letters such as Σ depend on their neighbors


@cache
def _cluster() -> re.Pattern[str]:
    """Return the pattern of a character with those that normalization may join to it."""
    return re.compile(rf"(?s:.)[{mark_class()}\u00ad\u1160-\u11ff\uff9e\uff9f]*")
