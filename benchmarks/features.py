"""Do word features help, and do they harm? ``python -m benchmarks.features --out runs [--corpora ws,tmn]``.

Labels are hidden from training. The table has held-out perplexity, agreement of the dominant topic with the labels
(NMI), coherence and CPU seconds: without features, with them and a learned strength (the default), with vectors as
numbers, with the strength fixed, with vectors that are dealt to random words, and with vectors that `Embeddings.learn`
learns from the training documents or from the Wikipedia sample. Runs are kept in the folder `--out`, so that the script
can be interrupted.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.data import data_folder, load_newsgroups, load_vectors
from metalda import Corpus, Embeddings, MetaLDA, WordFeatures
from metalda.datasets import load_python_docs, load_tmn, load_wikipedia, load_ws
from metalda.evaluation.measures import topic_coherence
from metalda.evaluation.runs import RunStore, run_jobs

SETTINGS: dict[str, dict[str, Any]] = {
    "none": {"word_prior": "default"},
    "learned": {},
    "real": {},  # vectors as numbers
    "nu = 0.1": {"nu": 0.1},
    "nu = 1": {"nu": 1.0},
    "nu = 10": {"nu": 10.0},
    "nu = 50": {"nu": 50.0},
    "random": {},  # vectors of other words
    "own": {},  # vectors that are learned from the training documents
    "wikipedia": {},  # vectors that are learned from the Wikipedia sample
}
MEASURES = {"perplexity": "{:.0f}", "nmi": "{:.3f}", "coherence": "{:.3f}", "seconds": "{:.0f}"}
CORPORA = ("ws", "tmn", "20 newsgroups", "computing", "docstrings")


@lru_cache
def load(name: str) -> tuple[Corpus, Corpus]:
    """Return training and held-out documents, with one label each."""
    if name == "ws":
        return load_ws(data_folder())
    if name == "tmn":
        corpus = load_tmn(data_folder())
    elif name == "docstrings":
        corpus = load_python_docs()
    else:
        corpus = load_newsgroups()
        if name == "computing":
            assert corpus.labels is not None
            groups = np.array(corpus.labels.names)[corpus.labels.matrix.indices]
            corpus = corpus[np.char.startswith(groups.astype(str), "comp.")].trim()
    return corpus.split(test_size=0.2, random_state=0)


@lru_cache
def load_features(setting: str, corpus: str) -> WordFeatures | None:
    if setting == "none":
        return None
    if setting == "own":
        return Embeddings.learn(load(corpus)[0]).binarize()
    if setting == "wikipedia":
        return learn_from_wikipedia().binarize()
    vectors = load_vectors()
    if setting == "real":
        return vectors.standardize(load(corpus)[0].vocabulary)
    if setting == "random":
        order = np.random.default_rng(0).permutation(len(vectors.words))
        vectors = Embeddings(vectors.words, vectors.vectors[order])
    return vectors.binarize()


@lru_cache
def learn_from_wikipedia() -> Embeddings:
    return Embeddings.learn(load_wikipedia(data_folder(), min_df=20))


@dataclass(frozen=True)
class FeatureRun:
    """One fit."""

    corpus: str
    n_topics: int
    setting: str
    seed: int
    n_iter: int

    @property
    def file(self) -> str:
        return "features"

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, Any]:
        train, test = load(self.corpus)
        model = MetaLDA(
            self.n_topics,
            doc_prior="default",
            word_features=load_features(self.setting, self.corpus),
            n_iter=self.n_iter,
            random_state=self.seed,
            verbose=False,
            **SETTINGS[self.setting],
        )
        start = time.process_time()
        model.fit(train)
        seconds = time.process_time() - start
        assert train.labels is not None
        labeled = np.diff(train.labels.matrix.indptr) > 0
        first_label = train.labels.matrix.indices[train.labels.matrix.indptr[:-1][labeled]]
        coherence = topic_coherence(model, train)
        assert coherence is not None
        return {
            "perplexity": model.perplexity(test),
            "nmi": float(normalized_mutual_info_score(first_label, model.doc_topics_[labeled].argmax(axis=1))),
            "coherence": float(np.nanmean(coherence)),
            "seconds": seconds,
        }


def table(store: RunStore) -> str:
    """Return the results as Markdown: means over seeds, and the standard deviation of perplexity."""
    results: dict[tuple[str, int, str], list[dict[str, float]]] = {}
    for run, result in store.all(FeatureRun):
        results.setdefault((run.corpus, run.n_topics, run.setting), []).append(result)
    cells = sorted({key[:2] for key in results}, key=lambda key: (CORPORA.index(key[0]), key[1]))
    lines = [f"| corpus | K | measure | {' | '.join(SETTINGS)} |", "|---|---|---|" + "---|" * len(SETTINGS)]
    for corpus, n_topics in cells:
        for measure, form in MEASURES.items():
            shown = []
            for setting in SETTINGS:
                own = results.get((corpus, n_topics, setting), [])
                values = [result[measure] for result in own if measure in result]
                text = form.format(fmean(values)) if values else ""
                spread = f" ± {form.format(stdev(values))}" if len(values) > 1 else ""
                shown.append(text + spread)
            lines.append(f"| {corpus} | {n_topics} | {measure} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--topics", default="labels,100", help="numbers of topics; 'labels' is the number of labels")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="only print the results so far")
    given = parser.parse_args()
    store = RunStore(given.out)
    jobs = []
    for corpus in [] if given.table else given.corpora.split(","):
        labels = load(corpus)[0].labels
        assert labels is not None
        n_labels = len(np.unique(labels.matrix.indices))
        topics = [n_labels if each == "labels" else int(each) for each in given.topics.split(",")]
        jobs += [
            FeatureRun(corpus, n_topics, setting, seed, given.iterations)
            for seed in range(given.seeds)
            for n_topics in topics
            for setting in given.settings.split(",")
        ]
    run_jobs(jobs, store, None, n_processes=given.jobs)
    print(table(store))


if __name__ == "__main__":
    main()
