"""Ranks of numbers. SciPy's `rankdata` gives the same, but `scipy.stats` takes longer to import than all the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def average_ranks(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the ranks 1, 2, … within each column [item, column]; equal values share the average of theirs.

    The ranks of a column with a NaN are NaN. Equals `scipy.stats.rankdata(values, axis=0)`.
    """
    n_values = len(values)
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    differs = ordered[1:] != ordered[:-1]
    edge, places = np.ones((1, values.shape[1]), bool), np.arange(n_values)[:, None]
    first = np.maximum.accumulate(np.where(np.concatenate([edge, differs]), places, 0), axis=0)
    last = np.minimum.accumulate(np.where(np.concatenate([differs, edge]), places, n_values)[::-1], axis=0)[::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    ranks[:, np.isnan(values).any(axis=0)] = np.nan
    return ranks
