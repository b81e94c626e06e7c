"""Hashes of what every model gives for one seed, so that a change that should change no result can show it.

`python tests/golden.py` writes `golden.json` anew: do so where results are meant to change, and say so in the commit.
The bits depend on the processor and on the versions of the compiled packages, which the file names.
"""

import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
import scipy

from contracts import CASES, Case, quietly
from metalda import Corpus, Embeddings, WordFeatures

PATH = Path(__file__).with_suffix(".json")
N_WORDS, N_DOCUMENTS = 60, 90
SETTINGS = {"n_iter": 40, "burn_in": 10, "thin": 5, "n_draws": 4, "random_state": 3, "verbose": False}
PAPER = {"weight_prior": "gamma"}
VARIANTS = {
    "MetaLDA-def-def": {"doc_prior": "default", "word_prior": "default"},
    "MetaLDA-dl-0.01": {"doc_prior": "labels", "word_prior": 0.01},
    "MetaLDA-dl-def": {"doc_prior": "labels", "word_prior": "default"},
    "MetaLDA-0.1-wf": {"doc_prior": 0.1, "word_prior": "features"},
    "MetaLDA-def-wf": {"doc_prior": "default", "word_prior": "features"},
    "MetaLDA-dl-wf": {"doc_prior": "labels", "word_prior": "features"},
}


def machine() -> dict[str, str]:
    """What the bits depend on besides our own code."""
    features = ",".join(sorted(name for name, there in llvmlite.binding.get_host_cpu_features().items() if there))
    return {
        "machine": platform.machine(),
        "processor": llvmlite.binding.get_host_cpu_name(),
        "features": hashlib.sha256(features.encode()).hexdigest()[:16],
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def runs() -> Iterator[tuple[str, Any]]:
    """Every model with one, two and three shards, and the six variants of MetaLDA, unfitted; MetaLDA as in the paper.

    The default prior of weights comes last.
    """
    by_name = {case.name: case for case in CASES}
    for name in sorted(by_name.keys() - {"MetaLDA-seeds"}):  # whose seeds are not words of this corpus
        for n_shards in (1, 2, 3):
            paper = PAPER if name.startswith("MetaLDA") else {}
            yield f"{name}, {n_shards} shards", make(by_name[name], n_shards=n_shards, **paper)
    for name, priors in VARIANTS.items():
        yield f"{name}, variant", make(by_name["MetaLDA"], **priors, **PAPER)
        yield f"{name}, variant with normal weights", make(by_name["MetaLDA"], **priors)


def make(case: Case, **other: Any) -> Any:
    """The model of a case with the words, features and vectors of this file."""
    model = case.make(**SETTINGS, **other)
    parameters = model.get_params()
    if "n_components" in parameters:
        model.set_params(n_components=7)
    if parameters.get("word_features") is not None:
        model.set_params(word_features=word_features())
    if parameters.get("embeddings") is not None:
        model.set_params(embeddings=embeddings())
    return model


def words() -> list[str]:
    return [f"w{v:02}" for v in range(N_WORDS)]


def word_features() -> WordFeatures:
    """Three features of words; every seventh word has none."""
    return WordFeatures.from_mapping(
        {word: [f"f{v % 2}", f"g{v % 3}"] if v % 3 else [f"f{v % 2}"] for v, word in enumerate(words()) if v % 7}
    )


def embeddings() -> Embeddings:
    """A vector for all words but every seventh."""
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(4, 6))
    known = [v for v in range(N_WORDS) if v % 7]
    return Embeddings(
        tuple(words()[v] for v in known), np.array([centers[v % 4] + 0.3 * rng.normal(size=6) for v in known])
    )


def corpora() -> tuple[Corpus, Corpus]:
    """Documents with one label, two labels, no labels and no words; the second has words that the first has not."""
    rng = np.random.default_rng(11)
    topics = rng.dirichlet(np.full(N_WORDS, 0.2), size=5)
    documents, labels = [], []
    for d in range(N_DOCUMENTS):
        theta = rng.dirichlet(np.where(np.arange(5) == d % 5, 5.0, 0.3))
        drawn = rng.choice(N_WORDS, size=rng.integers(0, 30) if d % 17 else 0, p=theta @ topics)
        documents.append([words()[v] for v in drawn])
        labels.append([] if d % 13 == 0 else [f"a{d % 5}"] + ([f"b{d % 2}"] if d % 3 == 0 else []))
    corpus = Corpus.from_tokens(documents, labels)
    return corpus[: N_DOCUMENTS - 30].trim(), corpus[N_DOCUMENTS - 30 :].trim()


def digest(values: Any) -> str:
    array = np.ascontiguousarray(values)
    return hashlib.sha256(f"{array.shape} {array.dtype.str}".encode() + array.tobytes()).hexdigest()[:16]


def hashes(model: Any) -> dict[str, str]:
    """Fit, and hash what users see."""
    train, test = corpora()
    quietly(model.fit, train)
    return {
        "components": digest(np.asarray(model.components_)),
        "doc_topics": digest(model.doc_topics_),
        "transform": digest(quietly(model.transform, test)),
        "transform without labels": digest(quietly(model.transform, test.without_labels())),
        "perplexity": digest([quietly(model.perplexity, test, draws=draws) for draws in ("mean", "last", "each")]),
        "perplexity with unseen words": digest(quietly(model.perplexity, test, unseen="features")),
    }


if __name__ == "__main__":
    written = {"made on": machine(), "hashes": {name: hashes(model) for name, model in runs()}}
    PATH.write_text(json.dumps(written, indent=1) + "\n")
    print(f"{PATH}: {len(written['hashes'])} runs", file=sys.stderr)
