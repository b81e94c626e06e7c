"""Training that outlives the loss of workers: what was lost with them is done again, to the same result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.errors import ClusterError
from metalda.samplers.base import Problem
from metalda.samplers.counts import Topics
from metalda.training.distributed.assignment import DistributedAssignment
from metalda.training.distributed.cluster import MOST_LOSSES, Cluster, WorkersLost
from metalda.training.gibbs import resume_chain

if TYPE_CHECKING:
    from metalda.training.checkpoint import Progress

logger = logging.getLogger("metalda.cluster")

SNAPSHOT_EVERY = 10  # sweeps: what has to be done again, at most, when a worker is lost

T = TypeVar("T")


class Snapshot(NamedTuple):
    """Enough to do the sweeps since then again, to the same result."""

    topics: Topics
    log_doc_weights: NDArray[np.float64]
    log_word_weights: NDArray[np.float64]
    generators: list[Any]
    n_sweeps: int

    @classmethod
    def take(cls, progress: Progress) -> Snapshot:
        state = progress.state
        generators = [rng.bit_generator.state for rng in progress.rngs.all]
        weights = state.log_doc_weights.copy(), state.log_word_weights.copy()
        return cls(state.topics, *weights, generators, progress.n_sweeps)

    def restore(self, problem: Problem, progress: Progress) -> None:
        """Set progress back. Draws stay: none is kept without a snapshot after it."""
        for rng, state in zip(progress.rngs.all, self.generators, strict=True):
            rng.bit_generator.state = state
        del progress.trace[self.n_sweeps :]
        arrays = {"topics": self.topics}
        progress.state = resume_chain(problem, arrays, self.log_doc_weights, self.log_word_weights, self.n_sweeps)


class Recovery:
    """Runs a chain on a cluster. When workers are lost, it deals the shards anew and repeats what was lost."""

    def __init__(self, cluster: Cluster, problem: Problem, progress: Progress, step: Callable[[], Any]) -> None:
        self._cluster = cluster
        self._problem = problem
        self._progress = progress
        self._step = step  # one more sweep, that keeps nothing
        self._snapshot = Snapshot.take(progress)
        self._in_place = False  # whether the hosts are where progress is

    def __call__(self, action: Callable[[], T]) -> T:
        """Do it; when workers are lost, go back to where we are now, and do it again."""
        n_sweeps = self._progress.n_sweeps
        losses: list[str] = []
        while len(losses) < MOST_LOSSES:
            try:
                if not self._in_place:
                    self._place()
                while self._progress.n_sweeps < n_sweeps:
                    self._step()
                return action()
            except WorkersLost as loss:  # noqa: PERF203
                losses.append(str(loss))  # the loss itself keeps futures alive, and whoever logs might keep it
                logger.warning("Lost workers (%s); going on from sweep %d.", losses[-1], self._snapshot.n_sweeps)
                self._in_place = False
        raise ClusterError(
            f"workers were lost {MOST_LOSSES} times in a row, the last time {losses[-1]}; perhaps they have too little "
            "memory: use more workers, or larger ones"
        )

    def take_snapshot(self) -> None:
        """Remember this state; and if workers have come or gone, deal the shards anew."""
        self._snapshot = Snapshot.take(self._progress)
        assignment = self._progress.state.assignment
        assert isinstance(assignment, DistributedAssignment)
        workers = self._cluster.workers()
        n_hosts = min(len(workers), len(self._problem.shards))
        if n_hosts > len(assignment.seats):
            assignment.spread()

    def _place(self) -> None:
        """Put the snapshot on the workers that there are."""
        progress = self._progress
        if self._leave() or progress.n_sweeps != self._snapshot.n_sweeps:
            self._snapshot.restore(self._problem, progress)
        local = progress.state.assignment
        spread = DistributedAssignment(self._cluster, self._problem, local.topics, local.counts)
        progress.state = progress.state._replace(assignment=spread)
        self._in_place = True

    def _leave(self) -> bool:
        """Let the hosts go, if there are any."""
        assignment = self._progress.state.assignment
        if not isinstance(assignment, DistributedAssignment):
            return False
        assignment.leave()
        return True

    def __enter__(self) -> Recovery:
        return self

    def __exit__(self, *error: object) -> None:
        self._leave()
