"""The topic section of a report: a summary of each topic, and the map of topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.evaluation.measures import topic_coherence
from metalda.models.naming import automatic_names
from metalda.report.documents import TypicalDocuments
from metalda.report.values import Numbers, cut, rounded, significant
from metalda.report.words import ReportWords

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_NEAREST, _FEATURES = 5, 8


@dataclass(frozen=True)
class FeatureEffect:
    """Effect of a word feature on a topic: its log weight relative to the average feature."""

    name: str
    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class TopicSummary:
    """One topic of the model."""

    number: int  # its place in the report
    name: str  # topic0, topic1, …, by the number that it has in the model
    label: str | None  # the name of the topic; without one, its label in models where topics belong to labels
    title: str  # its label, or else a name from its most relevant words
    share: float  # of the training words
    background: bool  # without a theme: its most probable words are arbitrary
    words: tuple[int, ...]  # the 30 most relevant at any lambda = 0, 0.1, … 1, the most probable first
    probabilities: Numbers
    coherence: float | None
    x: float  # position on the map
    y: float
    nearest: tuple[int, ...]  # topics, the most similar first
    distances: Numbers
    documents: tuple[int, ...]  # the most typical ones, as indices into the document section
    document_shares: Numbers  # of the topic in them
    features: tuple[FeatureEffect, ...]
    chains: int  # that have the topic


def summarize_topics(
    model: TopicModel,
    corpus: Corpus | None,
    words: ReportWords,
    typical: Sequence[TypicalDocuments] | None,
    interval: float,
) -> tuple[TopicSummary, ...]:
    """Summarize all topics in the order of their numbers; `typical` has their most typical documents."""
    typical = typical or [TypicalDocuments()] * len(model.components_)
    distances = words.distances.copy()
    points = classical_scaling(distances)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : min(_NEAREST, len(distances) - 1)]
    labels, titles = shown_names(model), shown_titles(model)
    measured, is_background = topic_coherence(model, corpus), model.fitted_.is_background
    features = _strongest_features(model, interval)
    return tuple(
        TopicSummary(
            number=k,
            name=f"topic{model.fitted_.topic_numbers[k]}",
            label=None if (label := labels[k]) is None else cut(label),
            title=titles[k],
            share=rounded([share], 6)[0],
            background=bool(is_background[k]),
            words=words.places(words.by_topic[k]),
            probabilities=significant(words.phi[k, words.by_topic[k]]),
            coherence=None if measured is None or np.isnan(measured[k]) else round(float(measured[k]), 4),
            x=rounded(points[k])[0],
            y=rounded(points[k])[1],
            nearest=tuple(nearest[k].tolist()),
            distances=rounded(distances[k, nearest[k]], 3),
            documents=typical[k].places,
            document_shares=rounded(typical[k].shares, 3),
            features=features[k],
            chains=int(model.fitted_.chain_counts[k]),
        )
        for k, share in enumerate(words.topic_shares)
    )


def shown_names(model: TopicModel) -> list[str | None]:
    """Return the name of each topic, or its label in models where topics belong to labels; None if it has neither."""
    n_topics, fitted = len(model.components_), model.fitted_
    labels = getattr(model, "topic_labels_", [None] * n_topics)
    return [name or label for name, label in zip(fitted.topic_names or [None] * n_topics, labels, strict=True)]


def shown_titles(model: TopicModel) -> tuple[str, ...]:
    """Return the name of each topic, or its label, or else a name from its most relevant words."""
    both = zip(shown_names(model), automatic_names(model.fitted_), strict=True)
    return tuple(cut(name or automatic) for name, automatic in both)


def _strongest_features(model: TopicModel, interval: float) -> list[tuple[FeatureEffect, ...]]:
    """Return for each topic the word features with the strongest effects whose intervals exclude 0."""
    n_topics = len(model.components_)
    if not model.feature_names_:
        return [()] * n_topics
    table = model.feature_effects(interval)
    sure = np.maximum(table["low"].to_numpy(), -table["high"].to_numpy())
    table = table.assign(sure=sure).sort_values(["topic", "sure"], ascending=[True, False], kind="stable")
    best = table[table["sure"] > 0].groupby("topic", sort=False).head(_FEATURES)
    result: list[list[FeatureEffect]] = [[] for _ in range(n_topics)]
    columns = (best[name].tolist() for name in ("topic", "feature", "effect", "low", "high"))
    for topic, name, *numbers in zip(*columns, strict=True):
        result[model.fitted_.find_topic(topic)].append(FeatureEffect(cut(str(name)), *rounded(numbers, 2)))
    return [tuple(each) for each in result]


def classical_scaling(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points in the plane with similar distances (classical multidimensional scaling)."""
    n = len(distances)
    center = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ (distances**2) @ center)
    points = np.zeros((n, 2))
    for axis in range(min(2, n)):
        points[:, axis] = vectors[:, -1 - axis] * np.sqrt(max(values[-1 - axis], 0))
        if points[np.abs(points[:, axis]).argmax(), axis] < 0:  # choose one of the two mirror images
            points[:, axis] *= -1
    return points
