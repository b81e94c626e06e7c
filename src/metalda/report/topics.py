"""The topics of a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.evaluation.coherence import coherence_in_documents
from metalda.models.fitted import best_words
from metalda.report.distances import classical_scaling, jensen_shannon, pool_rare
from metalda.report.documents import Typical
from metalda.report.plain import cut, rounded, significant
from metalda.report.summary import FeatureEffect, Topic
from metalda.report.wording import Distribution, WordBook

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_NEAREST, _FEATURES = 5, 8


def summarise_topics(
    model: TopicModel,
    corpus: Corpus | None,
    distribution: Distribution,
    candidates: list[NDArray[np.int64]],
    book: WordBook,
    typical: Sequence[Typical],
    interval: float,
) -> tuple[Topic, ...]:
    """All topics in the order of their numbers; `typical` has their most typical documents."""
    (pooled,) = pool_rare(distribution.phi)
    distances = jensen_shannon(pooled, pooled)
    points = classical_scaling(distances)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : min(_NEAREST, len(distances) - 1)]
    labels = getattr(model, "topic_labels_", None)
    measured = measure_coherence(model, corpus)
    features = strongest_features(model, interval)
    return tuple(
        Topic(
            number=k,
            label=None if labels is None else cut(labels[k]),
            share=rounded([share], 6)[0],
            words=book.places(candidates[k]),
            probabilities=significant(distribution.phi[k, candidates[k]]),
            coherence=measured[k],
            x=rounded(points[k])[0],
            y=rounded(points[k])[1],
            nearest=tuple(nearest[k].tolist()),
            distances=rounded(distances[k, nearest[k]], 3),
            documents=typical[k].places,
            document_shares=rounded(typical[k].shares, 3),
            features=features[k],
        )
        for k, share in enumerate(distribution.shares)
    )


def measure_coherence(model: TopicModel, corpus: Corpus | None) -> list[float | None]:
    """By topic; None without documents, where no document has a top word, or where there is but one word."""
    nothing: list[float | None] = [None] * len(model.components_)
    if corpus is None or len(model.vocabulary_) < 2:
        return nothing
    top = {model.vocabulary_[v] for v in np.unique(best_words(model.components_, 10))}
    if top.isdisjoint(corpus.vocabulary[v] for v in np.unique(corpus.words)):
        return nothing
    return [round(float(score), 4) for score in coherence_in_documents(model, corpus).scores]


def strongest_features(model: TopicModel, interval: float) -> list[tuple[FeatureEffect, ...]]:
    """For each topic the word features that surely move it most, up or down."""
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
        result[topic].append(FeatureEffect(cut(str(name)), *rounded(numbers, 2)))
    return [tuple(each) for each in result]
