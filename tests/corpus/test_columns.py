"""Fields of records: which hold the text, the labels, the id; and numbers in bins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalda.corpus import Corpus
from metalda.corpus.columns import BinnedColumn, Columns, ScaledColumn, columns_of_labels, interval_names
from metalda.corpus.schema import Schema
from metalda.errors import HintWarning, InputError

FRAME = pd.DataFrame(
    {
        "id": [11, 12, 13, 14],
        "title": ["First title", None, "Third", "Fourth"],
        "body": ["some words here", "more words", None, "last words"],
        "section": ["sport", "art", None, "sport"],
        "tags": ["x, y", "y", "", "z,x,x"],
        "authors": [["ann", "bob"], ["bob"], [], None],
        "year": [1985, 1995, 2005, None],
    }
)


def sets(corpus: Corpus) -> list[set[str]]:
    return [{corpus.label_names[j] for j in np.flatnonzero(row)} for row in corpus.labels.matrix.toarray()]


def test_the_text_and_the_id_are_found_by_their_names():
    corpus = Corpus.from_frame(FRAME, stop_words=None)
    assert list(corpus) == [["some", "words", "here"], ["more", "words"], [], ["last", "words"]]
    assert corpus.ids == ("11", "12", "13", "14")
    assert corpus.labels is None


def test_another_id_can_be_named():
    assert Corpus.from_frame(FRAME, id="title").ids == ("First title", "", "Third", "Fourth")
    assert Corpus.from_frame(FRAME.drop(columns="id")).ids is None
    assert Corpus.from_frame(FRAME, id="year").ids == ("1985", "1995", "2005", "")


def test_several_text_fields_are_joined():
    corpus = Corpus.from_frame(FRAME, text=["title", "body"], stop_words=None)
    assert corpus.document(0) == ["first", "title", "some", "words", "here"]
    assert corpus.document(2) == ["third"]
    two = Corpus.from_frame(FRAME, text=["title", "body"], ngram_range=(2, 2), stop_words=None)
    assert "title some" in two.vocabulary


def test_lists_of_strings_are_tokens():
    corpus = Corpus.from_frame(pd.DataFrame({"text": [["A b", "C"], None, ["C"]]}))
    assert list(corpus) == [["A b", "C"], [], ["C"]]
    both = Corpus.from_frame(pd.DataFrame({"a": [["X"], None], "b": [["Y"], ["Z"]]}), text=["a", "b"])
    assert list(both) == [["X", "Y"], ["Z"]]


def test_one_label_field_gives_its_values():
    corpus = Corpus.from_frame(FRAME, labels="section")
    assert sets(corpus) == [{"sport"}, {"art"}, set(), {"sport"}]
    assert Corpus.from_frame(FRAME, labels=["section"]).label_names == ("art", "sport")


def test_several_label_fields_are_told_apart():
    corpus = Corpus.from_frame(FRAME, labels=["section", "authors"])
    assert sets(corpus) == [
        {"section=sport", "authors=ann", "authors=bob"},
        {"section=art", "authors=bob"},
        set(),
        {"section=sport"},
    ]


def test_a_delimiter_splits_labels():
    assert sets(Corpus.from_frame(FRAME, labels="tags", label_delimiter=",")) == [{"x", "y"}, {"y"}, set(), {"x", "z"}]


def test_numbers_fall_into_named_intervals():
    corpus = Corpus.from_frame(FRAME, labels="year", bins={"year": [1990, 2000, 2010]})
    assert corpus.label_names == ("year < 1990", "1990 ≤ year < 2000", "2000 ≤ year < 2010", "year ≥ 2010")
    assert sets(corpus) == [{"year < 1990"}, {"1990 ≤ year < 2000"}, {"2000 ≤ year < 2010"}, set()]


def test_intervals_stand_beside_other_labels_even_if_only_bins_names_the_field():
    corpus = Corpus.from_frame(FRAME, labels="section", bins={"year": 2})
    assert corpus.label_names == ("section=art", "section=sport", "year < 1995", "year ≥ 1995")
    assert sets(corpus)[0] == {"section=sport", "year < 1995"}


@given(st.lists(st.integers(0, 20), min_size=2).filter(lambda v: len(set(v)) > 1), st.integers(2, 6))
def test_quantile_bins_are_all_in_use_and_hold_what_their_names_say(values, n_bins):
    binning = BinnedColumn("n", n_bins)
    for value in values:
        binning.add(value)
    labels = binning.labels()
    assert 2 <= len(labels.names) <= n_bins
    assert (labels.matrix.sum(axis=1) == 1).all()
    assert (labels.matrix.sum(axis=0) > 0).all()
    for value, row in zip(values, labels.matrix.toarray(), strict=True):
        low, high = _bounds(labels.names[int(row.argmax())])
        assert low <= value < high


def _bounds(name: str) -> tuple[float, float]:
    parts = name.replace("≤", "|").replace("<", "|").replace("≥", "|").split("|")
    if len(parts) == 3:
        return float(parts[0]), float(parts[2])
    return (float(parts[1]), np.inf) if "≥" in name else (-np.inf, float(parts[1]))


def test_quantile_bins_are_about_equally_full():
    binning = BinnedColumn("n", 4)
    for value in np.random.default_rng(0).permutation(100):
        binning.add(str(value))
    assert binning.labels().matrix.sum(axis=0).tolist() == [25, 25, 25, 25]


def test_interval_names_are_exact():
    assert interval_names("t", [0.1, 1e20]) == ("t < 0.1", "0.1 ≤ t < 1e+20", "t ≥ 1e+20")
    assert interval_names("t", [-5.0]) == ("t < -5", "t ≥ -5")


class LikePolars:
    """A frame that knows how to become one of pandas."""

    def to_pandas(self):
        return FRAME


def test_other_frames_go_through_pandas():
    assert list(Corpus.from_frame(LikePolars())) == list(Corpus.from_frame(FRAME))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"text": "boddy"}, r"frame: no field 'boddy'; fields are: id, title, .*text= \(--text\)"),
        ({"labels": "sektion"}, r"frame: no field 'sektion'; fields are: id, .*labels= \(--labels\)"),
        ({"id": "no"}, r"frame: no field 'no'; .*id= \(--id\)"),
        ({"bins": {"jahr": 3}}, "frame: no field 'jahr'"),
        ({"text": "year"}, "frame row 0: the field 'year' holds float, not text"),
        ({"bins": {"section": 3}}, "frame row 0: the field 'section' holds 'sport', not a number"),
        ({"bins": {"authors": 3}}, "frame row 0: the field 'authors' holds .*, not a number"),
        ({"bins": {"year": 1}}, "at least 2 are needed, not 1"),
        ({"bins": {"year": []}}, "at least one"),
        ({"bins": {"year": [2, 1]}}, "must rise"),
        ({"bins": {"year": [1, float("nan")]}}, "must be numbers"),
        ({"bins": {"year": "5"}}, "a number of bins or a list of inner edges"),
        ({"bins": {"year": True}}, "a number of bins or a list of inner edges"),
        ({"label_delimiter": ""}, "label_delimiter is empty"),
        ({"min_df": 9}, "frame: no words left"),
    ],
)
def test_bad_fields_are_one_line(keywords, message):
    with pytest.raises(InputError, match=message) as error:
        Corpus.from_frame(FRAME, **keywords)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("frame", "keywords", "message"),
    [
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), {}, r"which field is the text\? Fields are: a, b; .*--text"),
        (pd.DataFrame({"text": ["x"], "body": ["y"]}), {}, "which field is the text"),
        (pd.DataFrame({"text": []}), {}, "frame: no documents"),
        (pd.DataFrame({"text": [["a", 1]]}), {}, "row 0: the field 'text' holds a list whose elements are not all"),
        (pd.DataFrame({"text": ["xx"], "n": [1.5]}), {"labels": "n"}, "row 0: field 'n': the label 1.5 .*bins"),
        (pd.DataFrame({"text": ["xx"], "n": [7]}), {"bins": {"n": 2}}, "fewer than two different numbers"),
        (pd.DataFrame({"text": ["xx"], "n": [np.inf]}), {"bins": {"n": 2}}, "row 0: the field 'n' holds inf"),
        (pd.DataFrame({"a": ["xx"], "b": [["y"]]}), {"text": ["a", "b"]}, "partly texts and partly lists"),
        ({"text": ["xx"]}, {}, "a DataFrame is needed, not dict"),
    ],
)
def test_bad_frames_are_one_line(frame, keywords, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_frame(frame, **keywords)


def test_an_unknown_setting_is_a_type_error():
    with pytest.raises(TypeError, match="min_dff"):
        Corpus.from_frame(FRAME, min_dff=3)


def test_numbers_are_taken_to_scale_and_missing_ones_are_average():
    values = [1990, 2000, None, 2010]
    frame = pd.DataFrame({"text": ["a b"] * 4, "year": values, "section": ["x", "y", "x", "y"]})
    with pytest.warns(HintWarning, match="'year' has no number in 1 of 4 documents: there it counts as 2000"):
        labels = Corpus.from_frame(frame, labels="section", numbers="year", token_pattern=r"\w").labels
    assert labels.names == ("section=x", "section=y", "year")
    np.testing.assert_allclose(labels.matrix.toarray()[:, 2], [-1.224744, 0, 0, 1.224744], atol=1e-5)
    again = Corpus.from_frame(frame[:1], numbers={"year": [1980, 5]}, token_pattern=r"\w").labels
    assert again.names == ("year",)
    assert again.matrix.toarray() == [[2.0]]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"numbers": "section"}, "'sport', not a number"),
        ({"numbers": "jahr"}, "no field 'jahr'"),
        ({"numbers": "year", "bins": {"year": 2}}, "choose one"),
        ({"numbers": {"year": [1, 0]}}, "center and the scale"),
    ],
)
def test_numbers_that_are_none_are_explained(other, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_frame(FRAME, **other)


def test_a_number_that_never_changes_teaches_nothing():
    scaling = ScaledColumn("n")
    for _ in range(3):
        scaling.add(7)
    with pytest.raises(InputError, match="fewer than two different numbers"):
        scaling.labels()


def test_labels_know_their_columns():
    frame = pd.DataFrame(
        {"text": ["cat", "dog", "sun"], "a": ["x=1", "y", ""], "a=b": ["z", "z", "w"], "year": [1, 2, 3]}
    )
    corpus = Corpus.from_frame(frame, text="text", labels=["a", "a=b"], bins={"year": 2})
    columns = columns_of_labels(corpus.label_names, corpus.schema)
    assert dict(zip(corpus.label_names, columns, strict=True)) == {
        "a=x=1": "a",
        "a=y": "a",
        "a=b=z": "a=b",
        "a=b=w": "a=b",
        "year < 2": "year",
        "year ≥ 2": "year",
    }
    alone = Corpus.from_frame(frame, text="text", labels="a")
    assert columns_of_labels(alone.label_names, alone.schema) == ("a", "a")
    number = Corpus.from_frame(frame, text="text", labels="a", numbers="year")
    assert columns_of_labels(number.label_names, number.schema) == ("a", "a", "year")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e300, 1.0], "numbers from 1 to 1e\\+300, which cannot be standardized"),
        ([1e-300, 2e-300], "which cannot be standardized"),
        (["2020-01-31", "2020-02-01"], "'2020-01-31', not a number; convert dates to numbers"),
        (list(pd.to_datetime(["2020-01-31", "2020-02-01"])), "convert dates to numbers"),
        ([True, False], "read it as labels"),
    ],
)
def test_numbers_that_cannot_be_standardized_are_refused(values, expected):
    with pytest.raises(InputError, match=expected):
        Corpus.from_frame(pd.DataFrame({"text": ["a cat", "a dog"], "x": values}), numbers="x")


def test_numbers_in_a_narrow_range_are_centered():
    """Seconds of a minute: six digits of their mean would be 1,000 standard deviations off."""
    seconds = 1_700_012_345 + np.arange(4)
    frame = pd.DataFrame({"text": ["cat"] * 4, "second": seconds})
    assert abs(Corpus.from_frame(frame, numbers="second").labels.matrix.toarray().mean()) < 1e-6


def test_an_error_closes_the_file_while_its_traceback_is_still_there():
    closed = []

    def records():
        try:
            yield 1, {"text": 7}
        finally:
            closed.append(True)

    columns = Columns("a.jsonl", "line", Schema(text=("text",)))
    columns.resolve(["text"])
    with pytest.raises(InputError, match="line 1") as raised:
        list(columns.documents(records()))
    assert raised.tb is not None
    assert closed
