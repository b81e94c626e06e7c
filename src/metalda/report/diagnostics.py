"""The diagnostics section of a report: traces of training, and R-hat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metalda.evaluation.chains import all_chains, require_chains
from metalda.models.base import MOST_RISE
from metalda.report.values import Numbers, significant
from metalda.utils.convergence import rank_rhat, trend

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_MAX_POINTS = 500  # of a trace
_MOST_RHAT = 1.1  # of chains that may be trusted


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
    warnings: tuple[str, ...]  # on chains that have not converged


def summarize_training(models: Sequence[TopicModel]) -> DiagnosticsSection:
    """Summarize the histories of all chains of one or several models."""
    models = all_chains(models)
    require_chains(models)
    first = models[0]
    burn_in = min(first.n_burn_in, first.n_iter_)
    kept = [model.history_["log_likelihood"].to_numpy()[burn_in:] for model in models]
    n_draws = min(map(len, kept)) // 2 * 2  # the last ones of each chain
    r_hat = float(rank_rhat(np.array([chain[len(chain) - n_draws :] for chain in kept])))
    names = _chain_names(models)
    return DiagnosticsSection(
        chains=tuple(map(_history, names, models)),
        burn_in=burn_in,
        r_hat=round(r_hat, 4) if math.isfinite(r_hat) else None,
        warnings=_warnings(r_hat, [trend(chain) for chain in kept], first),
    )


def given_seed(model: TopicModel) -> int:
    """Return the seed that was given, or the one that was drawn if none was."""
    given = model.random_state
    return int(given) if isinstance(given, int | np.integer) else int(model.seed_)


def _chain_names(models: Sequence[TopicModel]) -> list[str]:
    """Return the seed of each chain; chains of one seed are numbered."""
    seeds = list(map(given_seed, models))
    numbers = [seeds[:i].count(seed) + 1 for i, seed in enumerate(seeds)]
    return [
        f"seed {seed}, chain {number}" if seeds.count(seed) > 1 else f"seed {seed}"
        for seed, number in zip(seeds, numbers, strict=True)
    ]


def _warnings(r_hat: float, rises: Sequence[float], model: TopicModel) -> tuple[str, ...]:
    warnings, rising = [], [rise for rise in rises if rise > MOST_RISE]
    if rising:
        which = f" in {len(rising)} of {len(rises)} chains" if len(rises) > 1 else ""
        warnings.append(
            f"The log-likelihood still rises{which}, by {max(rising):.0f} standard deviations over the kept "
            "iterations. Topics and effects may still change: train for more iterations."
        )
    if r_hat >= _MOST_RHAT:
        what = "The chains disagree" if len(rises) > 1 else "The two halves of the chain disagree"
        warnings.append(
            f"{what}: R-hat of the log-likelihood is {r_hat:.2f}, and less than 1.01 after convergence. Train for "
            "more iterations."
        )
    if model.was_stopped_:
        warnings.append(f"Training was stopped after {model.n_iter_:,} of {model._stage_lengths()[-1]:,} iterations.")
    return tuple(warnings)


def _history(name: str, model: TopicModel) -> ChainHistory:
    table = model.history_
    shown = np.unique(np.linspace(0, len(table) - 1, min(len(table), _MAX_POINTS)).round().astype(int))
    columns = {str(column): table[column].to_numpy(np.float64)[shown] for column in table if column != "iteration"}
    traces = tuple((column, significant(values, 5)) for column, values in columns.items())
    return ChainHistory(name, tuple(table["iteration"].to_numpy()[shown].tolist()), traces)
