"""The hierarchy of topics: which have similar words, as a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform


@dataclass(frozen=True)
class TopicTree:
    """Topics merged step by step by the method of Ward, which makes groups of similar size."""

    order: tuple[int, ...]  # topics, similar ones next to each other
    merges: tuple[
        tuple[int, int, float], ...
    ]  # two nodes and the height of their union; step i makes the node n_topics + i


def build_tree(distances: NDArray[np.float64]) -> TopicTree:
    """Return the tree of topics, given their distances."""
    if len(distances) < 2:
        return TopicTree(tuple(range(len(distances))), ())
    apart = squareform((distances + distances.T) / 2, checks=False)
    steps = linkage(apart, "ward", optimal_ordering=True)
    merges = tuple((int(a), int(b), round(float(height), 4)) for a, b, height, _ in steps)
    return TopicTree(tuple(leaves_list(steps).tolist()), merges)
