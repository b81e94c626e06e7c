"""Effects of labels and word features on topics, with intervals over the posterior samples: the public tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from metalda.models.estimator import available_if
from metalda.models.fitted_model import FittedModel
from metalda.models.weights import (
    expected_proportions,
    feature_weights,
    label_differences,
    label_weights,
    weight_contrasts,
    weight_effects,
)

if TYPE_CHECKING:
    import pandas as pd


class EffectTables(FittedModel):
    """Methods that return tables of effects, for models whose labels (or features) have weights for topics."""

    @available_if(lambda model: model._has_label_effects)
    def label_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """Return the effect of each label on each topic, with intervals over the iterations after the burn-in.

        A label is compared with its kind. If every document has one section, a section is compared with the average
        section. A tag that only some documents have is compared with its absence. The kinds follow from the label sets
        of the training documents: see docs/effects.md.

        Parameters
        ----------
        interval : float
            Posterior probability of the intervals.

        Returns
        -------
        DataFrame
            A row for each label and topic.

            - `difference`, with the interval `difference_low` to `difference_high`: the expected proportion of the
              topic in the documents with the label, minus the proportion expected of the same documents without its
              effect. 0.05 is 5 percentage points more.
            - `effect`, with the interval `low` to `high`: the same on the scale of log alpha. 0.7 doubles the weight of
              the topic. Of a merged topic, alpha is the sum over its parts, and its effect the average over the
              documents with the label.
            - `proportion`, `proportion_low` and `proportion_high`: as in `label_proportions`.
            - `rhat` and `tail_ess`: the split R-hat of the effect, and the effective number of draws behind the ends of
              its interval. With several chains R-hat compares the chains.
            - `chains`, after a fit with several: the number of chains that have the topic. All other numbers come from
              these chains.

            For a number, the difference is that of one standard deviation more, in all documents; if it interacts with
            labels that all documents have, its effect is the average over these. Curves, ``s(year)``,
            have no rows beyond that of their slope: see `prevalence_at`. NaN stands for an effect that the documents do
            not identify, and for an interval that needs more draws. DMR has no intervals: its weights are point
            estimates.
            ``attrs["n_draws"]`` is the number of draws.

        Examples
        --------
        >>> from metalda import MetaLDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> labels = ["pets", "pets", "weather", "weather"]
        >>> model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(texts, labels)
        >>> effects = model.label_effects()
        >>> list(effects.columns)[:5], effects.attrs["n_draws"]
        (['label', 'topic', 'difference', 'difference_low', 'difference_high'], 50)
        """
        weights = label_weights(self.fitted_)
        shifts = label_differences(weights, interval)
        table = shifts[["label", *weights.columns]].assign(
            difference=shifts["difference"], difference_low=shifts["low"], difference_high=shifts["high"]
        )
        effects, proportions = weight_effects(weights, interval), expected_proportions(weights, interval)
        table = table.assign(**{name: effects[name] for name in ("effect", "low", "high")})
        table["proportion"] = proportions["proportion"]
        table = table.assign(proportion_low=proportions["low"], proportion_high=proportions["high"])
        table = table.assign(**effects[effects.columns.intersection(["rhat", "tail_ess", "chains"])])
        terms = weights.design.terms
        if terms is not None and terms.curves:
            table = table[[not terms.is_curve(label) for label in table["label"]]].reset_index(drop=True)
        table.attrs.update(effects.attrs)
        return self._displayed(table)

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
            interval. Of a merged topic, alpha is the sum over its parts. It depends on the other labels of a document,
            so the effect is averaged over the training documents that have the labels `first` or `second`.

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
        return self._displayed(weight_contrasts(label_weights(self.fitted_), first, second, interval))

    @available_if(lambda model: model._has_label_effects)
    def label_proportions(self, interval: float = 0.9) -> pd.DataFrame:
        """Return the expected topic proportions of documents with each label, with intervals over the draws.

        In each draw they are alpha / alpha[.] of the training documents with the label, averaged over these documents,
        so they include the effects of their other labels. If each document has one label, all documents of a label
        have the same proportions.

        Returns
        -------
        DataFrame
            A row for each label and topic: `proportion`, `low` and `high`. The proportions of a label sum to 1 over
            topics, unless topics are hidden, or several chains have different topics. The rows of a numeric covariate
            (DMR) hold NaN, since every document has it.
        """
        return self._displayed(expected_proportions(label_weights(self.fitted_), interval))

    @available_if(lambda model: model.uses_word_features)
    def feature_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """Return the effect of each word feature on each topic: as `label_effects`, without proportions."""
        return self._displayed(weight_effects(feature_weights(self.fitted_), interval))

    @available_if(lambda model: model.uses_word_features)
    def feature_contrasts(
        self, first: str | Iterable[str], second: str | Iterable[str], interval: float = 0.9
    ) -> pd.DataFrame:
        """Return the difference between two features, or two combinations of features: as `label_contrasts`."""
        return self._displayed(weight_contrasts(feature_weights(self.fitted_), first, second, interval))

    def _displayed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table with its display for notebooks."""
        from metalda.models.result_frame import result_frame

        return result_frame(table, self)
