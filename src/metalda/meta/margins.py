"""Rows of the design over which expected proportions are averaged: given columns at a point, others as in documents.

The proportions of a document with average labels are not the average proportions of documents: the proportions are no
linear function of the labels, and no document is a third of each section.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.meta.terms import ColumnValue, DesignColumns, Terms

MOST_ROWS = 10_000  # of all points, if given columns interact with others
MOST_DOCUMENTS = 1_000
_SMALLEST = 1e-300  # sum of weights


class Margin(NamedTuple):
    """Points of given columns, and documents with their other columns; log alpha of both is the sum of their parts."""

    points: sparse.csr_array  # [point, column of the design], with the default label
    documents: sparse.csr_array  # [document, column of the design], without
    shares: NDArray[np.float64]  # of the documents; they sum to 1
    both: sparse.csr_array | None = None  # [point and document, column], if given columns interact with others

    @property
    def n_rows(self) -> int:
        """Return how many rows of proportions have to be formed."""
        parts = (self.points, self.documents) if self.both is None else (self.both,)
        return sum(int(part.shape[0]) for part in parts)

    def mean_proportions(self, log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the proportions [point, topic] that are expected of documents, on average."""
        if self.both is not None:
            proportions = softmax(self.both @ log_weights, axis=1)
            by_point = proportions.reshape(-1, len(self.shares), log_weights.shape[1])
            means: NDArray[np.float64] = np.einsum("prk,r->pk", by_point, self.shares)
            return means
        at_points, of_documents = _exp(self.points @ log_weights), _exp(self.documents @ log_weights)
        sums = np.maximum(at_points @ of_documents.T, _SMALLEST)
        means = at_points * ((self.shares / sums) @ of_documents)
        return means


def find_margin(terms: Terms, design: Design, at: Mapping[str, Sequence[ColumnValue]]) -> Margin:
    """Return the training documents, and every combination of values of given columns.

    Of many documents a sample is taken, which has their labels in the same shares. A column that is in interactions
    only is at its average.
    """
    grid, n_points = terms.grid_values(at), len(list(product(*at.values())))
    interact = any(0 < sum(factor.column in at for factor in term) < len(term) for term in terms.terms)
    labels = {column: _columns(design, list(own)) for column, own in terms.labels.items() if column not in at}
    numbers = {column: _columns(design, [column]) for column in terms.numbers if column not in at}
    known = [own for own in (*labels.values(), *numbers.values()) if own is not None]
    others = sparse.csr_array(sparse.hstack(known)) if known else sparse.csr_array((design.n_rows, 0))
    most = min(MOST_DOCUMENTS, max(MOST_ROWS // n_points, 1)) if interact else MOST_DOCUMENTS
    chosen, shares = _sample(others, design.row_sizes, most)

    def join(points: NDArray[np.int64], documents: NDArray[np.int64], given: bool, kept: bool) -> sparse.csr_array:
        """Return rows of points and documents: the columns of terms of given columns, of others, or of all."""
        pieces = {column: sparse.csc_array(own[points]) for column, own in grid.labels.items()}
        values = {column: own[points] for column, own in grid.numbers.items()}
        pieces |= {column: sparse.csc_array(own[documents]) for column, own in labels.items() if own is not None}
        values |= {column: own[documents].toarray()[:, 0] for column, own in numbers.items() if own is not None}
        names, parts = design.names[:-1], terms.products(pieces, values, design.names[:-1])
        for i, (term, part) in enumerate(zip(terms.terms, parts, strict=True)):
            if not (given if term[0].column in at else kept):
                parts[i] = part._replace(matrix=part.matrix * 0.0)
        found = DesignColumns.join(parts)
        rows = NamedMatrix(sparse.csr_array(found.matrix), found.names).select(names).matrix
        return sparse.csr_array(sparse.hstack([rows, np.full((rows.shape[0], 1), float(given))]))

    every, first = np.arange(n_points), np.zeros(len(chosen), np.int64)
    points = join(every, np.full(n_points, chosen[0]), given=True, kept=False)
    documents = join(first, chosen, given=False, kept=True)
    if not interact:
        return Margin(points, documents, shares)
    both = join(np.repeat(every, len(chosen)), np.tile(chosen, n_points), given=True, kept=True)
    return Margin(points, documents, shares, both)


def _exp(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp of each row up to a factor, so that its largest value is 1."""
    powers: NDArray[np.float64] = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers


def _columns(design: Design, names: Sequence[str]) -> sparse.csr_array | None:
    """Return columns of the design; None if it lacks one, which is in interactions only."""
    position = {name: j for j, name in enumerate(design.names)}
    if any(name not in position for name in names):
        return None
    return sparse.csr_array(design.matrix[:, [position[name] for name in names]])


def _sample(
    others: sparse.csr_array, sizes: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return rows and their shares of the documents: a row for each distinct one, or a systematic sample of `most`.

    The sample is taken in an order in which like rows are neighbors, so that it has the labels in their shares.
    """
    keys = [others.indices[a:b].tobytes() + others.data[a:b].tobytes() for a, b in _bounds(others)]
    firsts: dict[bytes, int] = {}
    row_of = np.array([firsts.setdefault(key, i) for i, key in enumerate(keys)])
    weights = np.bincount(row_of, sizes, minlength=len(sizes))
    distinct = np.array(sorted(firsts.values(), key=keys.__getitem__), np.int64)
    if len(distinct) > most:
        totals = np.cumsum(weights[distinct])
        places = (np.arange(most) + 0.5) / most * totals[-1]
        return distinct[np.searchsorted(totals, places)], np.full(most, 1 / most)
    return distinct, weights[distinct] / weights.sum()


def _bounds(rows: sparse.csr_array) -> list[tuple[int, int]]:
    return list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))
