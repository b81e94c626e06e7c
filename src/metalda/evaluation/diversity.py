"""How much topics differ in their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metalda.errors import InputError
from metalda.models.inspection import best_words

if TYPE_CHECKING:
    from metalda.models.base import TopicModel


def topic_diversity(model: TopicModel, top_n: int = 25) -> float:
    """Share of distinct words among the top words of all topics: 1 where no two topics share one.

    Parameters
    ----------
    model : fitted model
    top_n : int
        Words of each topic that are looked at; all of them where the vocabulary has fewer.
    """
    check_is_fitted(model)
    if top_n < 1:
        raise InputError(f"top_n must be at least 1, not {top_n}")
    best = best_words(model.components_, top_n)
    return len(np.unique(best)) / best.size
