"""Scores by which the words of a topic are ordered: probability, relevance, FREX and lift."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.utils.ranks import average_ranks

WORD_SCORES = ("probability", "relevance", "frex", "lift")
RELEVANCE_WEIGHT = 0.6  # lambda of Sievert and Shirley (2014)
FREX_WEIGHT = 0.5  # of exclusivity, as in R's stm

Floats = NDArray[np.floating[Any]]


def check_score(by: str) -> None:
    """Raise InputError unless this is the name of a score."""
    if by not in WORD_SCORES:
        raise InputError(f"words_by={by!r}: give {', '.join(map(repr, WORD_SCORES))} (--words-by)")


def score_words(phi: Floats, marginal: Floats, sums: Floats, by: str) -> NDArray[np.float64]:
    """Return scores [topic, word] of words, given phi [topic, word], p(word), and the sums of phi over topics.

    Both are those of all topics, also of hidden ones. The sums are [word], or [topic, word] if topics were merged.

    lift = p(word | topic) / p(word), where p(word) is the average of p(word | topic) over the tokens of the corpus.
    relevance = lambda log p(word | topic) + (1 - lambda) log lift. FREX is the harmonic mean of two ranks among the
    words of the topic, between 0 and 1: of the probability, and of the exclusivity p(word | topic) / sum over topics.
    """
    check_score(by)
    probabilities = np.asarray(phi, np.float64)
    if by == "probability":
        return probabilities
    tiny = np.finfo(np.float64).tiny
    if by == "frex":
        exclusivity = probabilities / np.maximum(sums, tiny)
        n_words = max(probabilities.shape[1], 1)
        frequent, exclusive = (average_ranks(values.T).T / n_words for values in (probabilities, exclusivity))
        scores: NDArray[np.float64] = 1 / (FREX_WEIGHT / exclusive + (1 - FREX_WEIGHT) / frequent)
        return scores
    lift: NDArray[np.float64] = probabilities / np.maximum(marginal, tiny)
    if by == "lift":
        return lift
    weight = RELEVANCE_WEIGHT
    relevance: NDArray[np.float64] = weight * np.log(np.maximum(probabilities, tiny)) + (1 - weight) * np.log(
        np.maximum(lift, tiny)
    )
    return relevance


def top_indices(probabilities: NDArray[np.floating], top_n: int) -> NDArray[np.int64]:
    """Return the columns of the most probable words of a topic, or of each topic; ties go to the first column."""
    if probabilities.ndim > 1:
        return np.array([top_indices(row, top_n) for row in probabilities], np.int64)
    candidates = np.arange(len(probabilities))
    if 0 < top_n < len(probabilities) // 2:  # a partition finds the candidates without sorting all words
        candidates = np.flatnonzero(probabilities >= np.partition(probabilities, -top_n)[-top_n])
    return candidates[np.argsort(-probabilities[candidates], kind="stable")[: max(top_n, 0)]]
