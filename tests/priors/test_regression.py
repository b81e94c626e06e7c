"""The objective of the regression, its gradient, and its maximum."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import digamma, gammaln

import reference
from metalda.corpus import NamedMatrix
from metalda.kernels.border import frozen
from metalda.kernels.weights import add_rising
from metalda.meta.design import Design
from metalda.priors import Regression, Stripes
from metalda.priors.regression import Occurrences, RegressionPosterior
from metalda.samplers import TopicCounts
from metalda.samplers.shards import Shard

N_TOPICS = 3
SETTINGS = {"variance": 1.0, "default_variance": 100.0, "burn_in": 0, "interval": 1}
STRIPES = Stripes(((0, N_TOPICS),), (np.random.default_rng(0),), map)


def _design(rng, n_items, real, n_labels=2):
    values = rng.integers(0, 2, (n_items, n_labels)) * (rng.normal(size=(n_items, n_labels)) if real else 1.0)
    return Design.build(NamedMatrix(sparse.csr_array(values), tuple("ab")), n_items, real=real), values


def _catch(monkeypatch):
    """The likelihoods that a prior builds."""
    caught = []
    monkeypatch.setattr(Regression, "_climb", lambda self, likelihood, weights: caught.append(likelihood) or weights)
    return caught


@pytest.mark.parametrize("count", [1, 3, 12, 13, 200, 5000])
@pytest.mark.parametrize("a", [1e-12, 1e-3, 0.7, 40.0, 1e6])
def test_the_log_of_a_ratio_of_gammas_and_its_derivative(a, count):
    gradient = np.zeros((1, 1))
    one = np.zeros(1, np.int32)
    value = add_rising(
        frozen([[a]], np.float64), frozen(one, np.int32), frozen(one, np.int32), frozen([count], np.int64),
        frozen([2.0], np.float64), gradient,
    )  # fmt: skip
    j = np.arange(count)
    assert value == pytest.approx(2 * np.log(a + j).sum(), rel=1e-9)
    assert gradient[0, 0] == pytest.approx(2 * (1 / (a + j)).sum(), rel=1e-9)
    if 1e-3 <= a <= 40:
        assert value == pytest.approx(2 * (gammaln(a + count) - gammaln(a)), rel=1e-7)
        assert gradient[0, 0] == pytest.approx(2 * (digamma(a + count) - digamma(a)), rel=1e-7)


@pytest.mark.parametrize("real", [False, True])
def test_of_documents_the_objective_is_their_likelihood_and_its_gradient_is_right(real, monkeypatch):
    rng = np.random.default_rng(real)
    lengths = [4, 0, 7, 30, 1, 2]
    design, values = _design(rng, len(lengths), real)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    topics = rng.integers(0, N_TOPICS, offsets[-1]).astype(np.uint16)
    words = np.zeros(offsets[-1], np.int32)
    shards = [Shard.cut(words, offsets, design.row_of, a, b) for a, b in ((0, 3), (3, 6))]
    prior = Regression(design, 0.1, **SETTINGS)
    weights = rng.normal(0, 1, (3, N_TOPICS))
    caught = _catch(monkeypatch)
    _learn_from_documents(prior, weights, shards, topics)

    def by_hand(flat):
        w = flat.reshape(3, N_TOPICS)
        alpha = np.exp(np.column_stack([values, np.ones(len(values))]) @ w)
        likelihood = sum(
            reference.dirichlet_multinomial(alpha[d], np.bincount(topics[a:b], minlength=N_TOPICS))
            for d, (a, b) in enumerate(pairwise(offsets))
        )
        return -(likelihood - (w[:2] ** 2).sum() / 2 - (w[2] ** 2).sum() / 200)

    _assert_agrees(caught[0], weights, by_hand)


@pytest.mark.parametrize("sparse_product", [False, True])
def test_of_words_the_objective_is_their_likelihood_and_its_gradient_is_right(sparse_product, monkeypatch):
    rng = np.random.default_rng(5)
    n_words = 7
    design, values = _design(rng, n_words, False)
    words = rng.integers(0, n_words, 120).astype(np.int32)
    topics = rng.integers(0, N_TOPICS, 120).astype(np.uint16)
    counts = TopicCounts.count(words, topics, N_TOPICS, design)
    monkeypatch.setattr("metalda.priors.regression.DENSE", 2.0 if sparse_product else 0.0)
    prior = Regression(design, 0.01, **SETTINGS)
    weights = rng.normal(0, 1, (3, N_TOPICS))
    caught = _catch(monkeypatch)
    beta = prior.beta(weights)
    prior.learn_from_words(beta, prior.observe_words(beta, counts, STRIPES), STRIPES)
    assert sparse.issparse(caught[0].matrix) == sparse_product
    table = np.zeros((N_TOPICS, n_words))
    np.add.at(table, (topics, words), 1)

    def by_hand(flat):
        w = flat.reshape(3, N_TOPICS)
        beta = np.exp(np.column_stack([values, np.ones(n_words)]) @ w).T
        likelihood = sum(reference.dirichlet_multinomial(beta[k], table[k]) for k in range(N_TOPICS))
        return -(likelihood - (w[:2] ** 2).sum() / 2 - (w[2] ** 2).sum() / 200)

    _assert_agrees(caught[0], weights, by_hand)


def _learn_from_documents(prior, weights, shards, topics):
    alpha = prior.alpha(weights)
    observed = [prior.observe_documents(shard.assign(topics), alpha, np.random.default_rng(0)) for shard in shards]
    return prior.learn_from_documents(alpha, observed, STRIPES)


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_tallies_of_parts_merge_into_that_of_the_whole(n_parts):
    rng = np.random.default_rng(n_parts)
    cells = rng.integers(0, [[4], [3], [5]], (3, 200))
    whole = Occurrences.tally(*cells, 3)
    parts = [Occurrences.tally(*part, 3) for part in np.array_split(cells, n_parts, axis=1)]
    for merged, expected in zip(Occurrences.merge(parts), whole, strict=True):
        np.testing.assert_array_equal(merged, expected)


def _assert_agrees(likelihood: RegressionPosterior, weights, by_hand):
    value, gradient = likelihood.negative(weights.ravel(), N_TOPICS)
    assert value == pytest.approx(by_hand(weights.ravel()), rel=1e-9)
    np.testing.assert_allclose(gradient, approx_fprime(weights.ravel(), by_hand, 1e-6), rtol=1e-4, atol=1e-4)


def test_weights_are_found_at_the_maximum_and_only_when_it_is_due():
    rng = np.random.default_rng(1)
    design, _ = _design(rng, 50, False)
    offsets = np.arange(0, 51 * 10, 10).astype(np.int64)
    topics = rng.integers(0, N_TOPICS, 500).astype(np.uint16)
    shard = Shard.cut(np.zeros(500, np.int32), offsets, design.row_of, 0, 50)
    prior = Regression(design, 0.1, **{**SETTINGS, "burn_in": 5, "interval": 3, "max_steps": 500})
    start = prior.start_weights(N_TOPICS)
    for n_sweeps, due in ((0, False), (4, False), (5, True), (6, False), (8, True)):
        assert prior.is_due(n_sweeps) == due
    found = _learn_from_documents(prior, start, [shard], topics)
    caught = []
    Regression(design, 0.1, **SETTINGS)
    original = RegressionPosterior.negative
    try:
        RegressionPosterior.negative = lambda self, *a: caught.append(self) or original(self, *a)
        _learn_from_documents(prior, start, [shard], topics)
    finally:
        RegressionPosterior.negative = original
    _, gradient = caught[0].negative(found.ravel(), N_TOPICS)
    assert np.abs(gradient).max() < 0.05


def test_a_design_of_real_values_keeps_rows_with_other_values_apart():
    values = NamedMatrix(sparse.csr_array(np.array([[0.5], [1.5], [0.5], [0.0]])), ("year",))
    design = Design.build(values, 4, real=True)
    assert design.row_of.tolist() == [0, 1, 0, 2]
    prior = Regression(design, 1.0, **SETTINGS)
    alpha = prior.alpha(np.log([[2.0], [3.0]])).values[design.row_of, 0]
    np.testing.assert_allclose(alpha, 3 * 2.0 ** np.array([0.5, 1.5, 0.5, 0]), rtol=1e-6)
