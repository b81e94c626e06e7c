"""Topic vectors tau[k]: their softmax over words, and the most probable vectors given counts.

    softmax[k, w] = exp(tau[k]·omega[w]) / sum_v exp(tau[k]·omega[v])
    tau[k] = argmax sum_w n1[k, w] log softmax[k, w] - regularization |tau[k]|²

All topics are optimized at once, so that the work consists of matrix products. Each topic has its own step size,
history and stopping point. The results decide draws, so BLAS runs in one thread, which makes them reproducible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.utils.blas import one_blas_thread

Floats = NDArray[np.floating]
Chosen = NDArray[np.intp] | NDArray[np.bool_]  # topics

HISTORY = 16  # steps that L-BFGS remembers
GAIN = 0.5  # nats: a topic stops when its next step predicts less gain; the noise of its counts is dim / 2 nats
MOST_STEPS, MOST_CUTS = 30, 12
ENOUGH, ROUNDING = 1e-4, 1e-6  # share of the predicted gain that a step must achieve; relative error of rounding


class Point(NamedTuple):
    """The current point of the optimization, by topic."""

    at: Floats  # tau[k]
    value: Floats
    gradient: Floats

    def take(self, topics: Chosen) -> Point:
        return Point(*(array[topics] for array in self))

    def put(self, topics: Chosen, other: Point) -> None:
        for array, new in zip(self, other, strict=True):
            array[topics] = new


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Word vectors omega. All computations use their precision."""

    vectors: Floats  # [word, dimension]

    def softmax(self, topic_vectors: Floats) -> Floats:
        """Return softmax[word, topic], at least the smallest positive number of its precision."""
        with one_blas_thread():
            exponentials, _, totals = self.exponentiate(topic_vectors)
        exponentials /= totals[:, None]
        return np.asarray(np.maximum(exponentials, np.finfo(exponentials.dtype).tiny).T)

    def log_normalizer(self, topic_vectors: Floats) -> Floats:
        """Return log sum_v exp(tau[k]·omega[v])."""
        with one_blas_thread():
            _, highest, totals = self.exponentiate(topic_vectors)
        return highest + np.log(totals)

    def fit(self, counts: NDArray[np.integer], start: Floats, regularization: float) -> Floats:
        """Return the most probable vector of every topic given n1[word, topic]; 0 for topics without words."""
        totals = counts.sum(axis=0)
        used = np.flatnonzero(totals)
        best = np.zeros_like(start)
        if len(used):
            with one_blas_thread():
                weighted = counts.T[used].astype(self.vectors.dtype) @ self.vectors
                likelihood = SoftmaxPosterior(self, weighted, totals[used].astype(self.vectors.dtype), regularization)
                best[used] = climb(likelihood, start[used])
        return best

    def exponentiate(self, topic_vectors: Floats) -> tuple[Floats, Floats, Floats]:
        """Return exp(tau[k]·omega[w] - highest[k]) by topic, `highest`, and the sums over words."""
        scores = topic_vectors @ self.vectors.T
        highest = scores.max(axis=1)
        scores -= highest[:, None]
        np.exp(scores, out=scores)
        return scores, highest, scores.sum(axis=1)

    @cached_property
    def axes(self) -> tuple[Floats, Floats]:
        """Return the principal axes of the word vectors, in columns, and the variance along each."""
        with one_blas_thread():
            centered = self.vectors.astype(np.float64) - self.vectors.mean(axis=0, dtype=np.float64)
            variances, axes = np.linalg.eigh(centered.T @ centered / len(centered))
        dtype = self.vectors.dtype
        return axes.astype(dtype), np.maximum(variances, 0).astype(dtype)


@dataclass(frozen=True, eq=False)
class SoftmaxPosterior:
    """sum_w n1[k, w] log softmax[k, w] - regularization |tau[k]|², which is concave in tau[k]."""

    words: WordVectors
    weighted: Floats  # sum_w n1[k, w] omega[w]
    totals: Floats  # n1[k, .]
    regularization: float

    def evaluate(self, topic_vectors: Floats, topics: Chosen | slice = slice(None)) -> Point:
        """Return value and gradient for some topics."""
        weighted, totals = self.weighted[topics], self.totals[topics]
        exponentials, highest, sums = self.words.exponentiate(topic_vectors)
        value = _dot(topic_vectors, weighted) - totals * (highest + np.log(sums))
        value -= self.regularization * _dot(topic_vectors, topic_vectors)
        gradient = weighted - (totals / sums)[:, None] * (exponentials @ self.words.vectors)
        gradient -= 2 * self.regularization * topic_vectors
        return Point(topic_vectors, value, gradient)

    def precondition(self, gradient: Floats, topics: Chosen) -> Floats:
        """Return the Newton step for equally probable words, which equalizes the curvature of the principal axes."""
        axes, variances = self.words.axes
        curvature = self.totals[topics, None] * variances + 2 * self.regularization
        return np.asarray(((gradient @ axes) / curvature) @ axes.T)


def climb(likelihood: SoftmaxPosterior, start: Floats) -> Floats:
    """Maximize each topic's posterior by L-BFGS, until no topic expects a gain of `GAIN` from another step."""
    here = likelihood.evaluate(start.copy())
    history: deque[tuple[Floats, Floats, Floats]] = deque(maxlen=HISTORY)
    active = np.arange(len(start))
    for _ in range(MOST_STEPS):
        now = here.take(active)
        direction = _direction(likelihood, now.gradient, history, active)
        promise = _dot(now.gradient, direction)
        going = promise > GAIN
        if not going.any():
            break
        active, now, direction, promise = active[going], now.take(going), direction[going], promise[going]
        reached = _search(likelihood, now, direction, promise, active)
        step, bend = np.zeros_like(start), np.zeros_like(start)
        step[active], bend[active] = reached.at - now.at, now.gradient - reached.gradient
        along = _dot(step, bend)
        with np.errstate(divide="ignore"):
            history.append((step, bend, np.where(along > 0, 1 / along, 0).astype(start.dtype)))
        here.put(active, reached)
        active = active[step[active].any(axis=1)]  # topics without a step are at the limit of rounding
    return here.at


def _direction(
    likelihood: SoftmaxPosterior,
    gradient: Floats,
    history: Sequence[tuple[Floats, Floats, Floats]],
    topics: NDArray[np.intp],
) -> Floats:
    """Return the search direction by the two loops of L-BFGS (Nocedal and Wright, algorithm 7.4)."""
    direction, shares = gradient.copy(), []
    recent = [tuple(each[topics] for each in entry) for entry in history]
    for step, bend, inverse in reversed(recent):
        shares.append(inverse * _dot(step, direction))
        direction -= shares[-1][:, None] * bend
    direction = likelihood.precondition(direction, topics)
    for (step, bend, inverse), share in zip(recent, reversed(shares), strict=True):
        direction += step * (share - inverse * _dot(bend, direction))[:, None]
    return direction


def _search(
    likelihood: SoftmaxPosterior, now: Point, direction: Floats, promise: Floats, topics: NDArray[np.intp]
) -> Point:
    """Halve each topic's step until it achieves a share of its predicted gain; keep the point if no step does."""
    reached = Point(*(array.copy() for array in now))
    length, left = 1.0, np.arange(len(topics))
    for _ in range(MOST_CUTS):
        there = likelihood.evaluate(now.at[left] + now.at.dtype.type(length) * direction[left], topics[left])
        least = now.value[left] + ENOUGH * length * promise[left] - ROUNDING * np.abs(now.value[left])
        good = there.value >= least
        reached.put(left[good], there.take(good))
        left = left[~good]
        if not len(left):
            break
        length /= 2
    return reached


def _dot(a: Floats, b: Floats) -> Floats:
    """Return row-wise dot products."""
    return np.asarray(np.einsum("kd,kd->k", a, b))
