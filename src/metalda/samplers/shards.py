"""Shards: parts of a corpus that are swept separately, and how their changes are merged.

The corpus is cut into shards of consecutive documents, and the vocabulary into as many word groups. The tokens of one
shard whose words are in one group are a block. The token sampler sweeps blocks; samplers that need all counts of a
topic sweep whole shards on copies of the counts (`sweep_shards`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from queue import SimpleQueue
from threading import Lock
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.priors import AssignedDocuments
from metalda.storage.arrays import empty_like_source
from metalda.utils.chunks import spans, tally
from metalda.utils.threads import RunEach


class Shard(NamedTuple):
    """Consecutive documents of a corpus."""

    words: NDArray[np.int32]  # their tokens
    offsets: NDArray[np.int64]  # into these
    doc_rows: NDArray[np.int32]  # rows of alpha
    doc_order: NDArray[np.int64]  # documents sorted by row
    tokens: slice  # their position among all tokens of the corpus

    @classmethod
    def cut(
        cls, words: NDArray[np.int32], offsets: NDArray[np.int64], doc_rows: NDArray[np.int32], first: int, last: int
    ) -> Shard:
        """Return documents first … last - 1 of a corpus as a shard."""
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

    def orders_by_group(self, n_groups: int) -> list[NDArray[np.int64]]:
        """Return `doc_order` by group of documents, if word v of group g is ``v * n_groups + g``.

        Documents without words belong to no group.
        """
        order = self.doc_order[np.diff(self.offsets)[self.doc_order] > 0]
        groups = self.words[self.offsets[order]] % n_groups
        ends = np.cumsum(np.bincount(groups, minlength=n_groups))[:-1]
        ordered = order[np.argsort(groups.astype(np.uint16), kind="stable")]
        return [frozen(own, np.int64) for own in np.split(ordered, ends)]

    def assign(self, topics: NDArray[np.uint16]) -> AssignedDocuments:
        """Return the documents with their topics, given the topics of all tokens of the corpus."""
        return AssignedDocuments(self.offsets, self.doc_rows, topics[self.tokens])


def shard_bounds(offsets: NDArray[np.int64], n_shards: int) -> NDArray[np.int64]:
    """Cut documents into shards with about equally many tokens; return the first document of each, and the end."""
    targets = offsets[0] + (offsets[-1] - offsets[0]) * np.arange(1, n_shards) / n_shards
    return np.concatenate([[0], np.searchsorted(offsets, targets), [len(offsets) - 1]]).astype(np.int64)


class Block(NamedTuple):
    """The tokens of one shard whose words are in one group: a range of consecutive tokens in every document."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


def group_words(words: NDArray[np.int32], n_words: int, n_groups: int) -> NDArray[np.int64]:
    """Cut the vocabulary into groups with about equally many tokens; return the first word of each, and the end."""
    totals = np.cumsum(tally(words, n_words))
    targets = len(words) * np.arange(1, n_groups) / n_groups
    return np.concatenate([[0], np.searchsorted(totals, targets) + 1, [n_words]]).clip(0, n_words).astype(np.int64)


def order_by_group(
    words: NDArray[np.int32], offsets: NDArray[np.int64], groups: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Sort the tokens of every document by word group, and keep their order within a group.

    If `words` is a large array on disk, the result is on disk too.
    """
    ordered = empty_like_source(words, words.shape, np.int32)
    for first, last in spans(offsets):
        tokens = slice(int(offsets[first]), int(offsets[last]))
        keys = _group_keys(words[tokens], offsets[first : last + 1], groups)
        ordered[tokens] = words[tokens][np.argsort(keys, kind="stable")]
    return ordered


def cut_blocks(shard: Shard, groups: NDArray[np.int64]) -> tuple[Block, ...]:
    """Return the blocks of a shard, one per word group. Its tokens must be in the order of `order_by_group`."""
    n_groups, n_documents = len(groups) - 1, len(shard.offsets) - 1
    edges = np.empty((n_groups + 1, n_documents), np.int64)
    edges[0] = shard.offsets[:-1]
    for first, last in spans(shard.offsets):
        offsets = shard.offsets[first : last + 1]
        keys = _group_keys(shard.words[offsets[0] : offsets[-1]], offsets, groups)
        if (np.diff(keys) < 0).any():
            raise ValueError("the tokens of documents are not sorted by word group")
        sizes = np.bincount(keys, minlength=(last - first) * n_groups).reshape(-1, n_groups)
        edges[1:, first:last] = offsets[:-1] + np.cumsum(sizes, axis=1).T
    return tuple(Block(frozen(a, np.int64), frozen(b, np.int64)) for a, b in pairwise(edges))


def _group_keys(words: NDArray[np.int32], offsets: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return keys that sort tokens by document, then by the group of their word."""
    n_groups = len(groups) - 1
    keys = np.repeat(np.arange(len(offsets) - 1) * n_groups, np.diff(offsets))
    keys += np.searchsorted(groups[1:-1], words, side="right")
    return keys


class MergeableCounts(Protocol):
    """Integer counts whose changes can be added in any order."""

    def copy(self) -> Self: ...

    def copy_from(self, other: Self) -> None: ...

    def add_changes(self, old: Self, new: Self) -> None: ...


C = TypeVar("C", bound=MergeableCounts)
R = TypeVar("R")


def make_scratch(counts: C, n_shards: int, n_threads: int) -> tuple[C, ...]:
    """Return the copies of counts that `sweep_shards` works on: one for the sum, and one for each thread."""
    return tuple(counts.copy() for _ in range(count_scratch(n_shards, n_threads)))


def count_scratch(n_shards: int, n_threads: int) -> int:
    """Return the number of copies that `make_scratch` makes."""
    return 1 + min(n_threads, n_shards) if n_shards > 1 else 0


def sweep_shards(
    counts: C, scratch: Sequence[C], n_shards: int, sweep_shard: Callable[[int, C], R], run: RunEach
) -> list[R]:
    """Call `sweep_shard(s, counts)` for every shard, and add the changes of all shards to `counts`.

    This is exact with one shard. With several, each starts from the counts before the sweep (Distributed LDA).
    """
    if n_shards == 1:
        return [sweep_shard(0, counts)]
    merged, *spare = scratch
    merged.copy_from(counts)
    free: SimpleQueue[C] = SimpleQueue()
    for each in spare:
        free.put(each)
    merging = Lock()

    def sweep_one(s: int) -> R:
        own = free.get()
        try:
            own.copy_from(counts)
            result = sweep_shard(s, own)
            with merging:  # in any order: counts are integers
                merged.add_changes(counts, own)
            return result
        finally:
            free.put(own)

    results = list(run(sweep_one, range(n_shards)))
    counts.copy_from(merged)
    return results


@dataclass(frozen=True, eq=False)
class ArrayCounts:
    """Counts as plain arrays of integers."""

    arrays: tuple[NDArray[np.integer], ...]

    def copy(self) -> ArrayCounts:
        return ArrayCounts(tuple(array.copy() for array in self.arrays))

    def copy_from(self, other: ArrayCounts) -> None:
        for own, array in zip(self.arrays, other.arrays, strict=True):
            np.copyto(own, array)

    def add_changes(self, old: ArrayCounts, new: ArrayCounts) -> None:
        for own, before, after in zip(self.arrays, old.arrays, new.arrays, strict=True):
            own += after
            own -= before
