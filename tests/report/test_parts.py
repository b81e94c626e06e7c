"""Distances, maps, matching and R-hat, against what is known of them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, jensenshannon

from contracts import QUICK, corpus, with_result
from metalda import LDA, Corpus
from metalda.errors import InputError
from metalda.report import distances
from metalda.report.diagnostics import r_hat, summarise_training
from metalda.report.labels import pack_draws
from metalda.report.matching import compare_models, match_topics


def test_distances_are_those_of_jensen_and_shannon() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet(np.full(30, 0.1), 4), rng.dirichlet(np.full(30, 0.1), 3)
    first[0, :5] = 0
    first[0] /= first[0].sum()
    expected = [[jensenshannon(a, b, base=2) for b in second] for a in first]
    np.testing.assert_allclose(distances.jensen_shannon(first, second), expected, atol=1e-7)
    same = distances.jensen_shannon(first, first)
    np.testing.assert_allclose(np.diagonal(same), 0, atol=1e-7)
    np.testing.assert_allclose(same, same.T, atol=1e-7)


def test_pooling_rare_words_never_moves_topics_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = np.random.default_rng(0).dirichlet(np.full(200, 0.05), 6)
    whole = distances.jensen_shannon(topics, topics)
    monkeypatch.setattr(distances, "MOST_WORDS", 150)
    (pooled,) = distances.pool_rare(topics)
    assert pooled.shape == (6, 151)
    np.testing.assert_allclose(pooled.sum(axis=1), 1)
    near = distances.jensen_shannon(pooled, pooled)
    assert (near <= whole + 1e-7).all()
    np.testing.assert_allclose(near, whole, atol=0.05)


def test_a_map_of_points_in_the_plane_keeps_their_distances() -> None:
    points = np.random.default_rng(0).normal(size=(8, 2))
    apart = cdist(points, points)
    found = distances.classical_scaling(apart)
    np.testing.assert_allclose(cdist(found, found), apart, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_topics_have_a_map(n: int) -> None:
    apart = np.ones((n, n)) - np.eye(n)
    found = distances.classical_scaling(apart)
    np.testing.assert_allclose(cdist(found, found), apart, atol=1e-9)


def test_topics_find_themselves_among_permuted_ones() -> None:
    first, second = (LDA(3, **QUICK).fit(corpus()) for _ in range(2))
    order = np.array([2, 0, 1])
    second = with_result(second, phi=first.fitted_.phi[:, order])
    matches, apart = match_topics(first, second)
    np.testing.assert_array_equal(order[matches], [0, 1, 2])
    np.testing.assert_allclose(apart, 0, atol=1e-6)


def test_topics_in_excess_have_no_partner_and_words_need_not_be_the_same() -> None:
    first = LDA(3, **QUICK).fit(corpus())
    second = LDA(2, **QUICK).fit(Corpus.from_tokens([["rain", "sun", "new"], ["cat", "dog", "word"]]))
    matches, apart = match_topics(first, second)
    assert sorted(matches) == [-1, 0, 1]
    assert np.isnan(apart[matches == -1]).all()
    assert match_topics(second, first)[0].min() >= 0
    own, other = compare_models({"a": first, "b": second}, None)
    assert (own.matches, own.name, other.name) == ((0, 1, 2), "a", "b")
    assert other.distances.count(None) == 1
    with pytest.raises(InputError, match="no word in common"):
        match_topics(first, LDA(2, **QUICK).fit(Corpus.from_tokens([["x", "y"]])))


def test_r_hat_is_that_of_arviz() -> None:
    arviz = pytest.importorskip("arviz")
    chains = np.random.default_rng(0).normal(size=(3, 40)).cumsum(axis=1)
    expected = float(np.asarray(arviz.rhat(chains, method="split")))
    assert r_hat(list(chains)) == pytest.approx(expected, abs=1e-4)
    assert expected > 1.1


def test_r_hat_is_near_1_for_chains_at_rest_and_none_for_short_ones() -> None:
    assert r_hat(list(np.random.default_rng(0).normal(size=(4, 500)))) == pytest.approx(1, abs=0.02)
    assert r_hat([np.ones(3)]) is None
    assert r_hat([np.ones(100)]) is None


def test_traces_are_thinned_and_keep_their_ends() -> None:
    model = LDA(2, **{**QUICK, "n_iter": 1203}).fit(corpus())
    (chain,) = summarise_training([model], ["one"]).chains
    assert len(chain.sweeps) == 500
    assert (chain.sweeps[0], chain.sweeps[-1]) == (1, 1203)
    traces = dict(chain.traces)
    assert set(traces) == set(model.history_.columns) - {"iteration"}
    assert traces["log_likelihood"][-1] == pytest.approx(model.history_["log_likelihood"].iloc[-1], rel=1e-4)


def test_many_draws_are_thinned() -> None:
    drawn = pack_draws(np.random.default_rng(0).normal(size=(1000, 40, 100)))
    assert drawn.n_draws == 75
    assert len(drawn.draws) == 4 * 75 * 40 * 100 // 3
