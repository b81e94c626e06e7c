"""Parts of a corpus that are swept on their own."""

from __future__ import annotations

from itertools import pairwise
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


class Block(NamedTuple):
    """Of every document of a shard, the tokens whose words are in one group of words: they follow each other."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


def group_words(words: NDArray[np.int32], n_words: int, n_groups: int) -> NDArray[np.int64]:
    """Cut the vocabulary into groups with about as many tokens each: where each begins, and where the last ends."""
    totals = np.cumsum(np.bincount(words, minlength=n_words))
    targets = len(words) * np.arange(1, n_groups) / n_groups
    return np.concatenate([[0], np.searchsorted(totals, targets) + 1, [n_words]]).clip(0, n_words).astype(np.int64)


def order_by_group(
    words: NDArray[np.int32], offsets: NDArray[np.int64], groups: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The tokens of every document with the groups of their words one after the other."""
    n_groups = len(groups) - 1
    keys = np.repeat(np.arange(len(offsets) - 1) * n_groups, np.diff(offsets))
    keys += np.searchsorted(groups[1:-1], words, side="right")
    return words[np.argsort(keys, kind="stable")]


def cut_blocks(shard: Shard, groups: NDArray[np.int64]) -> tuple[Block, ...]:
    """The blocks of a shard, one for each group of words; its tokens must be in the order of `order_by_group`."""
    group_of = np.searchsorted(groups[1:-1], shard.words, side="right")
    falls = np.flatnonzero(np.diff(group_of) < 0) + 1
    if not np.isin(falls, shard.offsets).all():
        raise ValueError("the tokens of documents are not in the order of groups of words")
    edges = [shard.offsets[:-1]]
    for group in range(1, len(groups) - 1):
        before = np.concatenate([[0], np.cumsum(group_of < group)])
        edges.append(shard.offsets[:-1] + before[shard.offsets[1:]] - before[shard.offsets[:-1]])
    edges.append(shard.offsets[1:])
    return tuple(Block(frozen(a, np.int64), frozen(b, np.int64)) for a, b in pairwise(edges))
