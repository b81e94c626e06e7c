"""Nearest words by cosine, and the features made of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalda.errors import InputError
from metalda.meta import Embeddings, WordFeatures
from metalda.meta import neighbours as module
from metalda.meta.neighbours import nearest_neighbours, neighbour_lists

vectors = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=n, max_size=n)
)


def obvious_neighbours(x, n_neighbours, min_similarity):
    """All pairs, one after the other."""
    result = []
    for i, a in enumerate(x):
        found = []
        for j, b in enumerate(x):
            length = np.sqrt(float(a @ a) * float(b @ b))
            if i != j and length > 0 and float(a @ b) / length >= min_similarity:
                found.append((round(-float(a @ b) / length, 5), j))
        result += [(i, j) for _, j in sorted(found)[:n_neighbours]]
    return result


@given(vectors, st.integers(1, 5), st.sampled_from([-0.95, -0.21, 0.31, 0.62, 0.85]), st.sampled_from([1, 30, 1 << 24]))
@settings(deadline=None)
def test_neighbours_equal_those_of_the_obvious_loop(rows, n_neighbours, min_similarity, entries):
    x = np.array(rows, dtype=np.float32)
    before, module._BLOCK_ENTRIES = module._BLOCK_ENTRIES, entries
    try:
        found_rows, found, similarity = nearest_neighbours(x, n_neighbours, min_similarity)
    finally:
        module._BLOCK_ENTRIES = before
    expected = obvious_neighbours(x.astype(float), n_neighbours, min_similarity)
    exact = [(i, round(cosine(x, i, j), 4)) for i, j in expected]  # equal cosines may swap by rounding
    assert [(i, round(cosine(x, i, j), 4)) for i, j in zip(found_rows.tolist(), found.tolist(), strict=True)] == exact
    np.testing.assert_allclose(similarity, [c for _, c in exact], atol=1e-3)


def cosine(x, i, j):
    a, b = x[i].astype(float), x[j].astype(float)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_words_share_the_features_of_their_neighbours_and_lonely_ones_are_left_out():
    embeddings = Embeddings(("cat", "dog", "rock", "zero"), [[1, 0.1], [1, 0], [-0.2, 1], [0, 0]])
    features = WordFeatures.from_neighbours(embeddings)
    assert features.words == embeddings.words
    assert features.features.names == ("near:cat", "near:dog")
    assert features.features.matrix.toarray().tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]


def test_a_vocabulary_limits_words_and_neighbours():
    embeddings = Embeddings(("cat", "dog", "cow"), [[1, 0], [1, 0.1], [1, 0.2]])
    features = WordFeatures.from_neighbours(embeddings, vocabulary=["cow", "cat", "unknown"])
    assert features.words == ("cat", "cow")
    assert features.features.names == ("near:cat", "near:cow")


def test_only_the_nearest_are_taken():
    angles = np.linspace(0, 1, 20)
    embeddings = Embeddings(tuple(map(str, range(20))), np.column_stack([np.cos(angles), np.sin(angles)]))
    features = WordFeatures.from_neighbours(embeddings, n_neighbours=2)
    assert (features.features.matrix.sum(axis=1) <= 3).all()
    row = features.rows(["10"]).matrix.indices
    assert [features.features.names[column] for column in row] == ["near:9", "near:10", "near:11"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"n_neighbours": 0}, "n_neighbours must be at least 1"),
        ({"min_similarity": 1.5}, "min_similarity is a cosine"),
        ({"min_similarity": float("nan")}, "min_similarity is a cosine"),
        ({"vocabulary": ["x"]}, "no word of the vocabulary has a vector; vectors are of 'cat'"),
    ],
)
def test_bad_settings_are_refused(options, expected):
    with pytest.raises(InputError, match=expected):
        WordFeatures.from_neighbours(Embeddings(("cat",), [[1.0]]), **options)


@pytest.mark.data
@pytest.mark.slow
def test_glove_neighbours_make_sense_and_come_out_the_same_twice(data_folder):
    embeddings = Embeddings.read(data_folder / "glove.6B.50d.subset.txt")
    features = WordFeatures.from_neighbours(embeddings, n_neighbours=5)
    again = WordFeatures.from_neighbours(embeddings, n_neighbours=5)
    assert (features.features.matrix != again.features.matrix).nnz == 0
    sizes = np.asarray(features.features.matrix.sum(axis=0))
    assert sizes.min() >= 2
    row = features.rows(["football"]).matrix.indices
    assert {"near:football", "near:soccer"} <= {features.features.names[column] for column in row}


@given(vectors, st.integers(0, 5), st.sampled_from([-0.95, 0.31, 0.62, 1.5]))
@settings(deadline=None, derandomize=True)
def test_lists_have_all_similar_words_or_none_where_they_are_too_many(rows, max_neighbours, similarity):
    x = np.array(rows, dtype=np.float32)
    starts, indices = neighbour_lists(x, max_neighbours, similarity)
    pairs = obvious_neighbours(x.astype(float), len(x), similarity)
    for i in range(len(x)):
        expected = {j for row, j in pairs if row == i}
        found = indices[starts[i] : starts[i + 1]].tolist()
        assert sorted(found) == sorted(expected if len(expected) <= max_neighbours else ())
