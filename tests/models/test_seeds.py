"""Seed words of MetaLDA: named topics come first and are about their seeds, alone and with labels and features."""

from contextlib import suppress

import numpy as np
import pytest
from tests.fuzz.saved import stopped_after

import metalda
from contracts import FEATURES, corpus
from metalda import Corpus, MetaLDA
from metalda.errors import HintWarning, InputError
from metalda.models.metalda import SEED_SHAPE
from training.test_checkpoint import assert_same_model

SEEDS = {"weather": ["rain", "clou*"], "pets": ["dog"]}
QUICK = {"n_iter": 40, "n_draws": 3, "random_state": 0, "verbose": False}


def _model(n_components=3, seeds=SEEDS, **other):
    return MetaLDA(n_components, **{"seeds": seeds, **QUICK, **other})


@pytest.fixture(scope="module")
def two_kinds():
    """Documents of two kinds of words, a0 … a9 and b0 … b9."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"{'ab'[d % 2]}{w}" for w in rng.integers(0, 10, 12)) for d in range(80)]
    return Corpus.from_texts(texts, token_pattern=r"\w+", min_df=1, max_df=1.0)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_named_topics_come_first_and_are_about_their_seeds(two_kinds, order):
    model = _model(3, {f"kind {kind}": [f"{kind}1", f"{kind}2"] for kind in order}).fit(two_kinds)
    assert model.fitted_.topic_names == (f"kind {order[0]}", f"kind {order[1]}", None)
    assert model.topics()["name"].tolist() == [f"kind {order[0]}", f"kind {order[1]}", ""]
    tops = model.top_words(5)
    assert [{word[0] for word in words} for words in tops[:2]] == [{order[0]}, {order[1]}]


def test_named_topics_have_the_same_numbers_in_all_chains(two_kinds):
    model = _model(3, {"b": ["b1"], "a": ["a1"]}, n_chains=3).fit(two_kinds)
    assert (model.fitted_.partners[:, :2] == [0, 1]).all()
    assert all(chain.fitted_.topic_names == ("b", "a", None) for chain in model.chains_)
    strengths = model.seed_strengths()
    assert strengths["chains"].tolist() == [3, 3]


def test_seeds_are_features_outside_the_learned_strengths():
    model = _model(word_features=FEATURES).fit(corpus())
    assert model.feature_names_ == ("animal", "weather", "noun", "seeds=weather", "seeds=pets")
    assert model.pooling_["group"].tolist() == ["", "source 1"]
    weights = model.draws_[-1].log_word_weights[3:5]
    assert (weights[[0, 0, 1, 1], [1, 2, 0, 2]] == 0).all()  # 1 in the topics of others
    assert (weights[[0, 1], [0, 1]] != 0).all()


def test_a_seed_set_may_be_named_like_a_feature():
    model = _model(seeds={"animal": ["rain"]}, word_features=FEATURES).fit(corpus())
    assert model.feature_names_[-1] == "seeds=animal"
    with pytest.raises(InputError, match="two columns have the name 'seeds=animal'"):
        _model(seeds={"animal": ["rain"]}, word_features={"cat": "seeds=animal"}).fit(corpus())


def test_tokens_of_seeds_start_in_their_topics():
    documents = corpus()
    seeds = {"weather": ["rain"], "noun": ["rain", "sun"], "pets": ["dog"]}
    problem = _model(seeds=seeds, seed_weight=100.0)._build_problem(documents)
    topics = problem.sampler.start(problem, np.random.default_rng(0), 1).topics
    of_word = {word: set(topics[problem.words == v].tolist()) for v, word in enumerate(documents.vocabulary)}
    assert of_word["rain"] == {0, 1}
    assert of_word["sun"] == {1}
    assert of_word["dog"] == {2}
    weights = problem.word_prior.start_weights(3)
    np.testing.assert_allclose(np.exp(weights[:3, :3]), np.eye(3) * 99 + 1)


@pytest.mark.parametrize("weight_prior", ["normal", "gamma"])
def test_the_prior_of_a_seed_weight_has_the_mean_seed_weight(weight_prior):
    prior = _model(seed_weight=30.0, weight_prior=weight_prior)._build_problem(corpus()).word_prior
    own = prior.own_topics >= 0
    np.testing.assert_allclose(prior.shapes[own] / prior.rates[own], 30.0)
    assert (prior.shapes[own] == SEED_SHAPE).all()
    np.testing.assert_array_equal(prior.shapes[~own], prior.rates[~own])


def test_strengths_count_the_tokens_of_the_words_of_a_set():
    model = _model().fit(corpus())
    table = model.seed_strengths()
    counts = np.mean([draw.word_topic_counts.toarray() for draw in model.draws_], axis=0)
    rows = [model.vocabulary_.index(word) for word in ("rain", "cloud")]
    assert table[["topic", "name", "words"]].values.tolist() == [[0, "weather", 2], [1, "pets", 1]]
    assert table["tokens"][0] == counts[rows].sum()
    np.testing.assert_allclose(table["in_topic"][0], counts[rows, 0].sum() / counts[rows].sum())
    assert (table["low"] < table["strength"]).all()
    assert (table["strength"] < table["high"]).all()
    logs = model.fitted_.weights["feature"][:, 1, 1].astype(np.float64)
    np.testing.assert_allclose(table["strength"][1], np.exp(logs.mean()))


def test_strengths_exist_only_with_seeds():
    assert not hasattr(MetaLDA(3), "seed_strengths")


def test_an_unseen_word_that_a_seed_matches_belongs_to_its_topic():
    model = _model().fit(corpus().without_labels())
    weather, empty = model.transform([["cloudy"], []])
    assert weather[0] > empty[0]


def test_a_saved_model_keeps_its_seeds(tmp_path):
    model = _model(n_chains=2, word_features=FEATURES, seed_weight=50).fit(corpus())
    model.save(tmp_path / "model")
    same = metalda.load(tmp_path / "model")
    assert same.seeds == SEEDS
    assert same.fitted_.topic_names == model.fitted_.topic_names
    assert same.seed_strengths().equals(model.seed_strengths())
    np.testing.assert_array_equal(same.transform(["rain dog cloudy"]), model.transform(["rain dog cloudy"]))


def test_other_seeds_are_another_run(tmp_path):
    with suppress(InterruptedError), stopped_after(5):
        _model().fit(corpus(), checkpoint=tmp_path / "c", checkpoint_every=2)
    with pytest.raises(InputError, match="another"):
        _model(seeds={**SEEDS, "pets": ["cat"]}).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    with pytest.raises(InputError, match="another"):
        _model(seeds=dict(reversed(SEEDS.items()))).fit(corpus(), checkpoint=tmp_path / "c", resume=True)
    assert_same_model(_model().fit(corpus()), _model().fit(corpus(), checkpoint=tmp_path / "c", resume=True))


def test_threads_do_not_change_the_result():
    assert_same_model(_model(n_shards=3).fit(corpus()), _model(n_shards=3, n_jobs=3).fit(corpus()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 1}, "2 seed sets are more than the 1 topics: raise n_components .* to 2"),
        ({"word_prior": 0.01}, 'seeds need word_prior="features"'),
        ({"word_prior": "default"}, 'seeds need word_prior="features"'),
        ({"seeds": {"a": ["zebra"]}}, r"no seed of 'a' is in the vocabulary \(zebra\)"),
        ({"seeds": {"a": [""]}}, "'a' has an empty seed"),
        ({"seeds": ["rain"]}, "seeds"),
        ({"seeds": {"topic1": ["rain"]}}, "seeds: the name 'topic1' could be the number of a topic"),
        ({"seeds": {"a\x00": ["rain"]}}, "seeds: the name .* cannot be printed"),
        ({"seed_weight": 1}, "seed_weight"),
    ],
)
def test_a_mistake_is_one_line(settings, message):
    with pytest.raises(ValueError, match=message) as error:
        _model(**settings).fit(corpus())
    assert "\n" not in str(error.value)


def test_counts_without_names_of_words_are_refused():
    with pytest.raises(InputError, match="need the names of the words"):
        _model().fit(corpus().counts())


def test_unknown_seeds_are_a_hint_of_fit():
    with pytest.warns(HintWarning, match=r"1 seed is not in the vocabulary, and without effect: zebra \(pets\)"):
        _model(seeds={"pets": ["dog", "zebra"]}).fit(corpus())
