"""Estimates of effects and differences by our models and by other methods, on one simulated corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.simulation import Array, Labels, Simulated
from metalda import DMR, LDA, MetaLDA
from metalda.models.base import TopicModel

INTERVAL = 0.9
N_THETA_DRAWS = 25  # of the method of composition; topica's default
N_KEYWORDS = 3  # keyATM is given the most probable words of each true topic


@dataclass(frozen=True, eq=False)
class Interval:
    """Estimates [label, topic], with the ends of their intervals; NaN where there is none."""

    value: Array
    low: Array
    high: Array

    @classmethod
    def point(cls, value: Array) -> Interval:
        nothing = np.full_like(value, np.nan)
        return cls(value, nothing, nothing)

    @classmethod
    def normal(cls, value: Array, error: Array) -> Interval:
        width = NormalDist().inv_cdf((1 + INTERVAL) / 2) * error
        return cls(value, value - width, value + width)


@dataclass(frozen=True, eq=False)
class Estimates:
    """What a method says about a corpus."""

    words: Sequence[str]
    phi: Array  # [topic, word]
    effect: Interval | None  # on the scale of log alpha
    difference: Interval
    is_regression: bool = False  # the difference is a coefficient of a regression of theta on labels


@dataclass(frozen=True)
class Method:
    title: str
    estimate: Callable[[Simulated, int], Estimates]
    seconds: float  # for one corpus, about


def _from_table(model: TopicModel, corpus: Simulated) -> Estimates:
    """Fit one of our models with labels, and take its table of effects."""
    table = model.fit(corpus.documents, corpus.labels.lists).label_effects(INTERVAL)
    grids = {
        name: table.pivot(index="label", columns="topic", values=name).loc[list(corpus.labels.names)].to_numpy(float)
        for name in ("effect", "low", "high", "difference", "difference_low", "difference_high")
    }
    effect = Interval(grids["effect"], grids["low"], grids["high"])
    difference = Interval(grids["difference"], grids["difference_low"], grids["difference_high"])
    return Estimates(model.vocabulary_, model.components_.astype(float), effect, difference)


def _metalda(**settings: Any) -> Callable[[Simulated, int], Estimates]:
    return lambda corpus, seed: _from_table(
        MetaLDA(corpus.n_topics, random_state=seed, verbose=False, **settings), corpus
    )


def _dmr(corpus: Simulated, seed: int) -> Estimates:
    return _from_table(DMR(corpus.n_topics, random_state=seed, verbose=False), corpus)


def _lda_regression(corpus: Simulated, seed: int) -> Estimates:
    """LDA, then least squares of theta on labels with the usual standard errors, as if theta were observed."""
    model = LDA(corpus.n_topics, random_state=seed, verbose=False).fit(corpus.documents)
    theta, labels = model.doc_topics_.astype(float), corpus.labels
    design = np.column_stack([np.ones(len(theta)), _full_rank(labels)])
    coefficients = np.linalg.lstsq(design, theta)[0]
    variances = ((theta - design @ coefficients) ** 2).sum(axis=0) / (len(theta) - design.shape[1])
    inverse = np.linalg.inv(design.T @ design)
    difference = _centered(labels, coefficients, [variance * inverse for variance in variances])
    return Estimates(model.vocabulary_, model.components_.astype(float), None, difference, is_regression=True)


def _lda_composition(corpus: Simulated, seed: int) -> Estimates:
    """topica's LDA, then its regression of draws of theta on labels (method of composition)."""
    import topica

    model = topica.LDA(corpus.n_topics, seed=seed).fit(corpus.documents)
    return Estimates(model.vocabulary, model.topic_word, None, _composition(model, corpus, seed), is_regression=True)


def _stm(corpus: Simulated, seed: int) -> Estimates:
    """topica's STM, then its regression of draws of theta on labels: R's estimateEffect."""
    import topica

    model: Any = topica.STM(corpus.n_topics, seed=seed)
    model = model.fit(corpus.documents, _full_rank(corpus.labels), num_threads=1)
    return Estimates(model.vocabulary, model.topic_word, None, _composition(model, corpus, seed), is_regression=True)


def _keyatm(corpus: Simulated, seed: int) -> Estimates:
    """topica's keyATM. Its effects have standard errors, but no covariances, so those of kinds have no intervals."""
    import topica

    labels = corpus.labels
    found = {word for document in corpus.documents for word in document}
    if corpus.phi is None:
        model = topica.KeyATM.weighted_lda(corpus.n_topics, seed=seed)
    else:
        ranked = [[corpus.vocabulary[v] for v in np.argsort(-row, kind="stable")] for row in corpus.phi]
        keywords: dict[str, Sequence[str]] = {
            f"k{k}": [w for w in own if w in found][:N_KEYWORDS] for k, own in enumerate(ranked)
        }
        model = topica.KeyATM(keywords, num_topics=corpus.n_topics, seed=seed)
    model = model.fit(corpus.documents, covariates=_full_rank(labels))
    values = labels.center(_expand(labels, model.feature_effects.T[1:]))
    errors = np.full_like(values, np.nan)
    if model.feature_effect_se is not None:
        errors[labels.kind_of < 0] = _expand(labels, model.feature_effect_se.T[1:])[labels.kind_of < 0]
    difference = _composition(model, corpus, seed)
    return Estimates(
        model.vocabulary, model.topic_word, Interval.normal(values, errors), difference, is_regression=True
    )


def _composition(model: object, corpus: Simulated, seed: int) -> Interval:
    import topica

    regress: Any = topica.effects.estimate_effect
    effects = regress(model, _full_rank(corpus.labels), nsims=N_THETA_DRAWS, seed=seed)
    return _centered(corpus.labels, np.stack([own.coef for own in effects], axis=1), [own.vcov for own in effects])


def _kept(labels: Labels) -> NDArray[np.int64]:
    """Return the labels without the first one of each kind, so that their columns and 1 are independent."""
    firsts = [np.flatnonzero(labels.kind_of == kind)[0] for kind in range(labels.kind_of.max() + 1)]
    return np.setdiff1d(np.arange(len(labels.names)), firsts)


def _full_rank(labels: Labels) -> Array:
    return labels.matrix[:, _kept(labels)].astype(np.float64)


def _expand(labels: Labels, coefficients: Array) -> Array:
    """Return coefficients [label, …], with 0 for the labels that were left out."""
    full = np.zeros((len(labels.names), *coefficients.shape[1:]))
    full[_kept(labels)] = coefficients
    return full


def _centered(labels: Labels, coefficients: Array, covariances: Sequence[Array]) -> Interval:
    """Return coefficients [1 + kept label, topic] relative to the averages of their kinds, with normal intervals."""
    to_centered = labels.center(_expand(labels, np.eye(len(coefficients))[1:]))  # [label, 1 + kept label]
    errors = np.stack([np.sqrt(np.einsum("ij,jk,ik->i", to_centered, own, to_centered)) for own in covariances], axis=1)
    return Interval.normal(to_centered @ coefficients, errors)


def _ours() -> dict[str, Method]:
    """Return MetaLDA with its defaults, and with the settings that this version has."""
    defaults = {field.name: field.default for field in fields(MetaLDA)}
    methods = {"metalda": Method("MetaLDA", _metalda(), 3)}
    if "n_chains" in defaults:
        methods["metalda-4"] = Method("MetaLDA, 4 chains", _metalda(n_chains=4), 12)
    if "weight_prior" in defaults:
        for prior in sorted({"gamma", "normal"} - {str(defaults["weight_prior"])}):
            methods[f"metalda-{prior}"] = Method(f"MetaLDA, {prior} prior", _metalda(weight_prior=prior), 3)
    return methods


METHODS: dict[str, Method] = {
    **_ours(),
    "dmr": Method("DMR ¹", _dmr, 3),
    "lda": Method("LDA, then regression ²", _lda_regression, 2),
    "lda-composition": Method("LDA, then regression of draws ² ³", _lda_composition, 2),
    "stm": Method("STM ² ³", _stm, 2),
    "keyatm": Method("keyATM ² ³ ⁴", _keyatm, 6),
}
