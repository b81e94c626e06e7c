"""A sparse matrix whose columns have names: labels of documents, or features of words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.errors import InputError
from metalda.utils.chunks import spans

_Item = TypeVar("_Item", str, int)
S = TypeVar("S", bound=np.generic)


@dataclass(frozen=True, eq=False, repr=False)
class NamedMatrix:
    """A frozen sparse matrix with named columns.

    Parameters
    ----------
    matrix : sparse or dense, rows × columns
        Kept as ``csr_array`` of float64 in canonical form: sorted, without duplicates or explicit zeros.
    names : sequence of str
        One distinct name per column.
    """

    matrix: csr_array
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        matrix = csr_array(self.matrix, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        names = tuple(map(str, self.names))
        if len(names) != matrix.shape[1]:
            raise InputError(f"{len(names):,} names for {matrix.shape[1]:,} columns")
        if len(set(names)) < len(names):
            raise InputError(f"two columns have the name {first_duplicate(names)!r}")
        if not np.isfinite(matrix.data).all():
            raise InputError("the matrix has NaN or infinite values")
        for array in (matrix.data, matrix.indices, matrix.indptr):
            array.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "names", names)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        n_rows, n_columns = self.matrix.shape
        return n_rows, n_columns

    @property
    def is_binary(self) -> bool:
        """Return whether every value is 0 or 1."""
        return bool((self.matrix.data == 1).all())

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, index: object) -> "NamedMatrix":
        """Return the rows that a list of integers, a mask or a slice selects."""
        return NamedMatrix(self.matrix[row_indices(index, len(self))], self.names)

    def select(self, names: Iterable[str]) -> "NamedMatrix":
        """Return the columns with these names in this order; an unknown name gives an empty column."""
        wanted = tuple(names)
        target = {name: j for j, name in enumerate(wanted)}
        column_of = np.array([target.get(name, -1) for name in self.names], dtype=np.int64)
        cells = self.matrix.tocoo()
        columns = column_of[cells.col]
        kept = columns >= 0
        parts = (cells.data[kept], (cells.row[kept], columns[kept]))
        return NamedMatrix(csr_array(parts, shape=(len(self), len(wanted))), wanted)

    def __deepcopy__(self, memo: dict[int, object]) -> "NamedMatrix":
        return self

    def __reduce__(self) -> tuple[type, tuple[csr_array, tuple[str, ...]]]:
        return NamedMatrix, (self.matrix, self.names)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"NamedMatrix: {rows:,} rows, {columns:,} columns, {self.matrix.nnz:,} entries"


def first_duplicate(names: Iterable[_Item]) -> _Item | None:
    """Return the first name (or number) that occurs a second time."""
    seen: set[_Item] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def row_indices(index: object, n_rows: int) -> NDArray[np.int64]:
    """Return the row numbers that a slice, a Boolean mask or a list of integers selects, as int64.

    ``(index, ...)`` is accepted too: scikit-learn indexes objects with a shape in that way.
    """
    if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
        index = index[0]
    if isinstance(index, slice):
        return np.arange(n_rows, dtype=np.int64)[index]
    rows = np.asarray(index)
    if rows.ndim == 0:
        raise TypeError(f"select rows with a list, a mask or a slice, such as [[{index!r}]], not with {index!r} alone")
    if rows.size == 0:
        return np.empty(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "biu":
        raise InputError(
            f"rows are selected by integers or by a mask, not by {rows.dtype} values of shape {rows.shape}"
        )
    if rows.dtype.kind == "b":
        if len(rows) != n_rows:
            raise InputError(f"the mask has {len(rows):,} entries for {n_rows:,} rows")
        return np.flatnonzero(rows)
    rows = rows.astype(np.int64)
    if rows.min() < -n_rows or rows.max() >= n_rows:
        raise IndexError(
            f"row {rows.max() if rows.max() >= n_rows else rows.min()} is out of range for {n_rows:,} rows"
        )
    return np.where(rows < 0, rows + n_rows, rows)


def take_rows(
    values: NDArray[S], offsets: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[S], NDArray[np.int64]]:
    """Return these rows of flat ragged data, in this order, as values and offsets."""
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    new_offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    taken = np.empty(new_offsets[-1], values.dtype)
    for first, last in spans(new_offsets):
        begin, end = new_offsets[first], new_offsets[last]
        shifts = starts[first:last] - new_offsets[first:last]
        taken[begin:end] = values[np.arange(begin, end) + np.repeat(shifts, lengths[first:last])]
    return taken, new_offsets
