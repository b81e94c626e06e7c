"""The client side of distributed training: shards on the workers of a cluster, swept in turns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.priors import Alpha, Beta, LearnsFromDocuments
from metalda.priors.loglinear import Statistics
from metalda.samplers.base import Assignment, Problem
from metalda.samplers.counts import TopicCounts, Topics
from metalda.storage.arrays import MappedFile, is_here
from metalda.training.distributed import worker
from metalda.training.distributed.cluster import Cluster
from metalda.utils.threads import RunEach

if TYPE_CHECKING:
    from distributed import Future

T = TypeVar("T")
logger = logging.getLogger("metalda.cluster")

FAN_IN = 8  # changes that one task adds, if there are many hosts


class Seat(NamedTuple):
    """A host on its worker, and its shards first … last - 1."""

    host: Future
    address: str
    first: int
    last: int


class DistributedAssignment(Assignment):
    """Topics of tokens on the workers of a cluster. The turns, and so the results, are the same as on one machine.

    A host has consecutive shards, so that only one word group moves to another host in a turn.
    """

    def __init__(self, cluster: Cluster, problem: Problem, topics: Topics, counts: TopicCounts) -> None:
        self.problem = problem
        self.traffic: dict[str, int] = {}  # bytes that the last sweep sent, by purpose
        self._cluster = cluster
        self._topics: Topics | None = topics
        self._counts, self._counts_are_ours = counts, True
        self.seats: list[Seat] = []
        self._incoming: list[Future | None] = []
        self.deal_shards()

    def deal_shards(self) -> None:
        """Distribute the shards over the current workers."""
        topics, counts = self.topics, self.counts
        self.leave()
        workers = self._cluster.wait_for_workers()
        n_hosts = min(len(workers), len(self.problem.shards))
        bounds = [len(self.problem.shards) * i // n_hosts for i in range(n_hosts + 1)]
        file = self._shared_file(list(workers)[:n_hosts])
        self.seats, self._incoming = [], [None] * n_hosts
        try:
            for (address, n_threads), (first, last) in zip(workers.items(), pairwise(bounds), strict=False):
                sent = self._cluster.send(self._cut(first, last, topics, counts, n_threads, file), [address])
                host = self._cluster.submit(worker.Host, sent, on=address, name="host")
                self.seats.append(Seat(host, address, first, last))
            self._cluster.collect([self._ready(seat) for seat in self.seats], self.addresses)
        except BaseException:
            self.leave()
            raise
        self._n_turns = 0
        self._sent = worker.LogWeights(None, None)
        logger.info("%d shards on %d workers.", len(self.problem.shards), n_hosts)
        if len(workers) > n_hosts:
            logger.warning("Only %d of %d workers have work: set n_shards (--n-shards).", n_hosts, len(workers))

    def leave(self) -> None:
        """Release the memory of the workers at once; a referenced exception could otherwise keep the futures alive."""
        for future in [*(seat.host for seat in self.seats), *self._incoming]:
            if future is not None:
                future.release()

    @property
    def addresses(self) -> list[str]:
        return [seat.address for seat in self.seats]

    @property
    def topics(self) -> Topics:  # type: ignore[override]
        """Return z of every token, fetched from the hosts."""
        if self._topics is None:
            self._topics = np.concatenate(self._ask_hosts(worker.give_topics, "give-topics"))
        return self._topics

    @property
    def counts(self) -> TopicCounts:  # type: ignore[override]
        """Return n[k, v], fetched from the hosts."""
        if not self._counts_are_ours:
            share_groups = self.problem.word_groups
            n_groups, turn = len(share_groups) - 1, max(self._n_turns - 1, 0)
            packed = [each for given in self._ask_hosts(worker.give_counts, "give-counts") for each in given]
            for shard, each in enumerate(packed):
                group = (shard + turn) % n_groups
                self._counts.unpack(int(share_groups[group]), int(share_groups[group + 1]), each)
            self._counts_are_ours = True
            self.traffic["counts fetched"] = sum(each.nbytes for each in packed)
        return self._counts

    def restart(self, problem: Problem) -> Assignment:
        design, topics = problem.word_prior.design, self.topics
        counts = TopicCounts.count(problem.words, topics, problem.n_topics, design, problem.n_groups)
        self.leave()
        return DistributedAssignment(self._cluster, problem, topics, counts)

    def sweep(
        self, alpha: Alpha, beta: Beta, rngs: Sequence[np.random.Generator], run: RunEach, n_sweeps: int
    ) -> tuple[int, float]:
        """Submit all turns at once, so that no worker waits for the client between turns."""
        cluster, seats, n_turns = self._cluster, self.seats, len(self.problem.shards)
        weights, unchanged = self._changed(alpha, beta), worker.LogWeights(None, None)
        totals = self._counts.topic_totals
        self._topics, self._counts_are_ours = None, False
        swept: list[Future] = []
        for turn in range(n_turns):
            seeds = [rng.integers(2**64, dtype=np.uint64) for rng in rngs]
            first, previous = turn == 0, self._add(swept)
            swept = [
                cluster.submit(
                    worker.sweep_turn,
                    seat.host,
                    self._n_turns,
                    turn,
                    seeds[seat.first : seat.last],
                    weights if first else unchanged,
                    totals if first else None,
                    previous,
                    incoming,
                    on=seat.address,
                    name="sweep-tokens",
                )
                for seat, incoming in zip(seats, self._incoming, strict=True)
            ]
            self._n_turns += 1
            if len(seats) > 1:
                leaving = [
                    cluster.submit(
                        worker.hand_over,
                        seat.host,
                        done,
                        self._n_turns,
                        turn,
                        on=seat.address,
                        name="hand-over-counts",
                    )
                    for seat, done in zip(seats, swept, strict=True)
                ]
                self._incoming = [*leaving[1:], leaving[0]]  # the first shard of the next host held the group before
        done = cluster.collect(swept, self.addresses)
        totals = done[0].before + sum(each.change for each in done)
        self._counts.topic_totals[:] = totals
        self._record_traffic(weights, done, n_turns)
        log_likelihood = sum(each for host in done for each in host.log_likelihoods)
        of_words = sum(each for host in done for each in host.of_words)
        return sum(host.n_moved for host in done), log_likelihood + of_words - self._counts.of_totals(beta)

    def observe_documents(
        self, prior: LearnsFromDocuments, alpha: Alpha, rngs: Sequence[np.random.Generator], run: RunEach
    ) -> list[Statistics]:
        futures = [
            self._cluster.submit(
                worker.observe_documents,
                seat.host,
                self._n_turns,
                list(rngs[seat.first : seat.last]),
                on=seat.address,
                name="observe-documents",
            )
            for seat in self.seats
        ]
        observed: list[Statistics] = []
        advanced: list[np.random.Generator] = []
        for found, generators in self._cluster.collect(futures, self.addresses):
            observed += found
            advanced += generators
        for own, other in zip(rngs, advanced, strict=True):
            own.bit_generator.state = other.bit_generator.state
        self.traffic["observations"] = sum(_n_bytes(each) for each in observed)
        return observed

    def _shared_file(self, addresses: Sequence[str]) -> MappedFile | None:
        """Return the file with the words of the corpus, if there is one and all these workers can read it."""
        file = MappedFile.of(self.problem.corpus_words)
        if file is None:
            return None
        asked = [self._cluster.submit(is_here, file, on=address, name="ask-file") for address in addresses]
        if all(self._cluster.collect(asked, addresses)):
            return file
        logger.info("Not all workers can read %s: its words are sent to them.", file.path)
        return None

    def _cut(
        self,
        first: int,
        last: int,
        topics: Topics,
        counts: TopicCounts,
        n_threads: int,
        file: MappedFile | None,
    ) -> worker.HostedShards:
        """Return the data of the host of shards first … last - 1."""
        problem, bounds = self.problem, self.problem.shard_bounds
        documents = slice(int(bounds[first]), int(bounds[last]))
        begin, end = int(problem.offsets[documents.start]), int(problem.offsets[documents.stop])
        design, groups = problem.doc_prior.design, problem.word_groups
        alone = replace(design, row_of=np.empty(0, np.int32))
        return worker.HostedShards(
            first,
            bounds[first : last + 1] - bounds[first],
            np.asarray(problem.words[begin:end]) if file is None else worker.FilePart(file, begin, end),
            problem.offsets[documents.start : documents.stop + 1] - begin,
            design.row_of[documents],
            topics[begin:end],
            groups,
            problem.stripes,
            counts.starts,
            tuple(counts.pack(int(groups[s]), int(groups[s + 1])) for s in range(first, last)),
            replace(problem.doc_prior, design=alone),
            problem.word_prior,
            n_threads,
            problem.n_groups,
        )

    def _ready(self, seat: Seat) -> Future:
        """Return a small future to wait for, because a host cannot be fetched."""
        return self._cluster.submit(worker.Host.require, seat.host, 0, on=seat.address, name="ready")

    def _ask_hosts(self, question: Callable[[worker.Host, int], T], name: str) -> list[T]:
        futures = [
            self._cluster.submit(question, seat.host, self._n_turns, on=seat.address, name=name) for seat in self.seats
        ]
        return self._cluster.collect(futures, self.addresses)

    def _add(self, turns: list[Future]) -> list[Future]:
        """Add changes on the workers, in a tree, until few are left."""
        while len(turns) > FAN_IN:
            pieces = [turns[i : i + FAN_IN] for i in range(0, len(turns), FAN_IN)]
            turns = [
                self._cluster.submit(worker.add_turns, piece, on=self.addresses, name="add-changes") for piece in pieces
            ]
        return turns

    def _changed(self, alpha: Alpha, beta: Beta) -> worker.LogWeights:
        """Return the weights that changed since they were last sent."""
        known, now = self._sent, (alpha.log_weights.copy(), beta.log_weights.copy())
        self._sent = worker.LogWeights(*now)
        return worker.LogWeights(*(None if _same(*pair) else pair[1] for pair in zip(known, now, strict=True)))

    def _record_traffic(self, weights: worker.LogWeights, done: Sequence[worker.HostTurn], n_turns: int) -> None:
        """Record the bytes that this sweep sent."""
        n_hosts = len(self.seats)
        self.traffic = {
            "counts handed over": sum(host.n_bytes for host in done),
            "changes of totals": n_turns * n_hosts * n_hosts * done[0].change.nbytes,
            "weights": n_hosts * sum(each.nbytes for each in weights if each is not None),
        }


def _same(old: NDArray[np.float64] | None, new: NDArray[np.float64]) -> bool:
    return old is not None and np.array_equal(old, new)


def _n_bytes(value: NDArray[np.generic] | Statistics) -> int:
    return value.nbytes if isinstance(value, np.ndarray) else sum(map(_n_bytes, value))
