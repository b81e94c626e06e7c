"""The design matrix: which labels (or features) every document (or word) has.

Documents with equal labels share a row of the design, and with it a row of Dirichlet parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import NamedMatrix, Schema
from metalda.corpus.columns import columns_of_labels
from metalda.errors import InputError, StorageError
from metalda.meta.references import SAME, References, find_null_space, find_references
from metalda.meta.terms import LEVELS, Terms
from metalda.utils.checks import Arrays, check_array, check_ascending, check_finite, check_indices, check_starts

DEFAULT = "(default)"


@dataclass(frozen=True, eq=False)
class Design:
    """Documents by labels (or words by features), with equal rows merged and the default label in every row.

    With eight labels and one label for each document, the design has eight rows for any number of documents.
    """

    names: tuple[str, ...]  # of the labels; the last is the default label
    row_of: NDArray[np.int32]  # document -> row
    row_sizes: NDArray[np.float64]  # documents of each row
    row_starts: NDArray[np.int64]  # labels of row r: row_labels[row_starts[r]:row_starts[r + 1]]
    row_labels: NDArray[np.int32]
    row_values: NDArray[np.float64]  # all 1, unless labels are numbers
    label_starts: NDArray[np.int64]  # rows of label l: label_rows[label_starts[l]:label_starts[l + 1]]
    label_rows: NDArray[np.int32]
    groups: NDArray[np.int32]  # label -> group, without the default label
    group_names: tuple[str, ...]  # the columns that labels come from, or the sources of features
    zero_is_a_number: bool = False  # labels are numbers: an empty row has the values 0, and no label is missing
    terms: Terms | None = None  # how the labels of documents became columns

    @classmethod
    def build(
        cls, labels: NamedMatrix | None, n_items: int, *, real: bool = False, numbers: bool | None = None
    ) -> Design:
        """Merge equal rows of `labels` for `n_items` documents or words; without labels, each has the default label.

        Values other than 0 and 1 are an error unless `real`. `numbers` tells whether labels are numbers, for which 0
        is a value like any other; by default they are numbers if some value is neither 0 nor 1.
        """
        names: tuple[str, ...] = ()
        matrix: sparse.csr_array = sparse.csr_array((n_items, 0))
        if labels is not None:
            if not real and not labels.is_binary:
                raise InputError(
                    "labels and word features must be 0 or 1 here; cut numbers into intervals (bins, --bins). Numbers "
                    "as labels of documents need DMR, or MetaLDA with doc_prior='labels' and weight_prior='normal'"
                )
            names, matrix = labels.names, labels.matrix
            numbers = not labels.is_binary if numbers is None else numbers
        row_of, firsts = _merge_rows(matrix.indptr, matrix.indices, matrix.data)
        rows = sparse.hstack([matrix[firsts], sparse.csr_array(np.ones((len(firsts), 1)))], format="csr")
        return cls.from_rows((*names, DEFAULT), row_of, rows, zero_is_a_number=bool(numbers))

    @classmethod
    def from_rows(
        cls,
        names: tuple[str, ...],
        row_of: NDArray[np.int32],
        rows: sparse.csr_array,
        *,
        zero_is_a_number: bool = False,
    ) -> Design:
        """Build a design from distinct rows [row, label], the default label last, and the row of every document."""
        rows.sort_indices()
        n_labels = len(names) - 1
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
            groups=np.zeros(n_labels, np.int32),
            group_names=("",) if n_labels else (),
            zero_is_a_number=zero_is_a_number,
        )

    def group(self, groups: Sequence[str]) -> Design:
        """Return the design with the group of each label. Without it all labels are of one group without a name."""
        group_names = tuple(dict.fromkeys(groups))
        numbers = np.array([group_names.index(name) for name in groups], np.int32)
        return replace(self, groups=numbers, group_names=group_names)

    def describe(self, terms: Terms | None, schema: Schema | None) -> Design:
        """Return the design with the terms of its columns, which are grouped as these say.

        Without a formula, labels are grouped by the column that they were read from, if they were.
        """
        if terms is not None and terms.formula is not None:
            return replace(self.group(terms.groups_of(self.names[:-1])), terms=terms)
        grouped = self
        if schema is not None and schema.has_labels:
            grouped = self.group(columns_of_labels(self.names[:-1], schema))
        return replace(grouped, terms=terms)

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return plain arrays, from which ``from_arrays`` makes the same design."""
        return {
            "row_of": self.row_of,
            "starts": self.row_starts,
            "labels": self.row_labels,
            "values": self.row_values,
        }

    @classmethod
    def from_arrays(cls, names: tuple[str, ...], arrays: Arrays, *, zero_is_a_number: bool) -> Design:
        """Invert ``to_arrays``; StorageError if the arrays are not those of a design."""
        row_of, starts, labels, values = (arrays[name] for name in ("row_of", "starts", "labels", "values"))
        check_array("the rows of documents", row_of, np.int32, (None,))
        check_array("the starts of rows", starts, np.int64, (None,))
        check_array("the labels of rows", labels, np.int32, (None,))
        check_array("the values of labels", values, np.float64, (len(labels),))
        check_starts("the starts of rows", starts, len(labels))
        n_rows = len(starts) - 1
        check_indices("the rows of documents", row_of, n_rows)
        check_indices("the labels of rows", labels, len(names))
        check_ascending("the labels of rows", labels, starts)
        check_finite("the values of labels", values)
        if not np.bincount(row_of, minlength=n_rows).all() or not np.bincount(labels, minlength=len(names)).all():
            raise StorageError("a label or a row of labels belongs to no document")
        ends = starts[1:] - 1
        if (starts[1:] == starts[:-1]).any() or (labels[ends] != len(names) - 1).any() or (values[ends] != 1).any():
            raise StorageError("a row of labels lacks the default label")
        rows = sparse.csr_array((values, labels, starts), shape=(n_rows, len(names)))
        return cls.from_rows(names, row_of, rows, zero_is_a_number=zero_is_a_number)

    @cached_property
    def null_space(self) -> NDArray[np.float64]:
        """Return a basis [label, dimension] of the weights that change no alpha."""
        return find_null_space(self.matrix)

    @cached_property
    def references(self) -> References:
        """Return what the effect of each label is relative to."""
        sums = [(parts, whole) for parts, whole in self.sums if whole < len(self.names) - 1]
        return find_references(self.null_space, self.label_sizes[:-1], sums)

    @cached_property
    def sums(self) -> list[tuple[NDArray[np.int64], int]]:
        """Return columns of one group whose sum is another column, with that column; the smallest parts come first.

        The labels of a column may sum to the default label, ``genre=War:year`` and its like to ``year``, and
        ``sport/football`` and its like to ``sport``.
        """
        position = {name: j for j, name in enumerate(self.names[:-1])}
        found: dict[tuple[int, int], list[int]] = {}
        for j, (name, group) in enumerate(zip(self.names[:-1], self.groups, strict=True)):
            factors = name.split(":") if self.terms is None else self.terms.factors_of(name)
            wholes = [":".join(factors[:i] + factors[i + 1 :]) for i in range(len(factors))]
            wholes.append(name.rpartition(LEVELS)[0])
            for whole in {len(self.names) - 1, *(position[whole] for whole in wholes if whole in position)}:
                found.setdefault((int(group), whole), []).append(j)
        matrix = self.matrix.tocsc()
        sums = [
            (np.array(parts), whole)
            for (_, whole), parts in found.items()
            if np.abs(matrix[:, parts].sum(axis=1) - matrix[:, [whole]].toarray()[:, 0]).max() < SAME
        ]
        depth = [name.count(":") + name.count(LEVELS) for name in self.names]
        return sorted(sums, key=lambda own: (-max(depth[j] for j in own[0]), own[1], int(own[0][0])))

    def stand_ins(self, new: Design) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the shares [new row, set] of label sets that new documents with missing labels may have, and the sets.

        The documents of this design do not identify alpha of a label set such as a section without a year, if every
        document has both. Such a document may have the labels of those documents that have the most labels in common
        with it: those of the section. It keeps its own numbers. Rows of identified label sets have no shares.
        """
        sets, rows, columns, shares, n_sets = [self.matrix], [], [], [], self.n_rows
        labels = ~self.is_number
        for i in self._not_identified(new):
            row = new.matrix[[i]].toarray()[0]
            common = self.matrix[:, labels] @ row[labels]
            nearest = np.flatnonzero(common == common.max())
            weights, found = self.row_sizes[nearest] / self.row_sizes[nearest].sum(), nearest
            if self.has_numbers and i != new.bare_row:
                own_sets, weights = self._with_numbers(nearest, weights, row)
                sets.append(own_sets)
                found = n_sets + np.arange(own_sets.shape[0])
                n_sets += len(found)
            rows.append(np.full(len(found), i))
            columns.append(found)
            shares.append(weights)
        stacked = sparse.csr_array(sparse.vstack(sets))
        if not rows:
            return sparse.csr_array((new.n_rows, n_sets)), stacked
        cells = np.concatenate(shares), (np.concatenate(rows), np.concatenate(columns))
        return sparse.csr_array(cells, shape=(new.n_rows, n_sets)), stacked

    def _with_numbers(
        self, rows: NDArray[np.int64], weights: NDArray[np.float64], new: NDArray[np.float64]
    ) -> tuple[sparse.csr_array, NDArray[np.float64]]:
        """Return the distinct labels of rows together with the numbers of a new row, and the sums of their weights."""
        parts = sparse.csr_array(self._label_parts[rows])
        row_of, firsts = _merge_rows(parts.indptr, parts.indices, parts.data)
        found = sparse.csr_array(parts[firsts])
        factors = np.where(self._number_of >= 0, new[self._number_of], 1.0)
        own = np.where(self._number_of == np.arange(len(self.names)), new, 0.0)
        filled = (found @ sparse.diags_array(factors)).toarray() + own
        sums: NDArray[np.float64] = np.bincount(row_of, weights).astype(np.float64)
        return sparse.csr_array(filled), sums

    @cached_property
    def _number_of(self) -> NDArray[np.int64]:
        """Return the number in each column: itself, that of an interaction such as ``genre=War:year``, or -1."""
        position = {name: j for j, name in enumerate(self.names) if self.is_number[j]}
        owners = np.full(len(self.names), -1, np.int64)
        for name, j in position.items():
            factors = [factor for factor in name.split(":") if factor in position]
            owners[j] = position.get(":".join(factors), j)
        return owners

    @cached_property
    def _label_parts(self) -> sparse.csr_array:
        """Return the rows without numbers: 0 for a number, and the label alone for its interaction with a number."""
        cells = self.matrix.tocoo()
        number = self._number_of[cells.col]
        values = np.asarray(self.matrix[cells.row, np.maximum(number, 0)]).ravel()
        data = np.where(number < 0, cells.data, np.round(cells.data / np.where(values == 0, np.inf, values), 9))
        data[number == cells.col] = 0.0
        parts = sparse.csr_array((data, (cells.row, cells.col)), shape=cells.shape)
        parts.eliminate_zeros()
        return parts

    def _not_identified(self, new: Design) -> list[int]:
        """Return the rows of new documents whose alpha the documents of this design do not identify."""
        if new.bare_row is not None and self.zero_is_a_number:
            return [new.bare_row]  # all numbers of these documents are missing too
        known = set(self._label_sets())
        rows = [row for row, own in enumerate(new._label_sets()) if own not in known]
        outside = np.abs(new.matrix[rows] @ self.null_space).max(axis=1, initial=0) > SAME
        return [row for row, missing in zip(rows, outside, strict=True) if missing]

    def _label_sets(self) -> Iterator[bytes]:
        """Yield a key for the labels of each row."""
        for first, last in pairwise(self.row_starts):
            yield self.row_labels[first:last].tobytes()

    @property
    def n_rows(self) -> int:
        return len(self.row_sizes)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Return rows × labels as a sparse array."""
        shape = (self.n_rows, len(self.names))
        return sparse.csr_array((self.row_values, self.row_labels, self.row_starts), shape=shape)

    @cached_property
    def has_numbers(self) -> bool:
        """Return whether some values are neither 0 nor 1."""
        return bool((self.row_values != 1).any())

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Return which labels have values other than 0 and 1."""
        others = np.bincount(self.row_labels[self.row_values != 1], minlength=len(self.names))
        return others > 0

    @property
    def bare_row(self) -> int | None:
        """Return the row that has only the default label, or None."""
        if self.zero_is_a_number:
            return None
        bare = np.flatnonzero(np.diff(self.row_starts) == 1)
        return int(bare[0]) if len(bare) else None

    @property
    def label_sizes(self) -> NDArray[np.float64]:
        """Return how many documents (or words) have each label."""
        sizes = np.repeat(self.row_sizes, np.diff(self.row_starts))
        return np.bincount(self.row_labels, weights=sizes, minlength=len(self.names)).astype(np.float64)

    def multiply(self, log_weights: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithms of the products of weights of some rows, in float64; meant for few rows or topics."""
        lengths = np.diff(self.row_starts)[rows]
        at = np.repeat(self.row_starts[rows] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        parts = log_weights[self.row_labels[at]] * self.row_values[at, None]
        return np.add.reduceat(parts, np.cumsum(lengths) - lengths, axis=0)


def _merge_rows(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], values: NDArray[np.floating]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number distinct rows in order of appearance; return the number of each row, and the first row of each number."""
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
