"""A sparse matrix whose columns have names: labels by document, or features by word."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from metalda.corpus.rows import row_indices
from metalda.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class NamedMatrix:
    """A frozen sparse matrix with named columns.

    Parameters
    ----------
    matrix : sparse or dense, rows × columns
        Kept as ``csr_array`` of float64 in canonical form: sorted, without duplicates or explicit zeros.
    names : sequence of str
        One per column, all different.
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
        """Rows and columns."""
        return self.matrix.shape

    @property
    def is_binary(self) -> bool:
        """Whether every value is 0 or 1."""
        return bool((self.matrix.data == 1).all())

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, index: Any) -> "NamedMatrix":
        """The rows that a list of integers, a mask or a slice selects."""
        return NamedMatrix(self.matrix[row_indices(index, len(self))], self.names)

    def select(self, names: Iterable[str]) -> "NamedMatrix":
        """The columns with these names in this order; a name that is not here gives an empty column."""
        wanted = tuple(names)
        target = {name: j for j, name in enumerate(wanted)}
        column_of = np.array([target.get(name, -1) for name in self.names], dtype=np.int64)
        cells = self.matrix.tocoo()
        columns = column_of[cells.col]
        kept = columns >= 0
        parts = (cells.data[kept], (cells.row[kept], columns[kept]))
        return NamedMatrix(csr_array(parts, shape=(len(self), len(wanted))), wanted)

    def __deepcopy__(self, memo: dict[int, Any]) -> "NamedMatrix":
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return NamedMatrix, (self.matrix, self.names)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"NamedMatrix: {rows:,} rows, {columns:,} columns, {self.matrix.nnz:,} entries"


def first_duplicate(names: Iterable[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
