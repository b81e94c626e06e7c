"""Judgments of several coders: their agreement, and intervals of shares."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metalda.errors import InputError


def krippendorff_alpha(ratings: ArrayLike) -> float:
    """Return Krippendorff's alpha for nominal categories: 1 is perfect agreement, 0 agreement by chance.

    Units with fewer than two ratings are left out. The result is NaN if no unit is left, or if all ratings are the same
    category: then agreement by chance is not defined.

    Parameters
    ----------
    ratings : array of numbers [coder, unit]
        Categories; NaN where a coder has not rated a unit.

    Examples
    --------
    >>> from metalda.evaluation import krippendorff_alpha
    >>> nan = float("nan")
    >>> round(krippendorff_alpha([[1, 2, 3, nan], [1, 2, 2, 3], [1, 2, 3, nan]]), 3)
    0.692
    """
    values = np.asarray(ratings, np.float64)
    if values.ndim != 2:
        raise InputError(f"ratings must be a matrix [coder, unit], not an array of {values.ndim} dimensions")
    categories = np.unique(values[~np.isnan(values)])
    counts = (values[:, :, None] == categories).sum(axis=0)  # [unit, category]
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return float("nan")
    per_unit, per_category = counts.sum(axis=1), counts.sum(axis=0)
    n_ratings = per_unit.sum()
    observed = ((per_unit**2 - (counts**2).sum(axis=1)) / (per_unit - 1)).sum() / n_ratings  # disagreement
    expected = (n_ratings**2 - (per_category**2).sum()) / (n_ratings * (n_ratings - 1))
    return float(1 - observed / expected) if expected > 0 else float("nan")


def wilson_interval(share: float, n: float, interval: float) -> tuple[float, float]:
    """Return Wilson's interval of a share among n answers, n being an effective number if answers are dependent."""
    z = NormalDist().inv_cdf((1 + interval) / 2)
    center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(float(center - half), 0.0), min(float(center + half), 1.0)


def effective_answers(right: Sequence[NDArray[np.bool_]]) -> float:
    """Return the number of independent answers that are as informative as the answers to several tasks.

    Answers to one task resemble each other. The number of answers is divided by Kish's design effect: the variance of
    the share of right answers, computed from the tasks, relative to that of independent answers.
    """
    n_answers, n_right = (np.array([f(each) for each in right], np.float64) for f in (len, np.sum))
    n, n_tasks = n_answers.sum(), len(right)
    share = n_right.sum() / n
    if n_tasks < 2 or share in (0, 1):
        return float(n)
    variance = n_tasks / (n_tasks - 1) * ((n_right - share * n_answers) ** 2).sum() / n**2
    return float(n / max(variance / (share * (1 - share) / n), 1))
