"""Which words a report knows, and what they say about topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metalda.models.fitted import best_words
from metalda.report.plain import cut, rounded, significant
from metalda.report.summary import Words

MOST_WORDS = 5000  # besides those that topics and documents need
SHOWN = 30  # words of a topic that are shown at once
_MOST_TOPICS, _LEAST_SHARE = 4, 0.05  # of a word


@dataclass(frozen=True, eq=False)
class Distribution:
    """phi[topic, word], the share of each topic, and what the two say of words."""

    phi: NDArray[np.float32]
    shares: NDArray[np.float64]

    @property
    def marginal(self) -> NDArray[np.float64]:
        """p(word) in the model as a whole."""
        return self.shares @ self.phi

    def candidates(self) -> list[NDArray[np.int64]]:
        """For each topic the words that are among its best by relevance at some lambda = 0, 0.1, … 1.

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


class WordBook:
    """Gives words their places: those that are needed, and the most probable besides."""

    def __init__(self, distribution: Distribution, needed: Iterable[NDArray[np.integer]]) -> None:
        marginal = distribution.marginal
        kept = np.zeros(len(marginal), bool)
        kept[best_words(marginal, MOST_WORDS)] = True
        for words in needed:
            kept[words] = True
        self._distribution = distribution
        self._chosen = np.flatnonzero(kept)
        self._chosen = self._chosen[np.argsort(-marginal[self._chosen], kind="stable")]
        self._place = np.full(len(marginal), -1, np.int64)
        self._place[self._chosen] = np.arange(len(self._chosen))
        self._strangers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._chosen)

    def places(self, words: NDArray[np.integer]) -> tuple[int, ...]:
        """Of words by their number in the model."""
        return tuple(self._place[words].tolist())

    def stranger(self, word: str) -> int:
        """The place of a word that the model does not know."""
        return len(self._chosen) + self._strangers.setdefault(word, len(self._strangers))

    def words(self, vocabulary: Sequence[str]) -> Words:
        """The table of all words that have a place."""
        weights = self._distribution.phi[:, self._chosen].T * self._distribution.shares
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        best = best_words(weights, _MOST_TOPICS)
        kept = [row[weights[i, row] >= _LEAST_SHARE] for i, row in enumerate(best)]
        nothing = ((),) * len(self._strangers)
        return Words(
            names=(*(cut(vocabulary[v]) for v in self._chosen.tolist()), *map(cut, self._strangers)),
            probabilities=(*significant(self._distribution.marginal[self._chosen], 2), *(0.0,) * len(nothing)),
            topics=(*(tuple(row.tolist()) for row in kept), *nothing),
            shares=(*(rounded(weights[i, row], 2) for i, row in enumerate(kept)), *nothing),
        )
