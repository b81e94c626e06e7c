"""Speed and traffic of a cluster: ``python -m benchmarks.cluster [--quick]``.

arXiv, K = 200, on processes of this machine: seconds per sweep of two threads, one worker and two workers, and the
bytes that a sweep sends. Needs the extra `dask`, the real corpora, ten minutes, and an idle machine.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.data import load_arxiv, load_ws
from metalda import LDA, MetaLDA
from metalda.training.distributed import assignment


def seconds_per_sweep(model: Any, corpus: Any, n_sweeps: int, **how: Any) -> float:
    """Return the median of the second half; the first sweep includes the startup."""
    fitted = model.fit(corpus, **how)
    return float(np.median(fitted.history_["seconds"].to_numpy()[n_sweeps // 2 :]))


def on_cluster(model: Any, corpus: Any, n_sweeps: int, n_workers: int) -> tuple[float, dict[str, int]]:
    """Return the seconds per sweep on a number of processes, and the traffic of one of the last sweeps."""
    from distributed import Client, LocalCluster

    original, sent = assignment.DistributedAssignment.observe_documents, {}
    sweep = assignment.DistributedAssignment.sweep

    def note(self: Any, result: Any) -> Any:
        sent.update(self.traffic)
        return result

    assignment.DistributedAssignment.sweep = lambda self, *a: note(self, sweep(self, *a))  # type: ignore[method-assign]
    assignment.DistributedAssignment.observe_documents = lambda self, *a: note(self, original(self, *a))  # type: ignore[method-assign]
    try:
        with (
            LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster) as client,
        ):
            return seconds_per_sweep(model, corpus, n_sweeps, client=client), sent
    finally:
        assignment.DistributedAssignment.sweep = sweep  # type: ignore[method-assign]
        assignment.DistributedAssignment.observe_documents = original  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Web Snippets, to check that the benchmark runs")
    parser.add_argument("--rounds", type=int, default=3, help="of threads and workers, alternating")
    given = parser.parse_args()
    corpus, n_sweeps = (load_ws()[0], 6) if given.quick else (load_arxiv(), 8)
    settings: dict[str, Any] = {"n_iter": n_sweeps, "n_draws": 1, "random_state": 0, "verbose": False}
    if given.quick:
        settings["n_shards"] = 8
    print(f"{'model':<10} {'two threads':>12} {'one worker':>12} {'two workers':>12} {'speed-up':>9} {'overhead':>9}")
    for model in (LDA(200, **settings), MetaLDA(200, word_prior=0.01, **settings)):
        pairs, sent = [], {}
        for _ in range(given.rounds):
            threads = seconds_per_sweep(model.set_params(n_jobs=2), corpus, n_sweeps)
            two, sent = on_cluster(model.set_params(n_jobs=1), corpus, n_sweeps, 2)
            pairs.append((threads, two))
        one, _ = on_cluster(model, corpus, n_sweeps, 1)
        threads, two = np.median(pairs, axis=0)
        overhead = float(np.median([b / a for a, b in pairs])) - 1
        row = f"{type(model).__name__:<10} {threads:>10.2f} s {one:>10.2f} s {two:>10.2f} s"
        print(f"{row} {one / two:>8.2f}x {overhead:>8.1%}", flush=True)
        parts = ", ".join(f"{name} {n / 1e6:.2f}" for name, n in sent.items())
        print(f"           a sweep on two workers sends {sum(sent.values()) / 1e6:.1f} MB: {parts}", flush=True)


if __name__ == "__main__":
    main()
