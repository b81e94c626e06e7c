"""Whether training has come to rest: traces, and R-hat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.evaluation.chains import require_chains
from metalda.report.plain import significant
from metalda.report.summary import Chain, Diagnostics
from metalda.training.loop import count_burn_in

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_POINTS = 500  # of a trace
_LIKELIHOOD = "log_likelihood"


def summarise_training(models: Sequence[TopicModel], names: Sequence[str]) -> Diagnostics:
    """The histories of one or several chains."""
    require_chains(models)
    first = models[0]
    burn_in = min(count_burn_in(first.n_iter, first.burn_in), first.n_iter_)
    chains = tuple(_chain(model, name) for model, name in zip(models, names, strict=True))
    kept = [model.history_[_LIKELIHOOD].to_numpy()[burn_in:] for model in models]
    return Diagnostics(chains, burn_in, r_hat(kept))


def _chain(model: TopicModel, name: str) -> Chain:
    table = model.history_
    shown = np.unique(np.linspace(0, len(table) - 1, min(len(table), _POINTS)).round().astype(int))
    columns = {str(column): table[column].to_numpy(np.float64)[shown] for column in table if column != "iteration"}
    traces = tuple((column, significant(values, 5)) for column, values in columns.items())
    return Chain(name, tuple(table["iteration"].to_numpy()[shown].tolist()), traces)


def r_hat(chains: Sequence[NDArray[np.float64]]) -> float | None:
    """Split R-hat: the spread between halves of chains beside the spread inside them; near 1 is rest.

    Gelman et al., Bayesian Data Analysis, section 11.4. None for chains too short to be halved.
    """
    n = min(len(chain) for chain in chains) // 2
    if n < 2:
        return None
    halves = np.array([half for chain in chains for half in (chain[-2 * n : -n], chain[-n:])])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if not (math.isfinite(within) and within > 0):
        return None
    return round(float(math.sqrt((n - 1) / n + between / within)), 4)
