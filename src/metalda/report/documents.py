"""The document section of a report: a selection of documents, and the topics of their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.corpus.columns import columns_of_labels
from metalda.corpus.spans import WordFinder
from metalda.models.word_scores import top_indices
from metalda.report.labels import LabelSection
from metalda.report.values import Numbers, cut, rounded
from metalda.report.words import ReportWords

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_TYPICAL = 5  # documents of a topic
_MAX_TOKENS, _MAX_LENGTH = 400_000, 2000  # words of all shown documents, and of one
_MAX_WORD = 40  # characters
_CHARACTERS = 10  # of a text for each of these words
_MAX_TOPICS, _MIN_SHARE = 8, 0.01  # of a document


@dataclass(frozen=True)
class DocumentSection:
    """Documents of the corpus: all, or the most typical ones of each topic and a random sample."""

    numbers: tuple[int, ...]  # in the corpus
    ids: tuple[str, ...]
    labels: tuple[tuple[int, ...], ...]  # indices into label_names
    lengths: tuple[int, ...]  # in words
    words: tuple[tuple[int, ...], ...]  # truncated in long documents
    written: tuple[tuple[str, ...], ...] | None  # text before the first word, the word as written, text after it, …
    is_cut: tuple[bool, ...]  # whether the document is truncated
    word_topics: tuple[tuple[int, ...], ...]  # most likely topic of each word; -1 for none
    topics: tuple[tuple[int, ...], ...]  # with the largest proportions
    shares: tuple[Numbers, ...]
    label_names: tuple[str, ...]
    label_places: tuple[int, ...]  # indices into the labels of the summary, or -1
    kinds: tuple[str, ...]  # the columns that these labels come from; "" if they come from none
    kind_of: tuple[int, ...]  # of each label; -1 for a number
    n_all: int
    longest: int  # number of words after which documents are truncated


class TypicalDocuments(NamedTuple):
    """Documents with the largest share of a topic: their indices in the section, and these shares."""

    places: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()


class ShownDocument(NamedTuple):
    """The beginning of a document."""

    words: NDArray[np.int32]  # as word ids of the corpus
    written: tuple[str, ...]  # the text in pieces: every second one is a word; empty without texts
    is_cut: bool


class ShownLabels(NamedTuple):
    """The labels of the shown documents, under the names of the section."""

    labels: tuple[tuple[int, ...], ...]
    label_names: tuple[str, ...] = ()
    label_places: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    kind_of: tuple[int, ...] = ()


class DocumentSelection:
    """The documents of a report: the most typical ones of every topic and others at random, with a fixed seed."""

    def __init__(self, model: TopicModel, corpus: Corpus, theta: NDArray[np.float32], most: int) -> None:
        self.corpus, self.theta = corpus, theta
        self.shown = cache(self._shown)
        index = {word: v for v, word in enumerate(corpus.vocabulary)}
        self._find = None if corpus.texts is None else WordFinder(index, corpus.schema)
        self._numbers = np.array([model.fitted_.word_index.get(word, -1) for word in corpus.vocabulary], np.int64)
        n_topics = theta.shape[1]
        filled = np.flatnonzero(np.diff(corpus.offsets) > 0)
        n_typical = min(_TYPICAL, max(most // n_topics, 1), len(filled))
        best = [filled[top_indices(column[filled], n_typical)] for column in theta.T]
        typical = [documents[theta[documents, k] > 0] for k, documents in enumerate(best)]
        first = np.unique(np.concatenate(typical))[:most]
        others = np.setdiff1d(np.arange(len(corpus)), first, assume_unique=True)
        n_others = min(most - len(first), len(others))
        sample = np.random.default_rng(0).choice(others, n_others, replace=False)
        self.rows = np.sort(np.concatenate([first, sample])).astype(np.int64)
        self.typical = [self._typical(k, documents) for k, documents in enumerate(typical)]
        self.longest = int(min(_MAX_LENGTH, _MAX_TOKENS // max(len(self.rows), 1)))

    def _typical(self, topic: int, documents: NDArray[np.int64]) -> TypicalDocuments:
        kept = documents[np.isin(documents, self.rows)]
        return TypicalDocuments(
            tuple(np.searchsorted(self.rows, kept).tolist()), tuple(self.theta[kept, topic].tolist())
        )

    def _shown(self, row: int) -> ShownDocument:
        """Return the beginning of a document: its text with the words in it or, without texts, its words."""
        if self.corpus.texts is None or self._find is None:
            start, end = self.corpus.offsets[row], self.corpus.offsets[row + 1]
            return ShownDocument(
                self.corpus.words[start : min(end, start + self.longest)], (), bool(end - start > self.longest)
            )
        whole = self.corpus.texts[row]
        text = _beginning(whole, self.longest * _CHARACTERS)
        spans = self._find(text)[: self.longest]
        ends = [0, *(place for start, end, _ in spans for place in (start, end)), len(text)]
        written = tuple(text[a:b] for a, b in pairwise(ends))
        return ShownDocument(np.array([word for _, _, word in spans], np.int32), written, len(text) < len(whole))

    def tokens(self, row: int) -> NDArray[np.int32]:
        """Return the shown words of a document, as word ids of the corpus."""
        return self.shown(int(row)).words

    def known(self, row: int) -> NDArray[np.int64]:
        """Return the shown words of a document, as word ids of the model; -1 for out-of-vocabulary words."""
        return self._numbers[self.tokens(row)]

    def known_words(self) -> Iterator[NDArray[np.int64]]:
        """Yield the in-vocabulary words of each document."""
        for known in map(self.known, self.rows):
            yield known[known >= 0]

    def unknown_words(self) -> Iterator[str]:
        """Yield the out-of-vocabulary words of all documents, in their order."""
        for row in self.rows:
            tokens = self.tokens(row)
            yield from (self.corpus.vocabulary[token] for token in tokens[self._numbers[tokens] < 0])

    @property
    def cut_after(self) -> str:
        """Return the length after which documents are truncated."""
        if self.corpus.texts is None:
            return f"{self.longest:,} words"
        return f"{self.longest * _CHARACTERS:,} characters"

    @property
    def n_cut(self) -> int:
        """Return the number of selected documents that are truncated."""
        return sum(self.shown(int(row)).is_cut for row in self.rows)


def summarize_documents(
    chosen: DocumentSelection, report_words: ReportWords, labels: LabelSection | None
) -> DocumentSection:
    """Summarize the selected documents."""
    corpus, rows = chosen.corpus, chosen.rows
    words, word_topics, topics, shares = [], [], [], []
    for row in rows:
        known, theta = chosen.known(row), chosen.theta[row]
        words.append(_places(chosen.tokens(row), known, corpus, report_words))
        word_topics.append(_topics_of(known, theta, report_words.phi))
        best = top_indices(theta, _MAX_TOPICS)
        best = best[(theta[best] >= min(_MIN_SHARE, theta[best[0]])) & (theta[best] > 0)]
        topics.append(tuple(best.tolist()))
        shares.append(rounded(theta[best], 3))
    return DocumentSection(
        numbers=tuple(rows.tolist()),
        ids=tuple(cut(corpus.ids[row] if corpus.ids is not None else str(row)) for row in rows),
        lengths=tuple(np.diff(corpus.offsets)[rows].tolist()),
        words=tuple(words),
        written=None if corpus.texts is None else tuple(chosen.shown(int(row)).written for row in rows),
        is_cut=tuple(chosen.shown(int(row)).is_cut for row in rows),
        word_topics=tuple(word_topics),
        topics=tuple(topics),
        shares=tuple(shares),
        **_labels_of(corpus, rows, labels)._asdict(),
        n_all=len(corpus),
        longest=chosen.longest,
    )


def _beginning(text: str, longest: int) -> str:
    """Return the beginning of a text, which ends after a word if possible."""
    if len(text) <= longest:
        return text
    space = text.rfind(" ", longest - _MAX_WORD, longest)
    return text[: space if space > 0 else longest]


def _places(tokens: NDArray[np.int32], known: NDArray[np.int64], corpus: Corpus, words: ReportWords) -> tuple[int, ...]:
    return tuple(
        place if number >= 0 else words.place_of_unknown(corpus.vocabulary[token])
        for token, number, place in zip(tokens, known, words.places(np.maximum(known, 0)), strict=True)
    )


def _topics_of(words: NDArray[np.int64], theta: NDArray[np.float32], phi: NDArray[np.float32]) -> tuple[int, ...]:
    """Return the most likely topic of each word in its document, p(topic | word, document) ∝ theta phi.

    It is -1 for out-of-vocabulary words, and if the document has none of the topics that are shown.
    """
    weights = phi[:, np.maximum(words, 0)] * theta[:, None]
    return tuple(np.where((words >= 0) & (weights.max(axis=0) > 0), weights.argmax(axis=0), -1).tolist())


def _labels_of(corpus: Corpus, rows: NDArray[np.int64], labels: LabelSection | None) -> ShownLabels:
    """Return the labels of documents as indices into a list of names, and where these come from."""
    if corpus.labels is None:
        return ShownLabels(((),) * len(rows))
    matrix = corpus.labels.matrix[rows]
    used = np.unique(matrix.indices)
    places = np.searchsorted(used, matrix.indices).tolist()
    own = tuple(tuple(places[a:b]) for a, b in pairwise(matrix.indptr.tolist()))
    full_names, schema = [corpus.label_names[j] for j in used], corpus.schema
    has_columns = schema is not None and schema.has_labels
    columns = columns_of_labels(full_names, schema) if schema is not None and has_columns else ("",) * len(used)
    is_number = np.isin(used, matrix.indices[matrix.data != 1])
    if schema is not None:
        is_number |= np.isin(full_names, list(schema.scales))
    kinds = tuple(dict.fromkeys(column for column, number in zip(columns, is_number, strict=True) if not number))
    names = tuple(map(cut, full_names))
    sections = {} if labels is None else {name: j for j, name in enumerate(labels.names)}
    return ShownLabels(
        labels=own,
        label_names=names,
        label_places=tuple(sections.get(name, -1) for name in names),
        kinds=tuple(map(cut, kinds)),
        kind_of=tuple(-1 if number else kinds.index(own) for own, number in zip(columns, is_number, strict=True)),
    )
