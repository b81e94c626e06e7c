"""Cost of the checks of ``metalda.load``: ``python -m benchmarks.loading [--before SRC] [--repeats 7]``.

Makes models of 1 GB and loads each repeatedly, in turn with and without the checks of `metalda.utils.checks`. Checksums
are verified in both cases. `--before` adds an older version: the folder `src` of another checkout. Every variant has a
process of its own. The files are in the cache of the operating system; from a slow disk the checks matter less.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from scipy import sparse

GOAL = 1.3
N_LABELS, N_TOPICS, N_DRAWS, TOPICS_PER_WORD = 20, 200, 15, 32
SHAPES = {"counts and documents": (500_000, 200_000), "documents": (1_200_000, 10_000)}  # documents, words

# Loads the model once for each line of its input, and prints the seconds of the wall clock and of the processor.
LOAD = """
import sys, time
import metalda
from metalda import MetaLDA  # and with it all modules that loading needs
if sys.argv[2] == "unchecked":
    from benchmarks.loading import remove_checks
    remove_checks()
for _ in sys.stdin:
    wall, cpu = time.perf_counter(), time.process_time()
    model = metalda.load(sys.argv[1])
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
    del model
"""


def remove_checks() -> None:
    """Replace the checks by functions that return the value unchanged, in every module that loading uses."""
    from metalda.models import saving
    from metalda.utils import checks

    own = {name: function for name, function in vars(checks).items() if name.startswith("check_")}
    for module in [module for name, module in sys.modules.items() if name.startswith("metalda.")]:
        for name, function in own.items():
            if vars(module).get(name) is function:
                setattr(module, name, _as_tuple if name == "check_names" else _unchecked)
    saving._check_phi = _unchecked  # type: ignore[assignment]


def _unchecked(name: object, value: object = None, *rules: object, **more: object) -> object:
    return value


def _as_tuple(name: str, names: list[str]) -> tuple[str, ...]:
    return tuple(names)


def save_model(folder: Path, n_documents: int, n_words: int) -> None:
    """Save a MetaLDA with random counts, which agree with each other as those of a chain do."""
    from metalda import MetaLDA
    from metalda.corpus import NamedMatrix
    from metalda.meta.design import Design
    from metalda.samplers import Draw
    from metalda.training.loop import Trained

    rng = np.random.default_rng(0)
    names = tuple(f"label {label}" for label in range(N_LABELS))
    labels = sparse.csr_array(np.eye(N_LABELS)[rng.integers(0, N_LABELS, n_documents)])
    model = MetaLDA(N_TOPICS, n_iter=N_DRAWS, n_draws=N_DRAWS, verbose=False)
    doc_prior = model._prior_of_documents(Design.build(NamedMatrix(labels, names), n_documents))
    word_prior = model._prior_of_words(Design.build(None, n_words))
    draws = []
    for _ in range(N_DRAWS):
        counts = sparse.csr_array(rng.random((n_words, N_TOPICS), np.float32) < TOPICS_PER_WORD / N_TOPICS)
        counts = sparse.csr_array((rng.geometric(0.3, counts.nnz).astype(np.int32), counts.indices, counts.indptr))
        counts.resize((n_words, N_TOPICS))
        log_doc_weights, log_word_weights = doc_prior.start_weights(N_TOPICS), word_prior.start_weights(N_TOPICS)
        totals = np.asarray(counts.sum(axis=0), np.int64)
        mass = totals + word_prior.beta(log_word_weights).topic_sums
        draws.append(Draw(log_doc_weights, log_word_weights, np.full(N_TOPICS, 0.1), totals, mass, counts))
    doc_topics = rng.random((n_documents, N_TOPICS), np.float32)
    doc_topics /= doc_topics.sum(axis=1, keepdims=True)
    history = {name: np.zeros(N_DRAWS) for name in ("iteration", "log_likelihood", "seconds", "moved")}
    weights = {"label": np.stack([draw.log_doc_weights for draw in draws]).astype(np.float32)}
    model._keep_result(
        [Trained(tuple(draws), weights, doc_topics, history, N_DRAWS, 0)],
        tuple(f"word{v}" for v in range(n_words)),
        doc_prior,
        word_prior,
        schema=None,
        n_shards=1,
        named_words=True,
    )
    model.save(folder)


class Loader:
    """A process that loads the model again and again, with or without checks."""

    def __init__(self, folder: Path, source: Path | None, variant: str) -> None:
        own = Path(__file__).parents[1]
        paths = os.pathsep.join(map(str, (source or own / "src", own)))
        self._process = subprocess.Popen(
            [sys.executable, "-c", LOAD, str(folder), variant],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.load()  # so that imports, compiled kernels and the file are in memory
        self.times: list[tuple[float, float]] = []

    def load(self) -> tuple[float, float]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        print(file=process.stdin, flush=True)
        wall, cpu = map(float, process.stdout.readline().split())
        return wall, cpu

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measure(folder: Path, before: Path | None, repeats: int) -> None:
    """Print median times and ratios for one model."""
    loaders = {"checked": Loader(folder, None, "checked"), "unchecked": Loader(folder, None, "unchecked")}
    if before:
        loaders["before"] = Loader(folder, before, "before")
    for _ in range(repeats):
        for loader in loaders.values():
            loader.times.append(loader.load())
    medians = {name: [median(each) for each in zip(*loader.times, strict=True)] for name, loader in loaders.items()}
    for name, (wall, cpu) in medians.items():
        loaders[name].close()
        ratios = [a / b for a, b in zip(medians["checked"], (wall, cpu), strict=True)]
        verdict = "" if name == "checked" else f"; checked / {name}: {ratios[0]:.2f} wall, {ratios[1]:.2f} cpu"
        print(f"  {name:<9} {wall:6.3f} s wall, {cpu:6.3f} s cpu{verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loading", description=__doc__)
    parser.add_argument("--before", type=Path, metavar="SRC", help="the folder src of an older version")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the models in GB")
    options = parser.parse_args()
    print(f"medians of {options.repeats} loads; goal: checked / unchecked at most {GOAL}")
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory(prefix="metalda-benchmark-") as temporary:
            folder = Path(temporary, "model")
            save_model(folder, *(int(options.scale * n) for n in shape))
            size = sum(path.stat().st_size for path in folder.iterdir())
            print(f"{name}, {size / 1e9:.2f} GB", flush=True)
            measure(folder, options.before, options.repeats)


if __name__ == "__main__":
    main()
