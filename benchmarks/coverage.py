"""Do intervals of effects cover? ``python -m benchmarks.coverage [--corpora 50] [--only kind,tags]``.

Corpora are simulated, and the topics are learned: each learned topic is matched with a true one by its words, and
topics without a clear partner are left out and counted. Half of the topics have effects of labels. On the other half
every effect is 0, so that an interval that excludes 0 there is a false positive.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from tqdm import tqdm

from metalda import DMR, MetaLDA
from metalda.evaluation.matching import match
from metalda.models.base import TopicModel

N_DOCUMENTS, N_TOKENS, N_WORDS, N_TOPICS = 500, 40, 300, 6
START = 0.3  # alpha of a document without effects
MIN_SIMILARITY = 0.8
Labels = list[list[str]]


def one_kind(rng: np.random.Generator) -> Labels:
    return [[f"s{rng.integers(4)}"] for _ in range(N_DOCUMENTS)]


def two_kinds(rng: np.random.Generator) -> Labels:
    return [[f"s{rng.integers(4)}", f"y{rng.integers(3)}"] for _ in range(N_DOCUMENTS)]


def tags(rng: np.random.Generator) -> Labels:
    return [[f"t{i}" for i in range(4) if rng.random() < 0.3] for _ in range(N_DOCUMENTS)]


def rare(rng: np.random.Generator) -> Labels:
    """A hundred tags, each in about five documents."""
    return [[f"t{i:02}" for i in np.unique(rng.integers(0, 100, 1))] for _ in range(N_DOCUMENTS)]


LABELS = {"one kind": one_kind, "two kinds": two_kinds, "tags": tags, "100 rare labels": rare}


@dataclass(frozen=True)
class Truth:
    documents: list[list[str]]
    labels: Labels
    phi: NDArray[np.float64]  # [topic, word]
    weights: dict[str, NDArray[np.float64]]  # log lambda of each label


def simulate(rng: np.random.Generator, labels: Labels, generator: str) -> Truth:
    """Draw a corpus from MetaLDA's generator, or with logistic-normal proportions of the same mean in log space."""
    phi = rng.dirichlet(np.full(N_WORDS, 0.05), N_TOPICS)
    names = sorted({name for own in labels for name in own})
    has_effect = np.arange(N_TOPICS) < N_TOPICS // 2
    weights = {name: rng.normal(0, 1, N_TOPICS) * has_effect for name in names}
    documents = []
    for own in labels:
        logs = np.sum([np.zeros(N_TOPICS), *(weights[name] for name in own)], axis=0)
        if generator == "metalda":
            theta = rng.dirichlet(START * np.exp(logs))
        else:
            theta = softmax(logs + rng.normal(0, 1.5, N_TOPICS))
        words = rng.choice(N_WORDS, N_TOKENS, p=theta @ phi)
        documents.append([f"w{v:03}" for v in words])
    return Truth(documents, labels, phi, weights)


def judge(model: TopicModel, truth: Truth, interval: float) -> dict[str, NDArray[np.float64]]:
    """Return for each label and matched topic the error, whether the interval covers, and whether it excludes 0."""
    columns = [int(word[1:]) for word in model.vocabulary_]
    own, true, similarity = match(np.sqrt(model.components_.astype(float)) @ np.sqrt(truth.phi[:, columns]).T)
    partners = {int(k): int(j) for k, j, s in zip(own, true, similarity, strict=True) if s >= MIN_SIMILARITY}
    design = model.fitted_.labels
    weights = np.array([*(truth.weights[name] for name in model.label_names_), np.zeros(N_TOPICS)])
    effects = dict(zip(model.label_names_, design.references.center(weights), strict=True))
    table = model.label_effects(interval)
    table = table[table["topic"].isin(partners)]
    expected = np.array([effects[label][partners[k]] for label, k in zip(table["label"], table["topic"], strict=True)])
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    return {
        "error": table["effect"].to_numpy() - expected,
        "covers": (low <= expected) & (expected <= high),
        "significant": (low > 0) | (high < 0),
        "is zero": np.array([partners[k] >= N_TOPICS // 2 for k in table["topic"]]),
        "difference": (table["difference_low"] > 0) | (table["difference_high"] < 0),
        "matched": np.array([len(partners) / N_TOPICS]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--corpora", type=int, default=50)
    parser.add_argument("--only", help="some of: " + ", ".join(LABELS))
    parser.add_argument("--models", default="metalda,dmr")
    parser.add_argument("--generators", default="metalda,logistic")
    parser.add_argument("--interval", type=float, default=0.9)
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(LABELS)
    print("| generator | labels | model | topics found | bias | rmse | coverage | false positives |\n|" + "---|" * 8)
    for generator in options.generators.split(","):
        for kind in chosen:
            for name in options.models.split(","):
                results: list[dict[str, NDArray[np.float64]]] = []
                for seed in tqdm(range(options.corpora), desc=f"{generator}, {kind}, {name}", leave=False):
                    rng = np.random.default_rng(seed)
                    truth = simulate(rng, LABELS[kind](rng), generator)
                    model = {"metalda": MetaLDA, "dmr": DMR}[name](N_TOPICS, random_state=seed, verbose=False)
                    results.append(judge(model.fit(truth.documents, truth.labels), truth, options.interval))
                of = {key: np.concatenate([own[key] for own in results]) for key in results[0]}
                zero = of["is zero"].astype(bool)
                print(
                    f"| {generator} | {kind} | {name} | {of['matched'].mean():.0%} | {of['error'].mean():+.2f} | "
                    f"{np.sqrt((of['error'] ** 2).mean()):.2f} | {of['covers'].mean():.1%} | "
                    f"{of['significant'][zero].mean():.1%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
