"""The worker side of distributed training: a host holds shards in memory and sweeps them on request."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import frozen
from metalda.priors import Alpha, Beta, LearnsFromDocuments, LogLinear
from metalda.priors.loglinear import Statistics
from metalda.samplers.counts import PackedCounts, TopicCounts, Topics
from metalda.samplers.shards import Shard, order_by_group
from metalda.samplers.tokens import Share
from metalda.storage.arrays import MappedFile
from metalda.utils.threads import RunEach


class OutOfStep(RuntimeError):
    """Raised when a host's number of turns differs from the client's, because Dask has recreated a lost host."""


class FilePart(NamedTuple):
    """Entries first … last - 1 of a file."""

    file: MappedFile
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class HostedShards:
    """The data of a host, sent once."""

    first: int  # index of the first shard
    bounds: NDArray[np.int64]  # its shards: documents bounds[i] … bounds[i + 1] - 1 of these
    words: NDArray[np.int32] | FilePart  # sorted by word group; or a part of a file, in the order of the corpus
    offsets: NDArray[np.int64]
    doc_rows: NDArray[np.int32]
    topics: Topics
    groups: NDArray[np.int64]
    stripes: tuple[tuple[int, int], ...]
    list_starts: NDArray[np.int64]
    packed: tuple[PackedCounts, ...]  # the counts of the word groups that its shards hold first
    doc_prior: LogLinear  # without the rows of documents, which are in doc_rows
    word_prior: LogLinear
    n_threads: int
    n_groups: int  # of documents, whose words are counted by group


class HostTurn(NamedTuple):
    """The result of a turn for the shards of a host. Most fields are filled only after the last turn of a sweep."""

    change: NDArray[np.int64]  # of n[k, .]
    before: NDArray[np.int64] | None = None  # n[k, .] before the turn
    n_moved: int = 0  # in the whole sweep
    log_likelihoods: Sequence[float] = ()  # of every shard, log p(z | alpha)
    of_words: Sequence[float] = ()  # log-likelihood terms of every shard's word group
    n_bytes: int = 0  # of counts that came from another host in this sweep


class LogWeights(NamedTuple):
    """Log weights that have changed; None if they have not."""

    documents: NDArray[np.float64] | None
    words: NDArray[np.float64] | None


class Host:
    """Shards in the memory of a worker. It lives as long as the client keeps its future."""

    def __init__(self, part: HostedShards) -> None:
        self.doc_prior, self.word_prior, self.stripes = part.doc_prior, part.word_prior, part.stripes
        words = part.words
        if isinstance(words, FilePart):
            words = order_by_group(words.file.open(words.first, words.last), part.offsets, part.groups)
        shards = [Shard.cut(words, part.offsets, part.doc_rows, a, b) for a, b in pairwise(part.bounds)]
        design, n_cells = part.word_prior.design, int(part.list_starts[-1])
        n_words, n_topics = len(part.list_starts) - 1, part.stripes[-1][1]
        counts = TopicCounts(
            frozen(part.list_starts, np.int64),
            np.zeros(n_words, np.int32),
            np.zeros(n_cells, np.uint16),
            np.zeros(n_cells, np.int32),
            np.zeros((part.n_groups, n_topics) if part.n_groups > 1 else n_topics, np.int64),
            design,
            part.n_groups,
        )
        self.share = Share(shards, part.first, part.groups, part.topics.copy(), counts)
        for i, packed in enumerate(part.packed):
            counts.unpack(*self.share.group_of(part.first + i, 0), packed)
        self.alpha: Alpha | None = None
        self.beta: Beta | None = None
        self.n_turns = 0  # so far
        self.n_moved = self.n_bytes = 0  # in this sweep
        self._pool = ThreadPoolExecutor(part.n_threads) if part.n_threads > 1 else None

    @property
    def run(self) -> RunEach:
        return self._pool.map if self._pool else map

    def adopt(self, weights: LogWeights) -> None:
        """Form alpha and beta from weights, as the client does."""
        if weights.documents is not None:
            self.alpha = self.doc_prior.alpha(weights.documents)
        if weights.words is not None:
            self.beta = self.word_prior.beta(weights.words, self.stripes)

    def require(self, n_turns: int) -> None:
        if self.n_turns != n_turns:
            raise OutOfStep(f"{self.n_turns} turns instead of {n_turns}")

    def __sizeof__(self) -> int:
        counts = self.share.counts
        arrays: list[NDArray[np.generic]] = [shard.words for shard in self.share.shards]
        arrays += [self.share.topics, counts.topics, counts.counts]
        return sum(array.nbytes for array in arrays)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a host cannot leave its worker")


def sweep_turn(
    host: Host,
    n_turns: int,
    turn: int,
    seeds: Sequence[np.uint64],
    weights: LogWeights,
    totals: NDArray[np.int64] | None,
    previous: Sequence[HostTurn],
    incoming: PackedCounts | None,
) -> HostTurn:
    """Do one turn of a sweep for the shards of a host, which has done `n_turns` turns before.

    n[k, .] is given at the start of a sweep, and later by the changes of all hosts in the previous turn. The word group
    of the last shard comes from another host, if there is one.
    """
    host.require(n_turns)
    host.adopt(weights)
    share, counts = host.share, host.share.counts
    if totals is not None:
        counts.topic_totals[:] = totals
        host.n_moved = host.n_bytes = 0
    for each in previous:
        counts.topic_totals[:] += each.change
    if incoming is not None:
        counts.unpack(*share.group_of(share.first + len(share.shards) - 1, turn), incoming)
        host.n_bytes += incoming.nbytes
    assert host.alpha is not None
    assert host.beta is not None
    done = share.sweep_turn(turn, host.alpha, host.beta, seeds, host.run)
    host.n_turns += 1
    host.n_moved += done.n_moved
    if turn < len(share.groups) - 2:
        return HostTurn(done.change)
    of_words = share.of_words(turn, host.beta, host.run)
    before = counts.topic_totals.copy()
    return HostTurn(done.change, before, host.n_moved, done.log_likelihoods, of_words, host.n_bytes)


def add_turns(turns: Sequence[HostTurn]) -> HostTurn:
    """Return the sum of the changes of several hosts."""
    return HostTurn(np.sum([each.change for each in turns], axis=0))


def hand_over(host: Host, swept: HostTurn, n_turns: int, turn: int) -> PackedCounts:
    """Return the counts that the first shard held in a turn. They go to the preceding shard, on another host.

    The next turn may already be running. It changes other counts.
    """
    if host.n_turns < n_turns:
        raise OutOfStep(f"{host.n_turns} turns instead of {n_turns} or more")
    return host.share.counts.pack(*host.share.group_of(host.share.first, turn))


def observe_documents(
    host: Host, n_turns: int, rngs: Sequence[np.random.Generator]
) -> tuple[list[Statistics], Sequence[np.random.Generator]]:
    """Return the statistics of every shard for the prior of documents, and the generators after drawing them."""
    host.require(n_turns)
    prior, share = host.doc_prior, host.share
    assert isinstance(prior, LearnsFromDocuments)
    assert host.alpha is not None
    alpha = host.alpha

    def observe_shard(i: int) -> Statistics:
        return tuple(prior.observe_documents(share.shards[i].assign(share.topics), alpha, rngs[i]))

    return list(host.run(observe_shard, range(len(share.shards)))), rngs


def give_topics(host: Host, n_turns: int) -> Topics:
    """Return the topics of all tokens of a host."""
    host.require(n_turns)
    return np.array(host.share.topics)


def give_counts(host: Host, n_turns: int) -> list[PackedCounts]:
    """Return the counts of the word group that every shard of a host held last, or first before any sweep."""
    host.require(n_turns)
    share = host.share
    turn = n_turns - 1 if n_turns else 0
    groups = [share.group_of(share.first + i, turn) for i in range(len(share.shards))]
    return [share.counts.pack(*group) for group in groups]
