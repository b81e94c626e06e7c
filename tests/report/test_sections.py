"""Sections of a report: the map, matched models, traces and packed draws."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from contracts import QUICK, corpus, with_result
from metalda import LDA, Corpus
from metalda.errors import InputError
from metalda.report.comparison import compare_models, match_nearest
from metalda.report.diagnostics import summarize_training
from metalda.report.labels import pack_draws
from metalda.report.topics import classical_scaling
from metalda.utils.convergence import rank_rhat


def test_a_map_of_points_in_the_plane_keeps_their_distances() -> None:
    points = np.random.default_rng(0).normal(size=(8, 2))
    apart = cdist(points, points)
    found = classical_scaling(apart)
    np.testing.assert_allclose(cdist(found, found), apart, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_topics_have_a_map(n: int) -> None:
    apart = np.ones((n, n)) - np.eye(n)
    found = classical_scaling(apart)
    np.testing.assert_allclose(cdist(found, found), apart, atol=1e-9)


def test_topics_find_themselves_among_permuted_ones() -> None:
    first, second = (LDA(3, **QUICK).fit(corpus()) for _ in range(2))
    order = np.array([2, 0, 1])
    second = with_result(second, phi=first.fitted_.phi[:, order])
    matches, apart = match_nearest(first, second)
    np.testing.assert_array_equal(order[matches], [0, 1, 2])
    np.testing.assert_allclose(apart, 0, atol=1e-6)


def test_topics_in_excess_have_no_partner_and_words_need_not_be_the_same() -> None:
    first = LDA(3, **QUICK).fit(corpus())
    second = LDA(2, **QUICK).fit(Corpus.from_tokens([["rain", "sun", "new"], ["cat", "dog", "word"]]))
    matches, apart = match_nearest(first, second)
    assert sorted(matches) == [-1, 0, 1]
    assert np.isnan(apart[matches == -1]).all()
    assert match_nearest(second, first)[0].min() >= 0
    own, other = compare_models({"a": first, "b": second}, None)
    assert (own.matches, own.name, other.name) == ((0, 1, 2), "a", "b")
    assert other.distances.count(None) == 1
    with pytest.raises(InputError, match="no word in common"):
        match_nearest(first, LDA(2, **QUICK).fit(Corpus.from_tokens([["x", "y"]])))


def test_r_hat_is_that_of_the_draws_after_the_burn_in() -> None:
    models = [LDA(2, **{**QUICK, "n_iter": n, "burn_in": 8, "random_state": n}).fit(corpus()) for n in (31, 40)]
    last = [model.history_["log_likelihood"].to_numpy()[-22:] for model in models]  # 23 and 32 after the burn-in
    assert summarize_training(models).r_hat == round(float(rank_rhat(np.array(last))), 4)
    assert summarize_training([LDA(2, **{**QUICK, "n_iter": 6, "burn_in": 3}).fit(corpus())]).r_hat is None


def test_traces_are_thinned_and_keep_their_ends() -> None:
    model = LDA(2, **{**QUICK, "n_iter": 1203}).fit(corpus())
    (chain,) = summarize_training([model]).chains
    assert len(chain.iterations) == 500
    assert (chain.iterations[0], chain.iterations[-1]) == (1, 1203)
    traces = dict(chain.traces)
    assert set(traces) == set(model.history_.columns) - {"iteration"}
    assert traces["log_likelihood"][-1] == pytest.approx(model.history_["log_likelihood"].iloc[-1], rel=1e-4)


def test_many_draws_are_thinned() -> None:
    drawn = pack_draws(np.random.default_rng(0).normal(size=(1000, 40, 100)))
    assert drawn.n_draws == 75
    assert len(drawn.draws) == 4 * 75 * 40 * 100 // 3
