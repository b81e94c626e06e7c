"""Perplexity by the number of shards: one is exact, more are approximate.

python -m benchmarks.shards
"""

from __future__ import annotations

import numpy as np

from benchmarks.data import load_newsgroups, load_ws

SHARDS = (1, 2, 4, 8, 16)


def main() -> None:
    from metalda import LDA, MetaLDA

    train, test, features = load_ws()
    news, later = load_newsgroups(), load_newsgroups("test")
    cases = {
        "MetaLDA, WS, K = 50, 300 sweeps, 3 seeds": (
            lambda n, seed: MetaLDA(50, word_features=features, n_iter=300, n_shards=n, random_state=seed, n_jobs=2),
            train,
            test,
            3,
        ),
        "LDA, 20 Newsgroups, K = 100, 200 sweeps, 2 seeds": (
            lambda n, seed: LDA(100, n_iter=200, n_shards=n, random_state=seed, n_jobs=2),
            news,
            later,
            2,
        ),
    }
    for name, (make, learn, judge, n_seeds) in cases.items():
        print(name)
        for n_shards in SHARDS:
            models = [make(n_shards, seed).set_params(verbose=False).fit(learn) for seed in range(n_seeds)]
            last = [model.perplexity(judge, draws="last") for model in models]
            likelihood = np.mean([model.history_["log_likelihood"].iloc[-1] for model in models])
            figures = f"{np.mean(last):8.1f} ± {np.std(last):4.1f}   log-likelihood {likelihood:.4f}"
            print(f"  {n_shards:>2} shards: perplexity {figures}", flush=True)


if __name__ == "__main__":
    main()
