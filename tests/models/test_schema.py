"""New texts become words as those of training did, whoever made the corpus and wherever the model has been."""

import numpy as np
import pytest

import metalda
from contracts import QUICK
from metalda import LDA, Corpus, MetaLDA
from metalda.corpus.tokenising import Tokenising
from metalda.errors import InputError, StorageError

TEXTS = ["The cat and the dog saw THE cat", "rain and sun and Rain", "a dog and a cat", "the sun and the wind"] * 3
OTHERWISE = {"lowercase": False, "stop_words": ["the", "and"], "ngram_range": (1, 2), "token_pattern": r"[A-Za-z]+"}
NEW = ["The THE cat and rain Rain dog", "sun and sun"]


@pytest.fixture(scope="module")
def model():
    return LDA(3, **QUICK).fit(Corpus.from_texts(TEXTS, **OTHERWISE))


def test_texts_are_tokenised_as_those_of_training(model, tmp_path):
    expected = model.transform(Corpus.from_texts(NEW, **OTHERWISE))
    np.testing.assert_array_equal(model.transform(NEW), expected)
    assert not np.array_equal(expected, model.transform(Corpus.from_texts(NEW)))
    assert model.perplexity(NEW) == model.perplexity(Corpus.from_texts(NEW, **OTHERWISE))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(metalda.load(tmp_path / "model").transform(NEW), expected)


def test_a_corpus_knows_how_its_texts_became_words(tmp_path):
    corpus = Corpus.from_texts(TEXTS, **OTHERWISE)
    assert corpus.tokenising == Tokenising(False, r"[A-Za-z]+", ("and", "the"), (1, 2))
    corpus.save(tmp_path / "corpus")
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    for other in (
        corpus[:3],
        corpus.split()[0],
        corpus.with_labels(["a"] * 12).without_labels(),
        Corpus.load(tmp_path / "corpus"),
        Corpus.read(path, **OTHERWISE),
        Corpus.prepare(path, tmp_path / "prepared", **OTHERWISE),
    ):
        assert other.tokenising == corpus.tokenising
    assert Corpus.from_tokens([["a"]]).tokenising is None
    assert Corpus.from_counts(np.eye(2)).tokenising is None


def test_words_that_were_left_out_stay_out_even_if_they_have_features():
    features = {"the": "f", "and": "f", "cat": "g", "rain": "h"}
    corpus = Corpus.from_texts(TEXTS, stop_words="english")
    model = MetaLDA(3, word_features=features, **QUICK).fit(corpus)
    np.testing.assert_array_equal(model.transform(["the and the rain"]), model.transform(["rain"]))


def test_a_function_is_not_kept_and_that_is_said(tmp_path):
    model = LDA(2, **QUICK).fit(Corpus.from_texts(TEXTS, analyzer=str.split))
    model.save(tmp_path / "model")
    for each in (model, metalda.load(tmp_path / "model")):
        with pytest.raises(InputError, match="a function of your own made into words"):
            each.transform(NEW)
        assert each.transform(Corpus.from_texts(NEW, analyzer=str.split)).shape == (2, 2)


@pytest.mark.parametrize(
    "damage", [{"ngram_range": [1, "2"]}, {"stop_words": [1]}, {"lowercase": "no"}, {"analyzer": 3}, {"ngram_range": 7}]
)
def test_damaged_settings_are_noticed(damage):
    saved = Tokenising().to_saved() | damage
    with pytest.raises((ValueError, TypeError)):
        Tokenising.from_saved(saved)


def test_a_saved_corpus_with_damaged_settings_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(Tokenising, "to_saved", lambda self: {"lowercase": 3})
    Corpus.from_texts(TEXTS).save(tmp_path / "corpus")
    with pytest.raises(StorageError, match="damaged"):
        Corpus.load(tmp_path / "corpus")
