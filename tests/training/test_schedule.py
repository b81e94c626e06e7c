"""A run that sets its own length: it is the run of that length, and ends when the chains are flat."""

import logging
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import CASES, EMBEDDINGS, Case, corpus
from metalda import LDA, LFLDA, Corpus, MetaLDA, WordFeatures
from metalda.errors import InputError
from metalda.training import loop, schedule
from metalda.training.checkpoint import Progress, TraceRow
from metalda.training.schedule import Stage, has_settled, kept_iterations, stage_lengths, weight_iterations
from models.test_chains import assert_same_chains
from training.test_checkpoint import _interrupt_after, assert_same_model

SETTINGS: dict[str, Any] = {"random_state": 0, "verbose": False}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first stage may be short, so that tests are."""
    monkeypatch.setattr(schedule, "FIRST_STAGE", 10)


def _settle_after(monkeypatch: pytest.MonkeyPatch, n_iter: int) -> None:
    monkeypatch.setattr(loop, "has_settled", lambda problem, stage, chains: stage.n_iter >= n_iter)


@given(limit=st.integers(1, 10**6))
def test_a_stage_keeps_what_the_stage_before_it_has_not_done(limit: int) -> None:
    lengths = stage_lengths(limit)
    assert lengths[-1] == limit
    for before, after in pairwise(lengths):
        assert before == after // 2  # the burn-in
        assert min(kept_iterations(after, after // 2, None, 15)) > before


def test_the_weights_of_a_stage_are_those_after_the_stage_before_it() -> None:
    problem = MetaLDA(2)._build_problem(corpus())
    before, after = stage_lengths(81)[-2:]
    assert min(weight_iterations(problem, after, after // 2)["label"]) == before + 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_run_that_settles_is_the_run_of_its_length(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    _settle_after(monkeypatch, 20)
    found = case.make(n_iter="auto", n_iter_limit=40, thin=None).fit(corpus())
    assert (found.n_iter_, found.n_burn_in, found.was_stopped_) == (20, 10, False)
    expected = case.make(n_iter=20, thin=None).fit(corpus())
    assert_same_model(found, expected)
    for name, weights in expected.fitted_.weights.items():
        np.testing.assert_array_equal(found.fitted_.weights[name], weights)


@pytest.mark.parametrize("n_sweeps", [15, 39, 40, 41, 75])
def test_a_resumed_run_settles_where_it_would_have(
    n_sweeps: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _settle_after(monkeypatch, 40)
    make: dict[str, Any] = {"n_components": 2, "n_iter": "auto", "n_iter_limit": 80, "n_chains": 2, **SETTINGS}
    with monkeypatch.context() as patch:
        _interrupt_after(patch, n_sweeps)  # of both chains together
        with pytest.raises(MemoryError):
            MetaLDA(**make).fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=3)
    resumed = MetaLDA(**make, n_jobs=2).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    assert resumed.n_iter_ == 40
    assert_same_chains(resumed, MetaLDA(**make).fit(corpus()))
    again = MetaLDA(**make).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    assert_same_chains(resumed, again)


def test_ctrl_c_keeps_the_draws_of_the_stage_before(
    interrupt: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    _settle_after(monkeypatch, 80)
    interrupt(43)
    with caplog.at_level(logging.WARNING, logger="metalda"):
        model = MetaLDA(2, n_iter="auto", n_iter_limit=80, n_draws=5, **SETTINGS).fit(corpus())
    assert "Stopped after 43 of 80 iterations" in caplog.text
    assert (model.n_iter_, model.n_burn_in, model.was_stopped_) == (43, 20, True)
    assert len(model.draws_) == 5 + 1  # of iterations 24, 28, … 40, and the last
    assert len(model.fitted_.weights["label"]) == 43 - 20
    np.testing.assert_allclose(model.doc_topics_.sum(axis=1), 1, rtol=1e-5)


def test_the_limit_is_said_where_chains_have_not_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    _settle_after(monkeypatch, 10**9)
    for is_flat, message in ((False, "the log-likelihood still has a trend"), (True, "fewer than 90% of the label")):
        monkeypatch.setattr(loop, "are_flat", lambda stage, chains, answer=is_flat: answer)
        with pytest.warns(UserWarning, match=f"after 40 iterations {message}"):
            model = MetaLDA(2, n_iter="auto", n_iter_limit=40, **SETTINGS).fit(corpus())
        assert (model.n_iter_, model.was_stopped_) == (40, False)


def _chain(n_iter: int, n_labels: int, *, rise: float = 0.0, stickiness: float = 0.0, seed: int = 0) -> Progress:
    """A chain whose log-likelihood rises by so many standard deviations, and whose weights are autocorrelated."""
    rng = np.random.default_rng(seed)
    likelihoods = rng.normal(size=n_iter) + rise * np.linspace(-1, 1, n_iter)
    steps = rng.normal(size=(n_iter, n_labels + 1, 3))
    weights = [steps[0]]
    for step in steps[1:]:
        weights.append(stickiness * weights[-1] + step)
    kept = {i: weights[i - 1].astype(np.float32) for i in range(n_iter // 2 + 1, n_iter + 1)}
    trace = [TraceRow(float(value), 0.0, 0, 0, 0) for value in likelihoods]
    state, rngs, doc_topics = SimpleNamespace(), SimpleNamespace(), np.zeros((1, 3), np.float32)
    return Progress(state, rngs, [], {"label": kept}, doc_topics, seed, trace)  # type: ignore[arg-type]


def test_a_run_has_settled_when_chains_are_flat_and_effects_have_draws() -> None:
    """Of 500 kept iterations, weights with a stickiness of 0.9 have about 500 / 19 effective draws."""
    problem = MetaLDA(3)._build_problem(corpus())
    stage, n_labels = Stage.plan(problem, 1000, 500, None, 15), len(problem.doc_prior.design.names) - 1
    flat, rising, falling = (_chain(1000, n_labels, rise=rise) for rise in (0, 3, -3))
    sticky = [_chain(1000, n_labels, stickiness=0.9, seed=seed) for seed in range(8)]
    assert has_settled(problem, stage, [flat])
    assert not has_settled(problem, stage, [rising])
    assert not has_settled(problem, stage, [falling])
    assert not has_settled(problem, stage, [flat, rising])
    assert not has_settled(problem, stage, sticky[:1])
    assert has_settled(problem, stage, sticky), "the draws of all chains count"
    without = LDA(3)._build_problem(corpus())
    assert has_settled(without, Stage.plan(without, 1000, 500, None, 15), sticky[:1]), "there are no effects"


def test_what_auto_cannot_go_with_is_refused() -> None:
    with pytest.raises(InputError, match="leave burn_in"):
        LDA(2, n_iter="auto", burn_in=5, **SETTINGS).fit(corpus())
    with pytest.raises(InputError, match="needs initial_iterations"):
        LFLDA(2, n_iter="auto", embeddings=EMBEDDINGS, **SETTINGS).fit(corpus())
    with pytest.raises(ValueError, match="n_iter"):
        LDA(2, n_iter="often", **SETTINGS).fit(corpus())


def test_weights_are_kept_where_they_were_drawn() -> None:
    """Copies of a draw would count as draws, and let few of them hold an interval."""
    problem = MetaLDA(2)._build_problem(corpus())
    prior = replace(problem.doc_prior, interval=4)  # draws after iterations 1, 5, 9, …
    kept = weight_iterations(replace(problem, doc_prior=prior), 20, 10)["label"]
    assert kept == {13, 17}
    assert weight_iterations(replace(problem, doc_prior=prior), 3, 2)["label"] == {3}  # the last has the weights of 1


def test_the_end_of_a_run_keeps_no_copy_of_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metalda.models.metalda._update_interval", lambda problem: 4)
    features = WordFeatures.from_mapping({"cat": ["animal"], "dog": ["animal"], "rain": ["weather"]})
    model = MetaLDA(2, word_features=features, n_iter=20, burn_in=10, **SETTINGS).fit(corpus())
    weights = model.fitted_.weights
    assert len(weights["feature"]) == 2  # of iterations 13 and 17
    assert (weights["feature"][0] != weights["feature"][1]).any()


def test_the_weights_of_many_features_are_drawn_in_every_fourth_or_sixteenth_iteration() -> None:
    """Where drawing them takes as long as drawing topics; a larger corpus has more tokens, but no more features."""
    words, has = [f"w{v}" for v in range(40)], np.random.default_rng(0).random((40, 60)) < 0.5
    features = WordFeatures.from_mapping(
        {word: [f"f{j}" for j in np.flatnonzero(own)] for word, own in zip(words, has, strict=True)}
    )
    small, large = (Corpus.from_tokens([words] * n) for n in (2, 200))
    intervals = [
        MetaLDA(n_topics, word_features=features)._build_problem(documents).word_prior.interval
        for n_topics, documents in ((2, small), (15, small), (100, small), (100, large))
    ]
    assert intervals == [1, 4, 16, 1]
