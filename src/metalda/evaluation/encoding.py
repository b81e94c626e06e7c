"""Documents of a reference as numbers of the words that are asked for."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus, Schema
from metalda.corpus.schema import TOKEN_PATTERN
from metalda.corpus.vocabulary import make_analyzer
from metalda.errors import InputError
from metalda.kernels.border import frozen
from metalda.kernels.windows import build_table, find_words

_TOKENS = 1 << 20


class Encoded(NamedTuple):
    """Documents as numbers of the words that are asked for, -1 for all others."""

    words: NDArray[np.integer]
    offsets: NDArray[np.integer]


Encoder = Callable[[Any], Encoded]


def text_encoder(words: Sequence[str], *, lowercase: bool, token_pattern: str) -> Encoder:
    """For lists of documents, which are texts or tokens; texts by compiled code, if words are what they usually are."""
    analyse = make_analyzer(Schema(lowercase=lowercase, token_pattern=token_pattern, stop_words=None))
    id_of = {word: i for i, word in enumerate(words)}
    quick = _quick_encoder(words, lowercase=lowercase) if token_pattern == TOKEN_PATTERN else None

    def encode(documents: Sequence[str | Sequence[str]]) -> Encoded:
        if quick is not None and all(isinstance(document, str) for document in documents):
            return quick(documents)
        found, offsets = array("i"), array("q", [0])
        try:
            for document in documents:
                tokens = analyse(document) if isinstance(document, str) else document
                found.extend(map(id_of.get, tokens, repeat(-1)))
                offsets.append(len(found))
        except TypeError as error:
            raise InputError(f"a reference holds texts or lists of words ({error})") from error
        return Encoded(np.frombuffer(found, np.int32), np.frombuffer(offsets, np.int64))

    return encode


def _quick_encoder(words: Sequence[str], *, lowercase: bool) -> Encoder:
    """For texts alone, by `TOKEN_PATTERN`."""
    word_characters, word_ends = _characters(words)
    word_offsets = frozen(np.concatenate(([0], word_ends)), np.int64)
    table = np.full(1 << (2 * len(words)).bit_length(), -1, np.int64)
    build_table(word_characters, word_offsets, table)
    table, is_word = frozen(table, np.int64), _word_characters()

    def encode(texts: Sequence[str]) -> Encoded:
        characters, ends = _characters([text.lower() for text in texts] if lowercase else texts)
        found = np.empty(len(characters) // 2 + 1, np.int32)
        offsets = np.zeros(len(ends) + 1, np.int64)
        find_words(characters, ends, is_word, table, word_characters, word_offsets, found, offsets)
        return Encoded(found[: offsets[-1]], offsets)

    return encode


def _characters(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Code points of all texts one after the other, and where each ends."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    return frozen(np.frombuffer(joined, "<u4"), np.uint32), frozen(ends, np.int64)


@lru_cache
def _word_characters() -> NDArray[np.bool_]:
    r"""Which code points are ``\w`` in regular expressions."""
    letters = (character.isalnum() for character in map(chr, range(0x110000)))
    table = np.fromiter(letters, np.bool_, 0x110000)
    table[ord("_")] = True
    return frozen(table, np.bool_)


def corpus_batches(corpus: Corpus, words: Sequence[str]) -> tuple[Iterable[range], Encoder]:
    """The documents of a corpus, about a million tokens at a time, and how to encode them."""
    id_of: Mapping[str, int] = {word: i for i, word in enumerate(words)}
    ids = np.array([id_of.get(word, -1) for word in corpus.vocabulary], np.int32)

    def encode(documents: range) -> Encoded:
        offsets = corpus.offsets[documents.start : documents.stop + 1]
        return Encoded(ids[corpus.words[offsets[0] : offsets[-1]]], offsets - offsets[0])

    return _ranges(corpus.offsets), encode


def _ranges(offsets: NDArray[np.integer]) -> Iterator[range]:
    start, n_documents = 0, len(offsets) - 1
    while start < n_documents:
        stop = int(np.searchsorted(offsets, offsets[start] + _TOKENS, side="right")) - 1
        stop = max(stop, start + 1)
        yield range(start, stop)
        start = stop
