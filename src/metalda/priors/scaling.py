"""Multiply the weights of a group of labels and their scale by one factor, given the tables.

Weights w and their scale sigma are drawn in turn, each given the other. If labels matter little, the data say little
about each weight, so sigma follows the weights and the weights follow sigma: the scale of a thousand labels without
effects falls by a tenth in a hundred iterations. Here both move together. With u = w / sigma held fixed, the log
density of c, the factor of both, is

    sum_k ( sum_l T[l, k] c w[l, k]  -  sum_r s[r, k] exp(eta[r, k] + (c - 1) eta_g[r, k]) )  +  log p(c sigma)

where eta_g is the part of eta = x · w that comes from the group. This is the non-centered parametrization, and the
usual updates are the centered one. A chain that alternates between them mixes well whether or not labels matter
(Yu and Meng, 2011). The step is Metropolis-Hastings on log c with a Newton step as its proposal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

CHEAP = 100_000  # values of the design times topics and groups: larger designs rescale more rarely, by this ratio,
RAREST = 20  # but not more rarely than this
CELLS = 1 << 16  # rows times topics of a part; its arrays stay in the cache
FLATTEST = 0.5  # least curvature of a proposal, which has a standard deviation of at most 1.4
LONGEST = 2.0  # largest Newton step of log c
LARGEST_LOG = 600.0  # of a product that is exponentiated


class Rates(NamedTuple):
    """Expected numbers of tables of some rows of the design, s exp(eta), and their group's part."""

    logs: NDArray[np.float64]  # [row, topic]
    of_group: NDArray[np.float64]  # eta_g, likewise


@dataclass(frozen=True, eq=False)
class GroupRates(Iterable[Rates]):
    """The rates of all rows, in parts that are formed anew for each pass: together they can be larger than alpha."""

    matrix: csr_array
    in_group: NDArray[np.bool_]
    log_weights: NDArray[np.float64]
    row_scales: NDArray[np.float64]
    topic_scales: NDArray[np.float64]

    def __iter__(self) -> Iterator[Rates]:
        """Leave out rows whose scale is 0."""
        rows = np.flatnonzero(self.row_scales > 0)
        with np.errstate(divide="ignore"):
            log_topics = np.log(self.topic_scales)
        group_weights = self.log_weights * self.in_group[:, None]
        size = max(1, CELLS // self.log_weights.shape[1])
        for first in range(0, len(rows), size):
            own = rows[first : first + size]
            part = self.matrix if len(own) == self.matrix.shape[0] else self.matrix[own]
            logs = part @ self.log_weights + np.log(self.row_scales[own])[:, None] + log_topics
            yield Rates(logs, part @ group_weights)


@dataclass(frozen=True)
class ScaleDensity:
    """The log density of log c, and its first two derivatives."""

    tables: float  # sum of T w over the labels of the group and the topics
    rates: Iterable[Rates]  # which can be passed through several times
    shape: float  # of the inverse gamma prior of sigma²
    rate: float  # of this prior, divided by the current sigma²

    def at(self, log_factor: float) -> tuple[float, float, float]:
        factor = math.exp(log_factor)
        inverse = self.rate / factor**2
        value = factor * self.tables - 2 * self.shape * log_factor - inverse
        slope = factor * self.tables - 2 * self.shape + 2 * inverse
        curvature = factor * self.tables - 4 * inverse
        for logs, of_group in self.rates:
            expected = np.exp(np.minimum(logs + (factor - 1) * of_group, LARGEST_LOG))
            moved = factor * of_group
            weighted = expected * moved
            value -= expected.sum()
            weighted_sum = weighted.sum()
            slope -= weighted_sum
            curvature -= weighted_sum + (weighted * moved).sum()
        return float(value), float(slope), float(curvature)

    def draw(self, rng: np.random.Generator) -> float:
        """Return log c: a Newton step from 0 with normal noise, or 0 if it is rejected."""
        value, *derivatives = self.at(0.0)
        mean, precision = _newton_step(*derivatives)
        log_factor = mean + rng.standard_normal() / math.sqrt(precision)
        forward = _log_normal(log_factor - mean, precision)
        new_value, *derivatives = self.at(log_factor)
        mean, precision = _newton_step(*derivatives)
        backward = _log_normal(-log_factor - mean, precision)
        accepted = math.log(1.0 - rng.random()) < new_value - value + backward - forward
        return log_factor if accepted else 0.0


def _newton_step(slope: float, curvature: float) -> tuple[float, float]:
    """Return the step to the maximum of the parabola, and its precision."""
    precision = max(-curvature, FLATTEST)
    return min(max(slope / precision, -LONGEST), LONGEST), precision


def _log_normal(deviation: float, precision: float) -> float:
    return 0.5 * (math.log(precision) - precision * deviation**2)


def is_due(n_values: int, n_topics: int, rng: np.random.Generator) -> bool:
    """Return whether to rescale now, at random, so that large designs spend little time on it."""
    interval = min(n_values * n_topics / CHEAP, RAREST)
    return interval <= 1 or rng.random() * interval < 1
