"""A topic for every token, by collapsed Gibbs sampling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.kernels.tokens import count_topics, sweep_dense
from metalda.meta.design import Concentration


class Assignments(NamedTuple):
    """Every token's topic, and the counts that follow from them. Sweeps change the arrays in place."""

    topics: NDArray[np.uint16]  # z
    word_topic_counts: NDArray[np.int32]  # n[k, v], word-major
    topic_totals: NDArray[np.int64]  # n[k, .]


def count_assignments(words: NDArray[np.int32], topics: NDArray[np.uint16], n_words: int, n_topics: int) -> Assignments:
    """Count topics from scratch."""
    counts = np.zeros((n_words, n_topics), np.int32)
    totals = np.zeros(n_topics, np.int64)
    count_topics(frozen(words, np.int32), frozen(topics, np.uint16), counts, totals)
    return Assignments(topics, counts, totals)


def start_assignments(words: NDArray[np.int32], n_words: int, n_topics: int, rng: np.random.Generator) -> Assignments:
    """A uniformly random topic for every token."""
    topics = rng.integers(0, n_topics, len(words), dtype=np.uint16)
    return count_assignments(words, topics, n_words, n_topics)


def sweep_tokens(
    words: NDArray[np.int32],
    offsets: NDArray[np.int64],
    doc_rows: NDArray[np.int32],
    alpha: Concentration,
    word_rows: NDArray[np.int32],
    beta: Concentration,
    assignments: Assignments,
    rng: np.random.Generator,
) -> int:
    """Resample the topics of some documents; returns how many tokens moved."""
    return sweep_dense(
        frozen(words, np.int32),
        frozen(offsets, np.int64),
        frozen(doc_rows, np.int32),
        assignments.topics,
        frozen(alpha.values, np.float32),
        frozen(word_rows, np.int32),
        frozen(beta.values, np.float32),
        frozen(beta.topic_sums, np.float64),
        assignments.word_topic_counts,
        assignments.topic_totals,
        rng,
    )
