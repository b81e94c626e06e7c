"""The joint move of a scale and the weights that have it."""

import math

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.priors import Augmentation, Normal, scaling
from metalda.priors.scaling import GroupRates, Rates, ScaleDensity

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
    rates = GroupRates(design.matrix, in_group, log_weights, augmentation.row_scales, augmentation.topic_scales)
    tables = (augmentation.label_tables * log_weights)[in_group].sum()
    return ScaleDensity(float(tables), rates, shape, rate)


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
        rates = GroupRates(
            sparse.csr_array(np.ones((1, 1))), np.ones(1, bool), np.full((1, 1), factor), np.full(1, 4.0), np.ones(1)
        )
        np.testing.assert_allclose([each.logs for each in rates], [logs])
        x += ScaleDensity(tables * factor, rates, 0.5, rate / factor**2).draw(rng)
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
    (rates,) = GroupRates(design.matrix, np.ones(5, bool), log_weights, scales, np.array([1.0, 0.0, 2.0]))
    assert len(rates.logs) == design.n_rows - 1
    assert (np.exp(rates.logs[:, 1]) == 0).all()
    assert np.isfinite(ScaleDensity(1.0, (rates,), 0.5, 0.1).at(0.3)).all()


def test_parts_of_the_rows_have_the_density_of_all(monkeypatch):
    problem = _problem()
    whole = _density(*problem, np.array([True, True, False, True, False]), 0.5, 0.1).at(0.3)
    monkeypatch.setattr(scaling, "CELLS", 2 * N_TOPICS)
    np.testing.assert_allclose(_density(*problem, np.array([True, True, False, True, False]), 0.5, 0.1).at(0.3), whole)


def test_each_group_moves_by_its_own_density(monkeypatch):
    """Two groups with scales and one with a gamma prior, an empty row and an empty topic, beside the joint density."""
    rng, points = np.random.default_rng(0), (-0.8, 0.5)
    design, log_weights, augmentation = _problem()
    design = design.group("ghaa")
    prior = Normal(
        design, 0.1, 1.0, scale_shape=0.7, scale_rate=0.3, default_precision=0.04, group_shapes=(("a", 2.0),)
    )
    row_scales = np.where(np.arange(design.n_rows) == 1, 0.0, augmentation.row_scales)
    augmentation = Augmentation(augmentation.label_tables, row_scales, np.array([0.5, 0.0, 2.0]))
    precisions = np.array([4.0, 0.5, 0.0, 0.0, 0.04])
    moves, found = iter((0.3, -0.4)), []

    def draw(density, rng):
        found.append([density.at(x)[0] - density.at(0.0)[0] for x in points])
        return next(moves)

    def log_joint(weights, label, sigma):
        rates = row_scales @ np.exp(design.matrix @ weights) @ augmentation.topic_scales
        likelihood = (augmentation.label_tables * weights).sum() - rates
        prior_of_weights = stats.norm.logpdf(weights[label], 0, sigma).sum()
        return likelihood + prior_of_weights + stats.invgamma(0.7, scale=0.3).logpdf(sigma**2) + math.log(sigma)

    monkeypatch.setattr(ScaleDensity, "draw", draw)
    expected, moved = [], log_weights.copy()
    for label, move in ((0, 0.3), (1, -0.4)):
        sigma, values = precisions[label] ** -0.5, []
        for x in (0.0, *points):
            proposed = moved.copy()
            proposed[label] *= math.exp(x)
            jacobian = (N_TOPICS + 1) * x  # of the weights, and of sigma on the scale of its logarithm
            values.append(log_joint(proposed, label, math.exp(x) * sigma) + jacobian)
        expected.append(np.array(values[1:]) - values[0])
        moved[label] *= math.exp(move)
    prior.rescale(log_weights, precisions, augmentation, rng)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(log_weights, moved)


class _Given:
    """A generator that returns these numbers."""

    def __init__(self, normal, uniform):
        self.normal, self.uniform = normal, uniform

    def standard_normal(self):
        return self.normal

    def random(self):
        return self.uniform


def test_a_draw_is_in_detailed_balance_where_newton_steps_are_cut():
    """The state is x = log c, as in the chain above; its density is known."""

    def density(x):
        factor = math.exp(x)
        rates = Rates(np.full((1, 1), math.log(1e-3) + factor), np.full((1, 1), factor))
        return ScaleDensity(2 * factor, (rates,), 0.5, 0.02 / factor**2)

    def log_target(x):
        return 2 * math.exp(x) - 1e-3 * math.exp(math.exp(x)) - x - 0.02 * math.exp(-2 * x)

    def propose(x, y):
        """The log density of a proposal from x to y, and its noise."""
        step, precision = scaling._newton_step(*density(x).at(0.0)[1:])
        return stats.norm.logpdf(y, x + step, precision**-0.5), (y - x - step) * math.sqrt(precision)

    n_tested = 0
    for x in np.linspace(-1.0, 2.4, 12):
        for y in np.linspace(-0.9, 2.3, 11):
            (forward, noise), (backward, _) = propose(x, y), propose(y, x)
            probability = math.exp(min(log_target(y) + backward - log_target(x) - forward, 0.0))
            if probability > 1e-6:
                assert density(x).draw(_Given(noise, 1 - 0.999 * probability)) == pytest.approx(y - x)
                assert probability == 1 or density(x).draw(_Given(noise, 1 - min(1.001 * probability, 1.0))) == 0
                n_tested += 1
    assert n_tested > 50


def test_the_variables_of_stripes_of_topics_join_to_those_of_all():
    design, _, _ = _problem()
    rng, n_topics = np.random.default_rng(1), 8
    tables, scales = rng.poisson(3.0, (5, n_topics)).astype(float), rng.gamma(2.0, 1.0, n_topics)
    whole = Augmentation(tables, design.row_sizes, scales)
    parts = []
    for first in range(0, n_topics, 2):
        own = (np.arange(n_topics) >= first) & (np.arange(n_topics) < first + 2)
        parts.append(Augmentation(tables * own, design.row_sizes, scales * own))
    for one, other in zip(Augmentation.join(parts), whole, strict=True):
        np.testing.assert_array_equal(one, other)
