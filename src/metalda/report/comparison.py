"""The comparison section of a report: the matched topics of several models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.evaluation.matching import affinity, match, model_distances, same_topics
from metalda.evaluation.measures import topic_coherence, topic_diversity
from metalda.models.word_scores import top_indices
from metalda.report.topics import shown_titles
from metalda.report.values import cut, rounded

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_TOP_WORDS = 10
_MIN_LINK = 0.6  # similarity of topics that a ribbon joins


@dataclass(frozen=True)
class ComparedTopic:
    """A topic of a compared model."""

    number: int
    name: str
    share: float
    words: tuple[str, ...]
    title: str  # its name, or one from its most relevant words


@dataclass(frozen=True)
class ComparedModel:
    """A compared model; `matches` has its topic for each topic of the first model, or -1."""

    name: str
    model: str
    n_topics: int
    coherence: float | None
    diversity: float
    log_likelihood: float | None  # unknown for a model that was imported
    seconds: float
    topics: tuple[ComparedTopic, ...]
    matches: tuple[int, ...]
    distances: tuple[float | None, ...]
    links: tuple[tuple[int, int, float], ...]  # similar topics: of the first model, of this model, their similarity
    recurring: tuple[tuple[int, int], ...]  # topics of the first model, and those of this model that are the same


def compare_models(models: Mapping[str, TopicModel], corpus: Corpus | None) -> tuple[ComparedModel, ...]:
    """Summarize each model, with its partner for every topic of the first one."""
    first = next(iter(models.values()))
    return tuple(_compared(name, model, first, corpus) for name, model in models.items())


def match_nearest(first: TopicModel, second: TopicModel) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return for each topic of the first model its partner in the second, or -1, and their distance, or NaN.

    Pairs are one to one and have the smallest sum of Jensen-Shannon distances over the words that both models have.
    """
    distances = model_distances(first, second)
    rows, partners, _ = match(1 - distances)
    matches, apart = np.full(len(distances), -1, np.int64), np.full(len(distances), np.nan)
    matches[rows], apart[rows] = partners, distances[rows, partners]
    return matches, apart


def _compared(name: str, model: TopicModel, first: TopicModel, corpus: Corpus | None) -> ComparedModel:
    matches, distances = match_nearest(first, model)
    measured = topic_coherence(model, corpus)
    history = model.history_
    shares = model.topics(top_n=1)["share"]
    best = top_indices(model.components_, _TOP_WORDS)
    similarity, titles = affinity(first, model), shown_titles(model)
    return ComparedModel(
        name=cut(name),
        model=type(model).__name__,
        n_topics=len(model.components_),
        coherence=None if measured is None else round(float(np.nanmean(np.round(measured, 4))), 4),
        diversity=round(float(topic_diversity(model)), 4),
        log_likelihood=round(float(history["log_likelihood"].iloc[-1]), 4) if len(history) else None,
        seconds=round(float(history["seconds"].sum()), 2),
        topics=tuple(
            ComparedTopic(k, cut(name), rounded([share], 6)[0], tuple(cut(model.vocabulary_[v]) for v in row), title)
            for k, (name, share, row, title) in enumerate(
                zip(model.fitted_.column_names, shares, best, titles, strict=True)
            )
        ),
        matches=tuple(matches.tolist()),
        distances=tuple(None if np.isnan(d) else round(float(d), 3) for d in distances),
        links=tuple(
            (int(i), int(j), round(float(similarity[i, j]), 3)) for i, j in np.argwhere(similarity >= _MIN_LINK)
        ),
        recurring=tuple(zip(*(topics.tolist() for topics in same_topics(similarity)), strict=True)),
    )
