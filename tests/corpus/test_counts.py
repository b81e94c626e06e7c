"""Count matrices become tokens in an order that the document alone decides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import coo_matrix, csr_array, csr_matrix

from metalda.corpus import Corpus
from metalda.corpus.counts import sort_within
from metalda.errors import InputError

COUNTS = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6), elements=st.integers(0, 4)
)


@given(COUNTS)
@settings(deadline=None)
def test_counts_come_back(matrix):
    for form in (matrix, csr_array(matrix), csr_matrix(matrix), matrix.astype(float), matrix.astype(object).tolist()):
        corpus = Corpus.from_counts(form)
        np.testing.assert_array_equal(corpus.counts().toarray(), matrix)
        assert corpus.vocabulary == tuple(f"x{j}" for j in range(matrix.shape[1]))


@given(COUNTS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_a_document_has_one_order_in_whatever_matrix_it_stands(matrix, random):
    vocabulary = [f"w{j}" for j in range(matrix.shape[1])]
    whole = list(Corpus.from_counts(matrix, vocabulary=vocabulary))
    rows, columns = list(range(matrix.shape[0])), list(range(matrix.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    wider = np.hstack([matrix[rows][:, columns], np.zeros((len(rows), 1), int)])
    moved = Corpus.from_counts(wider, vocabulary=[*(vocabulary[j] for j in columns), "unused"])
    assert list(moved) == [whole[i] for i in rows]
    for i, document in enumerate(whole):
        assert list(Corpus.from_counts(matrix[[i]], vocabulary=vocabulary)) == [document]


def test_the_order_is_a_real_permutation():
    """Every other word must be a fair half: no word may prefer even positions, nor stay beside its copies."""
    n = 2000
    matrix = np.zeros((n, 6), int)
    matrix[:, :4] = 5
    matrix[:, 4] = np.arange(n) % 50
    matrix[:, 5] = np.arange(n) // 50
    corpus = Corpus.from_counts(matrix)
    even = np.zeros(4)
    adjacent = []
    for d in range(n):
        words = corpus.words[corpus.offsets[d] : corpus.offsets[d + 1]]
        even += np.bincount(words[::2], minlength=6)[:4] - np.bincount(words[1::2], minlength=6)[:4]
        adjacent.append(
            np.mean(words[1:] == words[:-1]) - ((matrix[d] * (matrix[d] - 1)).sum() / len(words) / (len(words) - 1))
        )
    assert (abs(even) < 5 * np.sqrt(5 * n)).all()
    assert abs(np.mean(adjacent)) < 5 * np.std(adjacent) / np.sqrt(n)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 2**63, 2**64 - 1])), max_size=20))
def test_sorting_within_documents_equals_lexsort(pairs):
    documents = np.array(sorted(d for d, _ in pairs), dtype=np.uint64)
    keys = np.array([k for _, k in pairs], dtype=np.uint64)
    order, expected = sort_within(documents, keys), np.lexsort((keys, documents))
    np.testing.assert_array_equal(documents[order], documents[expected])
    np.testing.assert_array_equal(keys[order], keys[expected])


def test_a_frame_names_the_words_and_duplicates_in_a_sparse_matrix_add_up():
    frame = pd.DataFrame({"beta": [1, 0], "alpha": [2, 3]})
    corpus = Corpus.from_counts(frame, labels=["p", None], ids=["i", "j"])
    assert corpus.vocabulary == ("beta", "alpha")
    assert corpus.counts().toarray().tolist() == [[1, 2], [0, 3]]
    assert corpus.ids == ("i", "j")
    twice = coo_matrix(([1, 2], ([0, 0], [1, 1])), shape=(1, 2))
    assert Corpus.from_counts(twice).counts().toarray().tolist() == [[0, 3]]


def test_the_matrix_of_the_caller_is_not_changed():
    matrix = csr_matrix(np.array([[2.0, 0.0, 1.0]]))
    matrix.data[0] = 0
    Corpus.from_counts(matrix)
    assert matrix.nnz == 2


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("bad", "message"), [(-1, "negative"), (np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")]
)
def test_what_is_no_count_is_refused_with_its_cell(bad, message, sparse):
    matrix = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, bad]])
    with pytest.raises(InputError, match=f"row 1, column 2 is .*{message}"):
        Corpus.from_counts(csr_array(matrix) if sparse else matrix)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(3), "two dimensions"),
        (np.ones((1, 2, 3)), "two dimensions"),
        ([["a", "b"]], "holds values that are not numbers"),
        (np.ones((1, 1)) * 1j, "complex"),
        (np.array([[1e12]]), "more than"),
        (np.empty((0, 3)), "no documents"),
    ],
)
def test_what_is_no_matrix_of_counts_is_refused(matrix, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_counts(matrix)


def test_weights_are_rounded_to_at_least_one_with_one_warning():
    with pytest.warns(UserWarning, match="2 of 3 cells .* tf-idf weights are not counts") as record:
        corpus = Corpus.from_counts(np.array([[0.2, 2.6], [0.0, 3.0]]))
    assert len(record) == 1
    assert record[0].filename == __file__
    assert corpus.counts().toarray().tolist() == [[1, 3], [0, 3]]


@pytest.mark.parametrize(
    ("vocabulary", "message"), [(["a"], "1 words, but the matrix has 2 columns"), (["a", "a"], "'a' twice")]
)
def test_a_vocabulary_that_does_not_fit_is_refused(vocabulary, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_counts(np.ones((1, 2)), vocabulary=vocabulary)


def test_labels_of_another_length_are_refused():
    with pytest.raises(InputError, match="labels for 1 documents, but there are 2 documents"):
        Corpus.from_counts(np.ones((2, 2)), labels=["a"])
