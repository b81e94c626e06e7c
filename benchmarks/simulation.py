"""Corpora with known effects of labels, for `benchmarks.coverage`.

Three generators draw the topic proportions theta of a document with labels x:

- ``metalda``: Dirichlet(alpha), where log alpha = log 0.3 + x @ weights. This is MetaLDA's own model.
- ``logistic``: softmax(x @ weights + noise), the logistic-normal distribution of STM.
- ``planted``: Dirichlet(0.3), as in LDA. In documents with a planted label, 60% of the proportion of topic 1 then moves
  to topic 0, so the difference is 10 percentage points in these two topics and 0 in all others.

``permuted`` is not simulated: 500 documents of Web Snippets with permuted labels, so that every effect is 0.

The effect of a label and the difference that it makes are those of docs/effects.md: relative to the average label of
its kind, or to the absence of the label. A regression of theta estimates another difference. Its truth is the
least-squares projection of the expected proportions on the labels (`projection`). Nothing here uses code of the
estimators, and `check` compares every truth with simulated documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import norm, qmc

Array = NDArray[np.float64]

N_DOCUMENTS, N_TOKENS, N_WORDS, N_TOPICS = 500, 40, 300, 6
START = 0.3  # alpha of a document without effects
NOISE = 1.5  # standard deviation of log proportions around their mean
MOVED = 0.6  # share of topic 1 that moves to topic 0
N_PERMUTED_TOPICS = 10
N_POINTS = 2**13  # of the quasi-Monte Carlo integral over the noise


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of documents, with the kind of each: labels of one kind are compared with their average."""

    names: tuple[str, ...]
    matrix: NDArray[np.bool_]  # [document, label]
    kind_of: NDArray[np.int64]  # [label]; -1 for a label that is compared with its absence
    acts: NDArray[np.bool_]  # [label]: has effects, in the log-linear generators
    is_planted: NDArray[np.bool_]  # [label]: has the difference, in the generator `planted`

    @property
    def lists(self) -> list[list[str]]:
        return [[self.names[j] for j in np.flatnonzero(row)] for row in self.matrix]

    def center(self, values: Array) -> Array:
        """Subtract from values [label, …] the average of the label's kind, weighted by documents."""
        centered, sizes = np.array(values, np.float64), self.matrix.sum(axis=0)
        for kind in range(self.kind_of.max() + 1):
            own = self.kind_of == kind
            centered[own] -= np.average(centered[own], axis=0, weights=sizes[own])
        return centered


def _labels(columns: dict[str, NDArray[np.bool_]], kinds: dict[str, int], inert: str, planted: str) -> Labels:
    """Build labels from columns. Kinds and inert labels are given by first letters, planted labels by a prefix."""
    columns = {name: column for name, column in sorted(columns.items()) if column.any()}
    return Labels(
        tuple(columns),
        np.stack(list(columns.values()), axis=1),
        np.array([kinds.get(name[0], -1) for name in columns]),
        np.array([name[0] not in inert for name in columns]),
        np.array([name.startswith(planted) for name in columns]),
    )


def _choices(rng: np.random.Generator, letter: str, n: int) -> dict[str, NDArray[np.bool_]]:
    """Return a kind: each document has one of n labels."""
    chosen = rng.integers(n, size=N_DOCUMENTS)
    return {f"{letter}{i}": chosen == i for i in range(n)}


def one_kind(rng: np.random.Generator) -> Labels:
    """Four sections; one is planted."""
    return _labels(_choices(rng, "s", 4), {"s": 0}, inert="", planted="s0")


def two_kinds(rng: np.random.Generator) -> Labels:
    """Four sections, and three years without any effect."""
    return _labels(_choices(rng, "s", 4) | _choices(rng, "y", 3), {"s": 0, "y": 1}, inert="y", planted="s0")


def tags(rng: np.random.Generator) -> Labels:
    """Four tags, each in 30% of the documents; two of them have no effect, and one is planted."""
    return _labels({name: rng.random(N_DOCUMENTS) < 0.3 for name in "ptuv"}, {}, inert="uv", planted="p")


def rare(rng: np.random.Generator) -> Labels:
    """A hundred authors with about five documents each; half of them are planted."""
    chosen = rng.integers(100, size=N_DOCUMENTS)
    columns = {f"{'pa'[i % 2]}{i:02}": chosen == i for i in range(100)}
    return _labels(columns, {"p": 0, "a": 0}, inert="", planted="p")


LABELS: dict[str, Callable[[np.random.Generator], Labels]] = {
    "one kind": one_kind,
    "two kinds": two_kinds,
    "tags": tags,
    "rare": rare,
}


@dataclass(frozen=True, eq=False)
class Simulated:
    """A corpus with the truth about its labels, by label and topic."""

    documents: list[list[str]]
    labels: Labels
    n_topics: int
    vocabulary: tuple[str, ...]
    phi: Array | None  # [topic, word]; None for a real corpus, whose topics are unknown
    effect: Array | None  # on the scale of log alpha; None if the generator has no alpha for each label
    difference: Array  # of expected proportions
    projection: Array  # the same, of the regression of expected proportions on labels


class Generator:
    """Draws proportions, and knows their expectation."""

    def __init__(self, labels: Labels, rng: np.random.Generator) -> None:
        self.labels = labels
        acts_on = np.arange(N_TOPICS) < N_TOPICS // 2
        self.weights: Array = rng.normal(0, 1, (len(labels.names), N_TOPICS)) * acts_on * labels.acts[:, None]

    def draw(self, logs: Array, rng: np.random.Generator) -> Array:
        """Draw theta of documents with logs = x @ weights."""
        raise NotImplementedError

    def expect(self, logs: Array) -> Array:
        """Return the expectation of `draw`."""
        raise NotImplementedError

    def draw_documents(self, rng: np.random.Generator) -> Array:
        return self.draw(self.labels.matrix @ self.weights, rng)

    def expect_documents(self) -> Array:
        """Return the expectation of theta for each document, given its labels."""
        sets, inverse = np.unique(self.labels.matrix, axis=0, return_inverse=True)
        expected: Array = self.expect(sets @ self.weights)[inverse]
        return expected

    def without(self, label: int) -> Array:
        """Return logs of the documents that have a label, without the effect of the label."""
        own = self.labels.matrix[self.labels.matrix[:, label]]
        logs: Array = own @ self.weights - self.labels.center(self.weights)[label]
        return logs

    def differences(self) -> Array:
        """Return the change of the expected proportions of its documents that the effect of each label makes."""
        expected, result = self.expect_documents(), np.empty_like(self.weights)
        for label in range(len(result)):
            logs, sizes = np.unique(self.without(label), axis=0, return_counts=True)
            reference = np.average(self.expect(logs), axis=0, weights=sizes)
            result[label] = expected[self.labels.matrix[:, label]].mean(axis=0) - reference
        return np.where(np.abs(result) < 1e-12, 0, result)


class Dirichlet(Generator):
    def draw(self, logs: Array, rng: np.random.Generator) -> Array:
        gammas = rng.standard_gamma(START * np.exp(logs))
        theta: Array = gammas / np.maximum(gammas.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return theta

    def expect(self, logs: Array) -> Array:
        expected: Array = softmax(logs, axis=1)
        return expected


class LogisticNormal(Generator):
    def draw(self, logs: Array, rng: np.random.Generator) -> Array:
        theta: Array = softmax(logs + rng.normal(0, NOISE, logs.shape), axis=1)
        return theta

    def expect(self, logs: Array) -> Array:
        noise = NOISE * norm.ppf(qmc.Sobol(N_TOPICS, rng=0).random(N_POINTS))
        return np.array([softmax(row + noise, axis=1).mean(axis=0) for row in logs])


class Planted(Dirichlet):
    """LDA with a planted difference. It is additive in the labels, so that labels are averaged on this scale."""

    def __init__(self, labels: Labels, rng: np.random.Generator) -> None:
        super().__init__(labels, rng)
        self.weights = np.zeros_like(self.weights)

    def move(self, theta: Array) -> Array:
        moved = MOVED * theta[:, 1] * self.labels.matrix[:, self.labels.is_planted].any(axis=1)
        theta = theta.copy()
        theta[:, 0] += moved
        theta[:, 1] -= moved
        return theta

    def draw_documents(self, rng: np.random.Generator) -> Array:
        return self.move(super().draw_documents(rng))

    def expect_documents(self) -> Array:
        return self.move(super().expect_documents())

    def differences(self) -> Array:
        changes = np.zeros_like(self.weights)
        changes[self.labels.is_planted, 0] = MOVED / N_TOPICS
        changes[self.labels.is_planted, 1] = -MOVED / N_TOPICS
        return self.labels.center(changes)


GENERATORS: dict[str, type[Generator]] = {"metalda": Dirichlet, "logistic": LogisticNormal, "planted": Planted}


def simulate(generator: str, kind: str, seed: int) -> Simulated:
    """Draw a corpus. The same arguments give the same corpus."""
    rng = np.random.default_rng(seed)
    labels = LABELS[kind](rng)
    phi = rng.dirichlet(np.full(N_WORDS, 0.05), N_TOPICS)
    source = GENERATORS[generator](labels, rng)
    vocabulary = tuple(f"w{v:03}" for v in range(N_WORDS))
    words = [rng.choice(N_WORDS, N_TOKENS, p=p / p.sum()) for p in source.draw_documents(rng) @ phi]
    return Simulated(
        [[vocabulary[v] for v in own] for own in words],
        labels,
        N_TOPICS,
        vocabulary,
        phi,
        labels.center(source.weights) if generator == "metalda" else None,
        source.differences(),
        project(source.expect_documents(), labels),
    )


def project(proportions: Array, labels: Labels) -> Array:
    """Return the least-squares coefficients of labels, for proportions [document, topic]."""
    design = np.column_stack([np.ones(len(proportions)), labels.matrix])
    solution = np.linalg.lstsq(design, proportions, rcond=1e-10)[0].astype(np.float64)
    coefficients = labels.center(solution[1:])
    return np.where(np.abs(coefficients) < 1e-12, 0, coefficients)


def permute(seed: int) -> Simulated:
    """Return a sample of Web Snippets whose labels are permuted."""
    from benchmarks.data import load_ws

    rng, train = np.random.default_rng(seed), load_ws()[0]
    assert train.labels is not None
    chosen = rng.choice(len(train), N_DOCUMENTS, replace=False)
    documents = [list(document) for document in train]
    columns = train.labels.matrix[rng.permutation(chosen)].toarray().astype(bool)
    n_labels = columns.shape[1]
    none = np.zeros(n_labels, bool)
    labels = Labels(tuple(train.labels.names), columns, np.zeros(n_labels, np.int64), none, none)
    own = [documents[d] for d in chosen]
    vocabulary = tuple(sorted({word for document in own for word in document}))
    zeros = np.zeros((n_labels, N_PERMUTED_TOPICS))
    return Simulated(own, labels, N_PERMUTED_TOPICS, vocabulary, None, zeros, zeros, zeros)


def check(seed: int = 0, n_copies: int = 200) -> None:
    """Compare the truths of every generator with means over many simulated documents; AssertionError if they differ."""
    for name, build in GENERATORS.items():
        for kind, draw_labels in LABELS.items():
            rng = np.random.default_rng(seed)
            labels = draw_labels(rng)
            source = build(labels, rng)
            theta = np.mean([source.draw_documents(rng) for _ in range(n_copies)], axis=0)
            noise = 0.35 / np.sqrt(n_copies * labels.matrix.sum(axis=0))[:, None]  # standard deviation, at most
            errors = np.abs(project(theta, labels) - project(source.expect_documents(), labels)) / noise
            truth = source.differences()
            for label in np.argsort(-labels.matrix.sum(axis=0), kind="stable")[:7]:
                if isinstance(source, Planted):
                    bare = _planted_without(source, label, n_copies, rng)
                else:
                    bare = np.mean([source.draw(source.without(label), rng) for _ in range(n_copies)], axis=(0, 1))
                found = theta[labels.matrix[:, label]].mean(axis=0) - bare
                errors[label] = np.maximum(errors[label], np.abs(found - truth[label]) / noise[label])
            assert errors.max() < 5, f"{name}, {kind}: a truth is off by {errors.max():.1f} standard deviations"
            print(f"{name}, {kind}: truths are within {errors.max():.1f} standard deviations of simulated documents")


def _planted_without(source: Generator, label: int, n_copies: int, rng: np.random.Generator) -> Array:
    """Return mean proportions of documents with a label, had they none, or a random document's label of its kind."""
    labels, total = source.labels, np.zeros(N_TOPICS)
    kind = (labels.kind_of == labels.kind_of[label]) & (labels.kind_of >= 0)
    kind[label] = True
    for _ in range(n_copies):
        matrix = labels.matrix.copy()
        matrix[:, kind] = labels.matrix[rng.permutation(len(matrix))][:, kind] if labels.kind_of[label] >= 0 else False
        other = Labels(labels.names, matrix, labels.kind_of, labels.acts, labels.is_planted)
        total += Planted(other, rng).draw_documents(rng)[labels.matrix[:, label]].mean(axis=0)
    return total / n_copies
