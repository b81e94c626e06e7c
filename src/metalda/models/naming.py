"""Automatic names of topics, from their most relevant words."""

from __future__ import annotations

import numpy as np

from metalda.models.fitted import Fitted
from metalda.utils.names import unused

_LAMBDA = 0.3  # of relevance: little weight for words that are frequent in all topics
_WORDS, _MORE = 2, 5  # of a name, and of one that another topic would have too
_CANDIDATES = 20
_LONGEST = 30  # letters of a word
_STEM = 3  # letters that two forms of a word share


def automatic_names(fitted: Fitted) -> list[str]:
    """Return a name for each topic: its two most relevant words, and more if an earlier topic has the same.

    relevance = lambda log p(word | topic) + (1 - lambda) log lift (Sievert and Shirley, 2014). Background topics, whose
    words are arbitrary, are named so.
    """
    tiny = np.finfo(np.float64).tiny
    phi = np.maximum(fitted.phi.T.astype(np.float64), tiny)
    log_marginal = np.log(np.maximum(fitted.word_probabilities, tiny))
    names: list[str] = []
    for row, is_background in zip(phi, fitted.is_background, strict=True):
        best = np.argsort((1 - _LAMBDA) * log_marginal - np.log(row), kind="stable")[:_CANDIDATES]
        words = ["(background)"] if is_background else _different([fitted.vocabulary[v] for v in best])
        names.append(_unused_name(words, names))
    return names


def _different(words: list[str]) -> list[str]:
    """Return words without other forms of earlier ones, such as the plural."""
    kept: list[str] = []
    for word in words:
        if not any(_are_forms(word, other) for other in kept):
            kept.append(word)
    return [word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…" for word in kept]


def _are_forms(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return len(shorter) >= _STEM and longer.startswith(shorter)


def _unused_name(words: list[str], taken: list[str]) -> str:
    """Return a name that is not taken: with more words, or else with a number."""
    for n in range(_WORDS, _MORE + 1):
        if (name := " · ".join(words[:n])) not in taken:
            return name
    return unused(" · ".join(words[:_WORDS]), taken)
