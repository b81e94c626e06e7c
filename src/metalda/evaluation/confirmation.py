"""The measures of coherence: from how probable the words of a topic are, alone and together, to one number.

Each takes the matrix of joint probabilities p(i, j) of a topic's words, two or more, in their order, with p(i) > 0 on
the diagonal, and the smoothing constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

SMOOTHING = 1e-12  # gensim's and Palmetto's


class Measure(NamedTuple):
    """How a topic is scored, and by windows of how many words (0: whole documents)."""

    window: int
    score: Callable[[Matrix, float], float]
    needs_smoothing: bool = False  # or else there is log 0


def _log_ratio(joint: Matrix, smoothing: float) -> Matrix:
    """log((p(i, j) + e) / (p(i) p(j))); 0 for log 0, of which the caller knows better."""
    alone = np.diagonal(joint)
    smoothed = joint + smoothing
    return np.log(np.divide(smoothed, np.outer(alone, alone), out=np.ones(joint.shape), where=smoothed > 0))


def normalised_log_ratio(joint: Matrix, smoothing: float) -> Matrix:
    """NPMI: log ratio / -log(p(i, j) + e). Without smoothing -1 for words that never meet.

    0 for two words that every window has: they say nothing of each other.
    """
    smoothed = joint + smoothing
    some = (smoothed > 0) & (joint < 1)
    minus_log = -np.log(smoothed, where=some, out=np.zeros(joint.shape))
    limits = np.where(smoothed > 0, 0.0, -1.0)
    return np.divide(_log_ratio(joint, smoothing), minus_log, out=limits, where=some)


def _mean_of_pairs(scores: Matrix) -> float:
    """Over unordered pairs; of a matrix that is not symmetric, each word with those before it."""
    return float(scores[np.tril_indices(len(scores), k=-1)].mean())


def npmi(joint: Matrix, smoothing: float) -> float:
    return _mean_of_pairs(normalised_log_ratio(joint, smoothing))


def uci(joint: Matrix, smoothing: float) -> float:
    return _mean_of_pairs(_log_ratio(joint, smoothing))


def umass(joint: Matrix, smoothing: float) -> float:
    """log((p(i, j) + e) / p(j)): a word, given one before it."""
    alone = np.diagonal(joint)
    return _mean_of_pairs(np.log((joint + smoothing) / alone[None, :]))


def c_v(joint: Matrix, smoothing: float) -> float:
    """Cosines of each word's NPMI with all the words, and the sum of these vectors; the mean."""
    vectors = normalised_log_ratio(joint, smoothing)
    total = vectors.sum(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    return float(np.divide(vectors @ total, lengths, out=np.zeros(len(joint)), where=lengths > 0).mean())


def c_p(joint: Matrix, smoothing: float) -> float:
    """Fitelson's confirmation of a word by one before it: (p(i | j) - p(i | not j)) / their sum."""
    alone = np.diagonal(joint)
    given = joint / alone[None, :]
    otherwise = np.divide(alone[:, None] - joint, 1 - alone[None, :], out=np.zeros(joint.shape), where=alone < 1)
    return _mean_of_pairs((given - otherwise) / (given + otherwise))  # p(i) > 0, so that one of them is


MEASURES = {
    "npmi": Measure(10, npmi),
    "c_v": Measure(110, c_v),
    "uci": Measure(10, uci, needs_smoothing=True),
    "umass": Measure(0, umass, needs_smoothing=True),
    "c_p": Measure(70, c_p),
}
