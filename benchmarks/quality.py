"""Seconds until MetaLDA is good: ``python -m benchmarks.quality [--corpora ws,tmn] [--seeds 1]``.

A model is good when its held-out perplexity is at most 1 % above its value after 2,000 iterations. Fits become longer
until one is; what counts are its processor seconds. With ``PYTHONPATH`` set to the sources of another version, the
script measures that version. Needs METALDA_DATA.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

from benchmarks.data import data_folder, load_glove, load_ws
from metalda import Corpus, MetaLDA
from metalda.datasets import load_tmn

N_TOPICS, LONG, TOLERANCE = 100, 2000, 1.01
LENGTHS = (25, 35, 50, 70, 100, 140, 200, 280, 400, 560, 800, 1130, 1600)


def load(name: str) -> tuple[Corpus, Corpus, Any]:
    """Return training and held-out documents, and the features of words."""
    if name == "ws":
        return load_ws()
    return *load_tmn(data_folder()).split(test_size=0.2, random_state=0), load_glove()


def fit(train: Corpus, test: Corpus, features: Any, seed: int, n_iter: int) -> tuple[float, float]:
    """Return processor seconds and perplexity."""
    model = MetaLDA(N_TOPICS, word_features=features, n_iter=n_iter, random_state=seed, verbose=False)
    start = time.process_time()
    model.fit(train)
    seconds = time.process_time() - start
    return seconds, model.perplexity(test)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default="ws,tmn")
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"| corpus | seed | perplexity after {LONG:,} | seconds | good after | seconds | perplexity |")
    print("|---|---|---|---|---|---|---|")
    for name in given.corpora.split(","):
        corpora = load(name)
        fit(*corpora, 0, 2)  # compiles the kernels
        for seed in range(given.seeds):
            long_seconds, final = fit(*corpora, seed, LONG)
            seconds, perplexity, n_iter = long_seconds, final, LONG
            for n_iter in LENGTHS:
                seconds, perplexity = fit(*corpora, seed, n_iter)
                if perplexity <= TOLERANCE * final:
                    break
            figures = f"{final:.1f} | {long_seconds:.1f} | {n_iter} | {seconds:.1f} | {perplexity:.1f}"
            print(f"| {name} | {seed} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
