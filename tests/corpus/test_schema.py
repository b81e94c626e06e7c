"""The schema says how raw data becomes a corpus; fitted, it does the same with new data."""

import json

import numpy as np
import pandas as pd
import pytest

from corpus.files import sets, write
from metalda import Corpus
from metalda.corpus import FORMATS, Schema
from metalda.corpus.schema import FUNCTION
from metalda.errors import InputError, StorageError

FRAME = pd.DataFrame(
    {
        "plot": ["The war of stars", "love in war", "a small town", "stars and love"] * 3,
        "genre": ["war", "love", "town", "love"] * 3,
        "year": [1950, 1960, 1970, 1980] * 3,
        "rating": [1.0, 2.0, None, 4.0] * 3,
    }
)
HOW = {"text": "plot", "labels": "genre", "bins": {"year": 2}, "numbers": "rating"}
NEW = pd.DataFrame(
    {"plot": ["the stars", "of a town"], "genre": ["love", "war"], "year": [1999, 2000], "rating": [9, 9]}
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_frame(FRAME, **HOW, min_df=2)


def test_a_fitted_schema_has_edges_and_scales_but_no_filters(corpus):
    schema = corpus.schema
    assert schema.text == ("plot",)
    assert schema.labels == ("genre",)
    assert schema.bins == {"year": (1970.0,)}
    assert schema.numbers == {"rating": (2.33333, 1.24722)}
    assert schema.stop_words == "english"
    assert (schema.min_df, schema.max_df, schema.max_features, schema.vocabulary) == (1, 1.0, None, None)


def test_the_text_column_that_was_guessed_is_kept():
    frame = FRAME.rename(columns={"plot": "body"})
    assert Corpus.from_frame(frame).schema.text == ("body",)


def test_new_rows_have_the_intervals_and_scales_of_training(corpus):
    new = Corpus.from_frame(NEW, schema=corpus.schema)
    numeric = ("year < 1970", "year ≥ 1970", "rating")
    assert new.label_names[-3:] == corpus.label_names[-3:] == numeric
    np.testing.assert_allclose(new.labels.matrix.toarray()[:, -3:], [[0, 1, 5.34522]] * 2, atol=1e-5)
    assert list(new) == [["stars"], ["town"]]
    assert new.schema == corpus.schema


def test_arguments_override_a_schema(corpus):
    new = Corpus.from_frame(NEW, schema=corpus.schema, stop_words=None, labels="genre")
    assert new.label_names == ("love", "war")  # and neither bins nor numbers
    assert list(new) == [["the", "stars"], ["of", "town"]]
    assert Corpus.from_frame(NEW, schema=corpus.schema, labels=()).labels is None
    assert Corpus.from_frame(NEW, schema=corpus.schema, text="genre").document(0) == ["love"]


def test_files_are_read_by_the_schema_of_a_frame(corpus, tmp_path):
    NEW.to_csv(tmp_path / "new.csv", index=False)
    NEW.to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    expected = Corpus.from_frame(NEW, schema=corpus.schema)
    for name in ("new.csv", "new.jsonl"):
        read = Corpus.read(tmp_path / name, schema=corpus.schema)
        assert list(read) == list(expected)
        assert sets(read) == sets(expected)
        assert (read.schema.format, read.schema.suffix) == (name[4:], name[3:])


def test_columns_are_dropped_for_a_format_without_fields(corpus, tmp_path):
    path = write(tmp_path / "new.txt", "the stars\nof a town\n")
    read = Corpus.read(path, schema=corpus.schema)
    assert list(read) == [["stars"], ["town"]]
    assert read.labels is None
    with pytest.raises(InputError, match=r"the format 'text' has no fields: text= \(--text\) has no meaning"):
        Corpus.read(path, schema=corpus.schema, text="plot")


def test_the_format_of_training_is_for_files_with_its_suffix(tmp_path):
    table = "text\tsection\nstars\tx\n"
    schema = Corpus.read(write(tmp_path / "train.dat", table), format="tsv", labels="section").schema
    assert list(Corpus.read(write(tmp_path / "new.dat", table), schema=schema)) == [["stars"]]
    assert list(Corpus.read(write(tmp_path / "new.csv", "text,section\ntown,x\n"), schema=schema)) == [["town"]]
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "a.txt", "love")
    assert list(Corpus.read(tmp_path / "folder", schema=schema)) == [["love"]]


def test_missing_columns_of_new_data_are_one_line(corpus):
    for column in ("plot", "genre", "year"):
        with pytest.raises(InputError, match=f"frame: no field '{column}'"):
            Corpus.from_frame(NEW.drop(columns=column), schema=corpus.schema)


def test_the_schema_stays_with_the_corpus(corpus, tmp_path):
    corpus.save(tmp_path / "corpus")
    for other in (
        corpus[:3],
        corpus.split()[0],
        corpus.trim(),
        Corpus.load(tmp_path / "corpus"),
    ):
        assert other.schema == corpus.schema
    for other in (corpus.without_labels(), corpus.with_labels(["x"] * 12)):
        assert other.schema == corpus.schema.override(labels=())
    assert Corpus.from_tokens([["a"]]).schema is None
    assert Corpus.from_counts(np.eye(2)).schema is None


def test_json_gives_the_schema_back(corpus):
    functional = Corpus.from_texts(["a b"], analyzer=str.split, stop_words=["x", "y"], ngram_range=(1, 2)).schema
    assert functional.analyzer == FUNCTION
    for schema in (corpus.schema, functional):
        assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


HOSTILE = [
    {"text": 5},
    {"text": [5]},
    {"labels": {"a": 1}},
    {"id": 5},
    {"label_delimiter": ""},
    {"bins": []},
    {"bins": {"year": 5}},
    {"bins": {"year": []}},
    {"bins": {"year": [2, 1]}},
    {"bins": {"year": [1, 1]}},
    {"bins": {"year": ["1"]}},
    {"bins": {"year": [True]}},
    {"bins": {"year": [float("nan")]}},
    {"bins": {"year": [float("-inf"), 0]}},
    {"bins": {"year": [10**400]}},
    {"numbers": {"rating": None}},
    {"numbers": {"rating": [1]}},
    {"numbers": {"rating": [1, 0]}},
    {"numbers": {"rating": [1, -2]}},
    {"numbers": {"rating": [float("inf"), 1]}},
    {"numbers": {"rating": [1, float("nan")]}},
    {"numbers": {"rating": "12"}},
    {"bins": {"rating": [1.0]}},
    {"format": "pdf"},
    {"format": 5},
    {"suffix": []},
    {"encoding": "klingon"},
    {"encoding": None},
    {"lowercase": "no"},
    {"token_pattern": None},
    {"stop_words": [1]},
    {"stop_words": "klingon"},
    {"stop_words": "auto"},
    {"stem": "klingon"},
    {"stem": 5},
    {"tokenizer": "import os"},
    {"tokenizer": ["os:system"]},
    {"tokenizer": "os:system('x')"},
    {"tokenizer": "characters:2", "token_pattern": "x"},
    {"allow_tokenizer": True},
    {"phrases": True},
    {"phrases": ["ab"]},
    {"phrases": [["a", 5]]},
    {"phrases": [["a", "b"]], "ngram_range": [1, 2]},
    {"phrase_min_count": 3},
    {"phrase_threshold": 0.1},
    {"ngram_range": [1, "2"]},
    {"ngram_range": 7},
    {"ngram_range": [2, 1]},
    {"analyzer": 3},
    {"analyzer": "sentence"},
    {"min_df": 5},
    {"vocabulary": ["a"]},
    {"color": "red"},
]


@pytest.mark.parametrize("damage", HOSTILE, ids=repr)
def test_a_damaged_schema_is_a_storage_error(corpus, damage, tmp_path):
    with pytest.raises(ValueError, match="the schema"):
        Schema.from_json(corpus.schema.to_json() | damage)
    corpus.save(tmp_path / "corpus")
    path = tmp_path / "corpus" / "corpus.json"
    content = json.loads(path.read_text())
    content["document"]["schema"].update(damage)
    path.write_text(json.dumps(content))
    with pytest.raises(StorageError, match=r"damaged \(the schema|not valid JSON") as error:
        Corpus.load(tmp_path / "corpus")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("saved", [5, [], "schema", {}, {"text": []}])
def test_what_is_no_schema_is_refused(saved):
    with pytest.raises(ValueError, match="does not have the fields"):
        Schema.from_json(saved)


def test_english_stop_words_are_dropped_from_texts_but_not_from_tokens(tmp_path):
    texts, tokens = ["the cat", "of it all"], [["the", "cat"], ["of", "it", "all"]]
    assert list(Corpus.from_texts(texts)) == list(Corpus.from_frame(pd.DataFrame({"text": texts}))) == [["cat"], []]
    assert list(Corpus.read(write(tmp_path / "a.txt", "\n".join(texts)))) == [["cat"], []]
    assert list(Corpus.from_texts(texts, stop_words=None)) == tokens
    assert list(Corpus.from_tokens(tokens)) == tokens
    assert list(Corpus.from_frame(pd.DataFrame({"text": tokens}))) == tokens
    java = write(tmp_path / "java.txt", "1\tx\tthe cat\n2\ty\tof it all\n")
    assert list(Corpus.read(java)) == tokens
    assert list(Corpus.read(java, stop_words="english")) == [["cat"], []]


def test_the_default_list_needs_no_warning_for_another_token_pattern(recwarn):
    assert Corpus.from_texts(["a b"], token_pattern=r"\w").vocabulary == ("b",)
    assert not recwarn.list


def test_help_and_docstring_name_every_format():
    from metalda.cli.options import DATA_HELP

    for entry in FORMATS.values():
        assert entry.description in DATA_HELP
        assert f'"{entry.name}"' in Corpus.read.__doc__
        assert all(suffix == suffix.lower() for suffix in entry.suffixes)
    suffixes = [suffix for entry in FORMATS.values() for suffix in entry.suffixes]
    assert len(set(suffixes)) == len(suffixes)


def test_an_absurd_number_of_bins_is_refused():
    with pytest.raises(InputError, match="bins of 'year': at most 10,000 are possible, not 99999999999999999999"):
        Schema(bins={"year": 99999999999999999999})


def test_a_list_of_stop_words_may_contain_the_english_list():
    corpus = Corpus.from_texts(["the film of the cat", "a dog and a film"], stop_words=["english", "film"])
    assert corpus.vocabulary == ("cat", "dog")
    assert Schema.from_json(json.loads(json.dumps(corpus.schema.to_json()))) == corpus.schema
    assert Corpus.from_tokens([["the", "film"], ["cat"]], stop_words=["english", "film"]).vocabulary == ("cat",)
