"""How much topics differ in their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metalda.errors import InputError
from metalda.models.fitted import best_words

if TYPE_CHECKING:
    from metalda.models.base import TopicModel


def topic_diversity(model: TopicModel, top_n: int = 25) -> float:
    """Share of distinct words among the top words of all topics: 1 where no two topics share one.

    Parameters
    ----------
    model : fitted model
    top_n : int
        Words of each topic that are looked at; all of them where the vocabulary has fewer.

    Examples
    --------
    >>> from metalda import LDA, topic_diversity
    >>> model = LDA(2, n_iter=50, random_state=0).fit(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain"] * 5)
    >>> topic_diversity(model, top_n=2)
    1.0
    """
    best = top_columns(model, top_n)
    return len(np.unique(best)) / best.size


def exclusivity(model: TopicModel, top_n: int = 10) -> float:
    """How much the top words of a topic belong to it alone: mean over topics, and over the top words of each.

    A word v of topic k scores ``phi[k, v] / sum_j phi[j, v]``: 1 where no other topic has it, 1/K where all have it
    alike. Coherence alone is high for topics that repeat the common words; exclusivity is low for these.

    Parameters
    ----------
    model : fitted model
    top_n : int
        Words of each topic that are looked at; all of them where the vocabulary has fewer.

    Examples
    --------
    >>> from metalda import LDA, exclusivity
    >>> model = LDA(2, n_iter=50, random_state=0).fit(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain"] * 5)
    >>> round(exclusivity(model, top_n=2), 2)
    1.0
    """
    best = top_columns(model, top_n)
    phi = model.components_
    own = np.take_along_axis(phi, best, axis=1).astype(np.float64)
    return float(np.mean(own / phi.sum(axis=0, dtype=np.float64)[best]))


def top_columns(model: TopicModel, top_n: int) -> np.ndarray:
    """The columns of the top words of each topic."""
    check_is_fitted(model)
    if top_n < 1:
        raise InputError(f"top_n must be at least 1, not {top_n}")
    return best_words(model.components_, top_n)
