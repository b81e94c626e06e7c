"""The iterations of a run: which are kept, and when a run that sets its own length ends.

A run with ``n_iter="auto"`` has stages, each twice as long as the one before. The second half of a stage is what the
previous stage had not done yet, so its draws can be kept while it runs. At the end of a stage, the run is the same as
one with that number of iterations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.priors import Learning
from metalda.samplers import Problem
from metalda.training.checkpoint import Progress, stack_weights
from metalda.utils.convergence import tail_ess, trend

MOST_WEIGHTS, LEAST_WEIGHT_DRAWS = 8_000_000, 19  # numbers: 32 MB; and the draws that a 90 % interval needs
FIRST_STAGE = 500  # iterations, at the least
MOST_TREND = 1.0  # of the log-likelihood over the kept iterations, in standard deviations; noise stays within about 1
ENOUGH_DRAWS, ENOUGH_EFFECTS = 100, 0.9  # effective draws behind the ends of intervals; share of effects that have them


class Stage(NamedTuple):
    """A number of iterations, and those among them that are kept."""

    n_iter: int
    burn_in: int
    keep: frozenset[int]
    keep_weights: Mapping[str, frozenset[int]]

    @classmethod
    def plan(cls, problem: Problem, n_iter: int, burn_in: int, thin: int | None, n_draws: int) -> Stage:
        keep = frozenset(kept_iterations(n_iter, burn_in, thin, n_draws))
        return cls(n_iter, burn_in, keep, weight_iterations(problem, n_iter, burn_in))


def stage_lengths(limit: int) -> tuple[int, ...]:
    """Return the lengths of the stages of ``n_iter="auto"``: halves of the limit, as long as they are long enough."""
    lengths = [limit]
    while lengths[0] // 2 >= FIRST_STAGE:
        lengths.insert(0, lengths[0] // 2)
    return tuple(lengths)


def kept_iterations(n_iter: int, burn_in: int, thin: int | None, n_draws: int) -> set[int]:
    """Return the iterations whose states are kept as draws. The last iteration is always one.

    They are spread evenly over the iterations after the burn-in, or counted back from the last in steps of `thin`.
    """
    if thin is None:
        return {n_iter} | {n_iter - (n_iter - burn_in) * j // n_draws for j in range(n_draws) if n_iter > burn_in}
    return {n_iter} | {n_iter - j * thin for j in range(n_draws) if n_iter - j * thin > burn_in}


def weight_iterations(problem: Problem, n_iter: int, burn_in: int) -> dict[str, frozenset[int]]:
    """Return the iterations whose weights of labels and of features are kept: all after the burn-in, if they fit.

    Weights are small compared with a draw, and intervals of effects need many of them. Iterations that draw no weights
    are left out.
    """
    first = min(burn_in, n_iter - 1)
    iterations = {}
    for name, prior in (("label", problem.doc_prior), ("feature", problem.word_prior)):
        n_names = len(prior.design.names)
        if n_names > 1 and isinstance(prior, Learning):
            most = max(MOST_WEIGHTS // (n_names * problem.n_topics), LEAST_WEIGHT_DRAWS)
            drawn = [n for n in range(n_iter, first, -1) if has_new_weights(prior, n)] or [n_iter]
            iterations[name] = frozenset(drawn[:: math.ceil(len(drawn) / most)])
    return iterations


def has_new_weights(prior: Learning, n_sweeps: int) -> bool:
    """Return whether an iteration has drawn weights; point estimates are new in every iteration."""
    return not prior.samples_weights or prior.is_due(n_sweeps - 1)


def has_settled(problem: Problem, stage: Stage, chains: Sequence[Progress]) -> bool:
    """Return whether all chains are flat over the kept iterations, and label effects have enough effective draws."""
    return are_flat(stage, chains) and _have_draws(problem, stage, chains)


def are_flat(stage: Stage, chains: Sequence[Progress]) -> bool:
    """Return whether the log-likelihood of no chain has a trend over the kept iterations."""
    likelihoods = [np.array([row.log_likelihood for row in chain.trace[stage.burn_in :]]) for chain in chains]
    return not any(abs(trend(own)) > MOST_TREND for own in likelihoods)


def _have_draws(problem: Problem, stage: Stage, chains: Sequence[Progress]) -> bool:
    if "label" not in stage.keep_weights or not problem.doc_prior.samples_weights:
        return True
    sizes = np.sum([_effective_draws(problem, chain) for chain in chains], axis=0)
    known = sizes[~np.isnan(sizes)]
    return not known.size or bool((known >= ENOUGH_DRAWS).mean() >= ENOUGH_EFFECTS)


def _effective_draws(problem: Problem, chain: Progress) -> NDArray[np.float64]:
    """Return the effective draws [label, topic] behind the ends of the intervals of label effects, in one chain.

    Chains are judged one by one, because their topics are matched only after training.
    """
    weights = stack_weights(chain.weights["label"]).astype(np.float64)
    effects = problem.doc_prior.design.references.center(np.moveaxis(weights, 1, 0))
    return tail_ess(np.moveaxis(effects, 0, 1)[None])
