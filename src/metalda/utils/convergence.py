"""Convergence of Markov chains: R-hat and effective sample sizes (Vehtari et al., 2021), and trends.

R-hat and effective sample sizes take draws [chain, draw, …] and return a value for each of the further axes. The values
equal those of ArviZ.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from metalda.utils.ranks import average_ranks

MIN_DRAWS = 4  # per chain, so that both halves have a variance
_MIN_TREND = 20
_CHUNK = 2**21  # numbers that are worked on at a time

Floats = NDArray[np.float64]


def rank_rhat(draws: Floats) -> Floats:
    """Return the larger of the split R-hats of the ranks of draws and of their distances from the median.

    It is near 1 if the chains have converged, and NaN for chains shorter than four draws or for a constant quantity. It
    detects chains of different location or scale, for any distribution.
    """

    def rhat(cells: Floats) -> Floats:
        halves = _halves(cells)
        folded = np.abs(halves - np.median(halves, axis=(0, 1)))
        return np.fmax(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded)))

    return _by_cell(draws, rhat)


def bulk_ess(draws: Floats) -> Floats:
    """Return the number of independent draws that would estimate the center of the distribution as well."""
    return _by_cell(draws, lambda cells: _ess(_normal_scores(_halves(cells))))


def tail_ess(draws: Floats, interval: float = 0.9) -> Floats:
    """Return the number of independent draws that would estimate the ends of a central interval as well."""

    def ess(cells: Floats) -> Floats:
        ends = np.quantile(cells, [(1 - interval) / 2, (1 + interval) / 2], axis=(0, 1))
        return np.minimum(*(_ess(_halves((cells <= end).astype(np.float64))) for end in ends))

    return _by_cell(draws, ess)


def trend(trace: Floats) -> float:
    """Return the change of a quantity over its trace, by a linear fit, in standard deviations of the residuals.

    Noise without a trend stays within about 1. NaN for fewer than 20 values, or values that are not finite.
    """
    if len(trace) < _MIN_TREND or not np.isfinite(trace).all():
        return float("nan")
    time = np.linspace(-0.5, 0.5, len(trace))
    slope = float(time @ trace / (time @ time))
    noise = float(np.std(trace - trace.mean() - slope * time))
    return slope / noise if noise > 1e-12 * float(np.abs(trace).max()) else 0.0


def _by_cell(draws: Floats, measure: Callable[[Floats], Floats]) -> Floats:
    """Call `measure` with draws [chain, draw, cell], a part of the cells at a time; NaN for too few draws."""
    n_chains, n_draws, *shape = draws.shape
    cells = np.asarray(draws, np.float64).reshape(n_chains, n_draws, math.prod(shape))
    values = np.full(cells.shape[2], np.nan)
    if n_draws >= MIN_DRAWS:
        step = max(_CHUNK // (n_chains * n_draws), 1)
        with np.errstate(invalid="ignore", divide="ignore"):  # a constant quantity has neither measure
            for first in range(0, len(values), step):
                values[first : first + step] = measure(cells[:, :, first : first + step])
    return values.reshape(shape)


def _halves(chains: Floats) -> Floats:
    """Return the first and the last halves of all chains; a chain of odd length loses its middle draw."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def _rhat(chains: Floats) -> Floats:
    n_draws = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = n_draws * chains.mean(axis=1).var(axis=0, ddof=1)
    return np.asarray(np.sqrt((between / within + n_draws - 1) / n_draws))


def _normal_scores(values: Floats) -> Floats:
    """Return normal quantiles of the ranks among all values of a cell (Blom's positions)."""
    from scipy.special import ndtri

    flat = values.reshape(-1, values.shape[2])
    ranks = average_ranks(flat)
    return np.asarray(ndtri((ranks - 0.375) / (len(flat) + 0.25)), np.float64).reshape(values.shape)


def _ess(chains: Floats) -> Floats:
    """Return the effective sample size by Geyer's initial monotone sequence of autocorrelations."""
    n_chains, n_draws, _ = chains.shape
    means = chains.mean(axis=1, keepdims=True)
    covariances = _autocovariances(chains - means).mean(axis=0)
    within = covariances[0] * n_draws / (n_draws - 1)
    total = covariances[0] + means[:, 0].var(axis=0, ddof=1)
    correlations = 1 - (within - covariances) / total
    correlations[0] = 1
    n_pairs = max(n_draws - 3, 0) // 2 + 1
    pairs = correlations[: 2 * n_pairs].reshape(n_pairs, 2, -1)
    sums, evens = pairs.sum(axis=1), pairs[:, 0]
    ended = sums <= 0
    ended[-1] = True
    last = ended.argmax(axis=0)[None]  # the first pair that is not summed, except for its even lag
    before = np.arange(n_pairs)[:, None] < last
    even = np.take_along_axis(np.where(sums > 0, evens, np.maximum(evens, 0)), last, axis=0)[0]
    time = -1 + 2 * np.where(before, np.minimum.accumulate(sums, axis=0), 0).sum(axis=0) + even
    size = n_chains * n_draws
    return np.where(total > 0, size / np.maximum(time, 1 / np.log10(size)), np.nan)


def _autocovariances(centered: Floats) -> Floats:
    from scipy.fft import next_fast_len

    n_draws = centered.shape[1]
    size = next_fast_len(2 * n_draws)
    transformed = np.fft.rfft(centered, size, axis=1)
    power = (transformed * transformed.conj()).real
    return np.asarray(np.fft.irfft(power, size, axis=1)[:, :n_draws] / n_draws)
