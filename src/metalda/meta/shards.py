"""Parts of a corpus that are swept on their own."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.storage.arrays import empty_beside
from metalda.utils.chunks import spans, tally


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


class Block(NamedTuple):
    """Of every document of a shard, the tokens whose words are in one group of words: they follow each other."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


def group_words(words: NDArray[np.int32], n_words: int, n_groups: int) -> NDArray[np.int64]:
    """Cut the vocabulary into groups with about as many tokens each: where each begins, and where the last ends."""
    totals = np.cumsum(tally(words, n_words))
    targets = len(words) * np.arange(1, n_groups) / n_groups
    return np.concatenate([[0], np.searchsorted(totals, targets) + 1, [n_words]]).clip(0, n_words).astype(np.int64)


def order_by_group(
    words: NDArray[np.int32], offsets: NDArray[np.int64], groups: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The tokens of every document with the groups of their words one after the other.

    Those of a large corpus that lies on the disk lie on the disk, too.
    """
    ordered = empty_beside(words, words.shape, np.int32)
    for first, last in spans(offsets):
        tokens = slice(int(offsets[first]), int(offsets[last]))
        keys = _group_keys(words[tokens], offsets[first : last + 1], groups)
        ordered[tokens] = words[tokens][np.argsort(keys, kind="stable")]
    return ordered


def cut_blocks(shard: Shard, groups: NDArray[np.int64]) -> tuple[Block, ...]:
    """The blocks of a shard, one for each group of words; its tokens must be in the order of `order_by_group`."""
    n_groups, n_documents = len(groups) - 1, len(shard.offsets) - 1
    edges = np.empty((n_groups + 1, n_documents), np.int64)
    edges[0] = shard.offsets[:-1]
    for first, last in spans(shard.offsets):
        offsets = shard.offsets[first : last + 1]
        keys = _group_keys(shard.words[offsets[0] : offsets[-1]], offsets, groups)
        if (np.diff(keys) < 0).any():
            raise ValueError("the tokens of documents are not in the order of groups of words")
        sizes = np.bincount(keys, minlength=(last - first) * n_groups).reshape(-1, n_groups)
        edges[1:, first:last] = offsets[:-1] + np.cumsum(sizes, axis=1).T
    return tuple(Block(frozen(a, np.int64), frozen(b, np.int64)) for a, b in pairwise(edges))


def _group_keys(words: NDArray[np.int32], offsets: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that sort the tokens of some documents by document, then by the group of their words."""
    n_groups = len(groups) - 1
    keys = np.repeat(np.arange(len(offsets) - 1) * n_groups, np.diff(offsets))
    keys += np.searchsorted(groups[1:-1], words, side="right")
    return keys
