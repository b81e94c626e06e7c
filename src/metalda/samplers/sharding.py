"""Sweeping shards at the same time: each starts from the counts before the sweep, and all changes are added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.samplers.base import Run


class Counts(Protocol):
    """Integers that change as tokens move, so that changes can be added in any order."""

    def copy(self) -> Any: ...

    def copy_from(self, other: Any) -> None: ...

    def add_changes(self, old: Any, new: Any) -> None: ...


C = TypeVar("C", bound=Counts)
R = TypeVar("R")


def make_scratch(counts: C, n_shards: int, n_threads: int) -> tuple[C, ...]:
    """Where several shards are swept and merged: counts for the sum, and for each thread."""
    return tuple(counts.copy() for _ in range(count_scratch(n_shards, n_threads)))


def count_scratch(n_shards: int, n_threads: int) -> int:
    """How many copies that takes."""
    return 1 + min(n_threads, n_shards) if n_shards > 1 else 0


def sweep_shards(
    counts: C, scratch: Sequence[C], n_shards: int, sweep_shard: Callable[[int, C], R], run: Run
) -> list[R]:
    """Call `sweep_shard(s, counts)` for every shard, and leave the sum of all changes in `counts`.

    Exact with one shard; with more, none sees what the others change in this sweep (Distributed LDA).
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
