"""The attributes and tables of a fitted estimator, and its view in notebooks."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Schema
from metalda.errors import InputError
from metalda.models.curation import Floats
from metalda.models.estimator import Estimator, as_sklearn, require_fitted
from metalda.models.word_scores import score_words
from metalda.samplers import Draw
from metalda.utils.arguments import check_count
from metalda.utils.markup import frame_html
from metalda.utils.table import Table

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

from metalda.models.fitted import BACKGROUND, Fitted
from metalda.models.word_scores import top_indices


class FittedModel(Estimator):
    """An estimator that keeps its result in `fitted_`: attributes, tables of topics, and the view in notebooks."""

    _fitted: Fitted  # absent before `fit`

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def fitted_(self) -> Fitted:
        """The result of training; NotFittedError before `fit`."""
        require_fitted(self)
        return self._fitted

    @property
    def components_(self) -> NDArray[np.float32]:
        """Probabilities of words [topic, word]; rows sum to 1. Topics are those of `topics()`."""
        transposed: NDArray[np.float32] = self.fitted_.phi.T
        return transposed

    @property
    def doc_topics_(self) -> NDArray[np.float32]:
        """Topic proportions of the training documents [document, topic]; rows sum to 1, less hidden topics."""
        return self.fitted_.doc_topics

    @property
    def draws_(self) -> tuple[Draw, ...]:
        """The posterior samples that were kept, without curation; of several chains, those of the first."""
        return self.fitted_.draws

    @property
    def chains_(self) -> tuple[Self, ...]:
        """The chains of the fit, each as a fitted model of its own, with its own topics, without curation."""
        if not self.fitted_.chains and not self.fitted_.curation:
            return (self,)
        models = []
        for fitted in self.fitted_.chains or (self.fitted_.trained,):
            model = copy(self).set_params(n_chains=1)
            model._fitted = fitted
            models.append(model)
        return tuple(models)

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """Words, in the order of the columns of `components_`."""
        return self.fitted_.vocabulary

    @property
    def label_names_(self) -> tuple[str, ...]:
        """Labels of the training documents; empty if the model learned from none."""
        return self.fitted_.label_names

    @property
    def label_sizes_(self) -> NDArray[np.float64]:
        """Number of training documents with each label; the last entry is the default label, with all documents."""
        return self.fitted_.labels.label_sizes

    @property
    def feature_names_(self) -> tuple[str, ...]:
        """Features of the vocabulary; empty if the model learned from none."""
        return self.fitted_.feature_names

    @property
    def schema_(self) -> Schema | None:
        """How raw data become documents and labels; None if the model was fitted on tokens or counts."""
        return self.fitted_.schema

    @property
    def seed_(self) -> int:
        """The seed that was drawn from `random_state`; of several chains, that of the first."""
        return self.fitted_.seed

    @property
    def n_iter_(self) -> int:
        """Iterations done; fewer than `n_iter` if Ctrl-C ended training."""
        return self.fitted_.n_iter

    @property
    def n_shards_(self) -> int:
        """Shards that the corpus was cut into."""
        return self.fitted_.n_shards

    @property
    def history_(self) -> pd.DataFrame:
        """A row per iteration: log-likelihood per token, seconds, tokens moved, and tables if a prior draws them.

        Of several chains, it is that of the first.
        """
        import pandas as pd

        return pd.DataFrame(dict(self.fitted_.history))

    def topics(self, top_n: int = 10, *, format: str = "list", words_by: str = "probability") -> pd.DataFrame:
        """Return a row per topic: its share of the training tokens, and its first words.

        Topics that were named, or have seed words, have a `name`. `topic` is the number of training, which hiding and
        merging topics does not change; if topics were merged, the column `merged` has the numbers of the parts. After a
        fit with several chains, the column `chains` is the number of chains that have the topic.

        `background` is True for a topic without a theme: it is spread over more different words than as many tokens
        drawn at random from the corpus, and its most probable words are arbitrary. It collects rare words. To avoid it,
        drop rare words (`min_df`) and frequent ones (`max_df`) from the corpus, or fix MetaLDA's `word_prior` at 0.01.

        Parameters
        ----------
        top_n : int
            Words per topic.
        format : {"list", "wide"}
            One column `words` that holds lists, or the columns `word1`, `word2`, ….
        words_by : {"probability", "relevance", "frex", "lift"}
            The order of the words. ``"lift"`` is the probability in the topic over that in the corpus, which is large
            for rare words. ``"relevance"`` is in between: 0.6 log probability + 0.4 log lift. ``"frex"`` is the
            harmonic mean of the ranks of the probability and of the exclusivity, as in R's stm: words that are
            frequent in the topic and rare in other topics.

        Examples
        --------
        >>> from metalda import LDA
        >>> model = LDA(1, n_iter=5, verbose=False).fit(["cat dog cat cat dog", "cat rain"])
        >>> model.topics(2)["words"][0]
        ['cat', 'dog']
        >>> list(model.topics(2, format="wide").columns)
        ['topic', 'share', 'background', 'word1', 'word2']
        """
        if format not in ("list", "wide"):
            raise InputError(f"format must be 'list' or 'wide', not {format!r}")
        table = self._topics(top_n, words_by).frame()
        if format == "list":
            from metalda.models.result_frame import result_frame

            return result_frame(table, self)
        words = {f"word{i + 1}": column for i, column in enumerate(zip(*table["words"], strict=True))}
        return table.drop(columns="words").assign(**words)

    def _topics(self, top_n: int = 10, words_by: str = "probability") -> Table:
        """Return the columns of `topics`."""
        words, fitted = self.top_words(top_n, words_by), self.fitted_
        columns: dict[str, Any] = fitted.named(np.arange(fitted.n_topics))
        columns |= {"share": fitted.topic_shares, "background": fitted.is_background}
        if fitted.curation.merged:
            columns["merged"] = [list(part) if len(part) > 1 else [] for part in fitted.parts]
        if fitted.chains:
            columns["chains"] = fitted.chain_counts
        return Table({**columns, "words": words})

    def top_words(self, top_n: int = 10, words_by: str = "probability") -> list[list[str]]:
        """Return the first words of each topic as lists, the format of gensim's `CoherenceModel`.

        `words_by` is their order, as in `topics`.

        Examples
        --------
        >>> from metalda import LDA
        >>> model = LDA(1, n_iter=5, verbose=False).fit(["cat dog cat cat dog", "cat rain"])
        >>> model.top_words(2)
        [['cat', 'dog']]
        """
        vocabulary, top_n = self.fitted_.vocabulary, check_count("top_n", top_n)
        return [[vocabulary[v] for v in row] for row in top_indices(self._word_scores(words_by), top_n)]

    def topic_words(self, topic: int | str, top_n: int = 10, words_by: str = "probability") -> pd.DataFrame:
        """Return the first words of one topic, given its number or name, with their probabilities.

        `words_by` is their order, as in `topics`; the score by which words are ordered is a column.
        """
        return self._topic_words(topic, top_n, words_by).frame()

    def _topic_words(self, topic: int | str, top_n: int = 10, words_by: str = "probability") -> Table:
        """Return the columns of `topic_words`."""
        fitted, top_n = self.fitted_, check_count("top_n", top_n)
        k = fitted.find_topic(topic)
        scores = self._word_scores(words_by)[k]
        best = top_indices(scores, top_n)
        probabilities = fitted.phi[best, k]
        columns = {"word": [fitted.vocabulary[v] for v in best], "probability": probabilities}
        return Table(columns if words_by == "probability" else {**columns, words_by: scores[best]})

    def _word_scores(self, by: str) -> Floats:
        """Return the scores of words [topic, word]."""
        if by == "probability":
            return self.components_
        fitted = self.fitted_
        return score_words(fitted.phi.T, fitted.word_probabilities, fitted.phi_sums, by)

    def _repr_html_inner(self) -> str:
        """Return the topics of a fitted model, or scikit-learn's diagram of an unfitted one, as HTML."""
        if not self.__sklearn_is_fitted__():
            return str(super(FittedModel, as_sklearn(self))._repr_html_inner())  # type: ignore[misc]
        table = self.topics().sort_values("background", kind="stable")
        words = table["words"].map(", ".join).mask(table["background"], BACKGROUND)
        table = table.assign(share=table["share"].map("{:.1%}".format), words=words).drop(columns="background")
        return frame_html(self._describe_size(), table, "topics()")

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        bundle: dict[str, str] = super(FittedModel, as_sklearn(self))._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:  # absent after sklearn.set_config(display="text")
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _describe_size(self) -> str:
        fitted, terms = self.fitted_, self.fitted_.labels.terms
        curves = [] if terms is None else [name for name in fitted.label_names if terms.is_curve(name)]
        numbers = set() if terms is None else set(terms.numbers).intersection(fitted.label_names)
        counts = {
            "topic": fitted.n_topics,
            "word": len(fitted.vocabulary),
            "label": len(fitted.label_names) - len(curves) - len(numbers),
            "number": len(numbers),
            "word feature": len(fitted.feature_names),
        }
        parts = ", ".join(_count(n, noun) for noun, n in counts.items() if n)
        iterations = f" of {_count(fitted.n_iter, 'iteration')}" if fitted.n_iter else ""
        chains = f"{_count(len(fitted.chains), 'chain')} of " if fitted.chains else ""
        n_hidden = len(fitted.curation.hidden)
        hidden = (
            f"; {_count(n_hidden, 'hidden topic')} with {fitted.hidden_share:.1%} of the tokens" if n_hidden else ""
        )
        return f"{type(self).__name__}: {parts}; {chains}{_count(len(fitted.draws), 'draw')}{iterations}{hidden}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
