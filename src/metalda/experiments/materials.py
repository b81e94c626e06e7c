"""What the experiments train on: a corpus of the paper, its split, and what is known of its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from metalda.corpus import Corpus
from metalda.datasets import load
from metalda.datasets.paper import _locate
from metalda.meta import Embeddings, WordFeatures

DATASETS = ("ws", "tmn", "reuters", "20ng", "nyt", "an")
VECTORS = "glove.6B.100d.subset.txt.gz"
WS_FEATURES = "WS/binary_embeddings.txt"


@dataclass(frozen=True)
class Material:
    """A corpus, the parts that it came in, if any, and features and vectors of its words."""

    corpus: Corpus
    given: tuple[Corpus, Corpus] | None
    word_features: WordFeatures
    embeddings: Embeddings

    def split(self, seed: int, share: float | None) -> tuple[Corpus, Corpus]:
        """Documents to train on and to test on; without a share as the paper split them, or else 80 to 20."""
        if share is None and self.given is not None:
            return self.given
        train, test = self.corpus.split(test_size=1 - (share or 0.8), random_state=seed)
        return train, test

    @property
    def for_words(self) -> Mapping[str, Any]:
        """As parameters of models, which take what they can use."""
        return {"word_features": self.word_features, "embeddings": self.embeddings}


@lru_cache(maxsize=1)
def load_material(dataset: str, folder: Path | None) -> Material:
    """A corpus by its name; one line says what is missing, if something is."""
    vectors = Embeddings.read(_locate(dataset, folder, [VECTORS])[0])
    if dataset == "ws":  # the paper's own features; the vectors behind them are not to be had
        features = WordFeatures.read(_locate(dataset, folder, [WS_FEATURES])[0])
        train, test = load("ws", folder)
        return Material(_join(train, test), (train, test), features, vectors)
    return Material(load(dataset, folder), None, vectors.binarize(), vectors)


def _join(first: Corpus, second: Corpus) -> Corpus:
    """The documents of both, each with one label."""
    documents = [list(document) for part in (first, second) for document in part]
    labels = [part.labels.names[j] for part in (first, second) for j in part.labels.matrix.indices]  # type: ignore[union-attr]
    return Corpus.from_tokens(documents, labels)
