"""The joint move of a scale and the weights that have it."""

import math

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.priors import Augmentation, Normal
from metalda.priors.scaling import ScaleDensity, form_rates

N_LABELS, N_TOPICS = 4, 3


def _problem(seed=0):
    """Labels of which documents have several, weights, and tables with their scales."""
    rng = np.random.default_rng(seed)
    labels = sparse.csr_array((rng.random((9, N_LABELS)) < 0.5).astype(float))
    design = Design.build(NamedMatrix(labels, tuple("abcd")), 9).group("ggha")
    log_weights = rng.normal(0, 0.7, (N_LABELS + 1, N_TOPICS))
    scales = rng.gamma(2.0, 1.0, design.n_rows)
    tables = design.matrix.T @ rng.poisson(2.0, (design.n_rows, N_TOPICS)).astype(float)
    return design, log_weights, Augmentation(tables, scales, np.ones(N_TOPICS))


def _density(design, log_weights, augmentation, in_group, shape, rate):
    rates = form_rates(design.matrix, in_group, log_weights, augmentation.row_scales, augmentation.topic_scales)
    tables = (augmentation.label_tables * log_weights)[in_group].sum()
    return ScaleDensity(float(tables), tuple(rates), shape, rate)


def _by_definition(design, log_weights, augmentation, in_group, sigma, log_factor):
    """log p(tables | weights) + log p(log sigma), both times the factor."""
    moved = np.where(in_group[:, None], math.exp(log_factor), 1.0) * log_weights
    eta = design.matrix @ moved
    likelihood = (augmentation.label_tables * moved).sum() - (augmentation.row_scales @ np.exp(eta)).sum()
    variance = (math.exp(log_factor) * sigma) ** 2
    return likelihood + stats.invgamma(0.5, scale=0.02).logpdf(variance) + math.log(variance)


def test_the_density_is_that_of_the_tables_and_the_prior():
    design, log_weights, augmentation = _problem()
    in_group, sigma = np.array([True, True, False, False, False]), 0.6
    density = _density(design, log_weights, augmentation, in_group, 0.5, 0.02 / sigma**2)
    rises = [density.at(x)[0] - density.at(0.0)[0] for x in (-2.0, -0.3, 0.4, 1.5)]
    truth = [_by_definition(design, log_weights, augmentation, in_group, sigma, x) for x in (0.0, -2.0, -0.3, 0.4, 1.5)]
    np.testing.assert_allclose(rises, np.array(truth[1:]) - truth[0], rtol=1e-9)


def test_slope_and_curvature_are_the_derivatives():
    density = _density(*_problem(), np.array([True, True, False, True, False]), 0.5, 0.1)
    for x in (-1.0, 0.0, 0.7):
        below, middle, above = (density.at(x + step) for step in (-1e-5, 0.0, 1e-5))
        assert middle[1] == pytest.approx((above[0] - below[0]) / 2e-5, rel=1e-5)
        assert middle[2] == pytest.approx((above[1] - below[1]) / 2e-5, rel=1e-5)


def test_a_chain_of_moves_has_the_density():
    """Weights are 1 and their scale is the factor, so that log c itself is the state of the chain."""
    tables, rate = 3.0, 0.3
    log_density = np.vectorize(lambda x: tables * math.exp(x) - x - rate * math.exp(-2 * x) - 4 * math.exp(math.exp(x)))
    rng, x, found = np.random.default_rng(0), 0.0, []
    for _ in range(20_000):
        factor = math.exp(x)
        logs = np.full((1, 1), math.log(4.0) + factor)
        (rates,) = form_rates(
            sparse.csr_array(np.ones((1, 1))), np.ones(1, bool), np.full((1, 1), factor), np.full(1, 4.0), np.ones(1)
        )
        np.testing.assert_allclose(rates.logs, logs)
        x += ScaleDensity(tables * factor, (rates,), 0.5, rate / factor**2).draw(rng)
        found.append(x)
    grid = np.linspace(-4, 2, 2_000)
    cumulative = integrate.cumulative_simpson(np.exp(log_density(grid)), x=grid, initial=0)
    uniform = np.interp(found[::20], grid, cumulative / cumulative[-1])
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3


def test_the_scale_of_many_labels_without_effect_falls_at_once():
    """With weights and scale drawn in turn alone, the mean is 0.3."""
    rng, n_labels, n_topics = np.random.default_rng(0), 300, 20
    labels = NamedMatrix(sparse.csr_array(np.eye(n_labels)), tuple(map(str, range(n_labels))))
    design = Design.build(labels, n_labels).group("g" * n_labels)
    prior = Normal(design, 0.1, 1.0, default_precision=0.04)
    log_weights, scales = prior.start_weights(n_topics), np.full(n_labels, 20.0)
    tables = rng.poisson(2.0, (n_labels, n_topics)).astype(float)
    augmentation = Augmentation(np.vstack([tables, tables.sum(axis=0)]), scales, np.ones(n_topics))
    found = []
    for _ in range(40):
        precisions = prior.draw_precisions(log_weights, rng)
        products = prior.products(log_weights)
        prior._draw(log_weights, precisions, products, True, augmentation, 0, n_topics, rng)
        prior.rescale(log_weights, precisions, augmentation, rng)
        found.append(precisions[0] ** -0.5)
    assert np.mean(found[20:]) < 0.2


def test_empty_rows_and_topics_have_no_rates():
    design, log_weights, augmentation = _problem()
    scales = np.where(np.arange(design.n_rows) == 1, 0.0, augmentation.row_scales)
    (rates,) = form_rates(design.matrix, np.ones(5, bool), log_weights, scales, np.array([1.0, 0.0, 2.0]))
    assert len(rates.logs) == design.n_rows - 1
    assert (np.exp(rates.logs[:, 1]) == 0).all()
    assert np.isfinite(ScaleDensity(1.0, (rates,), 0.5, 0.1).at(0.3)).all()
