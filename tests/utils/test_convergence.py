"""R-hat and effective sample sizes equal those of ArviZ."""

import warnings

import numpy as np
import pytest

from metalda.utils import convergence
from metalda.utils.convergence import bulk_ess, rank_rhat, tail_ess, trend

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # versions before 1 announce it at every import
    import arviz


def walks(n_chains: int, n_draws: int, correlation: float) -> np.ndarray:
    """Autoregressive chains [chain, draw]."""
    steps = np.random.default_rng(0).normal(size=(n_draws, n_chains))
    chains = np.zeros_like(steps)
    for t in range(n_draws):
        chains[t] = steps[t] + (correlation * chains[t - 1] if t else 0)
    return chains.T


@pytest.mark.parametrize("correlation", [0, 0.5, 0.9, -0.5])
@pytest.mark.parametrize(("n_chains", "n_draws"), [(2, 4), (4, 7), (3, 40), (4, 42), (2, 500)])
def test_measures_are_those_of_arviz(n_chains: int, n_draws: int, correlation: float) -> None:
    chains = walks(n_chains, n_draws, correlation)
    assert rank_rhat(chains) == pytest.approx(float(np.asarray(arviz.rhat(chains, method="rank"))), rel=1e-10)
    assert bulk_ess(chains) == pytest.approx(float(np.asarray(arviz.ess(chains, method="bulk"))), rel=1e-10)
    tail = float(np.asarray(arviz.ess(chains, method="tail", prob=(0.05, 0.95))))
    assert tail_ess(chains) == pytest.approx(tail, rel=1e-10)


def test_many_quantities_are_judged_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.stack([walks(2, 40, correlation) for correlation in (0, 0.3, 0.6, 0.9)], axis=-1).reshape(2, 40, 2, 2)
    monkeypatch.setattr(convergence, "_CHUNK", 240)  # three quantities at a time
    for measure in (rank_rhat, bulk_ess, tail_ess):
        alone = [[measure(draws[:, :, i, j]) for j in range(2)] for i in range(2)]
        np.testing.assert_allclose(measure(draws), alone, rtol=1e-12)


def test_r_hat_is_near_1_for_converged_chains_and_large_for_others() -> None:
    chains = np.random.default_rng(0).normal(size=(4, 500))
    assert rank_rhat(chains) == pytest.approx(1, abs=0.02)
    assert rank_rhat(np.repeat([[0.0], [1.0]], 100, axis=1)) > 1e6
    assert rank_rhat(chains * np.array([[1], [1], [1], [9]])) > 1.1, "equal location, different scale"


def test_measures_are_nan_where_they_are_undefined() -> None:
    for measure in (rank_rhat, bulk_ess, tail_ess):
        assert np.isnan(measure(np.random.default_rng(0).normal(size=(2, 3))))
        assert np.isnan(measure(np.ones((2, 100))))


def test_a_trend_is_in_units_of_the_noise() -> None:
    noise = np.random.default_rng(0).normal(size=500)
    assert abs(trend(noise)) < 1
    assert trend(noise + np.linspace(0, 9, 500)) == pytest.approx(9, abs=1)
    assert trend(-noise - np.linspace(0, 9, 500)) == pytest.approx(-9, abs=1)
    assert trend(np.ones(50)) == 0
    assert np.isnan(trend(noise[:19]))
    assert np.isnan(trend(np.array([-np.inf, *noise])))
