"""Several chains of one fit: which of their topics are the same, and averages over the chains that have a topic.

Every chain numbers its topics differently. The first chain is the reference: topics have its numbers. A topic of
another chain is the same if each of the two is the most similar to the other, and their similarity is at least 0.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.utils.blas import one_blas_thread

MIN_SIMILARITY = 0.8  # different topics of one model are up to 0.7 similar
NO_PARTNER = -1
_CHUNK = 4096  # words that are compared at a time

Floats = NDArray[np.floating]


class Partners(NamedTuple):
    """For each topic of one chain a different topic of another, the most similar ones as far as possible."""

    topics: NDArray[np.int64]
    similarity: NDArray[np.float64]
    are_same: NDArray[np.bool_]


def bhattacharyya(first: Floats, second: Floats) -> NDArray[np.float64]:
    """Return the coefficients ``sum_v sqrt(phi[v, k] phi'[v, j])`` of topics [word, topic] with the same words.

    They are 1 for equal topics, and 0 for topics without a common word; 1 minus the coefficient is the squared
    Hellinger distance.
    """
    total = np.zeros((first.shape[1], second.shape[1]))
    with one_blas_thread(), np.errstate(invalid="ignore"):  # phi of a damaged file, which is refused later
        for start in range(0, len(first), _CHUNK):
            left, right = (np.sqrt(phi[start : start + _CHUNK].astype(np.float64)) for phi in (first, second))
            total += left.T @ right
    return np.minimum(total, 1.0)  # rounding may leave it slightly above


def find_partners(similarity: NDArray[np.float64], groups: NDArray[np.int64]) -> Partners:
    """Pair the topics of two chains within their groups: first those that are the same, then the others.

    Only the topics of one group are exchangeable. A topic that is alone in its group is the same in every chain. The
    others are paired so that the sum of their similarities is largest (Hungarian algorithm).
    """
    from scipy.optimize import linear_sum_assignment

    similarity = np.where(groups[:, None] == groups, similarity, -1.0)
    is_alone = np.bincount(groups)[groups] == 1
    every = np.arange(len(similarity))
    topics, best_of_second = similarity.argmax(axis=1), similarity.argmax(axis=0)
    are_same = (best_of_second[topics] == every) & (is_alone | (similarity[every, topics] >= MIN_SIMILARITY))
    others, free = np.flatnonzero(~are_same), np.setdiff1d(every, topics[are_same])
    rows, columns = linear_sum_assignment(similarity[np.ix_(others, free)], maximize=True)
    topics[others[rows]] = free[columns]
    return Partners(topics, similarity[every, topics], are_same)


def match_chains(topics: Sequence[Floats], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return [chain, topic] the topic of each chain that is the same as a topic of the first, or `NO_PARTNER`."""
    matched = [np.arange(topics[0].shape[1])]
    for phi in topics[1:]:
        partners = find_partners(bhattacharyya(topics[0], phi), groups)
        matched.append(np.where(partners.are_same, partners.topics, NO_PARTNER))
    return np.stack(matched)


def average_topics(chains: Sequence[NDArray[np.float32]], partners: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return [row, topic] the average over the chains that have the topic."""
    total = np.zeros_like(chains[0])
    for values, own in zip(chains, partners, strict=True):
        has = own != NO_PARTNER
        total[:, has] += values[:, own[has]]
    total /= (partners != NO_PARTNER).sum(axis=0).astype(np.float32)
    return total


def average_proportions(chains: Sequence[NDArray[np.float32]], partners: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return [document, topic] topic proportions, averaged over chains; rows sum to 1.

    A topic that all chains have gets its average. The rest of a document is divided among the other topics in
    proportion to their averages over the chains that have them.
    """
    average = average_topics(chains, partners)
    in_all = (partners != NO_PARTNER).all(axis=0)
    others = average[:, ~in_all]
    sums = others.sum(axis=1, keepdims=True)
    rest = np.maximum(1 - average[:, in_all].sum(axis=1, keepdims=True), 0)
    average[:, ~in_all] = others * np.divide(rest, sums, out=np.zeros_like(rest), where=sums > 0)
    sums = average.sum(axis=1, keepdims=True)
    np.divide(average, sums, out=average, where=sums > 0)
    return average


def by_chains(
    chains: Sequence[NDArray[np.float64]], partners: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield topics that the same chains have, and the values [chain, draw, …, topic] of these chains.

    The values of a chain are [draw, …, its own topic]. If chains have different numbers of draws, the last are taken.
    """
    has = partners != NO_PARTNER
    for pattern in np.unique(has, axis=1).T:
        topics = np.flatnonzero((has == pattern[:, None]).all(axis=0))
        own = [(values, partners[c, topics]) for c, values in enumerate(chains) if pattern[c]]
        n_draws = min(len(values) for values, _ in own)
        yield topics, np.stack([values[len(values) - n_draws :][..., places] for values, places in own])


def in_chain(partners: NDArray[np.int64], part: Sequence[int]) -> tuple[int, ...]:
    """Return the topics of a chain that are the same as these topics, given its partners; nothing if it lacks one."""
    own = tuple(int(partners[topic]) for topic in part)
    return () if NO_PARTNER in own else own
