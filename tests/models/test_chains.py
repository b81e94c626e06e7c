"""Several chains in one fit: each is a chain of its own, the same topics are found again, and results are averages."""

import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metalda
from contracts import CASES, PETS, SKIES, assert_distributions, corpus, with_result
from metalda import LDA, Corpus, LabeledLDA, MetaLDA, PartiallyLabeledLDA, diagnose_chains, to_inference_data
from metalda.models.chains import (
    NO_PARTNER,
    average_proportions,
    average_topics,
    bhattacharyya,
    find_partners,
    match_chains,
)
from metalda.training import memory
from metalda.training.loop import chain_seeds
from training.test_checkpoint import _interrupt_after, assert_same_model

SETTINGS = {"n_iter": 60, "random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def planted() -> Corpus:
    """Two topics that labels decide, and a third that all chains find again."""
    rng = np.random.default_rng(0)
    words = {kind: [f"{kind}{i}" for i in range(8)] for kind in ("sport", "law", "city")}
    labels = [["sport", "law"][d % 2] for d in range(80)]
    texts = [list(rng.choice(words[label], 12)) + list(rng.choice(words["city"], 6)) for label in labels]
    return Corpus.from_tokens(texts, labels)


@pytest.fixture(scope="module")
def four(planted: Corpus) -> MetaLDA:
    return MetaLDA(3, n_chains=4, **SETTINGS).fit(planted)


def assert_same_chains(one, other):
    assert len(one.chains_) == len(other.chains_)
    for a, b in zip(one.chains_, other.chains_, strict=True):
        assert_same_model(a, b)
        assert a.seed_ == b.seed_
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.doc_topics_, other.doc_topics_)


# Chains.


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_first_chain_is_that_of_a_fit_with_one_and_threads_change_nothing(case):
    alone, two, three = case.make().fit(corpus()), case.make(n_chains=2), case.make(n_chains=3, n_jobs=2)
    two.fit(corpus())
    three.fit(corpus())
    assert_same_model(alone, three.chains_[0])
    assert_same_model(two.chains_[1], three.chains_[1])
    assert not np.array_equal(three.chains_[1].components_, three.chains_[2].components_)
    for result in (three.components_, three.doc_topics_, three.transform(corpus())):
        assert_distributions(result)
    assert three.perplexity(corpus()) == pytest.approx(alone.perplexity(corpus()), rel=1e-12)
    assert three.topics()["share"].sum() == pytest.approx(1, abs=1e-6)
    assert three.topics()["chains"].between(1, 3).all()


def test_more_threads_than_chains_sweep_shards_with_the_same_result(planted):
    one, many = (MetaLDA(3, n_chains=2, n_shards=3, n_jobs=n, **SETTINGS).fit(planted) for n in (1, 5))
    assert_same_chains(one, many)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_model_with_chains_is_saved_and_loaded_whole(case, tmp_path):
    model = case.make(n_chains=3).fit(corpus())
    model.save(tmp_path / "model")
    loaded = metalda.load(tmp_path / "model")
    assert_same_chains(model, loaded)
    np.testing.assert_array_equal(model.transform(corpus()), loaded.transform(corpus()))
    assert model.perplexity(corpus(), draws="each") == loaded.perplexity(corpus(), draws="each")
    if model.label_names_ and hasattr(model, "label_effects"):
        pd.testing.assert_frame_equal(loaded.label_effects(0.5), model.label_effects(0.5))
    model.chains_[1].save(tmp_path / "chain")
    assert_same_model(metalda.load(tmp_path / "chain"), model.chains_[1])


@pytest.mark.parametrize("n_sweeps", [1, 7, 8, 35])
def test_a_resumed_run_gives_the_chains_of_an_uninterrupted_one(planted, n_sweeps, tmp_path, monkeypatch):
    make = {"n_components": 3, "n_chains": 3, **SETTINGS, "n_iter": 12}
    with monkeypatch.context() as patch:
        _interrupt_after(patch, n_sweeps)  # of all chains together
        with pytest.raises(MemoryError):
            MetaLDA(**make).fit(planted, checkpoint=tmp_path / "c", checkpoint_every=2)
    resumed = MetaLDA(**make, n_jobs=2).fit(planted, checkpoint=tmp_path / "c", resume=True)
    assert_same_chains(resumed, MetaLDA(**make).fit(planted))


def test_a_checkpoint_of_fewer_chains_is_told_apart(planted, tmp_path):
    LDA(2, n_chains=2, **SETTINGS).fit(planted, checkpoint=tmp_path / "c")
    with pytest.raises(metalda.errors.InputError, match="n_chains=2, now 3"):
        LDA(2, n_chains=3, **SETTINGS).fit(planted, checkpoint=tmp_path / "c", resume=True)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_all_chains_after_the_same_iteration(n_jobs, planted, interrupt, caplog):
    interrupt(8)  # of all chains together: in the third iteration
    with caplog.at_level(logging.WARNING, logger="metalda"):
        model = LDA(2, n_chains=3, n_jobs=n_jobs, **{**SETTINGS, "n_iter": 10**7}).fit(planted)
    assert [chain.n_iter_ for chain in model.chains_] == [3, 3, 3]
    assert "Stopped after 3 of 10000000 iterations" in caplog.text
    assert_distributions(model.transform(planted))


def test_seeds_differ_and_further_chains_leave_the_others_as_they_are():
    seeds = chain_seeds(7, 50)
    assert seeds[0] == 7
    assert len(set(seeds)) == 50
    assert chain_seeds(7, 4) == seeds[:4]
    assert not {*chain_seeds(8, 50)} & {*seeds}


def test_chains_need_memory(planted):
    problem = LDA(2)._build_problem(planted)
    one, four = (memory.estimate_memory(problem, 500, 1, n) for n in (1, 4))
    assert 2 * one < four < 5 * one


# Matching.


def test_topics_are_the_same_if_each_is_the_best_of_the_other_and_they_are_similar():
    similarity = np.array([[0.9, 0.85, 0.0], [0.85, 0.0, 0.0], [0.3, 0.2, 0.7]])
    found = find_partners(similarity, np.zeros(3, int))
    assert found.are_same.tolist() == [True, False, False]  # pairs with the largest sum would be 0-1 and 1-0
    assert found.topics.tolist() == [0, 1, 2]
    assert found.similarity.tolist() == [0.9, 0.0, 0.7]


def test_topics_of_different_labels_are_never_the_same_and_a_topic_alone_in_its_label_is():
    similarity = np.array([[0.1, 0.99, 0.5], [0.99, 0.9, 0.1], [0.0, 0.85, 0.3]])
    found = find_partners(similarity, np.array([0, 1, 1]))
    assert found.topics.tolist() == [0, 1, 2]
    assert found.are_same.tolist() == [True, True, False]


def test_topics_of_labels_are_the_same_in_every_chain(planted):
    model = LabeledLDA(n_chains=3, **SETTINGS).fit(planted)
    np.testing.assert_array_equal(model.fitted_.partners, [[0, 1]] * 3)
    assert model.topics()["label"].tolist() == ["law", "sport"] or model.topics()["label"].tolist() == ["sport", "law"]
    several = PartiallyLabeledLDA(2, n_shared=1, n_chains=3, **SETTINGS).fit(planted)
    labels = np.array(several.topic_labels_)
    for own in several.fitted_.partners:
        found = own != NO_PARTNER
        assert (labels[own[found]] == labels[found]).all()
        assert own[4] == 4  # the only shared topic


@given(st.integers(0, 10**6))
def test_reordered_topics_are_found_again(seed):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(50, 0.1), size=6).T
    order = rng.permutation(6)
    np.testing.assert_array_equal(match_chains([phi, phi[:, order]], np.zeros(6, int))[1], np.argsort(order))


# Averages.

PARTNERS = np.array([[0, 1, 2], [2, 0, NO_PARTNER], [1, NO_PARTNER, NO_PARTNER]])
THETA = [np.array([row], np.float32) for row in ([0.5, 0.2, 0.3], [0.4, 0.2, 0.4], [0.1, 0.6, 0.3])]


def test_topics_are_averaged_over_the_chains_that_have_them():
    expected = [(0.5 + 0.4 + 0.6) / 3, (0.2 + 0.4) / 2, 0.3]
    np.testing.assert_allclose(average_topics(THETA, PARTNERS)[0], expected, rtol=1e-6)


def test_the_rest_of_a_document_goes_to_topics_that_some_chains_lack():
    rest = 1 - 0.5  # the first topic is in all chains
    expected = [0.5, rest * 0.3 / 0.6, rest * 0.3 / 0.6]
    np.testing.assert_allclose(average_proportions(THETA, PARTNERS)[0], expected, rtol=1e-6)


@given(st.integers(0, 10**6))
def test_averaged_proportions_sum_to_one_also_where_topics_are_forbidden(seed):
    rng = np.random.default_rng(seed)
    allowed = rng.random(5) < 0.6
    allowed[0] = True
    chains, partners = [], [np.arange(5)]
    for _ in range(3):
        theta = np.zeros((4, 5), np.float32)
        theta[:, allowed] = rng.dirichlet(np.ones(allowed.sum()), size=4)
        chains.append(theta)
    partners += [np.where(rng.random(5) < 0.5, np.arange(5), NO_PARTNER) for _ in range(2)]  # labels keep their topics
    assert_distributions(average_proportions(chains, np.stack(partners)))


def test_effects_are_quantiles_over_the_draws_of_all_chains_that_have_the_topic(four, planted):
    table = four.label_effects(interval=0.8).set_index(["label", "topic"])
    sizes, partners = four.label_sizes_[:2], four.fitted_.partners
    effects, shares = [], []
    for chain, order in zip(four.chains_, partners, strict=True):
        logs = chain.fitted_.weights["label"].astype(np.float64)
        own = logs[:, :2] - (logs[:, :2] * (sizes / sizes.sum())[:, None]).sum(axis=1, keepdims=True)
        alpha = np.exp(logs[:, :2] + logs[:, 2:])  # every document has one label
        share = alpha / alpha.sum(axis=2, keepdims=True)
        effects.append(np.where(order == NO_PARTNER, np.nan, own[:, :, order]))
        shares.append(np.where(order == NO_PARTNER, np.nan, share[:, :, order]))
    everything, proportions = np.concatenate(effects), np.concatenate(shares)
    for k in range(3):
        assert (table.xs(k, level="topic")["chains"] == (partners[:, k] != NO_PARTNER).sum()).all()
        for j, label in enumerate(four.label_names_):
            values, row = everything[~np.isnan(everything[:, j, k]), j, k], table.loc[(label, k)]
            low, high = np.quantile(values, [0.1, 0.9], method="weibull")
            np.testing.assert_allclose(row[["effect", "low", "high"]].astype(float), [values.mean(), low, high])
            assert row["proportion"] == pytest.approx(np.nanmean(proportions[:, j, k]), rel=1e-5)
    assert four.label_effects().attrs["n_draws"] == 4 * 30


def test_one_chain_more_or_less_numbers_topics_as_the_first_does(four, planted):
    alone = MetaLDA(3, **SETTINGS).fit(planted)
    for k in range(3):
        overlap = set(alone.top_words(5)[k]) & set(four.top_words(5)[k])
        assert len(overlap) >= 3


def test_each_draw_of_each_chain_predicts(four, planted):
    each = [np.concatenate([*chain._log_predictive(planted, unseen="ignore", draws="each")]) for chain in four.chains_]
    expected = np.exp(-np.log(np.mean(np.exp(each), axis=0)).mean())
    assert four.perplexity(planted, draws="each") == pytest.approx(expected)
    assert four.perplexity(planted, draws="last") == pytest.approx(four.chains_[0].perplexity(planted, draws="last"))


def test_labels_are_predicted_by_all_chains(four, planted):
    expected = sum(chain.predict_label_probabilities(planted).to_numpy() for chain in four.chains_) / 4
    np.testing.assert_allclose(four.predict_label_probabilities(planted).to_numpy(), expected, rtol=1e-6)


def test_proportions_of_training_documents_are_averages_over_matched_topics(four):
    partners = four.fitted_.partners
    in_all = (partners != NO_PARTNER).all(axis=0)
    assert in_all.any(), "no topic is in all chains, so this shows nothing"
    own = [chain.doc_topics_[:, order[in_all]] for chain, order in zip(four.chains_, partners, strict=True)]
    np.testing.assert_allclose(four.doc_topics_[:, in_all], np.mean(own, axis=0), rtol=1e-4)


# Diagnostics.


def test_a_model_with_chains_is_diagnosed_as_its_chains_are(four):
    pd.testing.assert_frame_equal(diagnose_chains(four), diagnose_chains(list(four.chains_)))
    pytest.importorskip("arviz")
    assert to_inference_data(four).posterior["topic_share"].sizes["chain"] == 4


def test_a_topic_that_no_other_chain_has_is_not_matched(four):
    """The numbers of such a topic are those of the first chain."""
    chains = list(four.fitted_.chains)
    stranger = np.full(len(four.vocabulary_), 1e-6)
    stranger[0] = 1
    topic = 1
    for c in (1, 2, 3):
        phi = chains[c].phi.copy()
        phi[:, bhattacharyya(chains[0].phi, phi)[topic] > 0.5] = (stranger / stranger.sum())[:, None]
        chains[c] = with_result(four.chains_[c], phi=phi).fitted_
    other = with_result(four)
    other._fitted = four.fitted_.pool(chains, np.zeros(3, int), four.fitted_.parameters)
    assert other.topics()["chains"][topic] == 1
    np.testing.assert_array_equal(other.components_[topic], four.chains_[0].components_[topic])
    effects, alone = (model.label_effects().query(f"topic == {topic}") for model in (other, four.chains_[0]))
    assert (effects["chains"] == 1).all()
    shared = ["difference", "difference_low", "effect", "low", "high", "proportion", "rhat", "tail_ess"]
    pd.testing.assert_frame_equal(effects[shared], alone[shared])
    verdicts = diagnose_chains(list(other.chains_)).query(f"topic == {topic}")["verdict"]
    assert set(verdicts) == {"not matched"}


def test_a_rising_chain_is_counted_among_the_others(four):
    texts = (PETS + SKIES) * 20
    with pytest.warns(UserWarning, match=r"still rises in \d of 2 chains after 60 iterations"):
        LDA(20, n_chains=2, word_prior=0.001, doc_prior=0.001, **SETTINGS, burn_in=0).fit(texts)
