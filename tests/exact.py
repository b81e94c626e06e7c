"""Whether a sampler visits the states of a tiny problem as often as their exact probabilities say."""

import numpy as np
from scipy import stats


def assert_visits_follow(visits, expected):
    """Chi-square over 40 groups of states of about equal probability each."""
    assert visits[expected == 0].sum() == 0
    visits, expected = visits[expected > 0], expected[expected > 0]
    order = np.argsort(expected)
    groups = np.searchsorted(np.cumsum(expected[order]), np.linspace(0, 1, 40)[1:-1])
    starts = np.unique([0, *groups])
    observed = np.add.reduceat(visits[order], starts)
    theory = visits.sum() * np.add.reduceat(expected[order], starts)
    assert stats.chisquare(observed, theory * observed.sum() / theory.sum()).pvalue > 1e-3
