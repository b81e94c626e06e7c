"""What every model promises. `CASES` names the models; `test_contract.py` runs every law on every model."""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from metalda import (
    DMM,
    DMR,
    GPUDMM,
    LDA,
    LFLDA,
    PTM,
    WFLDA,
    Corpus,
    Embeddings,
    LabeledLDA,
    MetaLDA,
    PartiallyLabeledLDA,
    WordFeatures,
)
from metalda.meta.design import Design
from metalda.models.fitted import Fitted
from metalda.priors import Fixed

OFTEN = {"optimize_burn_in": 2, "optimize_interval": 3}
QUICK = {"n_iter": 12, "thin": 2, "n_draws": 3, "random_state": 0, "verbose": False}

PETS = ["cat dog purr bark cat", "dog bark leash", "purr cat whisker", "cat dog", "dog leash bark bark"]
SKIES = ["rain sun cloud", "sun sun rain storm", "cloud storm rain", "storm cloud", "rain sun wind wind"]
FEATURES = WordFeatures.from_mapping(
    dict.fromkeys(["cat", "dog", "purr", "bark", "leash", "whisker", "kitten"], "animal")
    | {word: ["weather", "noun"] for word in ["sun", "cloud", "storm", "hail"]}
    | {"rain": "weather"}
)


EMBEDDINGS = Embeddings(  # near enough to each other that every pair of a kind has a cosine above 0.7
    ("cat", "dog", "purr", "bark", "leash", "kitten", "rain", "sun", "cloud", "storm", "hail"),
    np.array([[1, 0, j / 40] for j in range(6)] + [[0, 1, j / 40] for j in range(5)]),
)


def corpus() -> Corpus:
    """Ten short documents; the labels of one are missing, and one has two."""
    labels = [["pets"]] * 4 + [["pets", "home"]] + [["sky"]] * 4 + [[]]
    return Corpus.from_texts(PETS + SKIES, labels)


def counts() -> tuple[Any, list[str], list[str]]:
    """The same as a count matrix, its vocabulary, and one label per document."""
    tokens = corpus()
    return tokens.counts(), list(tokens.vocabulary), LABELS


LABELS = ["pets"] * 5 + ["sky"] * 5  # one per document; models that use no labels ignore them


@dataclass(frozen=True)
class Case:
    """A model under the contract, and what is peculiar to it."""

    name: str
    make: Callable[..., Any]
    needs_names: bool = False  # it cannot learn from a matrix whose columns have no names
    whole_counts: bool = True  # the counts of its draws are those of the tokens, and nothing else
    topics_from_labels: bool = False  # there is no n_components: the labels decide

    def __str__(self) -> str:
        return self.name

    @property
    def parameters(self) -> set[str]:
        return set(self.make().get_params())

    def make_for_columns(self, **other: Any) -> Any:
        """For a matrix whose columns have no names."""
        named = {"word_features", "seeds"} & self.parameters
        return self.make(**dict.fromkeys(named), **other)


CASES = [
    Case("MetaLDA", lambda **other: MetaLDA(**{"n_components": 3, "word_features": FEATURES, **QUICK, **other})),
    Case("MetaLDA-def-def", lambda **other: MetaLDA(**{"n_components": 3, **QUICK, **other})),
    Case(
        "MetaLDA-0.1-0.01",
        lambda **other: MetaLDA(**{"n_components": 3, "doc_prior": 0.1, "word_prior": 0.01, **QUICK, **other}),
    ),
    Case(
        "MetaLDA-seeds",
        lambda **other: MetaLDA(**{"n_components": 3, "seeds": {"sky": ["sun", "clou*"]}, **QUICK, **other}),
    ),
    Case("PTM", lambda **other: PTM(**{"n_components": 3, "n_pseudo_documents": 4, **QUICK, **other})),
    Case("LDA", lambda **other: LDA(**{"n_components": 3, **QUICK, **other})),
    Case("LabeledLDA", lambda **other: LabeledLDA(**{**QUICK, **other}), topics_from_labels=True),
    Case(
        "PartiallyLabeledLDA",
        lambda **other: PartiallyLabeledLDA(**{"topics_per_label": 1, "n_shared": 0, **QUICK, **other}),
        topics_from_labels=True,
    ),
    Case("DMR", lambda **other: DMR(**{"n_components": 3, **OFTEN, **QUICK, **other})),
    Case("WFLDA", lambda **other: WFLDA(**{"n_components": 3, "word_features": FEATURES, **OFTEN, **QUICK, **other})),
    Case(
        "LFLDA",
        lambda **other: LFLDA(
            **{
                "n_components": 3,
                "embeddings": EMBEDDINGS,
                "initial_iterations": 7,
                "regularization": 0.1,
                **QUICK,
                **other,
            }
        ),
        needs_names=True,
        whole_counts=False,
    ),
    Case("DMM", lambda **other: DMM(**{"n_components": 3, "word_prior": 0.01, **QUICK, **other})),
    Case(
        "GPUDMM",
        lambda **other: GPUDMM(**{"n_components": 3, "word_prior": 0.01, "embeddings": EMBEDDINGS, **QUICK, **other}),
        needs_names=True,
        whole_counts=False,
    ),
]


def known_topics(components: Any, vocabulary: Any) -> LDA:
    """A fitted LDA whose topics are given instead of learned."""
    phi = np.array(components).T
    n_words, n_topics = phi.shape
    model = LDA(n_topics)
    model._fitted = Fitted(
        draws=(),
        weights={},
        phi=phi,
        proportions=partial(np.zeros, (0, n_topics), np.float32),
        vocabulary=tuple(vocabulary),
        doc_prior=Fixed(Design.build(None, 0), 0.1),
        word_prior=Fixed(Design.build(None, n_words), 0.01),
        history={},
        schema=None,
        seed=0,
        n_iter=0,
        n_shards=1,
        named_words=True,
    )
    return model


def with_result(model: Any, **changes: Any) -> Any:
    """A copy of a fitted model, with other values in its `Fitted`."""
    if "doc_topics" in changes:
        changes["proportions"] = partial(np.asarray, changes.pop("doc_topics"))
    other = copy(model)
    other._fitted = replace(model.fitted_, **changes)
    return other


def best_chain(model: Any, texts: Any) -> Any:
    """Of three chains the most likely one: some end with two topics in one, of LDA as of others."""
    chains = [clone(model).set_params(random_state=seed).fit(texts) for seed in range(3)]
    return max(chains, key=lambda chain: chain.history_["log_likelihood"].iloc[-50:].mean())


def assert_distributions(rows: np.ndarray) -> None:
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)


def quietly(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call without the warnings that the test does not look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **named)
