"""How far topics are from each other, and where that puts them on a map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_WORDS = 5000  # that are told apart; the others count as one


def pool_rare(*topics: NDArray[np.floating]) -> list[NDArray[np.float64]]:
    """Distributions [topic, word] over the most probable words and one cell for the rest.

    Distances hardly change by it, and the time that they take no longer grows with the vocabulary.
    """
    peaks = np.max([each.max(axis=0) for each in topics], axis=0)
    if len(peaks) <= MOST_WORDS:
        return [np.asarray(each, np.float64) for each in topics]
    kept = np.sort(np.argpartition(-peaks, MOST_WORDS)[:MOST_WORDS])
    rest = np.ones(len(peaks), bool)
    rest[kept] = False
    return [
        np.concatenate([each[:, kept], each[:, rest].sum(axis=1, keepdims=True)], axis=1).astype(np.float64)
        for each in topics
    ]


def jensen_shannon(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of every row of one from every row of the other: root of the divergence in bits, from 0 to 1."""
    entropies = _entropy(second)
    rows = [
        _entropy((row + second) / 2) - (own + entropies) / 2 for row, own in zip(first, _entropy(first), strict=True)
    ]
    return np.sqrt(np.clip(rows, 0, 1))


def _entropy(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = np.log2(rows, where=rows > 0, out=np.zeros_like(rows))
    return -(rows * logs).sum(axis=1)


def classical_scaling(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points in the plane whose distances are like these; 0 where there is nothing to lay out."""
    n = len(distances)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ (distances**2) @ centre)
    points = np.zeros((n, 2))
    for axis in range(min(2, n)):
        points[:, axis] = vectors[:, -1 - axis] * np.sqrt(max(values[-1 - axis], 0))
        if points[np.abs(points[:, axis]).argmax(), axis] < 0:  # of the two mirror images always the same
            points[:, axis] *= -1
    return points
