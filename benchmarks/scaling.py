"""What a sweep would cost on many machines: ``python -m benchmarks.scaling [--tokens 1e10 …]``.

A small simulation, fed with figures that were measured (docs/scaling.md says how). In each of its turns, as many as
there are shards, a worker sweeps its blocks, which takes a little longer on some workers than on others; then counts
of one group of words go to the next worker, and the scheduler handles the tasks of the turn, one after the other.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Load:
    """What is swept, and what it costs where nothing is in the way."""

    tokens: float
    topics: int
    cells: float  # of n[k, v] that are not 0: at most the sum over words of min(frequency, topics)
    weights: float  # labels × topics, and features × topics
    nanoseconds: float  # for a token, by one thread


@dataclass(frozen=True)
class Machines:
    """Workers with a thread each, and what is between them."""

    workers: int
    shards: int
    gigabits: float  # per second, of each worker
    task: float  # seconds of the scheduler for one task
    jitter: float  # standard deviation of the logarithm of a worker's pace, turn by turn


def simulate(load: Load, machines: Machines, rng: np.random.Generator, n_sweeps: int = 20) -> dict[str, float]:
    """Seconds per sweep: in all, and by what they go to; and megabytes that a worker receives in a sweep."""
    turns, workers = machines.shards, machines.workers
    mean = load.tokens * load.nanoseconds * 1e-9 / workers / turns
    pace = rng.lognormal(-(machines.jitter**2) / 2, machines.jitter, (n_sweeps, turns, workers))
    sweeping = mean * pace.max(axis=2).sum(axis=1).mean()  # all wait for the slowest
    moved = 6 * load.cells if workers > 1 else 0.0  # every group passes every worker once
    sums = 8 * load.topics * turns * min(workers, 8) if workers > 1 else 0.0
    received = moved + sums + 8 * load.weights
    sending = received / (machines.gigabits * 1e9 / 8)
    tasks = turns * (2 * workers + workers / 7) * machines.task
    total = sweeping + sending + tasks
    return {
        "sweeping": sweeping,
        "sending": sending,
        "tasks": tasks,
        "total": total,
        "efficiency": load.tokens * load.nanoseconds * 1e-9 / workers / total,
        "megabytes": received / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--tokens", type=float, default=1e10)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--words", type=float, default=1e6, help="in the vocabulary")
    parser.add_argument("--filled", type=float, default=0.1, help="share of n[k, v] that is not 0")
    parser.add_argument("--labels", type=float, default=1e4)
    parser.add_argument("--nanoseconds", type=float, default=200.0, help="for a token, by one thread")
    parser.add_argument("--gigabits", type=float, default=10.0, help="per second and worker")
    parser.add_argument("--task", type=float, default=0.4e-3, help="seconds of the scheduler for a task")
    parser.add_argument("--jitter", type=float, default=0.05, help="how unequal the workers are")
    given = parser.parse_args()
    load = Load(
        given.tokens,
        given.topics,
        given.filled * given.words * given.topics,
        given.labels * given.topics,
        given.nanoseconds,
    )
    print(
        f"{'workers':>8} {'s/sweep':>9} {'sweeping':>9} {'sending':>8} {'tasks':>7} {'efficiency':>11} {'MB/host':>10}"
    )
    for workers in (1, 2, 10, 30, 100, 300):
        machines = Machines(workers, max(workers, 8), given.gigabits, given.task, given.jitter)
        found = simulate(load, machines, np.random.default_rng(0))
        row = f"{workers:>8} {found['total']:>9.1f} {found['sweeping']:>9.1f} {found['sending']:>8.1f}"
        print(f"{row} {found['tasks']:>7.1f} {found['efficiency']:>10.0%} {found['megabytes']:>10.0f}")


if __name__ == "__main__":
    main()
