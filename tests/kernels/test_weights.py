"""Tables, q, weights and sums of a regression against the reference, and at the limits of floats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

import reference
from marks import examples
from metalda.corpus import NamedMatrix
from metalda.kernels import helpers
from metalda.kernels.border import COMPILED, frozen
from metalda.kernels.weights import add_rising, count_topics
from metalda.meta.design import Design
from metalda.priors import AssignedDocuments, Augmentation, Gamma, Normal
from metalda.samplers import TopicCounts


def _update(prior, log_weights, given_parts, rng):
    drawn = log_weights.copy()
    alpha = prior.alpha(log_weights)
    precisions = prior.draw_precisions(log_weights, rng)
    prior._draw(drawn, precisions, alpha.values, not alpha.is_rescaled, given_parts, 0, log_weights.shape[1], rng)
    return drawn


@pytest.mark.parametrize(
    ("concentration", "customers"), [(0.3, 2), (2.0, 7), (5.0, 24), (0.3, 40), (4.0, 60), (1e-9, 90)]
)
def test_tables_have_the_distribution_of_the_chinese_restaurant(concentration, customers):
    rng = np.random.default_rng(0)
    n = 20_000
    drawn = np.bincount([helpers.draw_tables(concentration, customers, rng) for _ in range(n)], minlength=customers + 1)
    expected = n * reference.table_probabilities(concentration, customers)
    common = expected > 5
    assert drawn[expected < 1e-6 * n].sum() <= 1
    if common.sum() > 1:
        scale = drawn[common].sum() / expected[common].sum()
        assert stats.chisquare(drawn[common], expected[common] * scale).pvalue > 1e-4


@pytest.mark.parametrize("customers", [0, 1])
def test_the_first_customer_always_opens_a_table(customers):
    assert helpers.draw_tables(1e-30, customers, np.random.default_rng(0)) == customers


@pytest.mark.parametrize("concentration", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("customers", [5, 1000])
def test_tables_stay_between_one_and_the_number_of_customers(concentration, customers):
    tables = helpers.draw_tables(concentration, customers, np.random.default_rng(0))
    assert tables == (1 if concentration < 1 else customers)


@pytest.mark.parametrize(("a", "b"), [(0.05, 3.0), (0.8, 1.0), (4.0, 20.0)])
def test_q_is_beta_distributed(a, b):
    rng = np.random.default_rng(0)
    drawn = [helpers.draw_minus_log_beta(a, b, rng) for _ in range(5000)]
    assert stats.kstest(np.exp(-np.array(drawn)), stats.beta(a, b).cdf).pvalue > 1e-3


def test_minus_log_q_is_finite_where_q_itself_would_underflow():
    rng = np.random.default_rng(0)
    drawn = np.array([helpers.draw_minus_log_beta(1e-300, 50.0, rng) for _ in range(1000)])
    assert np.isfinite(drawn).all()
    assert (np.exp(-drawn) == 0).any()


@given(
    design=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=9, unique_by=tuple),
    n_topics=st.sampled_from([1, 2, 17, 65]),
    shape=st.sampled_from([0.1, 1.0, 2.5]),
    seed=st.integers(0, 2**32 - 1),
)
@examples(50)
def test_weights_equal_the_formula_label_after_label(design, n_topics, shape, seed):
    rng = np.random.default_rng(seed)
    matrix = np.array(design, float)
    prior = Gamma(Design.build(NamedMatrix(sparse.csr_array(matrix), ("a", "b", "c")), len(matrix)), 0.1, shape)
    dense = np.column_stack([matrix, np.ones(len(matrix))])
    log_weights = rng.normal(0, 2, (4, n_topics))
    given_parts = Augmentation(
        rng.integers(0, 30, (4, n_topics)), rng.gamma(1, 3, len(matrix)), rng.gamma(1, 1, n_topics)
    )
    drawn = _update(prior, log_weights, given_parts, np.random.default_rng(5))
    parts = [slice(0, n_topics)] if n_topics <= 64 else [slice(0, 40), slice(40, n_topics)]  # blocks of topics
    reference_rng = np.random.default_rng(5)
    expected = np.concatenate(
        [
            reference.draw_weights(
                log_weights[:, part],
                given_parts[0][:, part],
                given_parts[1],
                given_parts[2][part],
                dense,
                shape,
                reference_rng,
            )
            for part in parts
        ],
        axis=1,
    )
    np.testing.assert_allclose(drawn, expected, rtol=1e-4, atol=1e-4)


def _distance(drawn, events, exposure, precision):
    """p-value of draws of a log weight against the density of the reference, by its sums on a grid."""
    grid = np.linspace(drawn.mean() - 12 * drawn.std(), drawn.mean() + 12 * drawn.std(), 20_001)
    sums = np.cumsum(reference.poisson_normal(grid, events, exposure, precision))
    return stats.kstest(drawn, lambda w: np.interp(w, grid, sums / sums[-1])).pvalue


@pytest.mark.parametrize(
    ("events", "exposure", "precision"),
    [(0, 1, 1), (0, 1e-9, 1), (5, 3, 0.01), (1000, 30, 0.5), (0, 1e6, 0.01), (200, 1e30, 100), (1e6, 1e3, 1e-3)],
)
def test_a_log_weight_with_a_normal_prior_has_its_conditional(events, exposure, precision):
    rng = np.random.default_rng(0)
    n = 4000 if COMPILED else 1000
    drawn = [helpers.draw_poisson_normal(float(events), np.log(exposure), precision, rng) for _ in range(n)]
    assert _distance(np.array(drawn), events, exposure, precision) > 1e-3


def test_a_log_weight_without_exposure_is_normal():
    rng = np.random.default_rng(0)
    drawn = [helpers.draw_poisson_normal(3.0, -np.inf, 4.0, rng) for _ in range(2000)]
    assert stats.kstest(drawn, stats.norm(0.75, 0.5).cdf).pvalue > 1e-3


class _FixedNormal(Normal):
    """With known variances."""

    def draw_precisions(self, log_weights, rng):
        return np.array([0.5, 2.0, 0.0])


def test_weights_with_normal_priors_are_drawn_given_those_before_them():
    """Label a is drawn given b and the default label, b given the new a, and the default label from a gamma."""
    rows = np.array([[1, 0], [1, 1], [0, 1]], float)
    prior = _FixedNormal(Design.build(NamedMatrix(sparse.csr_array(rows), ("a", "b")), 3), 0.1, 1.0)
    log_weights = np.array([[0.7], [-0.4], [-1.0]])
    parts = Augmentation(np.array([[3], [5], [9]]), np.array([2.0, 1.0, 4.0]), np.ones(1))
    rngs = (np.random.default_rng(s) for s in range(3000 if COMPILED else 600))
    a, b, default = np.array([_update(prior, log_weights, parts, rng)[:, 0] for rng in rngs]).T
    assert _distance(a, 3, np.exp(-1) * (2 + np.exp(-0.4)), 0.5) > 1e-3
    exposures = np.exp(-1) * (4 + np.exp(a))
    quantiles = [_quantile(w, 5, exposure, 2.0) for w, exposure in zip(b[:600], exposures, strict=False)]
    assert stats.kstest(quantiles, "uniform").pvalue > 1e-3
    rates = 1 + 2 * np.exp(a) + np.exp(a + b) + 4 * np.exp(b)
    assert stats.kstest(np.exp(default) * rates, stats.gamma(10).cdf).pvalue > 1e-3


def _quantile(w, events, exposure, precision):
    grid = np.linspace(w - 12, w + 12, 4001)
    density = reference.poisson_normal(grid, events, exposure, precision)
    return density[grid <= w].sum() / density.sum()


def test_a_vanishing_weight_comes_back():
    """A product of 0 would keep its weight at 0; a weight of 1e-200 is redrawn from its conditional."""
    prior = Gamma(Design.build(NamedMatrix(sparse.csr_array(np.ones((1, 1))), ("a",)), 1), 0.1, 1.0)
    log_weights = np.array([[-460.0], [-460.0]])
    drawn = _update(
        prior, log_weights, Augmentation(np.full((2, 1), 5), np.ones(1), np.ones(1)), np.random.default_rng(0)
    )
    assert (drawn > -20).all()


def test_documents_whose_alpha_vanishes_still_inform_their_labels():
    """-log q is then huge, and only its product with alpha is meaningful."""
    prior = Gamma(Design.build(NamedMatrix(sparse.csr_array(np.ones((1, 1))), ("a",)), 1), 0.1, 2.5)
    log_weights = np.array([[np.log(1e-40)], [np.log(10.0)]])
    given_parts = Augmentation(np.full((2, 1), 3), np.array([1e39]), np.ones(1))
    many = np.array(
        [
            _update(prior, log_weights, given_parts, np.random.default_rng(s))[:, 0]
            for s in range(4000 if COMPILED else 1000)
        ]
    )
    # label a is drawn first: rate = 2.5 + 1e39 * 10; then the default: rate = 2.5 + 1e39 * exp(log a)
    assert stats.kstest(np.exp(many[:, 0]) * 1e40, stats.gamma(5.5).cdf).pvalue > 1e-3
    scaled = np.exp(many[:, 1]) * (2.5 + 1e39 * np.exp(many[:, 0]))
    assert stats.kstest(scaled, stats.gamma(5.5).cdf).pvalue > 1e-3


@given(
    matrix=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=12),
    seed=st.integers(0, 2**32 - 1),
)
@examples(50)
def test_parameters_are_the_products_of_weights(matrix, seed):
    rng = np.random.default_rng(seed)
    dense = np.column_stack([np.array(matrix, float), np.ones(len(matrix))])
    design = Design.build(NamedMatrix(sparse.csr_array(dense[:, :3]), ("a", "b", "c")), len(matrix))
    log_weights = rng.normal(0, 4, (4, 5))
    prior = Gamma(design, 0.1, 1.0)
    alpha = prior.alpha(log_weights)
    expected = reference.multiply_weights(log_weights, dense)
    np.testing.assert_allclose(alpha.values[design.row_of], expected, rtol=1e-5)
    np.testing.assert_allclose(alpha.row_sums[design.row_of], expected.sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(prior.beta(log_weights).topic_sums, expected.sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("log_weight", [-120.0, -400.0])
def test_a_faint_row_keeps_its_ratios_in_float32(log_weight):
    design = Design.build(NamedMatrix(sparse.csr_array(np.ones((1, 2))), ("a", "b")), 1)
    log_weights = np.array([[log_weight, log_weight], [log_weight, log_weight - 3.0], [0.0, 0.0]])
    alpha = Gamma(design, 0.1, 1.0).alpha(log_weights)
    assert alpha.values[0, 0] / alpha.values[0, 1] == pytest.approx(np.exp(3.0), rel=1e-4)
    assert 0 < alpha.values.max() < 1e-15


@pytest.mark.parametrize("log_weight", [-20.0, -300.0])
def test_an_empty_topic_gives_words_a_distribution_however_small_its_beta(log_weight):
    """Numerator and denominator of p(w | k) are rescaled together where float32 cannot hold beta, also by stripes."""
    rows = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]], float)
    prior = Gamma(Design.build(NamedMatrix(sparse.csr_array(rows), ("a", "b", "c")), 3), 0.01, 1.0)
    log_weights = np.array([[0.0, log_weight], [0.0, log_weight - 1], [0.0, log_weight], [0.0, 0.0]])
    beta = prior.beta(log_weights)
    by_word = beta.values[prior.design.row_of]
    np.testing.assert_allclose((by_word / beta.rescaled_sums).sum(axis=0), 1, rtol=1e-5)
    assert by_word[0, 1] / by_word[1, 1] == pytest.approx(np.e, rel=1e-4)
    striped = prior.beta(log_weights, [(0, 1), (1, 2)])
    np.testing.assert_allclose(striped.values, beta.values, rtol=1e-6)
    np.testing.assert_allclose(striped.rescaled_sums, beta.rescaled_sums, rtol=1e-6)


def test_the_weights_of_an_empty_topic_are_drawn_from_the_prior():
    """The Java original freezes them: the posterior is still invariant, but the chain does not move."""
    prior = Gamma(Design.build(None, 4), 0.01, 2.5)
    nothing = Augmentation(np.zeros((1, 3000), np.int64), np.full(1, 4.0), np.zeros(3000))
    drawn = np.exp(_update(prior, np.full((1, 3000), -9.0), nothing, np.random.default_rng(0))[0])
    assert stats.kstest(drawn, stats.gamma(2.5, scale=1 / 2.5).cdf).pvalue > 1e-3


def test_empty_documents_and_empty_topics_have_no_auxiliary_variables():
    prior = Gamma(Design.build(None, 2), 0.1, 1.0)
    alpha = prior.alpha(prior.start_weights(3))
    offsets, topics = np.array([0, 0, 2]), np.array([1, 1], np.uint16)
    rows = prior.design.row_of
    both = prior.observe_documents(AssignedDocuments(offsets, rows, topics), alpha, np.random.default_rng(0))
    assert both.label_tables[0].tolist()[0::2] == [0, 0]
    assert both.label_tables[0, 1] >= 1
    assert both.row_scales[0] > 0
    empty = prior.observe_documents(
        AssignedDocuments(offsets[:2], rows[:1], topics[:0]), alpha, np.random.default_rng(0)
    )
    assert empty.row_scales.sum() == 0
    assert empty.label_tables.sum() == 0


@pytest.mark.parametrize("level", [0.02, 2.0])
def test_the_sum_of_minus_log_q_of_documents_with_equal_labels_has_its_distribution(level):
    """For short documents it is drawn for all of them together; the second row has a long one, the third is empty."""
    rng, n = np.random.default_rng(0), 2000 if COMPILED else 300
    lengths, rows = np.array([1, 30, 3, 0, 2, 0, 1, 3, 1, 2]), np.array([0, 1, 0, 2, 0, 0, 1, 0, 3, 0])
    labels = sparse.csr_array((np.ones(len(rows)), rows, np.arange(len(rows) + 1)), shape=(len(rows), 4))
    prior = Gamma(Design.build(NamedMatrix(labels, tuple("abcd")), len(rows)), level, 1.0)
    alpha = prior.alpha(prior.start_weights(2))
    documents = AssignedDocuments(
        np.concatenate([[0], np.cumsum(lengths)]), prior.design.row_of, np.zeros(sum(lengths), np.uint16)
    )
    found = np.array([prior.observe_documents(documents, alpha, rng).row_scales for _ in range(n)])
    for label in range(4):
        own = lengths[(rows == label) & (lengths > 0)]
        row = prior.design.row_of[rows == label][0]
        expected = [sum(reference.draw_minus_log_beta(2 * level, b, rng) for b in own) for _ in range(n)]
        if len(own):
            assert stats.ks_2samp(np.log(found[:, row]), np.log(expected)).pvalue > 1e-3
        else:
            assert not found[:, row].any()


@pytest.mark.parametrize("features", [None, np.array([[1.0], [0.0]])], ids=["shared", "by word"])
def test_an_empty_topic_has_no_tables_and_no_q(features):
    matrix = None if features is None else NamedMatrix(sparse.csr_array(features), ("a",))
    prior = Gamma(Design.build(matrix, 2), 0.1, 1.0)
    counts = TopicCounts.count(np.array([0, 0, 1], np.int32), np.array([0, 0, 0], np.uint16), 3, prior.design)
    drawn = counts.draw_tables(prior.beta(prior.start_weights(3)), 0, 3, np.random.default_rng(0))
    assert drawn.minus_log_q[0] > 0
    assert drawn.minus_log_q[1:].tolist() == [0, 0]
    assert (drawn.label_tables[:, 0] >= 1).all()
    assert drawn.label_tables[:, 1:].sum() == 0


@given(seed=st.integers(0, 999), first=st.integers(0, 1))
@examples(30)
def test_tables_of_words_are_multiplied_by_the_values_of_their_features(seed, first):
    """The tables of each word are those that it has with a feature of its own, given equal beta and random numbers."""
    rng = np.random.default_rng(seed)
    words, topics = rng.integers(0, 5, 30).astype(np.int32), rng.integers(0, 3, 30).astype(np.uint16)
    values = np.column_stack([rng.normal(size=(5, 2)) * (rng.random((5, 2)) < 0.8), np.ones(5)])
    values[4, :2] = 0  # a word without features

    def draw(matrix):
        names = tuple(f"f{j}" for j in range(matrix.shape[1]))
        design = Design.build(NamedMatrix(sparse.csr_array(matrix), names), 5, real=True)
        prior = Normal(design, 0.5, 1.0)
        counts = TopicCounts.count(words, topics, 3, design)
        beta = prior.beta(prior.start_weights(3))
        return counts.draw_tables(beta, first, 3, np.random.default_rng(seed)).label_tables

    by_word = draw(np.eye(5))[:5]
    np.testing.assert_allclose(draw(values[:, :2]), values.T @ by_word, atol=1e-9)
    assert (by_word[:, :first] == 0).all()


@given(
    entries=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(1, 40), st.sampled_from([1.0, 2.5])), max_size=8
    ),
    seed=st.integers(0, 999),
)
@examples(50)
def test_sums_of_a_regression_equal_the_formula(entries, seed):
    concentration = np.random.default_rng(seed).gamma(0.5, 3, (3, 2)) + 1e-6
    rows, columns, counts, times = zip(*entries, strict=True) if entries else ((), (), (), ())
    gradient = np.zeros((3, 2))
    value = add_rising(
        frozen(concentration, np.float64), frozen(rows, np.int32), frozen(columns, np.int32), frozen(counts, np.int64),
        frozen(times, np.float64), gradient,
    )  # fmt: skip
    expected, slopes = reference.add_rising(concentration, entries)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9)


@given(topics=st.lists(st.lists(st.integers(0, 3), max_size=7), min_size=1, max_size=5), seed=st.integers(0, 9))
@examples(50)
def test_topics_of_documents_are_listed_with_their_counts(topics, seed):
    doc_rows = np.random.default_rng(seed).integers(0, 3, len(topics))
    flat = frozen([k for z in topics for k in z], np.uint16)
    offsets = frozen(np.concatenate([[0], np.cumsum([len(z) for z in topics])]), np.int64)
    found = [np.empty(len(flat), np.int64) for _ in range(3)]
    size = count_topics(offsets, frozen(doc_rows, np.int32), flat, 4, *found)
    assert list(zip(*(each[:size].tolist() for each in found), strict=True)) == reference.count_topics(topics, doc_rows)
