"""Corpora of the paper with their word features, and models of the paper trained on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metalda.corpus import Corpus
from metalda.datasets import load_newsgroups, load_reuters, load_tmn, load_ws
from metalda.datasets.catalog import places
from metalda.errors import InputError
from metalda.evaluation.named_models import name_models
from metalda.evaluation.runs import fit_whole
from metalda.experiments.paper import MODELS
from metalda.meta import Embeddings, WordFeatures
from metalda.models.base import TopicModel
from metalda.models.fitted import Parameters
from metalda.models.registry import find_model, parameters_of
from metalda.models.saving import fingerprint_corpus

VECTORS = "glove.6B.100d.subset.txt.gz"
WS_FEATURES = "WS/binary_embeddings.txt"
TOP_WORDS = 10  # of a topic, for its coherence


class Key(NamedTuple):
    """The key of a cell in a table."""

    dataset: str
    model: str
    topics: int | None
    share: float | None = None  # of the documents to train on, where it varies


@dataclass(frozen=True)
class Material:
    """A corpus, its published split if there is one, and features and vectors of its words."""

    corpus: Corpus
    given: tuple[Corpus, Corpus] | None
    word_features: WordFeatures
    embeddings: Embeddings

    def split(self, seed: int, share: float | None) -> tuple[Corpus, Corpus]:
        """Return training and test documents; without a share the paper's split, or else 80 to 20."""
        if share is None and self.given is not None:
            return self.given
        train, test = self.corpus.split(test_size=1 - (share or 0.8), random_state=seed)
        return train, test

    @property
    def for_words(self) -> Parameters:
        """Return the parameters `word_features` and `embeddings`, for models that have them."""
        return {"word_features": self.word_features, "embeddings": self.embeddings}


@lru_cache(maxsize=1)
def load_material(dataset: str, folder: Path | None) -> Material:
    """Load a corpus by its name; an InputError names missing files."""
    vectors = Embeddings.read(_find(VECTORS, "GloVe's vectors of 100 dimensions", folder))
    if dataset == "ws":  # with the paper's own features; their vectors are not available
        features = WordFeatures.read(_find(WS_FEATURES, "the paper's own word features", folder))
        train, test = load_ws(folder)
        return Material(_join(train, test), (train, test), features, vectors)
    return Material(_LOADERS[dataset](folder, vectors), None, vectors.binarize(), vectors)


# The paper drops words without vectors, for a fair comparison; Tag My News is published with its vocabulary chosen.
_LOADERS: Mapping[str, Callable[[Path | None, Embeddings], Corpus]] = {
    "tmn": lambda folder, vectors: load_tmn(folder),
    "reuters": lambda folder, vectors: load_reuters(folder, embeddings=vectors),
    "20ng": lambda folder, vectors: load_newsgroups(folder, embeddings=vectors),
}
DATASETS = ("ws", *_LOADERS)


def _find(file: str, what: str, folder: Path | None) -> Path:
    for place in places(folder):
        if (place / file).is_file():
            return place / file
    where = " or ".join(map(str, places(folder)))
    raise InputError(f"the experiments need {what}: {file} expected in {where}; name the folder: --data, METALDA_DATA")


def _join(first: Corpus, second: Corpus) -> Corpus:
    """Join two corpora whose documents have one label each."""
    documents, labels = [], []
    for part in (first, second):
        documents += [list(document) for document in part]
        labels += [] if part.labels is None else [part.labels.names[j] for j in part.labels.matrix.indices]
    return Corpus.from_tokens(documents, labels)


@dataclass(frozen=True)
class PaperRun:
    """A run of a model of the paper on one of its corpora, whose result belongs to a cell."""

    dataset: str
    model: str  # its name in the paper
    topics: int | None  # per label for PLLDA; None for LLDA

    def __str__(self) -> str:
        return f"{self.dataset}, {self.model}" + ("" if self.topics is None else f", {self.topics} topics")

    @property
    def file(self) -> str:
        """Return the name of the file, one per corpus."""
        return self.dataset

    @property
    def key(self) -> Key:
        """Return the key of the cell of the run."""
        return Key(self.dataset, self.model, self.topics)


@dataclass(frozen=True)
class TrainingRun(PaperRun):
    """A model, trained and measured on held-out documents."""

    seed: int
    iterations: int
    share: float | None = None  # of the documents to train on; by default as in the paper's tables

    def __str__(self) -> str:
        return f"{super().__str__()}, seed {self.seed}"

    @property
    def key(self) -> Key:
        """Return the key of the cell of the run."""
        return super().key._replace(share=self.share)

    def make_model(self, for_words: Parameters, **others: object) -> TopicModel:
        """Return the unfitted model with the paper's settings; `others` replace those that it has."""
        settings: dict[str, object] = {
            "n_components": self.topics,
            "topics_per_label": self.topics,
            "n_iter": self.iterations,
        }
        settings |= {
            "initial_iterations": self.iterations * 3 // 4,
            "random_state": self.seed,
            "verbose": False,
            **for_words,
            **others,
        }
        name = MODELS[self.model].ours
        known = parameters_of(find_model(name.partition(":")[0]))
        return name_models(name, {each: settings[each] for each in settings if each in known})[0].model

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, object]:
        """Train the model and return its measures."""
        material = load_material(self.dataset, data)
        train, test = material.split(self.seed, self.share)
        model = self.make_model(material.for_words)
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        fit_whole(model, train, checkpoint, every=100)
        return {"corpus": fingerprint_corpus(material.corpus), **_measure(model, self, train, test)}


def _measure(model: TopicModel, job: TrainingRun, train: Corpus, test: Corpus) -> dict[str, object]:
    result: dict[str, object] = {
        "documents": [len(train), len(test)],
        "topics": len(model.components_),
        "perplexity": _perplexity(model, test),
        "seconds_per_iteration": float(np.mean(model.history_["seconds"])),
    }
    if MODELS[job.model].labels:
        result["labels_hidden"] = _perplexity(model, test.without_labels())
    if job.share is not None:
        result["unseen_share"] = len(set(test.vocabulary) - set(train.vocabulary)) / len(test.vocabulary)
        result["with_unseen"] = _perplexity(model, test, unseen="features")
    else:
        result["words"] = [" ".join(words) for words in model.top_words(TOP_WORDS)]
    return result


def _perplexity(model: TopicModel, test: Corpus, unseen: str = "ignore") -> dict[str, float]:
    """Return the perplexity of the last state, as in the paper, and of averaged draws."""
    return {draws: model.perplexity(test, draws=draws, unseen=unseen) for draws in ("last", "mean")}
