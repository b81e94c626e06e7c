"""Vectors of topics: the softmax, its gradient, and the climb to the best."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

import reference
from metalda.samplers.topic_vectors import GAIN, SoftmaxPosterior, WordVectors


def _problem(seed, n_words=40, n_topics=3, dimension=5, dtype=np.float64):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(0, 1, (n_words, dimension)).astype(dtype)
    counts = rng.poisson(rng.gamma(0.3, 10.0, (n_words, n_topics)))
    return rng, WordVectors(vectors), counts


def _likelihood(words, counts, regularization=0.01):
    return SoftmaxPosterior(words, counts.T @ words.vectors, counts.sum(axis=0).astype(float), regularization)


def _value(words, counts, topic_vectors, regularization=0.01):
    logs = np.log(reference.softmax(topic_vectors, words.vectors, np.ones(len(counts))))
    return (counts.T * logs).sum(axis=1) - regularization * (topic_vectors**2).sum(axis=1)


def test_value_and_gradient_equal_the_formula_and_its_finite_differences():
    rng, words, counts = _problem(0)
    at = rng.normal(0, 1, (3, 5))
    point = _likelihood(words, counts, 0.7).evaluate(at)
    np.testing.assert_allclose(point.value, _value(words, counts, at, 0.7), rtol=1e-12)
    numeric = approx_fprime(at.ravel(), lambda x: _value(words, counts, x.reshape(3, 5), 0.7).sum(), 1e-6)
    np.testing.assert_allclose(point.gradient.ravel(), numeric, rtol=1e-5, atol=1e-3)


def test_some_topics_can_be_evaluated_without_the_others():
    rng, words, counts = _problem(1)
    at = rng.normal(0, 1, (3, 5))
    likelihood = _likelihood(words, counts)
    some = likelihood.evaluate(at[[2, 0]], np.array([2, 0]))
    np.testing.assert_allclose(some.gradient, likelihood.evaluate(at).gradient[[2, 0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", ["zero", "far", "at the peak"])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_the_climb_ends_near_the_peak(dtype, start, scale):
    rng, words, counts = _problem(2)
    words = WordVectors((words.vectors * scale).astype(dtype))
    wide = WordVectors(words.vectors.astype(np.float64))
    peak = np.zeros((3, 5))
    for k in range(3):  # one by one, by SciPy
        alone = _likelihood(wide, counts[:, [k]])

        def downhill(x, alone=alone):
            point = alone.evaluate(x[None])
            return -point.value[0], -point.gradient[0]

        peak[k] = minimize(downhill, np.zeros(5), jac=True, method="L-BFGS-B", options={"ftol": 1e-14}).x
    where = {"zero": np.zeros((3, 5)), "far": rng.normal(0, 3 / scale, (3, 5)), "at the peak": peak}[start]
    found = words.fit(counts, where.astype(dtype), 0.01)
    assert found.dtype == dtype
    missing = _value(wide, counts, peak) - _value(wide, counts, found.astype(float))
    assert (missing < 2 * GAIN).all()
    assert (_value(wide, counts, peak) - _value(wide, counts, np.zeros((3, 5))) > 10 * GAIN).all()


def test_a_topic_without_words_has_the_zero_vector_and_a_flat_softmax():
    rng, words, counts = _problem(3)
    counts[:, 1] = 0
    found = words.fit(counts, rng.normal(0, 1, (3, 5)), 0.01)
    np.testing.assert_array_equal(found[1], 0)
    assert found[[0, 2]].any(axis=1).all()
    np.testing.assert_allclose(words.softmax(found)[:, 1], 1 / 40)
    np.testing.assert_array_equal(words.fit(0 * counts, found, 0.01), 0)


def test_the_softmax_sums_to_one_however_long_the_vectors():
    rng, words, _ = _problem(4, dtype=np.float32)
    at = rng.normal(0, 1, (3, 5)).astype(np.float32)
    np.testing.assert_allclose(words.softmax(at).T, reference.softmax(at, words.vectors, np.ones(40)), rtol=1e-5)
    np.testing.assert_allclose(words.log_normalizer(at), np.log(np.exp(at @ words.vectors.T).sum(axis=1)), rtol=1e-5)
    for factor in (0, 1e3, 1e6):
        softmax = words.softmax(at * np.float32(factor))
        np.testing.assert_allclose(softmax.sum(axis=0), 1, rtol=1e-5)
        assert (softmax > 0).all()


@pytest.mark.parametrize("n_words", [1, 7])
def test_words_that_are_all_alike_leave_nothing_to_learn(n_words):
    words = WordVectors(np.ones((n_words, 5), np.float32))
    found = words.fit(np.full((n_words, 3), 2), np.ones((3, 5), np.float32), 0.5)
    np.testing.assert_allclose(found, 0, atol=1e-3)
