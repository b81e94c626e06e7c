"""Sources of word features: the form of words, and nearest neighbors. Files and frames are in test_word_features.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalda.errors import InputError
from metalda.meta import Embeddings, WordFeatures
from metalda.meta import feature_sources as module
from metalda.meta.feature_sources import morphological_classes, nearest_neighbors, neighbor_lists

FORMS = ["connect", "connected", "connecting", "connection", "walked", "talked", "jumped", "painted", "rock"]


def test_forms_of_a_word_share_their_stem():
    classes = morphological_classes(FORMS, "english")
    assert {word for word, names in classes.items() if "stem:connect" in names} == set(FORMS[:4])
    assert not any("stem:rock" in names for names in classes.values())  # a class of one says nothing


def test_frequent_endings_are_features_and_rare_ones_are_not():
    classes = morphological_classes(FORMS, "english")
    assert {word for word, names in classes.items() if "suffix:-ed" in names} == {w for w in FORMS if w.endswith("ed")}
    assert not any("suffix:-ing" in names for names in classes.values())


def test_a_compound_is_in_the_class_of_each_of_its_parts():
    classes = morphological_classes(["connect_timeout", "connecting", "timeouts", "os.path", "path"], "english")
    assert {"stem:connect", "stem:timeout"} <= set(classes["connect_timeout"])
    assert "stem:path" in classes["os.path"]
    assert classes["path"] == ["stem:path"]


def test_shapes_tell_identifiers_numbers_and_abbreviations_from_words():
    words = [
        "read_only",
        "write_only",
        "os.path",
        "a.b",
        "utf8",
        "x2",
        "abc",
        "io",
        "incompatibilities",
        "straightforward",
    ]
    classes = morphological_classes(words, "english")
    for shape, members in {
        "underscore": {"read_only", "write_only"},
        "dotted": {"os.path", "a.b"},
        "digit": {"utf8", "x2"},
        "short": {"a.b", "x2", "abc", "io"},
        "long": {"incompatibilities", "straightforward"},
    }.items():
        assert {word for word, names in classes.items() if f"shape:{shape}" in names} == members


def test_case_does_not_matter_for_the_stem():
    classes = morphological_classes(["Connect", "CONNECTED"], "english")
    assert all(names == ["stem:connect"] for names in classes.values())


def test_other_languages_have_their_own_stems():
    classes = morphological_classes(["Häuser", "Haus", "Hauses"], "german")
    assert all("stem:haus" in names for names in classes.values())
    with pytest.raises(InputError, match=r"no stemmer for language 'klingon'; choose from: .*english"):
        WordFeatures.morphology(FORMS, language="klingon")


def test_morphology_lines_up_with_any_vocabulary():
    features = WordFeatures.morphology([*FORMS, *FORMS])
    assert features.words == tuple(FORMS)
    assert 0 < features.coverage(FORMS) < 1
    assert features.coverage(["unknown"]) == 0


@given(st.lists(st.text(max_size=6), min_size=1, max_size=8))
@settings(deadline=None)
def test_any_text_has_a_morphology_and_every_class_has_two_members(words):
    features = WordFeatures.morphology(words)
    assert set(features.words) == set(words)
    assert (features.features.matrix.sum(axis=0) >= 2).all()


vectors = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=n, max_size=n)
)


def obvious_neighbors(x, n_neighbors, min_similarity):
    """Compare all pairs."""
    result = []
    for i, a in enumerate(x):
        found = []
        for j, b in enumerate(x):
            length = np.sqrt(float(a @ a) * float(b @ b))
            if i != j and length > 0 and float(a @ b) / length >= min_similarity:
                found.append((round(-float(a @ b) / length, 5), j))
        result += [(i, j) for _, j in sorted(found)[:n_neighbors]]
    return result


@given(vectors, st.integers(1, 5), st.sampled_from([-0.95, -0.21, 0.31, 0.62, 0.85]), st.sampled_from([1, 30, 1 << 24]))
@settings(deadline=None)
def test_neighbors_equal_those_of_the_obvious_loop(rows, n_neighbors, min_similarity, entries):
    x = np.array(rows, dtype=np.float32)
    before, module._BLOCK_ENTRIES = module._BLOCK_ENTRIES, entries
    try:
        found_rows, found, similarity = nearest_neighbors(x, n_neighbors, min_similarity)
    finally:
        module._BLOCK_ENTRIES = before
    expected = obvious_neighbors(x.astype(float), n_neighbors, min_similarity)
    exact = [(i, round(cosine(x, i, j), 4)) for i, j in expected]  # equal cosines may swap by rounding
    assert [(i, round(cosine(x, i, j), 4)) for i, j in zip(found_rows.tolist(), found.tolist(), strict=True)] == exact
    np.testing.assert_allclose(similarity, [c for _, c in exact], atol=1e-3)


def cosine(x, i, j):
    a, b = x[i].astype(float), x[j].astype(float)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_words_share_the_features_of_their_neighbors_and_lonely_ones_are_left_out():
    embeddings = Embeddings(("cat", "dog", "rock", "zero"), [[1, 0.1], [1, 0], [-0.2, 1], [0, 0]])
    features = WordFeatures.from_neighbors(embeddings)
    assert features.words == embeddings.words
    assert features.features.names == ("near:cat", "near:dog")
    assert features.features.matrix.toarray().tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]


def test_a_vocabulary_limits_words_and_neighbors():
    embeddings = Embeddings(("cat", "dog", "cow"), [[1, 0], [1, 0.1], [1, 0.2]])
    features = WordFeatures.from_neighbors(embeddings, vocabulary=["cow", "cat", "unknown"])
    assert features.words == ("cat", "cow")
    assert features.features.names == ("near:cat", "near:cow")


def test_only_the_nearest_are_taken():
    angles = np.linspace(0, 1, 20)
    embeddings = Embeddings(tuple(map(str, range(20))), np.column_stack([np.cos(angles), np.sin(angles)]))
    features = WordFeatures.from_neighbors(embeddings, n_neighbors=2)
    assert (features.features.matrix.sum(axis=1) <= 3).all()
    row = features.rows(["10"]).matrix.indices
    assert [features.features.names[column] for column in row] == ["near:9", "near:10", "near:11"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be at least 1"),
        ({"min_similarity": 1.5}, "min_similarity is a cosine"),
        ({"min_similarity": float("nan")}, "min_similarity is a cosine"),
        ({"vocabulary": ["x"]}, "no word of the vocabulary has a vector; vectors are of 'cat'"),
    ],
)
def test_bad_settings_of_neighbors_are_refused(options, expected):
    with pytest.raises(InputError, match=expected):
        WordFeatures.from_neighbors(Embeddings(("cat",), [[1.0]]), **options)


@pytest.mark.data
def test_glove_neighbors_make_sense_and_come_out_the_same_twice(data_folder):
    embeddings = Embeddings.read(data_folder / "glove.6B.50d.subset.txt")
    features = WordFeatures.from_neighbors(embeddings, n_neighbors=5)
    again = WordFeatures.from_neighbors(embeddings, n_neighbors=5)
    assert (features.features.matrix != again.features.matrix).nnz == 0
    sizes = np.asarray(features.features.matrix.sum(axis=0))
    assert sizes.min() >= 2
    row = features.rows(["football"]).matrix.indices
    assert {"near:football", "near:soccer"} <= {features.features.names[column] for column in row}


@given(vectors, st.integers(0, 5), st.sampled_from([-0.95, 0.31, 0.62, 1.5]))
@settings(deadline=None, derandomize=True)
def test_lists_have_all_similar_words_or_none_where_they_are_too_many(rows, max_neighbors, similarity):
    x = np.array(rows, dtype=np.float32)
    starts, indices = neighbor_lists(x, max_neighbors, similarity)
    pairs = obvious_neighbors(x.astype(float), len(x), similarity)
    for i in range(len(x)):
        expected = {j for row, j in pairs if row == i}
        found = indices[starts[i] : starts[i + 1]].tolist()
        assert sorted(found) == sorted(expected if len(expected) <= max_neighbors else ())
