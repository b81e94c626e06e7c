"""Time per token and memory by the number of topics and by the size of the corpus, as plots.

``python -m benchmarks.growth docs/images``; needs the extra `bench`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, resource, sys
import numpy as np
from benchmarks.chains import Ours
from benchmarks.data import load_arxiv, load_newsgroups
from metalda import LDA
name, n_topics, share, sweeps = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
corpus = load_newsgroups() if name == "news" else load_arxiv()
if share < 1:
    corpus = corpus[np.random.default_rng(0).permutation(len(corpus))[: max(1, int(share * len(corpus)))]]
chain = Ours(corpus, LDA(n_topics))
chain.sweep(sweeps - 5)
seconds = np.median([chain.sweep(1) for _ in range(5)])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"tokens": corpus.n_tokens, "ns": seconds / corpus.n_tokens * 1e9, "gigabytes": peak / 1e9}))
"""


def measure(name: str, n_topics: int, share: float, sweeps: int) -> dict[str, float]:
    """Measure in a separate process, which has its own peak of memory."""
    command = [sys.executable, "-c", PROGRAM, name, str(n_topics), str(share), str(sweeps)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout)
    print(name, n_topics, result, flush=True)
    return result


def main() -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    topics = [50, 100, 200, 500, 1000, 2000]
    by_topics = [measure("news", k, 1.0, 60) for k in topics]
    by_size = [measure("arxiv", 200, share, 12) for share in (0.003, 0.03, 0.3, 1.0)]
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    sizes = [result["tokens"] / 1e6 for result in by_size]
    for column, (x, results, label) in enumerate(
        ((topics, by_topics, "topics (20 Newsgroups)"), (sizes, by_size, "million tokens (arXiv, K = 200)"))
    ):
        for row, (key, unit) in enumerate((("ns", "ns per token and sweep"), ("gigabytes", "peak memory, GB"))):
            axes[row][column].plot(x, [result[key] for result in results], marker="o", color="#35608d")
            axes[row][column].set(xscale="log", ylim=(0, None), xlabel=label, ylabel=unit)
            axes[row][column].grid(alpha=0.3)
    figure.suptitle("LDA, one thread")
    figure.savefig(folder / "growth.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
