"""Whether several fits find the same topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.evaluation.matching import Matching, Words, affinity, match, word_overlap
from metalda.utils.markup import frame_html

if TYPE_CHECKING:
    import pandas as pd

    from metalda.models.base import TopicModel

MEASURES = ("words", "probabilities")
_T = TypeVar("_T")
_Matchings = dict[tuple[int, int], Matching]


@dataclass(frozen=True)
class Stability:
    """How far models agree on topics: the mean, by topic, and which topics belong together.

    Attributes
    ----------
    score : float
        Mean over all topics of all models: 1 where every model has the same topics, 0 where they have none in common.
    topics : DataFrame
        A row per model and topic: ``similarity`` to its partners, on average over the other models, and its ``words``.
        A topic that has no partner in a model, because that has fewer topics, has similarity 0 to it.
    pairs : DataFrame
        A row per matched pair: ``first`` and ``second`` model, ``first_topic``, ``second_topic``, ``similarity``.
    """

    score: float
    topics: pd.DataFrame
    pairs: pd.DataFrame

    def _repr_html_(self) -> str:
        return frame_html(f"Stability: {self.score:.4f}", self.topics.round(4), "topics")


def stability(models: Sequence[TopicModel], *, measure: str = "words", top_n: int = 10) -> Stability:
    """Match the topics of several fits with each other, and measure how similar the partners are.

    Topics of every two models are matched one to one so that the sum of their similarities is largest (Hungarian
    algorithm). Vocabularies and numbers of topics may differ.

    Parameters
    ----------
    models : list of fitted models
        At least two; for instance of one corpus with several seeds.
    measure : {"words", "probabilities"}
        ``"words"``: average Jaccard similarity of the top words, the mean over depths d up to `top_n` of the share
        that the first d words of both topics have in common (Greene et al., 2014). ``"probabilities"``: Bhattacharyya
        coefficient of the two distributions over words, ``sum_v sqrt(phi[k, v] phi'[j, v])``.
    top_n : int
        Words of each topic that are looked at and shown.

    Examples
    --------
    >>> from metalda import LDA, stability
    >>> texts = ["cat dog cat", "dog cat dog", "rain sun rain", "sun rain"] * 5
    >>> models = [LDA(2, n_iter=50, random_state=seed, verbose=False).fit(texts) for seed in range(3)]
    >>> stability(models, measure="probabilities").score > 0.99
    True
    """
    import pandas as pd

    if measure not in MEASURES:
        raise InputError(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}")
    models = list(models)
    if len(models) < 2:
        raise InputError(f"stability compares models with each other, and there is {len(models)}: give two or more")
    words = [model.top_words(top_n) for model in models]
    sizes = [len(own) for own in words]
    matchings = _match_all(words, word_overlap) if measure == "words" else _match_all(models, affinity_of)
    scores = np.concatenate(_agreement(sizes, matchings))
    topics = {
        "model": np.repeat(np.arange(len(models)), sizes),
        "topic": np.concatenate([np.arange(size) for size in sizes]),
        "similarity": scores,
        "words": [", ".join(own) for each in words for own in each],
    }
    pairs = [
        pd.DataFrame({"first": i, "second": j, "first_topic": a, "second_topic": b, "similarity": similarity})
        for (i, j), (a, b, similarity) in matchings.items()
    ]
    return Stability(float(scores.mean()), pd.DataFrame(topics), pd.concat(pairs, ignore_index=True))


def _match_all(parts: Sequence[_T], similarity: Callable[[_T, _T], NDArray[np.float64]]) -> _Matchings:
    """The topics of every two."""
    pairs = combinations(range(len(parts)), 2)
    return {(i, j): match(similarity(parts[i], parts[j])) for i, j in pairs}


def _agreement(sizes: Sequence[int], matchings: _Matchings) -> list[NDArray[np.float64]]:
    """Of each topic of each model, its mean similarity to its partners in the other models."""
    totals = [np.zeros(size) for size in sizes]
    for (i, j), (first, second, similarity) in matchings.items():
        totals[i][first] += similarity
        totals[j][second] += similarity
    return [total / (len(sizes) - 1) for total in totals]


def word_stability(runs: Sequence[Words]) -> list[float]:
    """How far each run agrees with the others, from the top words of their topics; NaN where there are no others."""
    if len(runs) < 2:
        return [float("nan")] * len(runs)
    scores = _agreement([len(words) for words in runs], _match_all(runs, word_overlap))
    return [float(own.mean()) for own in scores]


def affinity_of(first: TopicModel, second: TopicModel) -> NDArray[np.float64]:
    """Similarities of the topics of two models, by their probabilities of words."""
    return affinity(first.components_, first.vocabulary_, second.components_, second.vocabulary_)
