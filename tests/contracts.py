"""What every model promises. `CASES` names the models; `test_contract.py` runs every law on every model."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from metalda import LDA, Corpus, MetaLDA, WordFeatures

QUICK = {"n_iter": 12, "thin": 2, "n_draws": 3, "random_state": 0, "verbose": False}

PETS = ["cat dog purr bark cat", "dog bark leash", "purr cat whisker", "cat dog", "dog leash bark bark"]
SKIES = ["rain sun cloud", "sun sun rain storm", "cloud storm rain", "storm cloud", "rain sun wind wind"]
FEATURES = WordFeatures.from_mapping(
    dict.fromkeys(["cat", "dog", "purr", "bark", "leash", "whisker", "kitten"], "animal")
    | {word: ["weather", "noun"] for word in ["rain", "sun", "cloud", "storm", "hail"]}
)


def corpus() -> Corpus:
    """Ten short documents; the labels of one are missing, and one has two."""
    labels = [["pets"]] * 4 + [["pets", "home"]] + [["sky"]] * 4 + [[]]
    return Corpus.from_texts(PETS + SKIES, labels)


def counts() -> tuple[Any, list[str], list[str]]:
    """The same as a count matrix, its vocabulary, and one label per document."""
    tokens = corpus()
    return tokens.counts(), list(tokens.vocabulary), ["pets"] * 5 + ["sky"] * 5


@dataclass(frozen=True)
class Case:
    """A model under the contract."""

    name: str
    make: Callable[..., Any]

    def __str__(self) -> str:
        return self.name


CASES = [
    Case("MetaLDA", lambda **other: MetaLDA(**{"n_components": 3, "word_features": FEATURES, **QUICK, **other})),
    Case("MetaLDA-def-def", lambda **other: MetaLDA(**{"n_components": 3, **QUICK, **other})),
    Case(
        "MetaLDA-0.1-0.01",
        lambda **other: MetaLDA(**{"n_components": 3, "doc_prior": 0.1, "word_prior": 0.01, **QUICK, **other}),
    ),
    Case("LDA", lambda **other: LDA(**{"n_components": 3, **QUICK, **other})),
]


def assert_distributions(rows: np.ndarray) -> None:
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)


def quietly(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call without the warnings that the test does not look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **named)
