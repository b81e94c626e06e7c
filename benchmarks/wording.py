"""Wording by group: do intervals of contrasts cover, and do groups that do not matter cost anything?

``python -m benchmarks.wording [--corpora 60] [--snippets | --simulated-snippets] [--iterations 600]``

Corpora are simulated with two groups, and their topics are learned. The truth is the log ratio of the probabilities of
a word in the two groups within a topic. Words count that have at least 1 % of the shared topic. In `model` all words
differ between groups, with phi[k, g] ~ Dirichlet(c phi[k]). In `planted` ten words of a topic are multiplied by 2 or
1/2 in one group, and all other words are alike.

``--snippets`` fits Web Snippets (METALDA_DATA) with 50 topics, with and without three groups that are random. Real
documents repeat their words, so that even random groups differ more than independent tokens would.
``--simulated-snippets`` therefore simulates documents of the same lengths from the topics of Web Snippets.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda import Corpus, MetaLDA
from metalda.evaluation.matching import match

N_TOPICS, N_WORDS, N_DOCUMENTS, N_TOKENS = 3, 120, 200, 60
FREQUENT = 0.01  # share of a topic, from which on a word counts
MIN_SIMILARITY = 0.9  # of a learned topic and its true one
CONCENTRATIONS = (100.0, 1000.0)


class Simulated(NamedTuple):
    """A corpus with two groups, and its true topics."""

    corpus: Corpus
    shared: NDArray[np.float64]  # phi[k, v]
    by_group: NDArray[np.float64]  # phi[g, k, v]


def simulate(kind: str, seed: int) -> Simulated:
    """Simulate documents of two groups."""
    rng = np.random.default_rng(seed)
    shared = rng.dirichlet(np.full(N_WORDS, 0.2), N_TOPICS)
    if kind == "model":
        concentration = CONCENTRATIONS[seed % len(CONCENTRATIONS)]
        by_group = np.array([[rng.dirichlet(concentration * phi + 1e-12) for phi in shared] for _ in range(2)])
    else:
        by_group = np.array([shared, shared])
        for k in range(N_TOPICS):
            frequent = np.argsort(-shared[k])[:20]
            chosen = rng.choice(frequent, 10, replace=False)
            by_group[1, k, chosen] *= rng.choice([0.5, 2.0], 10)
        by_group /= by_group.sum(axis=-1, keepdims=True)
    names, documents, groups = [f"w{v:03d}" for v in range(N_WORDS)], [], []
    for d in range(N_DOCUMENTS):
        theta = rng.dirichlet(np.full(N_TOPICS, 0.3)) @ by_group[d % 2]
        documents.append([names[v] for v in rng.choice(N_WORDS, N_TOKENS, p=theta / theta.sum())])
        groups.append("ab"[d % 2])
    return Simulated(Corpus.from_tokens(documents, groups), shared, by_group)


class Covered(NamedTuple):
    """Contrasts of one corpus."""

    n: int
    covered: int
    squared: float  # errors
    width: float  # of the intervals, their sum
    n_null: int  # words that do not differ
    n_false: int  # of these, those whose interval excludes 0


def cover(kind: str, seed: int, n_iter: int) -> list[Covered]:
    """Fit one corpus, and compare the intervals of every matched topic with the truth."""
    simulated = simulate(kind, seed)
    model = MetaLDA(N_TOPICS, wording="label", n_iter=n_iter, random_state=seed, verbose=False).fit(simulated.corpus)
    column = [int(word[1:]) for word in model.vocabulary_]
    found = []
    own_topics, true_topics, similarity = match(np.sqrt(model.components_) @ np.sqrt(simulated.shared[:, column]).T)
    for own, true, alike in zip(own_topics, true_topics, similarity, strict=True):
        if alike < MIN_SIMILARITY:
            continue
        table = model.wording_contrasts(int(own), "b", "a", top_n=None)
        words = np.array([int(word[1:]) for word in table["word"]])
        kept = simulated.shared[true, words] >= FREQUENT
        low, high, effect = (table[name].to_numpy()[kept] for name in ("low", "high", "effect"))
        truth = np.log(simulated.by_group[1, true, words[kept]] / simulated.by_group[0, true, words[kept]])
        null = np.abs(truth) < 0.1
        excludes = (low > 0) | (high < 0)
        inside = (low <= truth) & (truth <= high)
        width = float((high - low).sum())
        error = float(((effect - truth) ** 2).sum())
        found.append(
            Covered(len(truth), int(inside.sum()), error, width, int(null.sum()), int((null & excludes).sum()))
        )
    return found


def coverage(n_corpora: int, n_iter: int) -> None:
    print("| truth | corpora | topics matched | contrasts | covered | rmse | width | false positives |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ("model", "planted"):
        parts = [own for seed in range(n_corpora) for own in cover(kind, seed, n_iter)]
        total = Covered(*(sum(column) for column in zip(*parts, strict=True)))
        false = f"{total.n_false / total.n_null:.1%}" if kind == "planted" else "–"
        print(
            f"| {kind} | {n_corpora} | {len(parts) / (N_TOPICS * n_corpora):.0%} | {total.n:,} | "
            f"{total.covered / total.n:.1%} | {np.sqrt(total.squared / total.n):.3f} | {total.width / total.n:.2f} | "
            f"{false} |",
            flush=True,
        )


def load_snippets(simulated: bool) -> tuple[Corpus, Corpus]:
    """Return training and held-out documents, as they are or simulated from the topics of a model without groups."""
    from benchmarks.data import load_ws

    train, test, _ = load_ws()
    if not simulated:
        return train, test
    model = MetaLDA(50, doc_prior="default", n_iter=300, random_state=0, verbose=False).fit(train)
    rng, words = np.random.default_rng(0), np.array(model.vocabulary_, dtype=object)
    parts = []
    for corpus, proportions in ((train, model.doc_topics_), (test, model.transform(test))):
        theta = proportions.astype(np.float64) @ model.components_.astype(np.float64)
        lengths = np.diff(corpus.offsets)
        drawn = (rng.choice(words, n, p=p / p.sum()).tolist() for n, p in zip(lengths, theta, strict=True))
        parts.append(Corpus.from_tokens(list(drawn)))
    return parts[0], parts[1]


def snippets(n_iter: int, n_seeds: int, simulated: bool) -> None:
    """Compare the perplexity of Web Snippets with and without random groups."""
    train, test = load_snippets(simulated)
    print("| groups | seed | perplexity, groups given | groups hidden | median c | seconds per iteration |")
    print("|---|---|---|---|---|---|")
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        parts = [part.with_labels(rng.choice(["a", "b", "c"], len(part)).tolist()) for part in (train, test)]
        for wording in (None, "label"):
            how = {"doc_prior": "default", "n_iter": n_iter, "random_state": seed, "verbose": False}
            start = time.process_time()
            model = MetaLDA(50, wording=wording, **how).fit(parts[0])
            seconds = (time.process_time() - start) / n_iter
            hidden = model.perplexity(parts[1].without_labels())
            given = model.perplexity(parts[1])
            c = f"{model.wording_['concentration'].median():,.0f}" if wording else "–"
            name = "three, random" if wording else "none"
            print(f"| {name} | {seed} | {given:.1f} | {hidden:.1f} | {c} | {seconds:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wording", description=__doc__)
    parser.add_argument("--corpora", type=int, default=60)
    parser.add_argument("--iterations", type=int, default=600)
    parser.add_argument("--snippets", action="store_true", help="compare perplexities on Web Snippets instead")
    parser.add_argument("--simulated-snippets", action="store_true", help="the same, with simulated documents")
    parser.add_argument("--seeds", type=int, default=3, help="of Web Snippets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.snippets or options.simulated_snippets:
        snippets(options.iterations, options.seeds, options.simulated_snippets)
    else:
        coverage(options.corpora, options.iterations)


if __name__ == "__main__":
    main()
