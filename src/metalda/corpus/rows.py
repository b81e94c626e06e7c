"""Rows by index: one rule for documents and for the rows of their labels."""

from typing import Any

import numpy as np

from metalda.errors import InputError
from metalda.utils.chunks import spans


def row_indices(index: Any, n_rows: int) -> np.ndarray:
    """The row numbers that a slice, a Boolean mask or a list of integers selects, as int64.

    ``(index, ...)`` is understood too: scikit-learn indexes anything that has a shape in that way.
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


def take_rows(values: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """These rows of flat ragged data, in this order, as values and offsets."""
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    new_offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    taken = np.empty(new_offsets[-1], values.dtype)
    for first, last in spans(new_offsets):
        begin, end = new_offsets[first], new_offsets[last]
        shifts = starts[first:last] - new_offsets[first:last]
        taken[begin:end] = values[np.arange(begin, end) + np.repeat(shifts, lengths[first:last])]
    return taken, new_offsets
