"""The section of correlations of a report: which topics occur in the same documents."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from metalda.models.weights import draws_needed
from metalda.report.hierarchy import build_tree

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

_MAX_INFERRED, _MOST, _LEAST = 10_000, 500, 200  # documents times draws; documents
_NARROW = 0.8  # probability of intervals if the draws do not hold wider ones
_UNKNOWN = -128


@dataclass(frozen=True)
class CorrelationSection:
    """Correlations of the proportions of each two topics, as in `model.topic_correlations`.

    Those of the topics i < j come in the order of the upper triangle of a matrix, by rows. They are in hundredths,
    base64 of signed bytes, -128 if unknown.
    """

    mean: str
    low: str
    high: str
    similarity: str  # of the words
    interval: float | None  # None without intervals
    n_documents: int  # a random sample
    order: tuple[int, ...]  # topics, those that occur together next to each other


def summarize_correlations(model: TopicModel, corpus: Corpus | None, interval: float) -> CorrelationSection | None:
    """Summarize the correlations over documents of the corpus or, without it, over the training documents.

    Intervals have the given probability or 80%, if there are enough draws. None if no correlation is known.
    """
    n_topics, n_draws = len(model.components_), sum(len(chain.draws_) for chain in model.chains_)
    if n_topics < 2 or (corpus is not None and len(corpus) < 2):
        return None
    held = interval if n_draws >= draws_needed(interval) else _NARROW
    sample = None if corpus is None else _sample(corpus, n_draws)
    found = model._correlations(sample, held)
    if not np.isfinite(found.mean).any():
        return None
    return CorrelationSection(
        mean=_pack(found.mean),
        low=_pack(found.low),
        high=_pack(found.high),
        similarity=_pack(found.similarity),
        interval=held if np.isfinite(found.low).any() else None,
        n_documents=len(model.doc_topics_) if sample is None else len(sample),
        order=build_tree(squareform(1 - np.nan_to_num(found.mean))).order,
    )


def _sample(corpus: Corpus, n_draws: int) -> Corpus:
    """Return documents at random, with a fixed seed: fewer if they are inferred under more draws."""
    most = min(max(_MAX_INFERRED // max(n_draws, 1), _LEAST), _MOST)
    if len(corpus) <= most:
        return corpus
    return corpus[np.sort(np.random.default_rng(0).choice(len(corpus), most, replace=False))]


def _pack(values: NDArray[np.float64]) -> str:
    hundredths = np.where(np.isfinite(values), np.round(100 * np.nan_to_num(values)), _UNKNOWN)
    return base64.b64encode(hundredths.astype(np.int8).tobytes()).decode("ascii")
