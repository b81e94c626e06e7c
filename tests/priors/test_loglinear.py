"""alpha and beta are products of weights, also where labels have real values; priors that cannot say so."""

import numpy as np
import pytest
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.priors import Fixed, Gamma, LogLinear, Masked, Regression

VALUES = np.array([[1.0, -0.7], [0.0, 2.5], [0.3, 0.0], [1.0, -0.7]])


def _design() -> Design:
    return Design.build(NamedMatrix(sparse.csr_array(VALUES), ("old", "year")), len(VALUES), real=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda design: LogLinear(design, 0.1),
        lambda design: Fixed(design, 0.1),
        lambda design: Regression(design, 0.1, variance=1.0, default_variance=100.0, burn_in=0, interval=1),
    ],
    ids=["log-linear", "fixed", "regression"],
)
def test_real_values_are_exponents_of_the_weights(make):
    prior, log_weights = make(_design()), np.random.default_rng(0).normal(0, 1, (3, 4))
    expected = np.exp(np.column_stack([VALUES, np.ones(len(VALUES))]) @ log_weights)
    alpha, beta = prior.alpha(log_weights), prior.beta(log_weights, [(0, 1), (1, 4)])
    np.testing.assert_allclose(alpha.values[prior.design.row_of], expected, rtol=1e-6)
    np.testing.assert_allclose(alpha.row_sums[prior.design.row_of], expected.sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(beta.values[prior.design.row_of], expected, rtol=1e-6)
    np.testing.assert_allclose(beta.topic_sums, expected.sum(axis=0), rtol=1e-6)


@pytest.mark.parametrize(
    "make", [lambda design: Gamma(design, 0.1, 1.0), lambda design: Masked(design, 0.1, 1, 0)], ids=["gamma", "masked"]
)
def test_a_prior_that_is_defined_for_0_and_1_refuses_other_values(make):
    with pytest.raises(InputError, match="0 or 1"):
        make(_design())


@pytest.mark.parametrize("size", [-300.0, 300.0])
def test_real_values_beyond_float32_stay_finite_and_positive(size):
    prior = LogLinear(_design(), 0.1)
    alpha, beta = (make(np.full((3, 2), size)) for make in (prior.alpha, prior.beta))
    for values in (alpha.values, beta.values, alpha.row_sums, beta.rescaled_sums):
        assert np.isfinite(values).all()
        assert (values > 0).all()
