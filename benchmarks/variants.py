"""Perplexity of LDA and the six variants of MetaLDA on Web Snippets, and the paper's Table IV.

python -m benchmarks.variants --topics 50 --sweeps 1000 --seeds 3
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import load_ws

VARIANTS: dict[str, tuple[Any, Any]] = {  # name: doc_prior, word_prior
    "LDA": (0.1, 0.01),
    "MetaLDA-def-def": ("default", "default"),
    "MetaLDA-dl-0.01": ("labels", 0.01),
    "MetaLDA-dl-def": ("labels", "default"),
    "MetaLDA-0.1-wf": (0.1, "features"),
    "MetaLDA-def-wf": ("default", "features"),
    "MetaLDA": ("labels", "features"),
}
PAPER = {  # mean and standard deviation over 5 runs, K = 50 and 200
    "LDA": {50: (961, 6), 200: (888, 5)},
    "MetaLDA-def-def": {50: (884, 10), 200: (625, 6)},
    "MetaLDA-dl-0.01": {50: (840, 7), 200: (588, 4)},
    "MetaLDA-dl-def": {50: (832, 4), 200: (582, 5)},
    "MetaLDA-0.1-wf": {50: (889, 6), 200: (853, 4)},
    "MetaLDA-def-wf": {50: (830, 6), 200: (584, 4)},
    "MetaLDA": {50: (774, 9), 200: (534, 4)},
}


def run(job: tuple[str, int], n_topics: int, n_sweeps: int) -> dict[str, Any]:
    from metalda import MetaLDA

    name, seed = job
    train, test, features = load_ws()
    doc_prior, word_prior = VARIANTS[name]
    model = MetaLDA(
        n_topics,
        doc_prior=doc_prior,
        word_prior=word_prior,
        word_features=features,
        n_iter=n_sweeps,
        random_state=seed,
        verbose=False,
    ).fit(train)
    scores = {draws: model.perplexity(test, draws=draws) for draws in ("last", "mean", "each")}
    return {"variant": name, "seed": seed, "topics": n_topics, "sweeps": n_sweeps, **scores}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", type=Path, help="append every run to this file, a line each")
    options = parser.parse_args()
    jobs = [(name, seed) for name in VARIANTS for seed in range(options.seeds)]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in VARIANTS}
    print(f"{'variant':<16} {'last':>13} {'mean':>7} {'each':>7}   paper", flush=True)
    with ProcessPoolExecutor(options.jobs) as pool:
        for result in pool.map(partial(run, n_topics=options.topics, n_sweeps=options.sweeps), jobs):
            found[result["variant"]].append(result)
            if options.json:
                with options.json.open("a") as file:
                    file.write(json.dumps(result) + "\n")
            runs = found[result["variant"]]
            if len(runs) == options.seeds:
                last, mean, each = (np.array([r[d] for r in runs]) for d in ("last", "mean", "each"))
                paper = PAPER[result["variant"]].get(options.topics)
                shown = f"{paper[0]} ± {paper[1]}" if paper else "–"
                spread = f"{last.mean():7.1f} ± {last.std():4.1f}"
                print(
                    f"{result['variant']:<16} {spread:>13} {mean.mean():7.1f} {each.mean():7.1f}   {shown}", flush=True
                )


if __name__ == "__main__":
    main()
