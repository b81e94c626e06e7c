"""Parts of a corpus that are swept on their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen


class Shard(NamedTuple):
    """Some documents that follow each other."""

    words: NDArray[np.int32]  # their tokens
    offsets: NDArray[np.int64]  # into these
    doc_rows: NDArray[np.int32]  # rows of alpha
    doc_order: NDArray[np.int64]  # documents with the same row together
    tokens: slice  # where they stand among all tokens of the corpus

    @classmethod
    def cut(
        cls, words: NDArray[np.int32], offsets: NDArray[np.int64], doc_rows: NDArray[np.int32], first: int, last: int
    ) -> Shard:
        """Documents first … last - 1 of a corpus."""
        tokens = slice(int(offsets[first]), int(offsets[last]))
        rows = frozen(doc_rows[first:last], np.int32)
        order = np.argsort(rows, kind="stable")
        return cls(
            frozen(words[tokens], np.int32),
            frozen(offsets[first : last + 1] - offsets[first], np.int64),
            rows,
            frozen(order, np.int64),
            tokens,
        )


def shard_bounds(offsets: NDArray[np.int64], n_shards: int) -> NDArray[np.int64]:
    """Cut documents into shards with about as many tokens each: where each begins, and where the last ends."""
    targets = offsets[0] + (offsets[-1] - offsets[0]) * np.arange(1, n_shards) / n_shards
    return np.concatenate([[0], np.searchsorted(offsets, targets), [len(offsets) - 1]]).astype(np.int64)
