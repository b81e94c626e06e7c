"""Sections of a report: the map, matched models, traces and packed draws."""

import base64

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from contracts import QUICK, corpus, with_result
from metalda import LDA, Corpus
from metalda.errors import InputError
from metalda.report import correlations
from metalda.report.comparison import compare_models, match_nearest
from metalda.report.correlations import summarize_correlations
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


def test_topics_recur_if_they_are_the_same_and_ribbons_join_similar_ones() -> None:
    first = LDA(3, **QUICK).fit(corpus())
    order = np.array([2, 0, 1])
    own, same = compare_models({"a": first, "b": with_result(first, phi=first.fitted_.phi[:, order])}, None)
    assert own.recurring == ((0, 0), (1, 1), (2, 2))
    assert [order[j] for _, j in same.recurring] == [0, 1, 2]
    assert {(i, j) for i, j, _ in same.links} >= set(same.recurring)
    assert all(similarity >= 0.6 for *_, similarity in same.links)


@pytest.mark.parametrize("given", [True, False], ids=["corpus", "no corpus"])
def test_correlations_are_those_of_the_model(given: bool) -> None:
    model = LDA(4, **{**QUICK, "n_iter": 60, "n_draws": 10}).fit(corpus())
    found = summarize_correlations(model, corpus() if given else None, 0.9)
    assert found is not None
    expected = model.topic_correlations(corpus() if given else None).sort_values(["topic", "other_topic"])
    for name, values in (("mean", "correlation"), ("low", "low"), ("high", "high"), ("similarity", "similarity")):
        hundredths = np.frombuffer(base64.b64decode(getattr(found, name)), np.int8)
        np.testing.assert_allclose(
            np.where(hundredths == -128, np.nan, hundredths / 100), expected[values], atol=0.0051
        )
    assert found.interval == (0.8 if given else None)  # ten draws hold no interval of 0.9
    assert found.n_documents == 10
    assert sorted(found.order) == [0, 1, 2, 3]


def test_correlations_are_over_a_sample_and_absent_if_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    model = LDA(2, **QUICK).fit(corpus())
    monkeypatch.setattr(correlations, "_MOST", 5)
    assert summarize_correlations(model, corpus(), 0.9).n_documents == 5
    assert summarize_correlations(model, corpus(), 0.9) == summarize_correlations(model, corpus(), 0.9)
    assert summarize_correlations(model, corpus()[:1], 0.9) is None
    assert summarize_correlations(LDA(1, **QUICK).fit(corpus()), corpus(), 0.9) is None


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
