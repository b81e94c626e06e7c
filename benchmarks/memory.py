"""The memory that `fit` predicts, compared with the memory that `fit` and `save` take, over eleven sizes.

``python -m benchmarks.memory``; takes two minutes on Linux. Every size runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# model, documents, tokens per document, words, topics, kept draws, labels, word features
SIZES: list[tuple[Any, ...]] = [
    ("LDA", 20_000, 50, 20_000, 100, 15, 0, 0),
    ("LDA", 100_000, 100, 30_000, 50, 5, 0, 0),
    ("LDA", 5_000, 50, 10_000, 1_000, 15, 0, 0),
    ("LDA", 500, 20, 2_000, 60_000, 20, 0, 0),
    ("LDA", 50_000, 100, 50_000, 500, 10, 0, 0),
    ("MetaLDA", 20_000, 50, 20_000, 100, 15, 20, 50),
    ("MetaLDA", 5_000, 20, 5_000, 50, 60, 500, 100),
    ("MetaLDA", 3_000, 20, 3_000, 200, 20, 2_000, 0),
    ("DMR", 20_000, 20, 10_000, 100, 5, 100, 0),
    ("GPUDMM", 10_000, 15, 10_000, 100, 10, 0, 0),
    ("GPUDMM", 10_000, 15, 10_000, 400, 10, 0, 0),
]


def measure(model: str, *sizes: int) -> tuple[int, int]:
    """Fit and save a model in another process; returns the bytes that were predicted and taken."""
    command = [sys.executable, "-m", "benchmarks.memory", json.dumps([model, *sizes])]
    predicted, taken = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(predicted), int(taken)


def fit_and_save(
    name: str, n_documents: int, length: int, n_words: int, n_topics: int, n_draws: int, *meta: int
) -> None:
    """Print the bytes that `fit` predicts, and those that it takes together with `save`."""
    import metalda.models.base as base
    import metalda.training.memory as memory

    parameters: dict[str, Any] = {"n_iter": n_draws + 2, "burn_in": 1, "thin": 1, "n_draws": n_draws, "verbose": False}
    predicted: list[int] = []

    def require(*arguments: Any) -> None:
        predicted.append(memory.estimate_memory(*arguments))

    base.require_memory = require
    with tempfile.TemporaryDirectory() as folder:
        model, corpus = _make(name, 10, 10, 50, 2, meta, parameters)
        model.fit(corpus).save(Path(folder, "small"))  # loads modules and kernels
        model, corpus = _make(name, n_documents, length, n_words, n_topics, meta, parameters)
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _peak()
        model.fit(corpus).save(Path(folder, "model"))
        print(predicted[-1] - corpus.words.nbytes, _peak() - before)


def _make(
    name: str,
    n_documents: int,
    length: int,
    n_words: int,
    n_topics: int,
    meta: tuple[int, ...],
    parameters: dict[str, Any],
) -> tuple[Any, Any]:
    import numpy as np
    from scipy import sparse

    import metalda
    from metalda.corpus import NamedMatrix

    rng, (n_labels, n_features) = np.random.default_rng(0), meta
    words = (n_words * rng.random(n_documents * length) ** 3).astype(np.int32)  # frequent and rare ones
    vocabulary = tuple(f"w{v}" for v in range(n_words))
    labels = None
    if n_labels:
        chosen = rng.integers(0, n_labels, n_documents), np.arange(n_documents + 1)
        matrix = sparse.csr_array((np.ones(n_documents), *chosen), shape=(n_documents, n_labels))
        labels = NamedMatrix(matrix, tuple(f"l{j}" for j in range(n_labels)))
    corpus = metalda.Corpus(words, np.arange(n_documents + 1, dtype=np.int64) * length, vocabulary, labels=labels)
    if n_features:
        binary = sparse.csr_array((rng.random((n_words, n_features)) < 0.2).astype(float))
        features = NamedMatrix(binary, tuple(f"f{j}" for j in range(n_features)))
        parameters = {**parameters, "word_features": metalda.WordFeatures(vocabulary, features)}
    if name == "GPUDMM":
        vectors = rng.standard_normal((n_words, 20)).astype(np.float32)
        parameters = {**parameters, "embeddings": metalda.Embeddings(vocabulary, vectors)}
    return getattr(metalda, name)(n_topics, **parameters), corpus


def _peak() -> int:
    """Return the peak of resident memory, as Linux reports it."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(fields["VmHWM"].split()[0])


def main() -> None:
    if len(sys.argv) > 1:
        fit_and_save(*json.loads(sys.argv[1]))
        return
    header = ("model", "documents", "tokens", "words", "topics", "draws", "labels", "features")
    header += ("predicted, MB", "measured, MB", "ratio")
    print("|", " | ".join(header), "|")
    print("|---" * len(header) + "|")
    for name, n_documents, length, *rest in SIZES:
        predicted, taken = measure(name, n_documents, length, *rest)
        cells = [name, *(f"{n:,}" for n in (n_documents, n_documents * length, *rest))]
        cells += [f"{predicted / 1e6:,.0f}", f"{taken / 1e6:,.0f}", f"{predicted / taken:.2f}"]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
