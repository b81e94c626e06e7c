"""Arrays with an entry per token, some entries at a time, so that what is made on the way stays small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 22  # tokens: some hundred megabytes of whatever is made of them


def slices(n_items: int) -> Iterator[slice]:
    """All items, at most `CHUNK` at a time."""
    return (slice(first, first + CHUNK) for first in range(0, n_items, CHUNK))


def spans(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """All documents, some at a time: first … last - 1, which have at most `CHUNK` tokens, or are one document."""
    first, n_documents = 0, len(offsets) - 1
    while first < n_documents:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + CHUNK, side="right")) - 1)
        yield first, last
        first = last


def tally(values: NDArray[Any], n_values: int) -> NDArray[np.int64]:
    """How often each of 0 … n_values - 1 occurs; equals `np.bincount`, which would copy all values as int64."""
    totals = np.zeros(n_values, np.int64)
    for some in slices(len(values)):
        totals += np.bincount(values[some], minlength=n_values)
    return totals
