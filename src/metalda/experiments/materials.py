"""What the experiments train on: a corpus of the paper, its split, and what is known of its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from metalda.corpus import Corpus
from metalda.datasets import load_newsgroups, load_reuters, load_tmn, load_ws
from metalda.datasets.catalog import places
from metalda.errors import InputError
from metalda.meta import Embeddings, WordFeatures

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
    vectors = Embeddings.read(_find(VECTORS, "GloVe's vectors of 100 dimensions", folder))
    if dataset == "ws":  # with the paper's own features; the vectors behind them are not to be had
        features = WordFeatures.read(_find(WS_FEATURES, "the paper's own word features", folder))
        train, test = load_ws(folder)
        return Material(_join(train, test), (train, test), features, vectors)
    return Material(_LOADERS[dataset](folder, vectors), None, vectors.binarize(), vectors)


# The paper drops words without vectors, for a fair comparison; Tag My News comes with its words chosen.
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
    """The documents of both, each with one label."""
    documents, labels = [], []
    for part in (first, second):
        documents += [list(document) for document in part]
        labels += [] if part.labels is None else [part.labels.names[j] for j in part.labels.matrix.indices]
    return Corpus.from_tokens(documents, labels)
