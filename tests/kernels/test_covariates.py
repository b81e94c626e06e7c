"""Weights of numbers: draws against the density of the reference, by its sums on a grid."""

import numpy as np
import pytest
from scipy import sparse, stats

import reference
from metalda.corpus import NamedMatrix
from metalda.kernels.border import COMPILED
from metalda.meta.design import Design
from metalda.priors import Augmentation, Normal

ROWS = np.array([[1, -1.2], [0, 0.3], [1, 0.9], [0, 2.0]])  # a label, and a number
PRECISIONS = np.array([0.5, 0.8, 0.0])
TABLES, SCALES = np.array([3.0, 2.2, 9.0]), np.array([2.0, 1.0, 4.0, 0.5])
DESIGN = np.column_stack([ROWS, np.ones(4)])
POISSON = TABLES, SCALES, DESIGN


class _Known(Normal):
    def draw_precisions(self, log_weights, rng):
        return PRECISIONS


def _chain(slices, n):
    """Draws of the weights of one topic, given tables and scales."""
    prior = _Known(Design.build(NamedMatrix(sparse.csr_array(ROWS), ("a", "x")), 4, real=True), 0.1, 1.5, slices=slices)
    augmentation = Augmentation(TABLES[:, None], SCALES, np.ones(1))
    rng, state, found = np.random.default_rng(0), np.zeros((3, 1)), []
    for _ in range(n):
        prior._draw(state, PRECISIONS, np.empty((4, 1), np.float32), False, augmentation, 0, 1, rng)
        found.append(state[:, 0].copy())
    return np.array(found)


def _p_values(drawn):
    """Whether the draws of each weight follow its marginal density, by sums over a grid."""
    axes = [np.linspace(low, high, 90) for low, high in ((-5, 4), (-3, 3), (-4, 3))]
    logs = reference.real_log_density(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1), *POISSON, 1.5, PRECISIONS)
    density = np.exp(logs - logs.max())
    for label, axis in enumerate(axes):
        marginal = density.sum(axis=tuple({0, 1, 2} - {label}))
        sums = (np.cumsum(marginal) - marginal / 2) / marginal.sum()
        yield stats.kstest(np.interp(drawn[:, label], axis, sums), "uniform").pvalue


@pytest.mark.parametrize("slices", [0.0, 1.0, 0.1], ids=["newton", "slices", "both"])
def test_draws_follow_the_density(slices):
    assert min(_p_values(_chain(slices, 12_000 if COMPILED else 1500)[10::10])) > 1e-3


def test_a_newton_step_without_the_metropolis_correction_is_seen():
    rng, found = np.random.default_rng(0), []
    for weights in _chain(0.0, 12_000 if COMPILED else 1500)[10::10]:
        for _ in range(10):
            rates = SCALES * np.exp(np.minimum(DESIGN @ weights, 50))
            slope = TABLES[1] - DESIGN[:, 1] @ rates - PRECISIONS[1] * weights[1]
            curvature = DESIGN[:, 1] ** 2 @ rates + PRECISIONS[1]
            weights[1] += slope / curvature + rng.standard_normal() / np.sqrt(curvature)
        found.append(weights)
    assert min(_p_values(np.array(found))) < (1e-4 if COMPILED else 0.05)


def test_a_chain_comes_back_from_far_away():
    """A Newton step from there is rejected for ever; the slice sampler moves."""
    prior = _Known(Design.build(NamedMatrix(sparse.csr_array(ROWS), ("a", "x")), 4, real=True), 0.1, 1.5)
    augmentation = Augmentation(TABLES[:, None], SCALES, np.ones(1))
    rng, state = np.random.default_rng(0), np.array([[0.0], [60.0], [0.0]])
    for _ in range(200):
        prior._draw(state, PRECISIONS, np.empty((4, 1), np.float32), False, augmentation, 0, 1, rng)
    assert np.abs(state).max() < 10


def test_weights_beyond_the_range_of_floats_stay_finite():
    prior = _Known(Design.build(NamedMatrix(sparse.csr_array(ROWS), ("a", "x")), 4, real=True), 0.1, 1.5)
    augmentation = Augmentation(TABLES[:, None], np.array([1e300, 1.0, 1e-300, 0.0]), np.ones(1))
    rng, state = np.random.default_rng(0), np.array([[900.0], [800.0], [-900.0]])
    for _ in range(50):
        prior._draw(state, PRECISIONS, np.empty((4, 1), np.float32), False, augmentation, 0, 1, rng)
        assert np.isfinite(state).all()
