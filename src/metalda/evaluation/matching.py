"""Match the topics of different fits with each other, because every fit numbers its topics differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.errors import InputError
from metalda.models.chains import MIN_SIMILARITY, bhattacharyya
from metalda.utils.markup import frame_html

if TYPE_CHECKING:
    import pandas as pd

    from metalda.models.base import TopicModel

TopWords = Sequence[Sequence[str]]  # of each topic, the most probable word first

MAX_WORDS = 5000  # for distances between topics; all other words are pooled
_MEASURES = ("words", "probabilities")
_T = TypeVar("_T")


class Matching(NamedTuple):
    """Pairs of topics, one of each model, and their similarities."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]


_Matchings = dict[tuple[int, int], Matching]


def match(similarity: NDArray[np.float64]) -> Matching:
    """Return the one-to-one pairs whose similarities [topic of the first, topic of the second] have the largest sum.

    This is the Hungarian algorithm. If one model has more topics, its surplus topics are in no pair.
    """
    from scipy.optimize import linear_sum_assignment

    first, second = linear_sum_assignment(similarity, maximize=True)
    return Matching(first, second, similarity[first, second])


def word_overlap(first: TopWords, second: TopWords) -> NDArray[np.float64]:
    """Return the average Jaccard similarity of lists of top words (Greene, O'Callaghan & Cunningham, 2014).

    It is the mean over depths d = 1, 2, … of ``|A_d ∩ B_d| / |A_d ∪ B_d|``, where A_d are the first d words of a list.
    It is 1 for the same words in the same order and 0 for lists without a common word; the first words weigh most.
    """
    column_of = {word: j for j, word in enumerate(dict.fromkeys(w for own in (*first, *second) for w in own))}
    depth = max(map(len, (*first, *second)), default=0)
    total = np.zeros((len(first), len(second)))
    for d in range(1, depth + 1):
        left, right = (_indicator([own[:d] for own in words], column_of) for words in (first, second))
        sizes = (np.array([min(len(own), d) for own in words]) for words in (first, second))
        shared = (left @ right.T).toarray()
        total += shared / np.maximum(np.add.outer(*sizes) - shared, 1)
    return total / max(depth, 1)


def _indicator(words: TopWords, column_of: dict[str, int]) -> sparse.csr_array:
    columns = [column_of[word] for own in words for word in own]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in words])]).astype(np.int64)
    return sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(words), max(len(column_of), 1)))


def shared_words(first: Sequence[str], second: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns of the words that two vocabularies have in common, in the order of the first one."""
    place = {word: v for v, word in enumerate(second)}
    pairs = [(v, place[word]) for v, word in enumerate(first) if word in place]
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T
    return left, right


def affinity(first: TopicModel, second: TopicModel) -> NDArray[np.float64]:
    """Return the Bhattacharyya coefficients of the topics of two models.

    A word outside one vocabulary has probability 0 there.
    """
    left, right = shared_words(first.vocabulary_, second.vocabulary_)
    return bhattacharyya(first.fitted_.phi[left], second.fitted_.phi[right])


def model_distances(first: TopicModel, second: TopicModel) -> NDArray[np.float64]:
    """Return the Jensen-Shannon distances of the topics of two models, over the words that both models have."""
    columns = shared_words(second.vocabulary_, first.vocabulary_)[::-1]
    if not len(columns[0]):
        raise InputError("the models have no word in common: their topics cannot be compared")
    rows = [model.components_[:, own].astype(np.float64) for model, own in zip((first, second), columns, strict=True)]
    tiny = np.finfo(np.float64).tiny
    return jensen_shannon(*pool_rare(*(each / np.maximum(each.sum(axis=1, keepdims=True), tiny) for each in rows)))


def pool_rare(*topics: NDArray[np.floating]) -> list[NDArray[np.float64]]:
    """Return distributions [topic, word] over the most probable words and one cell for all others.

    This changes distances very little, and makes their cost independent of the size of the vocabulary.
    """
    peaks = np.max([each.max(axis=0) for each in topics], axis=0)
    if len(peaks) <= MAX_WORDS:
        return [np.asarray(each, np.float64) for each in topics]
    kept = np.sort(np.argpartition(-peaks, MAX_WORDS)[:MAX_WORDS])
    rest = np.ones(len(peaks), bool)
    rest[kept] = False
    return [
        np.concatenate([each[:, kept], each[:, rest].sum(axis=1, keepdims=True)], axis=1).astype(np.float64)
        for each in topics
    ]


def jensen_shannon(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of every row of one from every row of the other: the root of the divergence in bits."""
    entropies = _entropy(second)
    rows = [
        _entropy((row + second) / 2) - (own + entropies) / 2 for row, own in zip(first, _entropy(first), strict=True)
    ]
    distances: NDArray[np.float64] = np.sqrt(np.clip(rows, 0, 1))
    return distances


def _entropy(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = np.log2(rows, where=rows > 0, out=np.zeros_like(rows))
    entropies: NDArray[np.float64] = -(rows * logs).sum(axis=1)
    return entropies


def same_topics(similarity: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the topics of two models that are the same: each is the most similar to the other, by 0.8 or more.

    Topics are matched across chains in the same way.
    """
    best = similarity.argmax(axis=1)
    mutual = similarity.argmax(axis=0)[best] == np.arange(len(best))
    first = np.flatnonzero(mutual & (similarity.max(axis=1) >= MIN_SIMILARITY))
    return first, best[first]


def recurring_topics(first: TopicModel, second: TopicModel) -> pd.DataFrame:
    """Return the topics of a model that recur in another, such as one with another seed or number of topics.

    A topic recurs if each of the two is the most similar to the other, with a similarity of 0.8 or more: the
    Bhattacharyya coefficient of their word probabilities, as for topics of several chains.

    Returns
    -------
    DataFrame
        A row per pair, the most similar first: `topic`, `other_topic` and `similarity`.

    Examples
    --------
    >>> from metalda import LDA
    >>> from metalda.evaluation import recurring_topics
    >>> texts = ["cat dog cat", "dog cat dog", "rain sun rain", "sun rain"] * 5
    >>> first, second = (LDA(2, n_iter=50, random_state=seed, verbose=False).fit(texts) for seed in range(2))
    >>> len(recurring_topics(first, second))
    2
    """
    import pandas as pd

    similarity = affinity(first, second)
    rows, columns = same_topics(similarity)
    table = pd.DataFrame(
        {
            "topic": np.array(first.fitted_.topic_numbers)[rows],
            "other_topic": np.array(second.fitted_.topic_numbers)[columns],
            "similarity": similarity[rows, columns],
        }
    )
    return table.sort_values("similarity", ascending=False, kind="stable", ignore_index=True)


@dataclass(frozen=True)
class Stability:
    """Agreement of several models on their topics: the mean, by topic, and the matched pairs.

    Attributes
    ----------
    score : float
        Mean over all topics of all models: 1 if all models have the same topics, 0 if they share no word.
    topics : DataFrame
        A row per model and topic: its mean ``similarity`` to its partners in the other models, and its ``words``. The
        similarity to a model in which a topic has no partner, because that model has fewer topics, is 0. If topics have
        names, ``name``.
    pairs : DataFrame
        A row per matched pair: ``first`` and ``second`` model, ``first_topic``, ``second_topic``, ``similarity``.
    """

    score: float
    topics: pd.DataFrame
    pairs: pd.DataFrame

    def _repr_html_(self) -> str:
        return frame_html(f"Stability: {self.score:.4f}", self.topics.round(4), "topics")


def stability(models: Sequence[TopicModel], *, measure: str = "words", top_n: int = 10) -> Stability:
    """Match the topics of several fits with each other, and measure how similar the matched topics are.

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
        Number of words per topic that are compared and shown.

    Examples
    --------
    >>> from metalda import LDA, stability
    >>> texts = ["cat dog cat", "dog cat dog", "rain sun rain", "sun rain"] * 5
    >>> models = [LDA(2, n_iter=50, random_state=seed, verbose=False).fit(texts) for seed in range(3)]
    >>> stability(models, measure="probabilities").score > 0.99
    True
    """
    import pandas as pd

    if measure not in _MEASURES:
        raise InputError(f"measure must be one of {', '.join(_MEASURES)}, not {measure!r}")
    models = list(models)
    if len(models) < 2:
        raise InputError(f"stability compares models with each other: give two or more, not {len(models)}")
    words = [model.top_words(top_n) for model in models]
    sizes = [len(own) for own in words]
    matchings = _match_all(words, word_overlap) if measure == "words" else _match_all(models, affinity)
    scores = np.concatenate(_agreement(sizes, matchings))
    numbers = [model.fitted_.topic_numbers for model in models]
    names = [model.fitted_.topic_names or ("",) * len(own) for model, own in zip(models, numbers, strict=True)]
    topics = {
        "model": np.repeat(np.arange(len(models)), sizes),
        "topic": np.concatenate(numbers),
        **({"name": [name or "" for each in names for name in each]} if any(map(any, names)) else {}),
        "similarity": scores,
        "words": [", ".join(own) for each in words for own in each],
    }
    pairs = [
        pd.DataFrame(
            {
                "first": i,
                "second": j,
                "first_topic": numbers[i][a],
                "second_topic": numbers[j][b],
                "similarity": similarity,
            }
        )
        for (i, j), (a, b, similarity) in matchings.items()
    ]
    return Stability(float(scores.mean()), pd.DataFrame(topics), pd.concat(pairs, ignore_index=True))


def _match_all(parts: Sequence[_T], similarity: Callable[[_T, _T], NDArray[np.float64]]) -> _Matchings:
    """Match the topics of every pair of models."""
    pairs = combinations(range(len(parts)), 2)
    return {(i, j): match(similarity(parts[i], parts[j])) for i, j in pairs}


def _agreement(sizes: Sequence[int], matchings: _Matchings) -> list[NDArray[np.float64]]:
    """Return for each model the mean similarity of each topic to its partners in the other models."""
    totals = [np.zeros(size) for size in sizes]
    for (i, j), (first, second, similarity) in matchings.items():
        totals[i][first] += similarity
        totals[j][second] += similarity
    return [total / (len(sizes) - 1) for total in totals]


def word_stability(runs: Sequence[TopWords]) -> list[float]:
    """Return the agreement of each run with the others by the top words of their topics; NaN for a single run."""
    if len(runs) < 2:
        return [float("nan")] * len(runs)
    scores = _agreement([len(words) for words in runs], _match_all(runs, word_overlap))
    return [float(own.mean()) for own in scores]
