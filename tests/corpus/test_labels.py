"""Labels in every shape become the same named matrix."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_array

from metalda.corpus import NamedMatrix, as_labels
from metalda.corpus.labels import label_names
from metalda.errors import InputError

MISSING = [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, "", "  "]


def sets(labels: NamedMatrix) -> list[set[str]]:
    return [{labels.names[j] for j in np.flatnonzero(row)} for row in labels.matrix.toarray()]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (["b", "a", "b"], [{"b"}, {"a"}, {"b"}]),
        (("b", None, "b"), [{"b"}, set(), {"b"}]),
        ([3, 1, 2], [{"3"}, {"1"}, {"2"}]),
        ([1, 1.0, True], [{"1"}, {"1"}, {"True"}]),
        (np.array([1.0, np.nan, 2.0]), [{"1"}, set(), {"2"}]),
        (np.array([0, 1, 0], dtype=np.uint8), [{"0"}, {"1"}, {"0"}]),
        (np.array([True, False, True]), [{"True"}, {"False"}, {"True"}]),
        (np.array(["u", "v", "u"]), [{"u"}, {"v"}, {"u"}]),
        (np.array(["u", None, 1], dtype=object), [{"u"}, set(), {"1"}]),
        ([["a", "b", "a"], [], ("c",)], [{"a", "b"}, set(), {"c"}]),
        ([{"a", "b"}, frozenset("c"), np.array(["d"])], [{"a", "b"}, {"c"}, {"d"}]),
        ([["a", None, ""], [np.nan], None], [{"a"}, set(), set()]),
        ([[0, 1], [1, 0], [1]], [{"0", "1"}, {"0", "1"}, {"1"}]),
        (np.array([["a", "b"], ["c", "a"], ["a", "a"]]), [{"a", "b"}, {"a", "c"}, {"a"}]),
        (pd.Series(["x", None, "y"], index=[7, 7, 9]), [{"x"}, set(), {"y"}]),
        (pd.Series([1, None, 2], dtype="Int64"), [{"1"}, set(), {"2"}]),
        (pd.Series(["x", "y", "x"], dtype="category"), [{"x"}, {"y"}, {"x"}]),
        (np.array([[0, 1], [1, 1], [0, 0]]), [{"1"}, {"0", "1"}, set()]),
        (np.array([[False, True], [True, True], [False, False]]), [{"1"}, {"0", "1"}, set()]),
        (csr_array(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])), [{"1"}, {"0", "1"}, set()]),
        (coo_matrix(np.array([[0, 1], [1, 1], [0, 0]])), [{"1"}, {"0", "1"}, set()]),
        (pd.DataFrame({"s": [0, 1, 0], "t": [True, True, False]}), [{"t"}, {"s", "t"}, set()]),
        (NamedMatrix(np.array([[1], [0], [1]]), ("n",)), [{"n"}, set(), {"n"}]),
        (iter(["a", "b", "c"]), [{"a"}, {"b"}, {"c"}]),
        ([datetime.date(2020, 1, 2), b"by", " padded "], [{"2020-01-02"}, {"by"}, {"padded"}]),
    ],
)
def test_labels_of_every_shape(y, expected):
    labels = as_labels(y, 3)
    assert sets(labels) == expected
    assert labels.is_binary


def test_no_labels_at_all():
    assert as_labels(None, 3) is None
    assert as_labels(MISSING, len(MISSING)).shape == (len(MISSING), 0)


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (["10", "9", "2"], ("2", "9", "10")),
        ([10, 9, -2], ("-2", "9", "10")),
        (["10", "9", "b"], ("10", "9", "b")),
        (["nan", "9", "10"], ("10", "9", "nan")),
        (["b", "a", "B"], ("B", "a", "b")),
    ],
)
def test_names_are_sorted_as_numbers_if_all_are(y, names):
    assert as_labels(y, 3).names == names


def test_an_indicator_matrix_keeps_the_columns_that_nobody_has():
    assert as_labels(np.array([[0, 0, 1]]), 1).names == ("0", "1", "2")


class LikePolars:
    """A frame that knows how to become one of pandas."""

    columns = ("p", "q")

    def to_pandas(self):
        return pd.DataFrame({"p": [1, 0], "q": [0, 1]})


def test_other_frames_go_through_pandas():
    assert sets(as_labels(LikePolars(), 2)) == [{"p"}, {"q"}]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"], "labels for 1 documents, but there are 2 documents"),
        (["a", "b", "c"], "labels for 3 documents, but there are 2 documents"),
        (np.ones((3, 1)), "labels for 3 documents, but there are 2 documents"),
        (NamedMatrix(np.ones((1, 1)), ("a",)), "labels for 1 documents"),
        (np.array([[0, np.nan], [1, 0]]), "NaN"),
        (csr_array(np.array([[0, np.inf], [1, 0]])), "infinity"),
        (pd.DataFrame({"a": ["x", "y"]}), "a column per label"),
        ([1, 1.5], "labels of document 1: the label 1.5 is not a whole number.*bins"),
        (["a", float("inf")], "labels of document 1: the label inf is not a whole number"),
        ("ab", "a sequence with an entry per document, not str"),
        ({"a": 1, "b": 2}, "a sequence with an entry per document, not dict"),
        (3, "a sequence with an entry per document, not int"),
        (["a", {"b": 1}], "labels of document 1: a label must be a string or a number, not dict"),
        (["a", [["b"]]], "labels of document 1: a label must be a string or a number, not list"),
    ],
)
def test_bad_labels_are_one_line(y, message):
    with pytest.raises(InputError, match=message) as error:
        as_labels(y, 2)
    assert "\n" not in str(error.value)


def test_a_delimiter_splits_strings_only():
    assert label_names(" a, b,,  ,c,d ", ",") == ["a", "b", "c", "d"]
    assert label_names("a, b") == ["a, b"]
    assert label_names(["a, b", "c"], ",") == ["a, b", "c"]
    assert label_names(None, ",") == []


@given(st.lists(st.sets(st.text(min_size=1).filter(lambda s: s == s.strip()))))
def test_sets_of_labels_come_back(y):
    labels = as_labels(y, len(y))
    assert sets(labels) == y
    assert len(labels.names) == len(set().union(*y))


def test_numbers_are_kept_as_they_are():
    for y in (np.array([[0.5, 0], [-2, 1]]), pd.DataFrame({"0": [0.5, -2], "1": [0, 1]})):
        labels = as_labels(y, 2)
        assert not labels.is_binary
        np.testing.assert_array_equal(labels.matrix.toarray(), [[0.5, 0], [-2, 1]])


def test_half_a_character_in_a_label_is_replaced() -> None:
    labels = as_labels(["caf\ud800", "Größe", "caf\udfff"], 3)
    assert labels.names == ("Größe", "caf?")
    assert labels.matrix.toarray().tolist() == [[0, 1], [1, 0], [0, 1]]
