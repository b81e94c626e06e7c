"""Which topics of two models are the same, and how much: topics have no names, and every fit numbers them anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

Words = Sequence[Sequence[str]]  # the top words of each topic, the most probable first


class Matching(NamedTuple):
    """Pairs of topics, one of each model, and how similar they are."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]


def match(similarity: NDArray[np.float64]) -> Matching:
    """The one-to-one pairs whose similarities [topic of the first, topic of the second] have the largest sum.

    The Hungarian algorithm. Where one model has more topics, those that are left over are in no pair.
    """
    first, second = linear_sum_assignment(similarity, maximize=True)
    return Matching(first, second, similarity[first, second])


def word_overlap(first: Words, second: Words) -> NDArray[np.float64]:
    """Average Jaccard similarity of lists of top words (Greene, O'Callaghan & Cunningham, 2014).

    The mean over depths d = 1, 2, … of ``|A_d ∩ B_d| / |A_d ∪ B_d|``, where A_d are the first d words of a list: 1 for
    the same words in the same order, 0 where none is shared; the first words weigh most.
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


def _indicator(words: Words, column_of: dict[str, int]) -> sparse.csr_array:
    columns = [column_of[word] for own in words for word in own]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in words])]).astype(np.int64)
    return sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(words), max(len(column_of), 1)))


def affinity(
    first: NDArray[np.floating], vocabulary: Sequence[str], second: NDArray[np.floating], other: Sequence[str]
) -> NDArray[np.float64]:
    """Bhattacharyya coefficients ``sum_v sqrt(phi[k, v] phi'[j, v])`` of topics over two vocabularies.

    1 where two topics are equal, 0 where they share no word; one less its value is the squared Hellinger distance.
    A word that one vocabulary lacks has probability 0 there.
    """
    place = {word: v for v, word in enumerate(other)}
    shared = [(v, place[word]) for v, word in enumerate(vocabulary) if word in place]
    left, right = np.array(shared, np.int64).reshape(-1, 2).T
    roots = np.sqrt(first[:, left].astype(np.float64)), np.sqrt(second[:, right].astype(np.float64))
    return np.minimum(roots[0] @ roots[1].T, 1.0)  # rounding may leave it a little above
