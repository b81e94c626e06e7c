"""Recovery from lost workers: training repeats the lost iterations, with the same result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.errors import ClusterError
from metalda.samplers.base import Problem
from metalda.training.distributed.assignment import DistributedAssignment
from metalda.training.distributed.cluster import MOST_LOSSES, Cluster, WorkersLost
from metalda.training.gibbs import resume_chain
from metalda.utils.checks import Arrays

if TYPE_CHECKING:
    from metalda.training.checkpoint import Progress

logger = logging.getLogger("metalda.cluster")

SNAPSHOT_EVERY = 10  # iterations: the most that are repeated when a worker is lost

T = TypeVar("T")


class Snapshot(NamedTuple):
    """A state from which later iterations can be repeated, with the same result."""

    assignment: Arrays
    log_doc_weights: NDArray[np.float64]
    log_word_weights: NDArray[np.float64]
    generators: list[Mapping[str, object]]
    n_sweeps: int
    n_draws: int

    @classmethod
    def take(cls, progress: Progress) -> Snapshot:
        state = progress.state
        generators = [rng.bit_generator.state for rng in progress.rngs.all]
        weights = state.log_doc_weights.copy(), state.log_word_weights.copy()
        return cls(state.assignment.arrays, *weights, generators, progress.n_sweeps, len(progress.draws))

    def restore(self, problem: Problem, progress: Progress) -> None:
        """Reset the progress. Draws stay: a snapshot follows every draw."""
        for rng, state in zip(progress.rngs.all, self.generators, strict=True):
            rng.bit_generator.state = state
        del progress.trace[self.n_sweeps :]
        for name, weights in list(progress.weights.items()):
            kept = {iteration: own for iteration, own in weights.items() if iteration <= self.n_sweeps}
            progress.weights[name] = kept
            if not kept:
                del progress.weights[name]
        own = self.log_doc_weights, self.log_word_weights
        progress.state = resume_chain(problem, self.assignment, *own, self.n_sweeps)


class Recovery:
    """Runs a chain on a cluster. When workers are lost, it redistributes the shards and repeats lost iterations.

    When they are lost after Ctrl-C, the chain ends on this machine, because a terminal sends Ctrl-C to all its
    processes, which may include all workers. Iterations since the last snapshot are lost.
    """

    def __init__(
        self,
        cluster: Cluster,
        problem: Problem,
        progress: Progress,
        step: Callable[[], object],
        is_interrupted: Callable[[], bool],
    ) -> None:
        self._cluster = cluster
        self._is_interrupted = cluster.is_interrupted = is_interrupted
        self._is_local = False  # whether the chain has left the cluster
        self._problem = problem
        self._progress = progress
        self._step = step  # one more iteration, without keeping a draw
        self._snapshot = Snapshot.take(progress)
        self._in_place = False  # whether the hosts hold the current state

    def __call__(self, action: Callable[[], T]) -> T:
        """Perform the action. When workers are lost, restore the state before it and repeat it."""
        if self._is_local:
            return action()
        n_sweeps = self._progress.n_sweeps
        losses: list[str] = []
        while len(losses) < MOST_LOSSES:
            try:
                if not self._in_place:
                    self._place()
                while self._progress.n_sweeps < n_sweeps:
                    self._step()
                return action()
            except WorkersLost as loss:
                losses.append(str(loss))  # the exception keeps futures alive, so only its text is kept
                logger.warning("Lost workers (%s); resuming from iteration %d.", losses[-1], self._snapshot.n_sweeps)
                self._in_place = False
            if self._is_interrupted():
                self._return_to_client(n_sweeps)
                return action()
        raise ClusterError(
            f"workers were lost {MOST_LOSSES} times in a row, the last time {losses[-1]}; they may have too little "
            "memory: use more workers, or workers with more memory"
        )

    def take_snapshot(self) -> None:
        """Keep this state for recovery. If workers have joined, redistribute the shards."""
        if self._is_local:
            return
        self._snapshot = Snapshot.take(self._progress)
        tokens = self._progress.state.assignment.tokens
        assert isinstance(tokens, DistributedAssignment)
        workers = self._cluster.workers()
        n_hosts = min(len(workers), len(self._problem.shards))
        if n_hosts > len(tokens.seats):
            tokens.deal_shards()

    def _return_to_client(self, n_sweeps: int) -> None:
        """Continue on this machine, from the snapshot; after `n_sweeps` if a draw was kept since the snapshot."""
        self._leave()
        self._snapshot.restore(self._problem, self._progress)
        self._is_local = True
        while self._progress.n_sweeps < n_sweeps and len(self._progress.draws) > self._snapshot.n_draws:
            self._step()

    def _place(self) -> None:
        """Put the state of the snapshot on the current workers."""
        progress = self._progress
        if self._leave() or progress.n_sweeps != self._snapshot.n_sweeps:
            self._snapshot.restore(self._problem, progress)
        local = progress.state.assignment
        tokens = local.tokens
        distributed = DistributedAssignment(self._cluster, tokens.problem, tokens.topics, tokens.counts)
        progress.state = progress.state._replace(assignment=local.with_tokens(distributed))
        self._in_place = True

    def _leave(self) -> bool:
        """Release the hosts, if there are any."""
        tokens = self._progress.state.assignment.tokens
        if not isinstance(tokens, DistributedAssignment):
            return False
        tokens.leave()
        return True

    def __enter__(self) -> Recovery:
        return self

    def __exit__(self, *error: object) -> None:
        self._leave()
