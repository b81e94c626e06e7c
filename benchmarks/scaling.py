"""Simulated cost of a sweep on many machines: ``python -m benchmarks.scaling [--tokens 1e10 …]``.

The simulation uses measured costs (see docs/scaling.md). A sweep has as many turns as there are shards. In each turn
every worker sweeps its blocks, some a little slower than others; then the counts of one group of words move to the next
worker, and the scheduler handles the tasks of the turn sequentially.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Load:
    """The work of a sweep, and its cost on one thread."""

    tokens: float
    topics: int
    cells: float  # nonzero n[k, v]: at most the sum over words of min(frequency, topics)
    weights: float  # labels × topics, and features × topics
    nanoseconds: float  # per token and thread


@dataclass(frozen=True)
class Machines:
    """Workers with one thread each, and their network."""

    workers: int
    shards: int
    gigabits: float  # per second, of each worker
    task: float  # seconds of the scheduler for one task
    jitter: float  # standard deviation of the logarithm of a worker's speed in a turn


def simulate(load: Load, machines: Machines, rng: np.random.Generator, n_sweeps: int = 20) -> dict[str, float]:
    """Return seconds per sweep, in total and by cause, and the megabytes that a worker receives in a sweep."""
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
    parser.add_argument("--filled", type=float, default=0.1, help="share of nonzero n[k, v]")
    parser.add_argument("--labels", type=float, default=1e4)
    parser.add_argument("--nanoseconds", type=float, default=200.0, help="per token and thread")
    parser.add_argument("--gigabits", type=float, default=10.0, help="per second and worker")
    parser.add_argument("--task", type=float, default=0.4e-3, help="seconds of the scheduler for a task")
    parser.add_argument("--jitter", type=float, default=0.05, help="variation of the workers' speed")
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
