"""Which labels (or features) come together: the rows whose Dirichlet parameters are shared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.errors import InputError

DEFAULT = "(default)"


@dataclass(frozen=True, eq=False)
class Design:
    """Documents by labels (or words by features), with the default label always present and equal rows merged.

    Eight labels, one to a document, make eight rows, whatever the number of documents.
    """

    names: tuple[str, ...]  # of the labels; the default is the last
    row_of: NDArray[np.int32]  # document -> row
    row_sizes: NDArray[np.float64]  # documents in a row
    row_starts: NDArray[np.int64]  # labels of row r: row_labels[row_starts[r]:row_starts[r + 1]]
    row_labels: NDArray[np.int32]
    row_values: NDArray[np.float64]  # 1, unless values are real
    label_starts: NDArray[np.int64]  # rows of label l: label_rows[label_starts[l]:label_starts[l + 1]]
    label_rows: NDArray[np.int32]
    zero_is_a_number: bool = False  # a row without labels is one whose numbers are all 0: nothing is missing

    @classmethod
    def build(
        cls, labels: NamedMatrix | None, n_items: int, *, real: bool = False, numbers: bool | None = None
    ) -> Design:
        """Merge equal rows of `labels` (none: the default alone) for `n_items` documents or words.

        Values may be `real`. Whether some of them are `numbers` is seen from these, unless it is known.
        """
        names: tuple[str, ...] = ()
        matrix: Any = sparse.csr_array((n_items, 0))
        if labels is not None:
            if not real and not labels.is_binary:
                raise InputError(
                    "labels and word features must be 0 or 1 here; cut other numbers into intervals (bins, --bins), or "
                    "use DMR, which takes the numbers of documents as they are"
                )
            names, matrix = labels.names, labels.matrix
            numbers = not labels.is_binary if numbers is None else numbers
        row_of, firsts = _merge_rows(matrix.indptr, matrix.indices, matrix.data)
        rows = sparse.hstack([matrix[firsts], sparse.csr_array(np.ones((len(firsts), 1)))], format="csr")
        return cls.from_rows((*names, DEFAULT), row_of, rows, zero_is_a_number=bool(numbers))

    @classmethod
    def from_rows(
        cls, names: tuple[str, ...], row_of: NDArray[np.int32], rows: Any, *, zero_is_a_number: bool = False
    ) -> Design:
        """From the distinct rows [row, label], the default label last, and the row of every document."""
        rows.sort_indices()
        columns = rows.tocsc()
        columns.sort_indices()
        return cls(
            names=names,
            row_of=row_of,
            row_sizes=np.bincount(row_of, minlength=rows.shape[0]).astype(np.float64),
            row_starts=rows.indptr.astype(np.int64),
            row_labels=rows.indices.astype(np.int32),
            row_values=rows.data.astype(np.float64),
            label_starts=columns.indptr.astype(np.int64),
            label_rows=columns.indices.astype(np.int32),
            zero_is_a_number=zero_is_a_number,
        )

    @property
    def n_rows(self) -> int:
        return len(self.row_sizes)

    @cached_property
    def matrix(self) -> Any:
        """Rows by labels, as a sparse array."""
        shape = (self.n_rows, len(self.names))
        return sparse.csr_array((self.row_values, self.row_labels, self.row_starts), shape=shape)

    @cached_property
    def has_numbers(self) -> bool:
        """Whether values are other than 0 and 1."""
        return bool((self.row_values != 1).any())

    @property
    def bare_row(self) -> int | None:
        """The row of what has no labels, but the default one; None if there is none."""
        if self.zero_is_a_number:
            return None
        bare = np.flatnonzero(np.diff(self.row_starts) == 1)
        return int(bare[0]) if len(bare) else None

    @property
    def label_sizes(self) -> NDArray[np.float64]:
        """How many documents (or words) have each label."""
        sizes = np.repeat(self.row_sizes, np.diff(self.row_starts))
        return np.bincount(self.row_labels, weights=sizes, minlength=len(self.names)).astype(np.float64)

    def multiply(self, log_weights: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logarithms of the products of the weights of some rows' labels: exact, and for few rows or topics."""
        lengths = np.diff(self.row_starts)[rows]
        at = np.repeat(self.row_starts[rows] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        parts = log_weights[self.row_labels[at]] * self.row_values[at, None]
        return np.add.reduceat(parts, np.cumsum(lengths) - lengths, axis=0)


def _merge_rows(
    indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the distinct rows in order of appearance: the number of each row, and the first row of each number."""
    known: dict[bytes, int] = {}
    firsts: list[int] = []
    row_of = np.empty(len(indptr) - 1, np.int32)
    for i in range(len(row_of)):
        cells = slice(indptr[i], indptr[i + 1])
        key = indices[cells].tobytes() + values[cells].tobytes()
        number = known.setdefault(key, len(known))
        if number == len(firsts):
            firsts.append(i)
        row_of[i] = number
    return row_of, np.array(firsts, np.int64)
