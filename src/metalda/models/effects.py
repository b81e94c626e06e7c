"""What labels and features do to topics, with intervals over the draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def centre(
    log_weights: Sequence[NDArray[np.float64]], n_labels: int, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Effects [draw, label, topic]: how far the log weight of a label lies from that of the average label.

    A raw weight is not identified against the default's; its distance from the mean over labels, weighted by how many
    documents have each, is.
    """
    draws = np.stack(log_weights)[:, :n_labels]
    shares = np.asarray(sizes, np.float64)[:n_labels]
    return draws - np.tensordot(shares / max(shares.sum(), 1.0), draws, axes=(0, 1))[:, None]


def weight_effects(
    log_weights: Sequence[NDArray[np.float64]],
    names: Sequence[str],
    sizes: NDArray[np.float64],
    interval: float,
    kind: str,
) -> pd.DataFrame:
    """A row for each label (or feature) and topic: its effect; low and high are quantiles over the draws.

    Parameters
    ----------
    log_weights : one array [label, topic] a draw, the default label last
    names, sizes : of the labels without the default
    """
    import pandas as pd

    if not 0 < interval < 1:
        raise InputError(f"interval must lie between 0 and 1, not {interval!r}")
    centred = centre(log_weights, len(names), sizes)
    low, high = np.quantile(centred, [(1 - interval) / 2, (1 + interval) / 2], axis=0)
    n_labels, n_topics = centred.shape[1:]
    return pd.DataFrame(
        {
            kind: np.repeat(np.array(names, dtype=object), n_topics),
            "topic": np.tile(np.arange(n_topics), n_labels),
            "effect": centred.mean(axis=0).ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
        }
    )


def add_proportions(
    table: pd.DataFrame, log_weights: Sequence[NDArray[np.float64]], n_labels: int, interval: float
) -> pd.DataFrame:
    """Expected topic proportions of a document that has this label alone, with intervals over the draws."""
    draws = np.stack(log_weights)
    log_alpha = draws[:, :n_labels] + draws[:, -1:]
    alpha = np.exp(log_alpha - log_alpha.max(axis=2, keepdims=True))
    proportions = alpha / alpha.sum(axis=2, keepdims=True)
    low, high = np.quantile(proportions, [(1 - interval) / 2, (1 + interval) / 2], axis=0)
    return table.assign(
        proportion=proportions.mean(axis=0).ravel(), proportion_low=low.ravel(), proportion_high=high.ravel()
    )
