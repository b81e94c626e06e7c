"""Looking at a fitted model: its topics, and what labels and features do to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metalda.errors import InputError
from metalda.models.effects import Weights, expected_proportions, weight_contrasts, weight_effects

if TYPE_CHECKING:
    import pandas as pd

    from metalda.meta.design import Design
    from metalda.priors import LogLinear
    from metalda.samplers import Draw


def best_words(probabilities: np.ndarray, top_n: int) -> np.ndarray:
    """The columns of the most probable words of a topic, or of each topic; of equals the first."""
    if probabilities.ndim > 1:
        return np.array([best_words(row, top_n) for row in probabilities], np.int64)
    candidates = np.arange(len(probabilities))
    if 0 < top_n < len(probabilities) // 2:  # a part of them, whatever their order, is found without sorting all
        candidates = np.flatnonzero(probabilities >= np.partition(probabilities, -top_n)[-top_n])
    return candidates[np.argsort(-probabilities[candidates], kind="stable")[: max(top_n, 0)]]


class Inspection:
    """The tables that a fitted model can be asked for."""

    if TYPE_CHECKING:
        components_: np.ndarray
        draws_: tuple[Draw, ...]
        vocabulary_: tuple[str, ...]
        label_names_: tuple[str, ...]
        feature_names_: tuple[str, ...]
        _has_label_effects: ClassVar[bool]
        _training_labels: Design | None
        _known_words: LogLinear
        _history: dict[str, Any]

    @property
    def history_(self) -> pd.DataFrame:
        """By sweep: log-likelihood per token, seconds, tokens moved, and how many tables a prior with tables drew."""
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(self._history)

    def topics(self, top_n: int = 10) -> pd.DataFrame:
        """A row per topic: its share of the training words, and its most probable words."""
        import pandas as pd

        check_is_fitted(self)
        totals = np.mean([draw.topic_totals for draw in self.draws_], axis=0)
        return pd.DataFrame(
            {
                "topic": np.arange(len(totals)),
                "share": totals / max(totals.sum(), 1),
                "words": [", ".join(words) for words in self.top_words(top_n)],
            }
        )

    def top_words(self, top_n: int = 10) -> list[list[str]]:
        """The most probable words of each topic as lists: what gensim's `CoherenceModel` takes as `topics`.

        Examples
        --------
        >>> from metalda import LDA
        >>> model = LDA(1, n_iter=5, verbose=False).fit(["cat dog cat cat dog", "cat rain"])
        >>> model.top_words(2)
        [['cat', 'dog']]
        """
        check_is_fitted(self)
        if top_n < 1:
            raise InputError(f"top_n must be at least 1, not {top_n}")
        return [[self.vocabulary_[v] for v in row] for row in best_words(self.components_, top_n)]

    def topic_words(self, topic: int, top_n: int = 10) -> pd.DataFrame:
        """The most probable words of one topic, with their probabilities."""
        import pandas as pd

        check_is_fitted(self)
        if not 0 <= topic < len(self.components_):
            raise InputError(f"no topic {topic}; topics are numbered 0 to {len(self.components_) - 1}")
        best = best_words(self.components_[topic], top_n)
        words = [self.vocabulary_[v] for v in best]
        return pd.DataFrame({"word": words, "probability": self.components_[topic, best]})

    def to_pyldavis(self, X: Any, y: Any = None) -> dict[str, Any]:
        """The arguments of ``pyLDAvis.prepare`` for these documents, which is not needed for it.

        Topics are not sorted anew; but pyLDAvis counts from 1, so its topic 1 is our topic 0.

        Parameters
        ----------
        X, y
            Documents and labels, as in `fit`: those of the training, or others.

        Examples
        --------
        >>> from metalda import LDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(texts)
        >>> arguments = model.to_pyldavis(texts)
        >>> arguments["doc_lengths"].tolist()
        [3, 2, 3, 2]

        Then ``pyLDAvis.display(pyLDAvis.prepare(**arguments))``.
        """
        from metalda.models.exporting import pyldavis_arguments

        return pyldavis_arguments(self, X, y)  # type: ignore[arg-type]

    def label_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """What each label does to each topic, with intervals over the draws.

        Parameters
        ----------
        interval : float
            Probability that an interval holds the effect.

        Returns
        -------
        DataFrame
            A row for each label and topic. `effect` is the label's log weight minus the average over labels (documents
            without labels count as a label of log weight 0): positive where the label raises the topic, 0.7 doubles
            its weight; `low` and `high` are its interval. `proportion`, `proportion_low` and `proportion_high` are
            those of `label_proportions`. ``attrs["n_draws"]`` says how many draws the intervals come from.

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
        weights = self._label_weights()
        table, proportions = weight_effects(weights, interval), expected_proportions(weights, interval)
        table["proportion"] = proportions["proportion"]
        return table.assign(proportion_low=proportions["low"], proportion_high=proportions["high"])

    def label_contrasts(
        self, first: str | Iterable[str], second: str | Iterable[str], interval: float = 0.9
    ) -> pd.DataFrame:
        """What sets one label, or a combination of labels, apart from another: a row for each topic.

        Parameters
        ----------
        first, second : str or list of str
            A label, or labels that a document has together. Labels on both sides cancel.
        interval : float
            Probability that an interval holds the effect.

        Returns
        -------
        DataFrame
            `effect` is log alpha of a document with the labels `first` minus that of one with `second`: 0.7 means
            that the first has the topic with twice the weight. `low` and `high` are its interval.

        Warns
        -----
        UserWarning
            Where the training documents cannot tell the two apart, so that the prior decides.

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
        return weight_contrasts(self._label_weights(), first, second, interval)

    def label_proportions(self, interval: float = 0.9) -> pd.DataFrame:
        """The topic proportions expected of documents with each label, with intervals over the draws.

        In each draw it is alpha / alpha[.] of the training documents that have the label, averaged over them; whatever
        other labels they have is included. Where each document has one label, all documents of a label have the same.

        Returns
        -------
        DataFrame
            A row for each label and topic: `proportion`, which sums to 1 over topics, `low` and `high`. Of a number
            (DMR), which no documents have for themselves, it is NaN.
        """
        return expected_proportions(self._label_weights(), interval)

    def feature_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """What each word feature does to each topic: as `label_effects`, for words and without proportions."""
        return weight_effects(self._feature_weights(), interval)

    def feature_contrasts(
        self, first: str | Iterable[str], second: str | Iterable[str], interval: float = 0.9
    ) -> pd.DataFrame:
        """What sets words with one feature, or several, apart from others: as `label_contrasts`, for words."""
        return weight_contrasts(self._feature_weights(), first, second, interval)

    def _label_weights(self) -> Weights:
        check_is_fitted(self)
        name = type(self).__name__
        if not self._has_label_effects:
            raise InputError(f"a topic of {name} belongs to one label: there are no effects; see topics()")
        if not self.label_names_:
            raise InputError(
                f"this {name} learnt from no labels: it has no effects; fit MetaLDA or DMR with labels (--labels)"
            )
        return Weights("label", [draw.log_doc_weights for draw in self.draws_], self._labels_of_training())

    def _labels_of_training(self) -> Design:
        if self._training_labels is None:
            raise InputError("this model was saved before the labels of its documents were kept with it: fit it again")
        return self._training_labels

    def _feature_weights(self) -> Weights:
        check_is_fitted(self)
        if not self.feature_names_:
            raise InputError(
                f"this {type(self).__name__} learnt from no features: it has no effects; fit MetaLDA or WFLDA with "
                "word features (--word-features or --embeddings)"
            )
        return Weights("feature", [draw.log_word_weights for draw in self.draws_], self._known_words.design)
