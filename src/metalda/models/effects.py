"""Effects of labels and word features on topics, with intervals over the posterior samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from metalda.errors import InputError, warn
from metalda.meta.design import Design
from metalda.meta.label_index import LabelIndex
from metalda.models.fitted import Fitted, FittedModel, available_if

if TYPE_CHECKING:
    import pandas as pd


class EffectTables(FittedModel):
    """Methods that return tables of effects, for models whose labels (or features) have weights for topics."""

    @available_if(lambda model: model._has_label_effects)
    def label_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """Return the effect of each label on each topic, with intervals over the draws.

        Parameters
        ----------
        interval : float
            Posterior probability of the intervals.

        Returns
        -------
        DataFrame
            A row for each label and topic. `effect` is the label's log weight minus the average over labels (documents
            without labels count as a label of log weight 0). It is positive if the label raises the topic; 0.7 doubles
            the weight. `low` and `high` are its interval. `proportion`, `proportion_low` and `proportion_high` are
            those of `label_proportions`. ``attrs["n_draws"]`` is the number of draws behind the intervals.

        Examples
        --------
        >>> from metalda import MetaLDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> labels = ["pets", "pets", "weather", "weather"]
        >>> model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(texts, labels)
        >>> effects = model.label_effects()
        >>> list(effects.columns)[:5], effects.attrs["n_draws"]
        (['label', 'topic', 'effect', 'low', 'high'], 5)
        """
        weights = label_weights(self.fitted_)
        table, proportions = weight_effects(weights, interval), expected_proportions(weights, interval)
        table["proportion"] = proportions["proportion"]
        return table.assign(proportion_low=proportions["low"], proportion_high=proportions["high"])

    @available_if(lambda model: model._has_label_effects)
    def label_contrasts(
        self, first: str | Iterable[str], second: str | Iterable[str], interval: float = 0.9
    ) -> pd.DataFrame:
        """Return the difference between two labels, or two combinations of labels, for each topic.

        Parameters
        ----------
        first, second : str or list of str
            A label, or labels that a document has together. Labels in both cancel. ``"1940 <= year < 1960"``,
            ``"year=1950"`` and ``"Drama"`` find the labels ``1940 ≤ year < 1960`` and ``genre=Drama``.
        interval : float
            Posterior probability of the intervals.

        Returns
        -------
        DataFrame
            A row for each topic. `effect` is log alpha of a document with the labels `first` minus that of a document
            with `second`: 0.7 means that the first has twice the weight of the topic. `low` and `high` are its
            interval.

        Warns
        -----
        UserWarning
            If the training documents do not identify the contrast, so that the prior determines it.

        Examples
        --------
        >>> from metalda import MetaLDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> labels = [["pets", "2019"], ["pets", "2020"], ["weather", "2019"], ["weather", "2020"]]
        >>> model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(texts, labels)
        >>> model.label_contrasts(["pets", "2019"], ["weather", "2019"])[["first", "second", "topic"]]
                 first          second  topic
        0  pets + 2019  weather + 2019      0
        1  pets + 2019  weather + 2019      1
        """
        return weight_contrasts(label_weights(self.fitted_), first, second, interval)

    @available_if(lambda model: model._has_label_effects)
    def label_proportions(self, interval: float = 0.9) -> pd.DataFrame:
        """Return the expected topic proportions of documents with each label, with intervals over the draws.

        In each draw they are alpha / alpha[.] of the training documents with the label, averaged over these documents,
        so they include the effects of their other labels. If each document has one label, all documents of a label
        have the same proportions.

        Returns
        -------
        DataFrame
            A row for each label and topic: `proportion`, which sums to 1 over topics, `low` and `high`. The rows of a
            numeric covariate (DMR) hold NaN, since every document has it.
        """
        return expected_proportions(label_weights(self.fitted_), interval)

    @available_if(lambda model: model.uses_word_features)
    def feature_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """Return the effect of each word feature on each topic: as `label_effects`, without proportions."""
        return weight_effects(feature_weights(self.fitted_), interval)

    @available_if(lambda model: model.uses_word_features)
    def feature_contrasts(
        self, first: str | Iterable[str], second: str | Iterable[str], interval: float = 0.9
    ) -> pd.DataFrame:
        """Return the difference between two features, or two combinations of features: as `label_contrasts`."""
        return weight_contrasts(feature_weights(self.fitted_), first, second, interval)


@dataclass(frozen=True, eq=False)
class Weights:
    """Log weights of labels (or features) in every draw, and the design that they were learned from."""

    kind: str  # "label" or "feature"
    draws: Sequence[NDArray[np.float64]]  # log lambda[l, k]; the default label is the last
    design: Design

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names without the default label."""
        return self.design.names[:-1]

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Return which labels are real numbers (accepted by DMR) instead of 0 or 1."""
        others = np.bincount(self.design.row_labels[self.design.row_values != 1], minlength=len(self.design.names))
        return others[:-1] > 0

    @cached_property
    def members(self) -> Any:
        """Return the number of documents [label, row] in each row of the design that have a label; 0 for numbers."""
        has = self.design.matrix[:, :-1].T.tocsr()
        return sparse.diags_array((~self.is_number).astype(float)) @ has @ sparse.diags_array(self.design.row_sizes)


def require_effects(model: FittedModel, kind: str) -> None:
    """Raise InputError if a model has no method for the effects of "label" or "feature"."""
    if hasattr(model, f"{kind}_effects"):
        return
    name = type(model).__name__
    if kind == "feature":
        raise InputError(
            f"this {name} does not learn from word features, so it has no effects of features; fit MetaLDA or WFLDA "
            "with word features (--word-features or --embeddings)"
        )
    if model.uses_labels:
        raise InputError(f"a topic of {name} belongs to one label, so it has no effects of labels; see topics()")
    raise InputError(
        f"this {name} does not learn from labels, so it has no effects of labels; fit MetaLDA or DMR with labels "
        "(--labels)"
    )


def label_weights(fitted: Fitted) -> Weights:
    """Return the weights of labels; InputError if the model was fitted without labels."""
    if not fitted.label_names:
        raise InputError(
            "the model learned from no labels, so it has no effects of labels; fit it with labels (--labels)"
        )
    return Weights("label", [draw.log_doc_weights for draw in fitted.draws], fitted.labels)


def feature_weights(fitted: Fitted) -> Weights:
    """Return the weights of word features; InputError if the model was fitted without features."""
    if not fitted.feature_names:
        raise InputError(
            "the model learned from no word features, so it has no effects of features; fit it with word features "
            "(--word-features or --embeddings)"
        )
    return Weights("feature", [draw.log_word_weights for draw in fitted.draws], fitted.features)


def center(weights: Weights) -> NDArray[np.float64]:
    """Return effects [draw, label, topic]: log weight of a label (or feature) relative to the average label.

    If every document has a label, a raw weight is not identified relative to the weight of the default label. Its
    difference from the mean over labels, weighted by their numbers of documents, is identified. A document without
    labels counts as one more label, whose log weight is 0. The weight of a number is not centered: it is the effect
    of one unit more.
    """
    sizes = weights.members.sum(axis=1)
    n_bare = weights.design.row_sizes[weights.members.sum(axis=0) == 0].sum()
    shares = sizes / max(sizes.sum() + n_bare, 1.0)
    own = np.stack([draw[:-1] for draw in weights.draws])
    average = np.tensordot(shares, own, axes=(0, 1))[:, None]
    effects: NDArray[np.float64] = own - average * ~weights.is_number[:, None]
    return effects


def weight_effects(weights: Weights, interval: float) -> pd.DataFrame:
    """Return a row for each label (or feature) and topic with its effect."""
    effects = center(weights)
    return _table(weights, _named(weights, effects.shape[2]), "effect", effects, interval)


def weight_contrasts(
    weights: Weights, first: str | Iterable[str], second: str | Iterable[str], interval: float
) -> pd.DataFrame:
    """Return for each topic log alpha of documents with labels `first` minus that of documents with `second`."""
    index = LabelIndex(weights.names, weights.kind)
    position = {name: number for number, name in enumerate(weights.names)}
    sides = [[position[name] for name in index.require_all(side)] for side in (first, second)]
    difference = np.zeros(len(weights.design.names))
    difference[sides[0]] += 1
    difference[sides[1]] -= 1
    _warn_if_not_identified(weights, difference)
    effects = np.stack([difference @ draw for draw in weights.draws])
    named = {
        name: np.repeat(np.array([" + ".join(weights.names[label] for label in side)], dtype=object), effects.shape[1])
        for name, side in zip(("first", "second"), sides, strict=True)
    }
    return _table(weights, {**named, "topic": np.arange(effects.shape[1])}, "effect", effects, interval)


def expected_proportions(weights: Weights, interval: float) -> pd.DataFrame:
    """Return for each label and topic alpha / alpha[.], averaged over the training documents that have the label.

    The other labels of these documents are part of their alpha. The rows of numbers, which all documents have, are NaN.
    """
    sizes = weights.members.sum(axis=1)
    average = sparse.diags_array(np.divide(1, sizes, out=np.full(len(sizes), np.nan), where=sizes > 0))
    draws = [average @ (weights.members @ softmax(weights.design.matrix @ draw, axis=1)) for draw in weights.draws]
    proportions = np.stack(draws)
    return _table(weights, _named(weights, proportions.shape[2]), "proportion", proportions, interval)


def _named(weights: Weights, n_topics: int) -> dict[str, NDArray[Any]]:
    return {
        weights.kind: np.repeat(np.array(weights.names, dtype=object), n_topics),
        "topic": np.tile(np.arange(n_topics), len(weights.names)),
    }


def _table(
    weights: Weights, named: dict[str, NDArray[Any]], value: str, draws: NDArray[np.float64], interval: float
) -> pd.DataFrame:
    """Return means and quantiles over draws; ``attrs["n_draws"]`` is the number of draws.

    A further draw lies below a quantile with the nominal probability (position p (n + 1), Weibull). NumPy's default
    makes intervals of few draws too narrow: 79 % instead of 90 % for 15 draws.
    """
    import pandas as pd

    if not 0 < interval < 1:
        raise InputError(f"interval must lie between 0 and 1, not {interval!r}")
    if len(weights.draws) == 1:
        warn("the model kept one draw, so intervals have no width: keep more with n_draws")
    low, high = np.quantile(draws, [(1 - interval) / 2, (1 + interval) / 2], axis=0, method="weibull")
    table = pd.DataFrame({**named, value: draws.mean(axis=0).ravel(), "low": low.ravel(), "high": high.ravel()})
    table.attrs["n_draws"] = len(weights.draws)
    return table


def _warn_if_not_identified(weights: Weights, difference: NDArray[np.float64]) -> None:
    """Warn if a contrast is not a linear combination of the label sets of training documents: it is not identified."""
    rows = weights.design.matrix.T.tocsr()
    residual = sparse.linalg.lsqr(rows, difference, atol=1e-10, btol=1e-10)[3]
    if residual > 1e-4:
        warn(
            f"the training data do not identify this contrast of {weights.kind}s: the prior decides its size. Compare "
            "sets that differ in labels of one kind, such as ['sport', '2019'] and ['politics', '2019']",
        )
