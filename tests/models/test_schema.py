"""A model keeps the schema of its corpus: new texts, rows and files are read as those of training were."""

import json

import numpy as np
import pandas as pd
import pytest

import metalda
from contracts import OFTEN, QUICK
from metalda import DMR, LDA, Corpus, LabeledLDA, MetaLDA
from metalda.errors import InputError, StorageError

TEXTS = ["The cat and the dog saw THE cat", "rain and sun and Rain", "a dog and a cat", "the sun and the wind"] * 3
OTHERWISE = {"lowercase": False, "stop_words": ["the", "and"], "ngram_range": (1, 2), "token_pattern": r"[A-Za-z]+"}
NEW = ["The THE cat and rain Rain dog", "sun and sun"]
FRAME = pd.DataFrame(
    {"plot": TEXTS, "genre": ["x", "y"] * 6, "year": [1950, 1960, 1970, 1980] * 3, "rating": [1.0, 2.0, None, 4.0] * 3}
)
HOW = {"text": "plot", "labels": "genre", "bins": {"year": 2}, "numbers": "rating"}
ROWS = pd.DataFrame({"plot": NEW, "genre": ["y", "x"], "year": [1999, 2000], "rating": [4.0, 9.0]})


@pytest.fixture(scope="module")
def model():
    return LDA(3, **QUICK).fit(Corpus.from_texts(TEXTS, **OTHERWISE))


@pytest.fixture(scope="module")
def of_rows():
    return DMR(3, **OFTEN, **QUICK).fit(Corpus.from_frame(FRAME, **HOW))


def test_texts_are_tokenized_as_those_of_training(model, tmp_path):
    expected = model.transform(Corpus.from_texts(NEW, **OTHERWISE))
    np.testing.assert_array_equal(model.transform(NEW), expected)
    assert not np.array_equal(expected, model.transform(Corpus.from_texts(NEW)))
    assert model.perplexity(NEW) == model.perplexity(Corpus.from_texts(NEW, **OTHERWISE))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(metalda.load(tmp_path / "model").transform(NEW), expected)


def test_a_model_keeps_the_schema_of_its_corpus(of_rows, tmp_path):
    assert of_rows.schema_ == Corpus.from_frame(FRAME, **HOW).schema
    assert of_rows.schema_.bins == {"year": (1970.0,)}
    of_rows.save(tmp_path / "model")
    assert metalda.load(tmp_path / "model").schema_ == of_rows.schema_
    assert LDA(2, **QUICK).fit([["cat"], ["dog"]]).schema_ is None
    assert LDA(2, **QUICK).fit(TEXTS).schema_.stop_words == "english"


def test_rows_of_a_frame_are_read_as_those_of_training(of_rows, tmp_path):
    new = Corpus.from_frame(ROWS, schema=of_rows.schema_)
    assert set(new.label_names) <= set(of_rows.label_names_)
    expected = of_rows.transform(new)
    np.testing.assert_array_equal(of_rows.transform(ROWS), expected)
    np.testing.assert_array_equal(of_rows.transform(ROWS[["rating", "year", "plot", "genre"]]), expected)
    assert of_rows.perplexity(ROWS) == of_rows.perplexity(new)
    other_scale = Corpus.from_frame(ROWS, schema=of_rows.schema_, numbers={"rating": [0, 1]})
    assert not np.array_equal(other_scale.labels.matrix.toarray(), new.labels.matrix.toarray())
    np.testing.assert_allclose(of_rows.transform(other_scale), expected, rtol=1e-5)
    of_rows.save(tmp_path / "model")
    np.testing.assert_array_equal(metalda.load(tmp_path / "model").transform(ROWS), expected)


def test_rows_are_folded_in_one_by_one_as_together(of_rows):
    one_by_one = np.concatenate([of_rows.transform(ROWS[i : i + 1]) for i in range(2)])
    np.testing.assert_array_equal(one_by_one, of_rows.transform(ROWS))


def test_rows_of_polars_are_read_too(of_rows):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(ROWS.to_dict("list"))
    np.testing.assert_array_equal(of_rows.transform(frame), of_rows.transform(ROWS))
    np.testing.assert_array_equal(of_rows.transform(frame.lazy()), of_rows.transform(ROWS))


def test_labels_are_needed_given_or_left_out(of_rows):
    texts = ROWS[["plot"]]
    with pytest.raises(InputError, match="no field 'genre'"):
        of_rows.transform(texts)
    y = ["genre=y", "genre=x"]
    np.testing.assert_array_equal(of_rows.transform(texts, y), of_rows.transform(NEW, y))
    without = Corpus.from_frame(texts, schema=of_rows.schema_, labels=())
    np.testing.assert_array_equal(of_rows.transform(without), of_rows.transform(NEW))
    unlabeled = LDA(3, **QUICK).fit(Corpus.from_frame(FRAME, **HOW))
    np.testing.assert_array_equal(unlabeled.transform(texts), unlabeled.transform(NEW))


@pytest.mark.parametrize("make", [MetaLDA, LabeledLDA])
def test_labels_of_rows_are_predicted_without_looking_at_them(make):
    model = make(**QUICK).fit(Corpus.from_frame(FRAME, text="plot", labels="genre"))
    expected = model.predict_label_probabilities(NEW)
    pd.testing.assert_frame_equal(model.predict_label_probabilities(ROWS), expected)
    pd.testing.assert_frame_equal(model.predict_label_probabilities(ROWS[["plot"]]), expected)


def test_a_frame_of_counts_is_still_one_even_if_a_word_is_called_like_the_text():
    model = LDA(2, **QUICK).fit(Corpus.from_frame(FRAME.rename(columns={"plot": "cat"}), text="cat"))
    counts = pd.DataFrame({"cat": [1, 2], "dog": [0, 3]})
    expected = model.transform(Corpus.from_counts(counts))
    np.testing.assert_array_equal(model.transform(counts), expected)


def test_rows_without_any_known_word_get_the_prior(of_rows):
    strangers = ROWS.assign(plot=["", None])
    assert of_rows.transform(strangers).shape == (2, 3)


def test_a_model_of_tokens_keeps_its_words_in_new_texts():
    tokens = [["the", "cat"], ["the", "dog"], ["of", "rain"]]
    model = LDA(2, **QUICK).fit(tokens)
    np.testing.assert_array_equal(model.transform(["the of cat"]), model.transform([["the", "of", "cat"]]))


def test_words_that_were_left_out_stay_out_even_if_they_have_features():
    features = {"the": "f", "and": "f", "cat": "g", "rain": "h"}
    corpus = Corpus.from_texts(TEXTS, stop_words="english")
    model = MetaLDA(3, word_features=features, **QUICK).fit(corpus)
    np.testing.assert_array_equal(model.transform(["the and the rain"]), model.transform(["rain"]))


def test_a_function_is_not_kept_and_the_error_says_so(tmp_path):
    model = LDA(2, **QUICK).fit(Corpus.from_texts(TEXTS, analyzer=str.split))
    model.save(tmp_path / "model")
    for each in (model, metalda.load(tmp_path / "model")):
        with pytest.raises(InputError, match="your own function tokenized"):
            each.transform(NEW)
        assert each.transform(Corpus.from_texts(NEW, analyzer=str.split)).shape == (2, 2)


@pytest.mark.parametrize("damage", [{"bins": {"year": [2, 1]}}, {"numbers": {"rating": [0, 0]}}, {"text": 3}, {"x": 1}])
def test_a_saved_model_with_a_damaged_schema_is_one_line(of_rows, tmp_path, damage):
    of_rows.save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    content = json.loads(path.read_text())
    content["document"]["schema"].update(damage)
    path.write_text(json.dumps(content))
    with pytest.raises(StorageError, match=r"the model is damaged .*the schema") as error:
        metalda.load(tmp_path / "model")
    assert "\n" not in str(error.value)


def test_a_frame_without_its_text_column_is_told_so(of_rows):
    with pytest.raises(InputError, match=r"neither the text column 'plot' nor .* columns are: genre, year"):
        of_rows.transform(ROWS[["genre", "year"]])
