"""The diagnostics section of a report: traces of training, and R-hat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metalda.evaluation.chains import all_chains, require_chains
from metalda.report.values import Numbers, significant
from metalda.utils.convergence import rank_rhat

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_MAX_POINTS = 500  # of a trace


@dataclass(frozen=True)
class ChainHistory:
    """The history of one run, thinned."""

    name: str
    iterations: tuple[int, ...]
    traces: tuple[tuple[str, Numbers], ...]  # by name; log_likelihood is per word


@dataclass(frozen=True)
class DiagnosticsSection:
    """Convergence of training."""

    chains: tuple[ChainHistory, ...]
    burn_in: int
    r_hat: float | None  # rank-normalized split R-hat of the log-likelihood after the burn-in


def summarize_training(models: Sequence[TopicModel]) -> DiagnosticsSection:
    """Summarize the histories of all chains of one or several models."""
    models = all_chains(models)
    require_chains(models)
    first = models[0]
    burn_in = min(first.n_burn_in, first.n_iter_)
    kept = [model.history_["log_likelihood"].to_numpy()[burn_in:] for model in models]
    n_draws = min(map(len, kept)) // 2 * 2  # the last ones of each chain
    r_hat = float(rank_rhat(np.array([chain[len(chain) - n_draws :] for chain in kept])))
    histories = tuple(map(_history, models))
    return DiagnosticsSection(histories, burn_in, round(r_hat, 4) if math.isfinite(r_hat) else None)


def _history(model: TopicModel) -> ChainHistory:
    seed = model.random_state if isinstance(model.random_state, int) else model.seed_
    table = model.history_
    shown = np.unique(np.linspace(0, len(table) - 1, min(len(table), _MAX_POINTS)).round().astype(int))
    columns = {str(column): table[column].to_numpy(np.float64)[shown] for column in table if column != "iteration"}
    traces = tuple((column, significant(values, 5)) for column, values in columns.items())
    return ChainHistory(f"seed {seed}", tuple(table["iteration"].to_numpy()[shown].tolist()), traces)
