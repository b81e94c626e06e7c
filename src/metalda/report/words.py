"""The word section of a report: a selection of words, and their topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.evaluation.matching import jensen_shannon, pool_rare
from metalda.models.word_scores import top_indices
from metalda.report.values import Numbers, cut, rounded, significant

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

MAX_WORDS = 5000  # in addition to those that topics and documents need
SHOWN = 30  # words of a topic that are shown at once
_MAX_TOPICS, _MIN_SHARE = 4, 0.05  # of a word


@dataclass(frozen=True)
class WordSection:
    """Words of the model, the most probable first. Other sections refer to a word by its index here.

    Out-of-vocabulary words of documents come last, with probability 0 and no topics.
    """

    names: tuple[str, ...]
    probabilities: Numbers  # in the whole model
    topics: tuple[tuple[int, ...], ...]  # the most likely topics of a word
    shares: tuple[Numbers, ...]  # p(topic | word) of these topics


class ReportWords:
    """The words of a report: the most probable ones, those of shown topics and documents, and out-of-vocabulary words.

    `known` has words of documents as word ids of the model, `unknown` their out-of-vocabulary words.
    """

    def __init__(self, model: TopicModel, known: Iterable[NDArray[np.integer]], unknown: Iterable[str]) -> None:
        self.phi = model.components_
        self.topic_shares = model.topics(top_n=1)["share"].to_numpy(np.float64)
        self._marginal = model.fitted_.word_probabilities  # in the whole model, hidden topics included
        self.by_topic = self._most_relevant()
        kept = np.zeros(len(self._marginal), bool)
        kept[top_indices(self._marginal, MAX_WORDS)] = True
        for words in (*self.by_topic, *known):
            kept[words] = True
        chosen = np.flatnonzero(kept)
        self._chosen = chosen[np.argsort(-self._marginal[chosen], kind="stable")]
        self._place = np.full(len(self._marginal), -1, np.int64)
        self._place[self._chosen] = np.arange(len(self._chosen))
        self._unknown = {word: len(self._chosen) + i for i, word in enumerate(dict.fromkeys(unknown))}

    def _most_relevant(self) -> list[NDArray[np.int64]]:
        """Return for each topic the words that are among the most relevant at any lambda = 0, 0.1, … 1.

        relevance = lambda log p(word | topic) + (1 - lambda) log lift, and lift = p(word | topic) / p(word).
        """
        tiny = np.finfo(np.float64).tiny
        log_marginal = np.log(np.maximum(self._marginal, tiny))
        n = min(SHOWN, self.phi.shape[1])
        result = []
        for row in self.phi:
            log_phi = np.log(np.maximum(row.astype(np.float64), tiny))
            best = [top_indices(row, n)]
            for step in range(10):
                relevance = log_phi - (1 - step / 10) * log_marginal
                best.append(np.argpartition(-relevance, n - 1)[:n])
            union = np.unique(np.concatenate(best))
            result.append(union[np.argsort(-row[union], kind="stable")])
        return result

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Return the Jensen-Shannon distances between topics [topic, topic]."""
        (pooled,) = pool_rare(self.phi)
        return jensen_shannon(pooled, pooled)

    def __len__(self) -> int:
        """Return the number of words of the model in the report."""
        return len(self._chosen)

    def places(self, words: NDArray[np.integer]) -> tuple[int, ...]:
        """Return the indices of words in the section, given word ids of the model."""
        return tuple(self._place[words].tolist())

    def place_of_unknown(self, word: str) -> int:
        """Return the index of an out-of-vocabulary word in the section."""
        return self._unknown[word]

    def summarize(self, vocabulary: Sequence[str]) -> WordSection:
        """Return the word section."""
        weights = self.phi[:, self._chosen].T * self.topic_shares
        sums = np.maximum(weights.sum(axis=1), self._marginal[self._chosen])  # with the shares of hidden topics
        weights /= np.maximum(sums, np.finfo(np.float64).tiny)[:, None]
        best = top_indices(weights, _MAX_TOPICS)
        kept = [row[weights[i, row] >= _MIN_SHARE] for i, row in enumerate(best)]
        nothing = ((),) * len(self._unknown)
        return WordSection(
            names=(*(cut(vocabulary[v]) for v in self._chosen.tolist()), *map(cut, self._unknown)),
            probabilities=(*significant(self._marginal[self._chosen], 2), *(0.0,) * len(nothing)),
            topics=(*(tuple(row.tolist()) for row in kept), *nothing),
            shares=(*(rounded(weights[i, row], 2) for i, row in enumerate(kept)), *nothing),
        )
