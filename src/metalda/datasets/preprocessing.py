"""The preprocessing of the paper: Mallet's token pattern, English stop words, and filters by document frequency."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from metalda.corpus import Corpus
from metalda.corpus.vocabulary import keep_words
from metalda.datasets.catalog import PathLike
from metalda.errors import InputError
from metalda.meta import Embeddings, WordFeatures

Vectors = Embeddings | WordFeatures | PathLike | Iterable[str] | None

# The English stop words of NLTK until 2017, before it added contractions such as "don't" and more of their parts. The
# paper names no list; of the usual ones this gives the nearest sizes and perplexities (docs/datasets.md).
_WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being have
has had having do does did doing a an the and but if or because as until while of at by for with about against between
into through during before after above below to from up down in out on off over under again further then once here there
when where why how all any both each few more most other some such no nor not only own same so than too very s t can
will just don should now
"""

NLTK_STOP_WORDS = tuple(_WORDS.split())  # 127


@cache
def mallet_pattern() -> str:
    r"""Return Mallet's default, ``\p{L}[\p{L}\p{P}]+\p{L}``, for Python: ``long-term`` and ``don't`` are words."""
    letters, marks = _characters("L"), _characters("P")
    return f"[{letters}][{letters}{marks}]+[{letters}]"


def paper_corpus(
    texts: Iterable[str], labels: object, ids: Iterable[str], *, embeddings: Vectors = None, **tokenizing: object
) -> Corpus:
    """Tokenize and filter texts as in the paper, unless settings of `Corpus.from_texts` are given."""
    corpus = Corpus.from_texts(texts, labels, ids, **paper_settings(tokenizing))
    return corpus if embeddings is None else keep_words_with_vectors(corpus, embeddings)


def paper_settings(changes: Mapping[str, object]) -> dict[str, Any]:
    """Return the settings of `Corpus.from_texts` nearest to the paper's preprocessing, with these changes."""
    return {"token_pattern": mallet_pattern(), "stop_words": NLTK_STOP_WORDS, "min_df": 5, "max_df": 0.95, **changes}


def keep_words_with_vectors(corpus: Corpus, embeddings: Vectors) -> Corpus:
    """Drop the words that have no vector; documents are kept, even if they become empty."""
    known = _words_of(embeddings, corpus.vocabulary)
    kept = np.array([word in known for word in corpus.vocabulary], dtype=bool)
    if not kept.any():
        raise InputError(f"embeddings: none of the {len(kept):,} words of the corpus has a vector")
    words, offsets = keep_words(corpus.words, corpus.offsets, kept)
    return replace(
        corpus, words=words, offsets=offsets, vocabulary=tuple(corpus.vocabulary[v] for v in np.flatnonzero(kept))
    )


def _words_of(embeddings: Vectors, vocabulary: tuple[str, ...]) -> frozenset[str]:
    if isinstance(embeddings, str | os.PathLike):
        embeddings = Embeddings.read(embeddings, vocabulary=vocabulary)
    if isinstance(embeddings, Embeddings | WordFeatures):
        return frozenset(embeddings.words)
    return frozenset(embeddings or ())


def _characters(category: str) -> str:
    """Return the characters of a Unicode category, as ranges for a character class."""
    ranges: list[list[int]] = []
    for code in range(0x10000):  # the others would slow down the search, and do not occur in these corpora
        if unicodedata.category(chr(code))[0] == category:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in ranges)
