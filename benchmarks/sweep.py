"""Milliseconds per sweep by stage on Web Snippets, and of tomotopy's LDA, in one run and on one thread.

python -m benchmarks.sweep --topics 50 200
"""

from __future__ import annotations

import argparse

from benchmarks.chains import Ours, Tomotopy, compare
from benchmarks.data import load_ws
from benchmarks.variants import VARIANTS
from metalda import MetaLDA

STAGES = ("tokens", "doc_weights", "word_weights")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--warm", type=int, default=200, help="sweeps before timing")
    options = parser.parse_args()
    train, _, features = load_ws()
    header = " ".join(f"{name:>12}" for name in (*STAGES, "all", "tomotopy LDA", "ratio"))
    print("ms per sweep, medians; doc_weights: tables and lambda, word_weights: tables and delta")
    print(f"{'K':>5} {'model':<16} {header}")
    for n_topics in options.topics:
        for name, (doc_prior, word_prior) in VARIANTS.items():
            settings = {"doc_prior": doc_prior, "word_prior": word_prior, "word_features": features}
            chain = Ours(train, MetaLDA(n_topics, **settings))
            ours, peer, ratio = compare(chain, Tomotopy(train, n_topics), warm=options.warm)
            stages = chain.stages()
            cells = [*(1e3 * value for value in (*(stages[stage] for stage in STAGES), ours, peer)), 1 / ratio]
            print(f"{n_topics:>5} {name:<16} " + " ".join(f"{value:12.2f}" for value in cells), flush=True)


if __name__ == "__main__":
    main()
