"""The named sparse matrix."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import coo_array, csr_array

from metalda.corpus import NamedMatrix
from metalda.errors import InputError


def test_the_matrix_is_canonical_whatever_comes_in():
    matrix = coo_array(([1.0, 2.0, 0.0, 5.0], ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    named = NamedMatrix(matrix, ("a", "b"))
    assert isinstance(named.matrix, csr_array)
    assert named.matrix.dtype == np.float64
    assert named.matrix.has_canonical_format
    assert named.matrix.nnz == 2
    assert named.matrix.toarray().tolist() == [[0, 3], [5, 0]]
    assert not named.is_binary
    assert NamedMatrix(np.eye(2, dtype=bool), ("a", "b")).is_binary
    assert named.shape == (2, 2)
    assert len(named) == 2
    assert repr(named) == "NamedMatrix: 2 rows, 2 columns, 2 entries"


def test_the_matrix_of_the_caller_stays_as_it_was():
    matrix = csr_array(np.array([[1.0, 0.0]]))
    named = NamedMatrix(matrix, ("a", "b"))
    matrix.data[0] = 7
    assert named.matrix.toarray().tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("matrix", "names", "message"),
    [
        (np.ones((1, 2)), ("a",), "1 names for 2 columns"),
        (np.ones((1, 2)), ("a", "a"), "two columns have the name 'a'"),
        (np.array([[np.nan]]), ("a",), "NaN"),
        (np.array([[np.inf]]), ("a",), "infinite"),
    ],
)
def test_bad_matrices_are_refused(matrix, names, message):
    with pytest.raises(InputError, match=message):
        NamedMatrix(matrix, names)


@given(
    hnp.arrays(np.int8, hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=5), elements=st.integers(0, 2)),
    st.data(),
)
def test_rows_and_columns_are_those_of_the_dense_matrix(dense, data):
    names = tuple(f"n{j}" for j in range(dense.shape[1]))
    named = NamedMatrix(csr_array(dense), names)
    rows = data.draw(st.lists(st.integers(0, max(0, len(dense) - 1)), max_size=6)) if len(dense) else []
    np.testing.assert_array_equal(named[rows].matrix.toarray(), dense[np.array(rows, dtype=int)])
    wanted = data.draw(st.permutations([*names, "other"]))
    expected = [dense[:, names.index(name)] if name in names else np.zeros(len(dense)) for name in wanted]
    selected = named.select(wanted)
    assert selected.names == tuple(wanted)
    np.testing.assert_array_equal(selected.matrix.toarray(), np.array(expected).T.reshape(len(dense), len(wanted)))


def test_select_of_a_part():
    named = NamedMatrix(np.array([[1, 2, 3]]), ("a", "b", "c"))
    assert named.select(["c", "a"]).matrix.toarray().tolist() == [[3, 1]]
    assert named.select([]).shape == (1, 0)


def test_pickling():
    named = pickle.loads(pickle.dumps(NamedMatrix(np.eye(2), ("a", "b"))))
    assert named.names == ("a", "b")
    assert not named.matrix.data.flags.writeable
