"""Milliseconds per sweep by stage on Web Snippets, beside tomotopy's plain LDA, in one run and on one thread.

python -m benchmarks.sweep --topics 50 200
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from benchmarks.data import load_ws
from benchmarks.variants import VARIANTS

STAGES = ("tokens", "tables", "doc_weights", "word_weights", "seconds")


def time_ours(name: str, n_topics: int, warm: int, timed: int) -> dict[str, float]:
    """Medians over the timed sweeps, in ms."""
    from metalda import MetaLDA
    from metalda.meta.shards import shard_bounds
    from metalda.training.gibbs import Generators, Problem, start_chain, sweep

    train, _, features = load_ws()
    doc_prior, word_prior = VARIANTS[name]
    model = MetaLDA(n_topics, doc_prior=doc_prior, word_prior=word_prior, word_features=features)
    n_words = len(train.vocabulary)
    rows = features.rows(train.vocabulary) if word_prior == "features" else None
    problem = Problem(
        train.words,
        train.offsets,
        n_words,
        n_topics,
        model._prior_of_documents(train.labels, len(train)),
        model._prior_of_words(rows, n_words),
        shard_bounds(train.offsets, 1),
    )
    rngs = Generators.spawn(0, problem)
    state = start_chain(problem, np.random.default_rng(0))
    records = []
    for _ in range(warm + timed):
        state, record = sweep(problem, state, rngs)
        records.append(record)
    return {stage: float(np.median([getattr(r, stage) for r in records[warm:]])) * 1e3 for stage in STAGES}


def time_tomotopy(n_topics: int, warm: int, timed: int) -> float:
    import tomotopy

    train, _, _ = load_ws()
    model: Any = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=0.01, seed=1)
    for document in train:
        model.add_doc(document)
    model.optim_interval = 0
    model.train(warm, workers=1)
    seconds = []
    for _ in range(timed):
        start = time.perf_counter()
        model.train(1, workers=1)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--warm", type=int, default=200, help="sweeps before timing")
    parser.add_argument("--timed", type=int, default=50, help="sweeps that are timed")
    options = parser.parse_args()
    print("ms per sweep, median; ratio is to tomotopy's LDA")
    header = " ".join(f"{stage:>12}" for stage in (*STAGES[:-1], "all", "ratio"))
    print(f"{'K':>5} {'model':<16} {header}")
    for n_topics in options.topics:
        peer = time_tomotopy(n_topics, options.warm, options.timed)
        print(f"{n_topics:>5} {'tomotopy LDA':<16} {'':>51} {peer:12.2f} {1:12.2f}", flush=True)
        for name in VARIANTS:
            cells = time_ours(name, n_topics, options.warm, options.timed)
            cells["ratio"] = cells["seconds"] / peer
            print(f"{n_topics:>5} {name:<16} " + " ".join(f"{value:12.2f}" for value in cells.values()), flush=True)


if __name__ == "__main__":
    main()
