"""Seed words on 20 Newsgroups: ``python -m benchmarks.seeds run|show FILE [--models …] [--part 1]``.

Ten words a group (``seeds.json``, chosen by hand) name 20 topics; five topics are free. Models learn from the training
posts without labels. Measured on the groups of the posts:

- accuracy: the share of posts whose largest named topic is that of their group, of training posts and of new ones;
- kept: the share of named topics whose mean proportion is largest in the posts of their own group;

Drift is the difference between ``--iterations 1000 5000``.

``run`` adds a line of JSON to FILE for each model and seed, and skips those that FILE has. SeededLDA and KeyATM are
those of topica, which must be installed. ``--part 0.25`` takes every fourth post. Needs METALDA_DATA.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metalda import Corpus, MetaLDA, read_seeds
from metalda.datasets import load_newsgroups

SEEDS = read_seeds(Path(__file__).with_name("seeds.json"))
NAMES = list(SEEDS)
FREE = 5


class Posts(NamedTuple):
    """Posts without labels, and the number of the group of each."""

    corpus: Corpus
    groups: np.ndarray

    @property
    def tokens(self) -> list[list[str]]:
        words, offsets = np.array(self.corpus.vocabulary, dtype=object)[self.corpus.words], self.corpus.offsets
        return [words[a:b].tolist() for a, b in pairwise(offsets)]


def load_posts(part: float) -> tuple[Posts, Posts]:
    """Return the training posts and the later ones, without headers, quotes, signatures and empty posts."""
    corpus = load_newsgroups(remove=("headers", "quotes", "signatures"), stop_words="english")
    assert corpus.labels is not None
    assert corpus.ids is not None
    groups = corpus.labels.select(NAMES).matrix.toarray().argmax(axis=1)
    is_training = np.array([name.startswith("train/") for name in corpus.ids])
    has_words = np.diff(corpus.offsets) > 0

    def take(wanted: np.ndarray) -> Posts:
        rows = np.flatnonzero(wanted & has_words)
        rows = rows[np.unique((np.arange(round(len(rows) * part)) / part).astype(int))]
        return Posts(corpus[rows].without_labels(), groups[rows])

    return take(is_training), take(~is_training)


Proportions = tuple[np.ndarray, np.ndarray]  # of training posts and of new ones


def metalda(train: Posts, test: Posts, seed: int, n_iter: int, **settings: Any) -> Proportions:
    """MetaLDA, by default with a learned prior of documents."""
    model = MetaLDA(len(NAMES) + FREE, seeds=SEEDS, n_iter=n_iter, random_state=seed, verbose=False, **settings)
    model.fit(train.corpus)
    return model.doc_topics_, model.transform(test.corpus)


def seeded_lda(train: Posts, test: Posts, seed: int, n_iter: int, **settings: Any) -> Proportions:
    """topica's SeededLDA, which follows the R package seededlda."""
    import topica

    model = topica.SeededLDA(_known_seeds(train), residual=FREE, seed=seed, **settings)
    model.fit(train.tokens, iters=n_iter, keep_theta_draws=False)
    return np.asarray(model.doc_topic), np.asarray(model.transform(test.tokens))


def keyatm(train: Posts, test: Posts, seed: int, n_iter: int, **settings: Any) -> Proportions:
    """topica's KeyATM, which follows the R package keyATM."""
    import topica

    model = topica.KeyATM(_known_seeds(train), num_topics=len(NAMES) + FREE, seed=seed, **settings)
    model.fit(train.tokens, iters=n_iter, keep_theta_draws=False)
    return np.asarray(model.doc_topic), np.asarray(model.transform(test.tokens))


def _known_seeds(posts: Posts) -> dict[str, list[str]]:
    used = {posts.corpus.vocabulary[v] for v in np.unique(posts.corpus.words)}
    return {name: [word for word in words if word in used] for name, words in SEEDS.items()}


MODELS: dict[str, Callable[..., Proportions]] = {
    "MetaLDA": metalda,
    "MetaLDA-0.5": partial(metalda, doc_prior=0.5),  # the prior of documents of SeededLDA
    "SeededLDA": seeded_lda,
    "KeyATM": keyatm,
}


def accuracy(proportions: np.ndarray, groups: np.ndarray) -> float:
    """Return the share of posts whose largest named topic is that of their group."""
    return float((proportions[:, : len(NAMES)].argmax(axis=1) == groups).mean())


def kept(proportions: np.ndarray, groups: np.ndarray) -> float:
    """Return the share of named topics whose mean proportion is largest in the posts of their own group."""
    means = np.array([proportions[groups == group, : len(NAMES)].mean(axis=0) for group in range(len(NAMES))])
    return float((means.argmax(axis=0) == np.arange(len(NAMES))).mean())


def run(path: Path, names: list[str], part: float, n_seeds: int, iterations: list[int]) -> None:
    """Run every model with every seed and number of iterations that FILE lacks."""
    train, test = load_posts(part)
    plan = [(name, seed, n_iter) for seed in range(n_seeds) for n_iter in iterations for name in names]
    done = [] if not path.exists() else [json.loads(line) for line in path.read_text().splitlines()]
    known = {(row["model"], row["seed"], row["iterations"]) for row in done}
    for name, seed, n_iter in plan:
        if (name, seed, n_iter) in known:
            continue
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            of_training, of_test = MODELS[name](train, test, seed, n_iter)
        row = {
            "model": name,
            "seed": seed,
            "iterations": n_iter,
            "posts": len(train.groups),
            "train": round(accuracy(of_training, train.groups), 4),
            "test": round(accuracy(of_test, test.groups), 4),
            "kept": round(kept(of_training, train.groups), 4),
            "cpu_seconds": round(time.process_time() - start),
        }
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def show(path: Path) -> None:
    """Print means over seeds."""
    table = pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    means = table.groupby(["posts", "model", "iterations"])[["train", "test", "kept", "cpu_seconds"]].mean().round(3)
    print(means.assign(seeds=table.groupby(["posts", "model", "iterations"]).size()).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--part", type=float, default=1.0, help="share of the posts (default 1)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=10, help="chains of each model (default 10)")
    parser.add_argument("--iterations", type=int, nargs="+", default=[1000])
    given = parser.parse_args()
    if given.command == "run":
        run(given.file, given.models, given.part, given.seeds, given.iterations)
    show(given.file)


if __name__ == "__main__":
    main()
