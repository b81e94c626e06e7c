"""The words of a report: which ones it has, and their topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metalda.models.inspection import best_words
from metalda.report.values import Numbers, cut, rounded, significant

MAX_WORDS = 5000  # in addition to those that topics and documents need
SHOWN = 30  # words of a topic that are shown at once
_MAX_TOPICS, _MIN_SHARE = 4, 0.05  # of a word


@dataclass(frozen=True)
class WordSection:
    """Words of the model, the most probable first. Other sections refer to a word by its place here.

    Out-of-vocabulary words of documents come last, with probability 0 and no topics.
    """

    names: tuple[str, ...]
    probabilities: Numbers  # in the whole model
    topics: tuple[tuple[int, ...], ...]  # the most likely topics of a word
    shares: tuple[Numbers, ...]  # p(topic | word) of these topics


@dataclass(frozen=True, eq=False)
class TopicWords:
    """phi[topic, word] and the share of each topic."""

    phi: NDArray[np.float32]
    shares: NDArray[np.float64]

    @property
    def marginal(self) -> NDArray[np.float64]:
        """p(word) in the whole model."""
        return self.shares @ self.phi

    def candidates(self) -> list[NDArray[np.int64]]:
        """For each topic the words that are among its best by relevance at any lambda = 0, 0.1, … 1.

        relevance = lambda log p(word | topic) + (1 - lambda) log lift, and lift = p(word | topic) / p(word).
        """
        tiny = np.finfo(np.float64).tiny
        log_marginal = np.log(np.maximum(self.marginal, tiny))
        n = min(SHOWN, self.phi.shape[1])
        result = []
        for row in self.phi:
            log_phi = np.log(np.maximum(row.astype(np.float64), tiny))
            best = [best_words(row, n)]
            for step in range(10):
                relevance = log_phi - (1 - step / 10) * log_marginal
                best.append(np.argpartition(-relevance, n - 1)[:n])
            union = np.unique(np.concatenate(best))
            result.append(union[np.argsort(-row[union], kind="stable")])
        return result


class WordPlaces:
    """Places of words in the word section: the needed words and the most probable ones."""

    def __init__(self, topic_words: TopicWords, needed: Iterable[NDArray[np.integer]]) -> None:
        marginal = topic_words.marginal
        kept = np.zeros(len(marginal), bool)
        kept[best_words(marginal, MAX_WORDS)] = True
        for words in needed:
            kept[words] = True
        self._topic_words = topic_words
        self._chosen = np.flatnonzero(kept)
        self._chosen = self._chosen[np.argsort(-marginal[self._chosen], kind="stable")]
        self._place = np.full(len(marginal), -1, np.int64)
        self._place[self._chosen] = np.arange(len(self._chosen))
        self._unknown: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._chosen)

    def places(self, words: NDArray[np.integer]) -> tuple[int, ...]:
        """Places of words by their number in the model."""
        return tuple(self._place[words].tolist())

    def add_unknown(self, word: str) -> int:
        """The place of an out-of-vocabulary word, which is added at the end."""
        return len(self._chosen) + self._unknown.setdefault(word, len(self._unknown))

    def summarize(self, vocabulary: Sequence[str]) -> WordSection:
        """The section of all words that have a place."""
        weights = self._topic_words.phi[:, self._chosen].T * self._topic_words.shares
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        best = best_words(weights, _MAX_TOPICS)
        kept = [row[weights[i, row] >= _MIN_SHARE] for i, row in enumerate(best)]
        nothing = ((),) * len(self._unknown)
        return WordSection(
            names=(*(cut(vocabulary[v]) for v in self._chosen.tolist()), *map(cut, self._unknown)),
            probabilities=(*significant(self._topic_words.marginal[self._chosen], 2), *(0.0,) * len(nothing)),
            topics=(*(tuple(row.tolist()) for row in kept), *nothing),
            shares=(*(rounded(weights[i, row], 2) for i, row in enumerate(kept)), *nothing),
        )
