"""Models beside each other: whose topics are the same?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.evaluation.diversity import topic_diversity
from metalda.evaluation.matching import match
from metalda.models.fitted import best_words
from metalda.report.distances import jensen_shannon, pool_rare
from metalda.report.plain import cut, rounded
from metalda.report.summary import ComparedModel, ComparedTopic
from metalda.report.topics import measure_coherence

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_TOP_WORDS = 10


def match_topics(first: TopicModel, second: TopicModel) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each topic of the first model its partner in the second, or -1, and their distance (NaN without).

    Pairs are one to one, and as near as they can be together; distances are Jensen-Shannon over the words that both
    models know.
    """
    index = first.fitted_.word_index
    shared = [(index[word], v) for v, word in enumerate(second.vocabulary_) if word in index]
    if not shared:
        raise InputError("the models have no word in common: their topics cannot be compared")
    columns = np.array(shared).T
    one, two = (
        model.components_[:, own].astype(np.float64) for model, own in zip((first, second), columns, strict=True)
    )
    one, two = (each / np.maximum(each.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny) for each in (one, two))
    distances = jensen_shannon(*pool_rare(one, two))
    rows, partners, _ = match(1 - distances)
    matches, apart = np.full(len(one), -1, np.int64), np.full(len(one), np.nan)
    matches[rows], apart[rows] = partners, distances[rows, partners]
    return matches, apart


def compare_models(models: Mapping[str, TopicModel], corpus: Corpus | None) -> tuple[ComparedModel, ...]:
    """Each model, with its partner for every topic of the first one."""
    first = next(iter(models.values()))
    return tuple(_compared(name, model, first, corpus) for name, model in models.items())


def _compared(name: str, model: TopicModel, first: TopicModel, corpus: Corpus | None) -> ComparedModel:
    matches, distances = match_topics(first, model)
    measured = [value for value in measure_coherence(model, corpus) if value is not None]
    history = model.history_
    shares = model.topics(top_n=1)["share"]
    best = best_words(model.components_, _TOP_WORDS)
    return ComparedModel(
        name=cut(name),
        model=type(model).__name__,
        n_topics=len(model.components_),
        coherence=round(float(np.mean(measured)), 4) if measured else None,
        diversity=round(float(topic_diversity(model)), 4),
        log_likelihood=round(float(history["log_likelihood"].iloc[-1]), 4) if len(history) else None,
        seconds=round(float(history["seconds"].sum()), 2),
        topics=tuple(
            ComparedTopic(k, rounded([share], 6)[0], tuple(cut(model.vocabulary_[v]) for v in row))
            for k, (share, row) in enumerate(zip(shares, best, strict=True))
        ),
        matches=tuple(matches.tolist()),
        distances=tuple(None if np.isnan(d) else round(float(d), 3) for d in distances),
    )
