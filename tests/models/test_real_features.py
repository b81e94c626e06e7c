"""Word features with real values: word vectors that are not binarized."""

import numpy as np
import pytest

import metalda
from contracts import QUICK
from metalda import WFLDA, Embeddings, MetaLDA, WordFeatures
from metalda.errors import InputError

WORDS = [f"{side}{i}" for side in ("left", "right") for i in range(12)]


def _vectors(rng):
    """One dimension tells the side of a word, the other nothing; all words but two have vectors, and two more."""
    words = [*WORDS[:11], *WORDS[12:23], "left99", "right99"]
    side = [2.0 if word.startswith("left") else -1.0 for word in words]
    return Embeddings(
        tuple(words), np.column_stack([side + rng.normal(0, 0.3, len(words)), rng.normal(5, 9, len(words))])
    )


def _texts(rng, n=60):
    own = rng.integers(0, 2, n)
    return [
        [WORDS[12 * (rng.random() < (0.95 if right else 0.05)) + rng.integers(12)] for _ in range(10)] for right in own
    ]


@pytest.fixture(scope="module")
def texts():
    return _texts(np.random.default_rng(0))


@pytest.fixture(scope="module")
def vectors():
    return _vectors(np.random.default_rng(1))


@pytest.fixture(scope="module")
def model(texts, vectors):
    return MetaLDA(2, word_features=vectors, n_iter=400, random_state=0, verbose=False).fit(texts)


def test_the_dimension_that_tells_topics_apart_has_an_effect_and_the_other_none(model):
    effects = model.feature_effects().set_index(["feature", "topic"])
    left = int(model.components_[:, model.fitted_.word_index["left0"]].argmax())
    assert effects.loc[("dim0", left), "effect"] - effects.loc[("dim0", 1 - left), "effect"] > 0.5
    assert effects.loc[("dim0", left), "low"] > effects.loc[("dim0", 1 - left), "high"]
    for topic in range(2):
        assert effects.loc[("dim1", topic), "low"] < 0 < effects.loc[("dim1", topic), "high"]
    assert model.pooling_["n"].tolist() == [2]


def test_out_of_vocabulary_words_have_the_topics_of_their_vectors(model):
    left, right = model.transform([["left99"] * 4, ["right99"] * 4])
    assert left @ right < 0.2
    assert left.argmax() == model.transform([["left0", "left1"]]).argmax()
    assert np.isfinite(model.perplexity([["left99", "right99", "left0", "unknown"]], unseen="features"))


def test_embeddings_are_their_standardized_numbers(texts, vectors, model):
    same = MetaLDA(2, word_features=vectors.standardize(), n_iter=400, random_state=0, verbose=False).fit(texts)
    np.testing.assert_array_equal(same.components_, model.components_)


def test_a_saved_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    same, new = metalda.load(tmp_path / "model"), [["left99", "left3", "unknown"], ["right99"]]
    np.testing.assert_array_equal(same.transform(new), model.transform(new))
    assert same.perplexity(new, unseen="features") == model.perplexity(new, unseen="features")
    assert isinstance(same.word_features, WordFeatures)


def test_threads_shards_and_an_interruption_change_nothing(texts, vectors, tmp_path, monkeypatch):
    settings = {"word_features": vectors, "n_shards": 2, **QUICK}
    expected = MetaLDA(3, **settings).fit(texts)
    two = MetaLDA(3, **{**settings, "n_jobs": 2}).fit(texts)
    np.testing.assert_array_equal(two.components_, expected.components_)
    MetaLDA(3, **settings).fit(texts, checkpoint=tmp_path, checkpoint_every=7)
    resumed = MetaLDA(3, **settings).fit(texts, checkpoint=tmp_path, resume=True)
    np.testing.assert_array_equal(resumed.components_, expected.components_)


@pytest.mark.parametrize("settings", [{"weight_prior": "gamma"}, {"nu": 1.0}])
def test_gamma_priors_refuse_numbers(texts, vectors, settings):
    with pytest.raises(InputError, match="word features with numbers need a normal prior"):
        MetaLDA(2, word_features=vectors, **settings, **QUICK).fit(texts)


def test_word_feature_lda_takes_numbers(texts, vectors):
    model = WFLDA(2, word_features=vectors, n_iter=80, random_state=0, verbose=False).fit(texts)
    effects = model.feature_effects().pivot(index="feature", columns="topic", values="effect")
    assert abs(effects.loc["dim0", 0] - effects.loc["dim0", 1]) > 2 * abs(
        effects.loc["dim1", 0] - effects.loc["dim1", 1]
    )


def test_numbers_and_binary_features_are_combined(texts, vectors):
    sides = WordFeatures.from_mapping({word: word.rstrip("0123456789") for word in WORDS})
    model = MetaLDA(2, word_features=vectors.standardize() | sides, **QUICK).fit(texts)
    assert model.feature_names_ == ("dim0", "dim1", "left", "right")
    assert model.pooling_["group"].tolist() == ["source 1", "source 2"]
