"""Looking at a fitted model: its topics, and what labels and features do to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metalda.errors import InputError
from metalda.models.effects import add_proportions, weight_effects

if TYPE_CHECKING:
    import pandas as pd

    from metalda.priors import LogLinear
    from metalda.samplers import Draw


def best_words(probabilities: np.ndarray, top_n: int) -> np.ndarray:
    """The columns of the most probable words of a topic, or of each topic; of equals the first."""
    return np.argsort(-probabilities, axis=-1, kind="stable")[..., :top_n]


class Inspection:
    """The tables that a fitted model can be asked for."""

    if TYPE_CHECKING:
        components_: np.ndarray
        draws_: tuple[Draw, ...]
        vocabulary_: tuple[str, ...]
        label_names_: tuple[str, ...]
        label_sizes_: np.ndarray
        feature_names_: tuple[str, ...]
        _known_words: LogLinear
        _history: dict[str, Any]

    @property
    def history_(self) -> pd.DataFrame:
        """Log-likelihood per token, seconds, and tokens moved, by sweep."""
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(self._history)

    def topics(self, top_n: int = 10) -> pd.DataFrame:
        """A row per topic: its share of the training words, and its most probable words."""
        import pandas as pd

        check_is_fitted(self)
        totals = np.mean([draw.topic_totals for draw in self.draws_], axis=0)
        best = best_words(self.components_, top_n)
        return pd.DataFrame(
            {
                "topic": np.arange(len(best)),
                "share": totals / max(totals.sum(), 1),
                "words": [", ".join(self.vocabulary_[v] for v in row) for row in best],
            }
        )

    def topic_words(self, topic: int, top_n: int = 10) -> pd.DataFrame:
        """The most probable words of one topic, with their probabilities."""
        import pandas as pd

        check_is_fitted(self)
        if not 0 <= topic < len(self.components_):
            raise InputError(f"no topic {topic}; topics are numbered 0 to {len(self.components_) - 1}")
        best = best_words(self.components_[topic], top_n)
        words = [self.vocabulary_[v] for v in best]
        return pd.DataFrame({"word": words, "probability": self.components_[topic, best]})

    def label_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """What each label does to each topic, with intervals over the draws.

        `effect` is the label's log weight minus the average over labels: positive where documents with the label have
        more of the topic than others. `proportion` is the expected share of the topic in a document that has this
        label alone.
        """
        check_is_fitted(self)
        weights = [draw.log_doc_weights for draw in self.draws_]
        table = weight_effects(weights, self.label_names_, self.label_sizes_, interval, "label")
        return add_proportions(table, weights, len(self.label_names_), interval)

    def feature_effects(self, interval: float = 0.9) -> pd.DataFrame:
        """What each word feature does to each topic: as `label_effects`, for words."""
        check_is_fitted(self)
        weights = [draw.log_word_weights for draw in self.draws_]
        sizes = self._known_words.design.label_sizes
        return weight_effects(weights, self.feature_names_, sizes, interval, "feature")
