"""What the effect of a label is relative to: which functions of weights the training documents identify.

If every document has one section, all sections can be raised by a factor and the default label lowered by it, and no
alpha changes. The documents then identify differences between sections only, so the effect of a section is relative to
the average section. A tag that only some documents have needs no such reference: its weight is that of a document with
the tag relative to the same document without it.

With X the label sets of training documents, the default label included, a function c @ w of the weights is identified
if c is a combination of rows of X: if it is orthogonal to the null space of X. So the weight of a label is identified
if its row in a basis of the null space is 0, and the difference of two weights is if their rows are equal. The labels
with one row are a kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_DENSE = 800  # labels; with more, the null space is found with sparse matrices
_ZERO = 1e-10  # eigenvalues of a correlation matrix below this times the largest are 0
SAME = 1e-7  # rows of a basis that differ by less are equal
_FIRST_GUESS = 16  # dimensions of the null space


@dataclass(frozen=True, eq=False)
class References:
    """The kind of each label: the labels that it is compared with."""

    kind_of: NDArray[np.int64]  # label -> kind; -1 for a label that is compared with its absence
    shares: sparse.csr_array  # [kind, label], sparse: shares of each label in the documents of its kind
    is_identified: NDArray[np.bool_]  # False for a label that only occurs together with another, or always
    sums: tuple[tuple[NDArray[np.int64], int, NDArray[np.float64]], ...] = ()  # parts, the whole, and shares of parts

    def center(self, log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return effects [label, …] from log weights [label, …] with the default label last.

        The effect of a label is its log weight, minus the average of its kind if it has one; NaN if not identified. A
        column that is the sum of others, such as a number with a slope for each label, has their average added.
        """
        effects: NDArray[np.float64] = log_weights[:-1].astype(np.float64, order="C")
        of_kind = np.flatnonzero(self.kind_of >= 0)
        flat = effects.reshape(len(effects), -1)
        _add_parts(flat, self.sums)
        flat[of_kind] -= (self.shares @ flat)[self.kind_of[of_kind]]
        flat[~self.is_identified] = np.nan
        return effects


def find_references(
    null_space: NDArray[np.float64],
    label_sizes: NDArray[np.float64],
    sums: Sequence[tuple[NDArray[np.int64], int]] = (),
) -> References:
    """Return the references of labels, from a basis of the null space of their label sets, the default label last.

    `sums` are labels whose sum is another label, with that label.
    """
    shared = tuple((parts, whole, label_sizes[parts] / label_sizes[parts].sum()) for parts, whole in sums)
    basis = null_space[:-1].copy()
    _add_parts(basis, shared)
    kind_of = np.full(len(basis), -1, np.int64)
    open_labels = np.flatnonzero(np.linalg.norm(basis, axis=1) > SAME)
    # Equal rows have equal products with a random vector, and others almost surely do not.
    products = basis[open_labels] @ np.random.default_rng(0).standard_normal(basis.shape[1])
    order = np.argsort(products, kind="stable")
    kind_of[open_labels[order]] = np.cumsum(np.diff(products[order], prepend=products[order][:1]) > SAME)
    numbers = np.bincount(kind_of[open_labels])
    sizes = np.bincount(kind_of[open_labels], label_sizes[open_labels])
    shares = label_sizes[open_labels] / sizes[kind_of[open_labels]]
    matrix = sparse.csr_array((shares, (kind_of[open_labels], open_labels)), shape=(len(numbers), len(basis)))
    is_identified = np.ones(len(basis), bool)
    is_identified[open_labels] = numbers[kind_of[open_labels]] > 1
    return References(kind_of, matrix, is_identified, shared)


def _add_parts(values: NDArray[np.float64], sums: Sequence[tuple[NDArray[np.int64], int, NDArray[np.float64]]]) -> None:
    """Add the averages of parts to their wholes, in place."""
    for parts, whole, shares in sums:
        values[whole] += shares @ values[parts]


def find_null_space(rows: sparse.csr_array) -> NDArray[np.float64]:
    """Return an orthonormal basis [label, dimension] of the weights that change no alpha."""
    lengths = np.sqrt(rows.multiply(rows).sum(axis=0))
    scaled = rows @ sparse.diags_array(1 / lengths)  # of equal length, so that rare labels are not taken for 0
    products = (scaled.T @ scaled).tocsc()
    small = len(lengths) <= _DENSE
    basis = _dense_null_space(products.toarray()) if small else _sparse_null_space(products)
    orthonormal: NDArray[np.float64] = np.linalg.qr(basis / lengths[:, None])[0]
    return orthonormal


def _dense_null_space(products: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(products)
    null: NDArray[np.float64] = vectors[:, values <= _ZERO * values[-1]]
    return null


def _sparse_null_space(products: sparse.csc_array) -> NDArray[np.float64]:
    """Find the null space of a positive semidefinite matrix by inverse iteration, with more vectors until it fits."""
    n_labels, largest = products.shape[0], products.sum(axis=0).max()
    factors = sparse.linalg.splu(products + _ZERO * largest * sparse.eye_array(n_labels, format="csc"))
    rng, n_vectors = np.random.default_rng(0), min(_FIRST_GUESS, n_labels)
    while True:
        vectors = rng.standard_normal((n_labels, n_vectors))
        for _ in range(4):
            vectors = np.linalg.qr(factors.solve(vectors))[0]
        values, rotation = np.linalg.eigh(vectors.T @ (products @ vectors))
        null: NDArray[np.float64] = vectors @ rotation[:, values <= 100 * _ZERO * largest]
        if null.shape[1] < n_vectors or n_vectors == n_labels:
            return null
        n_vectors = min(4 * n_vectors, n_labels)
