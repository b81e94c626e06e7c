"""The documents of a summary: which ones, how much of them, and the topics of their words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.models.fitted import best_words
from metalda.report.plain import cut, rounded
from metalda.report.summary import Documents, Labels
from metalda.report.wording import WordBook

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_TYPICAL = 5  # documents of a topic
_TOKENS, _LONGEST = 400_000, 2000  # words of all documents that are shown, and of one
_MOST_TOPICS, _LEAST_SHARE = 8, 0.01  # of a mixture


class Typical(NamedTuple):
    """Documents that have most of a topic: their places among those shown, and its share in them."""

    places: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()


class Selection:
    """The documents to be shown: typical ones of every topic, then as many others at random; always the same.

    `numbers` has the model's number of each word of the corpus, or -1.
    """

    def __init__(self, corpus: Corpus, theta: NDArray[np.float32], numbers: NDArray[np.int64], most: int) -> None:
        self.corpus, self.theta, self._numbers = corpus, theta, numbers
        n_topics = theta.shape[1]
        filled = np.flatnonzero(np.diff(corpus.offsets) > 0)
        n_typical = min(_TYPICAL, max(most // n_topics, 1), len(filled))
        typical = np.array([filled[best_words(column[filled], n_typical)] for column in theta.T])  # [topic, document]
        first = np.unique(typical)[:most]
        others = np.setdiff1d(np.arange(len(corpus)), first, assume_unique=True)
        n_others = min(most - len(first), len(others))
        sample = np.random.default_rng(0).choice(others, n_others, replace=False)
        self.rows = np.sort(np.concatenate([first, sample])).astype(np.int64)
        self.typical = [self._typical(k, documents) for k, documents in enumerate(typical)]
        self.longest = int(min(_LONGEST, _TOKENS // max(len(self.rows), 1)))

    def _typical(self, topic: int, documents: NDArray[np.int64]) -> Typical:
        kept = documents[np.isin(documents, self.rows)]
        return Typical(tuple(np.searchsorted(self.rows, kept).tolist()), tuple(self.theta[kept, topic].tolist()))

    def tokens(self, row: int) -> NDArray[np.int32]:
        """The words of a document that are shown."""
        start, end = self.corpus.offsets[row], self.corpus.offsets[row + 1]
        return self.corpus.words[start : min(end, start + self.longest)]

    def known(self, row: int) -> NDArray[np.int64]:
        """The same by the numbers of the model; -1 where it does not know a word."""
        return self._numbers[self.tokens(row)]

    @property
    def n_cut(self) -> int:
        """How many of the documents are longer than what is shown of them."""
        return int((np.diff(self.corpus.offsets)[self.rows] > self.longest).sum())


def known_words(model: TopicModel, corpus: Corpus) -> NDArray[np.int64]:
    """The model's number of each word of the corpus, or -1."""
    return np.array([model.fitted_.word_index.get(word, -1) for word in corpus.vocabulary], np.int64)


def summarise_documents(model: TopicModel, chosen: Selection, book: WordBook, labels: Labels | None) -> Documents:
    """What is shown of the documents that were chosen."""
    corpus, rows = chosen.corpus, chosen.rows
    words, word_topics, topics, shares = [], [], [], []
    for row in rows:
        known, theta = chosen.known(row), chosen.theta[row]
        words.append(_places(chosen.tokens(row), known, corpus, book))
        word_topics.append(_topics_of(known, theta, model.components_))
        best = best_words(theta, _MOST_TOPICS)
        best = best[theta[best] >= min(_LEAST_SHARE, theta[best[0]])]
        topics.append(tuple(best.tolist()))
        shares.append(rounded(theta[best], 3))
    own_labels, label_names, label_places = _labels_of(corpus, rows, labels)
    return Documents(
        numbers=tuple(rows.tolist()),
        ids=tuple(cut(corpus.ids[row] if corpus.ids is not None else str(row)) for row in rows),
        labels=own_labels,
        lengths=tuple(np.diff(corpus.offsets)[rows].tolist()),
        words=tuple(words),
        word_topics=tuple(word_topics),
        topics=tuple(topics),
        shares=tuple(shares),
        label_names=label_names,
        label_places=label_places,
        n_all=len(corpus),
        longest=chosen.longest,
    )


def _places(tokens: NDArray[np.int32], known: NDArray[np.int64], corpus: Corpus, book: WordBook) -> tuple[int, ...]:
    places = book.places(np.maximum(known, 0))
    return tuple(
        place if number >= 0 else book.stranger(corpus.vocabulary[token])
        for token, number, place in zip(tokens.tolist(), known.tolist(), places, strict=True)
    )


def _topics_of(words: NDArray[np.int64], theta: NDArray[np.float32], phi: NDArray[np.float32]) -> tuple[int, ...]:
    """The most likely topic of each word in its document, p(topic | word, document) ~ theta phi."""
    weights = phi[:, np.maximum(words, 0)] * theta[:, None]
    return tuple(np.where(words >= 0, weights.argmax(axis=0), -1).tolist())


def _labels_of(
    corpus: Corpus, rows: NDArray[np.int64], labels: Labels | None
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...], tuple[int, ...]]:
    """Labels of documents, as places in a list of the labels that they have; and these among all labels."""
    if corpus.labels is None:
        return ((),) * len(rows), (), ()
    matrix = corpus.labels.matrix[rows]
    used = np.unique(matrix.indices)
    places = np.searchsorted(used, matrix.indices).tolist()
    starts = matrix.indptr.tolist()
    names = tuple(cut(corpus.label_names[j]) for j in used)
    pages = {} if labels is None else {name: j for j, name in enumerate(labels.names)}
    own = tuple(tuple(places[a:b]) for a, b in pairwise(starts))
    return own, names, tuple(pages.get(name, -1) for name in names)
