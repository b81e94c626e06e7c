"""Process long arrays in chunks, so that intermediate arrays stay small.

The arrays have one entry for each token of a corpus; ragged ones are flat, with offsets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 22  # entries; intermediate arrays of a chunk take a few hundred megabytes


def slices(n_items: int) -> Iterator[slice]:
    """Yield slices of at most `CHUNK` items that cover all items."""
    return (slice(first, first + CHUNK) for first in range(0, n_items, CHUNK))


def spans(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges (first, last) of documents that have at most `CHUNK` tokens together, or are one document."""
    first, n_documents = 0, len(offsets) - 1
    while first < n_documents:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + CHUNK, side="right")) - 1)
        yield first, last
        first = last


def tally(values: NDArray[np.integer], n_values: int) -> NDArray[np.int64]:
    """Count how often each of 0 … n_values - 1 occurs; `np.bincount` would convert all values to int64 at once."""
    totals = np.zeros(n_values, np.int64)
    for some in slices(len(values)):
        totals += np.bincount(values[some], minlength=n_values)
    return totals
