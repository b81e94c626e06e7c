"""Background topics: topics without a theme, which collect words from all over the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.models.curation import Parts, sum_parts
from metalda.samplers import Draw

SURE = 3.0  # standard deviations above the number of words of tokens drawn at random
MORE_WORDS = 1.05  # than tokens drawn at random; in a very large corpus the smallest difference is sure


def find_background(draws: Sequence[Draw], parts: Parts) -> NDArray[np.bool_]:
    """Return which topics are spread over more different words than as many tokens drawn at random from the corpus.

    A theme repeats its words: the tokens of a topic have fewer different words than tokens drawn at random. A topic
    with a large beta instead collects the rare words that fit no theme, each of them a few times, and its most probable
    words are arbitrary. Counts of the draws are compared, so the result does not depend on how beta is learned. Models
    whose counts are not those of tokens (GPU-DMM, LF-LDA) have no background topics. The tokens of a topic are those of
    its parts.
    """
    if any(draw.token_counts.sum() != draw.topic_totals.sum() for draw in draws):
        return np.zeros(len(parts), bool)
    observed, expected, variance = np.mean([_distinct_words(draw, parts) for draw in draws], axis=0)
    found: NDArray[np.bool_] = observed > np.maximum(MORE_WORDS * expected, expected + SURE * np.sqrt(variance))
    return found


def _distinct_words(draw: Draw, parts: Parts) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the number of different words in the tokens of each topic, and its mean and variance at random.

    If the tokens of a topic are a random share s of all tokens, a word that occurs c times is among them with
    probability 1 - (1 - s)^c.
    """
    frequencies, n_words = np.unique(draw.token_counts.sum(axis=1), return_counts=True)
    counts, n_topics = _add_columns(draw.token_counts, parts), len(parts)
    observed = np.bincount(counts.indices[counts.data > 0], minlength=n_topics).astype(np.float64)
    absent = 1 - sum_parts(draw.topic_totals.astype(np.float64), parts) / max(draw.topic_totals.sum(), 1)
    expected, variance = np.zeros(n_topics), np.zeros(n_topics)
    for k in range(n_topics):
        missing = absent[k] ** frequencies
        expected[k], variance[k] = ((1 - missing) * n_words).sum(), (missing * (1 - missing) * n_words).sum()
    return observed, expected, variance


def _add_columns(counts: sparse.csr_array, parts: Parts) -> sparse.csr_array:
    """Return counts [word, topic], the sums over the columns of the parts of each topic."""
    if len(parts) == counts.shape[1]:  # every topic has itself
        return counts
    topics = [topic for part in parts for topic in part]
    columns = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    shape = (counts.shape[1], len(parts))
    return sparse.csr_array(counts @ sparse.csr_array((np.ones(len(topics), np.int64), (topics, columns)), shape=shape))
