"""WordFeatures: sources, alignment with a vocabulary, and refused input."""

import bz2
import copy
import gzip
import lzma
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalda.corpus import NamedMatrix
from metalda.errors import InputError, StorageError
from metalda.meta import Embeddings, WordFeatures, as_word_features

COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
FILES = {
    "f.txt": "cat\t0 2 \ndog\t2\nrock\t\n",
    "f.csv": "word,0,2\ncat,1,1\ndog,0,1\nrock,0,0\n",
    "f.tsv": "word\t0\t2\ncat\tTrue\t1.0\ndog\tfalse\t1\nrock\t0\t0.0\n",
}
words = st.text(min_size=1, max_size=4)
mappings = st.dictionaries(words, st.lists(words, max_size=4), min_size=1, max_size=6)


def as_mapping(features):
    """The features as {word: set of names}."""
    dense = features.features.matrix.toarray()
    names = features.features.names
    return {
        word: {name for name, bit in zip(names, row, strict=True) if bit}
        for word, row in zip(features.words, dense, strict=True)
    }


def error_of(path):
    with pytest.raises(InputError) as caught:
        WordFeatures.read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("name", FILES)
def test_every_format_in_every_compression_gives_the_same_features(tmp_path, name, compression):
    path = tmp_path / (name + compression)
    path.write_bytes(COMPRESS[compression](FILES[name].encode()))
    features = WordFeatures.read(path)
    assert as_mapping(features) == {"cat": {"0", "2"}, "dog": {"2"}, "rock": set()}
    assert features.features.names == ("0", "2")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("f.txt", "cat\t0\ndog 1\n", "line 2: no TAB"),
        ("f.txt", "cat\t0\ndog\t1 x\n", "line 2: 'x' is not the index"),
        ("f.txt", "cat\t-1\n", "line 1: '-1' is not the index"),
        ("f.txt", "cat\t1.5\n", "line 1: '1.5' is not the index"),
        ("f.txt", "cat\t0\ndog\t1\ncat\t2\n", "line 3: the word 'cat' again, first in line 1"),
        ("f.txt", b"cat\t0\n\xff\t1\n", "line 2: not UTF-8"),
        ("f.txt", "", "the file holds no words"),
        ("f.csv", "", "line 1: expected a header"),
        ("f.csv", "word\ncat\n", "line 1: expected a header"),
        ("f.csv", "word,a,a\n", "line 1: two features have the same name"),
        ("f.csv", "word,a\n", "the file holds no words"),
        ("f.csv", "word,a\ncat,1\ndog,1,0\n", "line 3: 3 columns, but the header has 2"),
        ("f.csv", "word,a,b\ncat,1,2\n", "line 2, column 'b': '2' is not 0 or 1"),
        ("f.csv", "word,a\ncat,\n", "line 2, column 'a': '' is not 0 or 1"),
        ("f.csv", "word,a\ncat,1\ncat,0\n", "line 3: the word 'cat' again"),
    ],
)
def test_a_bad_file_is_one_line_with_its_place(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert expected in error_of(path)


def test_a_missing_file_a_directory_and_a_damaged_archive_are_one_line(tmp_path):
    assert "no such file" in error_of(tmp_path / "absent.txt")
    assert "is a folder" in error_of(tmp_path)
    path = tmp_path / "f.txt.gz"
    path.write_bytes(b"cat\t0\n")
    assert "damaged" in error_of(path)


def test_a_huge_index_costs_nothing(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("cat\t999999999 10\ndog\t9\n")
    assert WordFeatures.read(path).features.names == ("9", "10", "999999999")


@given(mappings)
@settings(deadline=None)
def test_from_mapping_gives_back_the_mapping(mapping):
    assert as_mapping(WordFeatures.from_mapping(mapping)) == {word: set(names) for word, names in mapping.items()}


def test_from_mapping_takes_single_names():
    features = WordFeatures.from_mapping({"cat": "animal", "dog": ("animal", "pet"), "rock": set()})
    assert as_mapping(features) == {"cat": {"animal"}, "dog": {"animal", "pet"}, "rock": set()}


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ({}, "is empty"),
        ({1: "a"}, "must be strings, not int"),
        ({"cat": 3}, "the features of 'cat' must be a name or a list"),
        ({"cat": [3]}, "the features of 'cat' must be strings, not int"),
    ],
)
def test_from_mapping_refuses_what_has_no_names(mapping, expected):
    with pytest.raises(InputError, match=expected):
        WordFeatures.from_mapping(mapping)


def test_from_frame_takes_bits_as_they_are_and_categories_by_value():
    frame = pd.DataFrame(
        {
            "animal": [1, 1, 0],
            "pet": [True, False, False],
            "nullable": pd.array([False, True, False], dtype="boolean"),
            "size": pd.Categorical(["small", "big", None], categories=["big", "small", "unused"]),
            "color": ["red", None, "red"],
        },
        index=["cat", "cow", "rock"],
    )
    assert as_mapping(WordFeatures.from_frame(frame)) == {
        "cat": {"animal", "pet", "size=small", "color=red"},
        "cow": {"animal", "nullable", "size=big"},
        "rock": {"color=red"},
    }


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (pd.DataFrame({"a": [0, 2]}, index=["x", "y"]), "column 'a' has 2 for the word 'y'; .*pandas.cut"),
        (pd.DataFrame({"a": [0.5]}, index=["x"]), "column 'a' has 0.5"),
        (pd.DataFrame({"a": [1, None]}, index=["x", "y"]), "column 'a' has no value for the word 'y'"),
        (pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}, index=["x", "y"]), "has no value"),
        (pd.DataFrame({"a": [0]}), r"index must hold the words, not 0: use frame.set_index"),
        (pd.DataFrame({"a": [0, 1]}, index=["x", "x"]), "'x' occurs twice"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"], index=["x"]), "two columns of the frame give the feature 'a'"),
        (pd.DataFrame({"a": [["p", "q"]]}, index=["x"]), "column 'a' holds lists; use WordFeatures.from_mapping"),
        (pd.DataFrame({"a": []}), "is empty"),
        (pd.DataFrame(index=["x"]), "is empty"),
    ],
)
def test_from_frame_refuses_other_values(frame, expected):
    with pytest.raises(InputError, match=expected):
        WordFeatures.from_frame(frame)


@given(mappings, st.lists(words, max_size=8))
@settings(deadline=None)
def test_rows_follow_the_vocabulary_and_are_empty_for_unknown_words(mapping, vocabulary):
    features = WordFeatures.from_mapping(mapping)
    rows = features.rows(vocabulary)
    assert rows.names == features.features.names
    assert rows.shape == (len(vocabulary), len(rows.names))
    dense = rows.matrix.toarray()
    for word, row in zip(vocabulary, dense, strict=True):
        assert {name for name, bit in zip(rows.names, row, strict=True) if bit} == set(mapping.get(word, ()))
    expected = np.mean([bool(mapping.get(word)) for word in vocabulary]) if vocabulary else 0
    assert features.coverage(vocabulary) == expected


def test_no_overlap_is_an_error_with_examples_of_both_sides():
    features = WordFeatures.from_mapping({"cat": "animal", "rock": []})
    features.require_overlap(["dog", "cat"])
    for vocabulary in (["Cat", "Dog"], ["rock"], []):
        with pytest.raises(InputError, match=r"no word of the vocabulary has features: .*'cat'.*lower-case"):
            features.require_overlap(vocabulary)


@given(mappings, mappings)
@settings(deadline=None)
def test_combined_features_of_a_word_are_those_of_every_source(one, other):
    first, second = WordFeatures.from_mapping(one), WordFeatures.from_mapping(other)
    both = first | second
    assert set(both.words) == set(one) | set(other)
    split = len(first.features.names)
    np.testing.assert_array_equal(both.features.matrix.toarray()[:, :split], first.rows(both.words).matrix.toarray())
    np.testing.assert_array_equal(both.features.matrix.toarray()[:, split:], second.rows(both.words).matrix.toarray())


def test_combine_numbers_names_that_clash():
    one = WordFeatures.from_mapping({"cat": ["0", "1"]})
    other = WordFeatures.from_mapping({"dog": ["0", "2"], "cat": "2"})
    assert as_mapping(one | other) == {"cat": {"1:0", "1", "2"}, "dog": {"2:0", "2"}}
    assert one.combine(other, one).features.names == ("1:0", "1:1", "2:0", "2", "3:0", "3:1")
    awkward = WordFeatures.from_mapping({"cat": ["1:0", "0"]})
    assert one.combine(awkward).features.names == ("1:0", "1", "1:0'", "2:0")
    with pytest.raises(TypeError):
        one | {"cat": "animal"}


@pytest.mark.parametrize(
    ("names", "matrix", "expected"),
    [
        (("a",), [[1.0], [1.0]], "1 words for 2 rows"),
        (("a", "a"), [[1.0], [1.0]], "'a' occurs twice"),
        (("a", "b"), [[1.0], [1e300]], "must be below 3e38"),
    ],
)
def test_the_constructor_checks_words_and_bits(names, matrix, expected):
    with pytest.raises(InputError, match=expected):
        WordFeatures(names, NamedMatrix(np.array(matrix), ("f",)))


def test_word_features_are_shared_by_deep_copies_survive_pickling_and_are_shown_briefly():
    features = WordFeatures.from_mapping({"cat": ["animal", "pet"], "dog": "animal"})
    assert copy.deepcopy([features])[0] is features
    assert as_mapping(pickle.loads(pickle.dumps(features))) == as_mapping(features)
    assert repr(features) == "WordFeatures(2 words × 2 features)"
    assert len(features) == 2


@given(mappings)
@settings(deadline=None)
def test_saved_features_come_back_the_same(mapping):
    features = WordFeatures.from_mapping(mapping)
    again = WordFeatures.from_arrays(*features.to_arrays())
    assert again.words == features.words
    assert as_mapping(again) == as_mapping(features)


def test_lone_surrogates_survive_saving():
    features = WordFeatures.from_mapping({"\ud800": "\udfff", "": ""})
    assert WordFeatures.from_arrays(*features.to_arrays()).words == ("\ud800", "")


def test_damaged_arrays_are_a_storage_error():
    document, arrays = WordFeatures.from_mapping({"cat": ["animal", "pet"], "dog": "animal"}).to_arrays()
    damage = {
        "words": arrays["words"][:-1],
        "word_offsets": arrays["word_offsets"][::-1],
        "name_offsets": np.zeros(0, dtype=np.int64),
        "indices": np.array([0, 7, 0], dtype=np.int32),
        "indptr": np.array([0, 9, 3]),
        "names": np.full_like(arrays["names"], 255),
    }
    for name, array in damage.items():
        with pytest.raises(StorageError, match="word features are damaged"):
            WordFeatures.from_arrays(document, {**arrays, name: array})
    with pytest.raises(StorageError, match="damaged"):
        WordFeatures.from_arrays({"n_words": 3, "n_features": 2}, arrays)
    with pytest.raises(StorageError, match="damaged"):
        WordFeatures.from_arrays(document, {})


def test_as_word_features_takes_what_users_have():
    mapping = {"cat": "animal"}
    features = WordFeatures.from_mapping(mapping)
    assert as_word_features(None) is None
    assert as_word_features(features) is features
    assert as_mapping(as_word_features(mapping)) == {"cat": {"animal"}}
    assert as_mapping(as_word_features(pd.DataFrame({"animal": [1]}, index=["cat"]))) == {"cat": {"animal"}}
    vectors = Embeddings(("cat", "dog"), [[1.0, 2.0], [3.0, 2.0]])
    assert as_word_features(vectors) is as_word_features(vectors)
    assert as_word_features(vectors).features.names == ("dim0",)
    with pytest.raises(InputError, match="not list"):
        as_word_features(["cat"])


def test_combined_features_know_their_sources():
    first, second, third = (WordFeatures.from_mapping({"cat": name, "dog": name}) for name in "abc")
    both = first | second
    assert both.sources == (1, 2)
    assert (both | third).sources == (1, 2, 3)
    assert (third | both).sources_of(("a", "b", "c")) == ("source 2", "source 3", "source 1")
    assert WordFeatures.from_arrays(*both.to_arrays()).sources == (1, 2)
    with pytest.raises(InputError, match="a number from 1"):
        WordFeatures(first.words, first.features, (0,))


def test_numbers_are_combined_and_saved_with_their_values():
    vectors = Embeddings(("cat", "dog", "rain"), [[1.0, 2.0], [3.0, 2.5], [0.1, 7.0]]).standardize()
    both = vectors | WordFeatures.from_mapping({"cat": "animal", "sun": "weather"})
    assert both.sources == (1, 1, 2, 2)
    np.testing.assert_array_equal(both.rows(vectors.words).matrix.toarray()[:, :2], vectors.features.matrix.toarray())
    again = WordFeatures.from_arrays(*both.to_arrays())
    np.testing.assert_array_equal(again.features.matrix.toarray(), both.features.matrix.toarray())
    assert not again.is_binary
    document, arrays = both.to_arrays()
    for values in (arrays["values"][1:], arrays["values"].astype(np.float64), np.full_like(arrays["values"], np.nan)):
        with pytest.raises(StorageError, match="word features are damaged"):
            WordFeatures.from_arrays(document, {**arrays, "values": values})
