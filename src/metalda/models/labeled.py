"""Labeled LDA and Partially Labeled LDA: topics belong to labels, and documents have the topics of their labels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.base import TopicModel
from metalda.models.declaration import POSITIVE
from metalda.models.inputs import without_labels
from metalda.priors import Fixed, LogLinear, Masked
from metalda.samplers import Problem
from metalda.utils.constraints import Interval
from metalda.utils.table import Table

if TYPE_CHECKING:
    import pandas as pd

SHARED = "(shared)"


@dataclass(kw_only=True, eq=False, repr=False)
class _LabeledModel(TopicModel):
    """Base class: a document has the topics of its labels, and shared topics."""

    doc_prior: float = 0.1
    word_prior: float = 0.01

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **TopicModel._parameter_constraints,
        "doc_prior": [POSITIVE],
        "word_prior": [POSITIVE],
    }

    @property
    def uses_labels(self) -> bool:
        return True

    @property
    def _has_label_effects(self) -> bool:
        return False  # a topic belongs to one label

    @property
    def _topics_of_labels(self) -> tuple[int, int]:
        """Return the number of topics per label, and the number of shared topics."""
        return 1, 0

    def _build_problem(self, corpus: Corpus) -> Problem:
        if corpus.labels is None or not corpus.labels.matrix.nnz:
            raise InputError(
                f"{type(self).__name__} learns a topic for every label, but no document has a label: give them as y, "
                "or in the corpus (--labels COLUMN)"
            )
        return super()._build_problem(corpus)

    def _count_topics(self, label_names: tuple[str, ...]) -> int:
        per_label, n_shared = self._topics_of_labels
        n_topics = per_label * len(label_names) + n_shared
        if n_topics >= 2**16:
            raise InputError(
                f"{len(label_names):,} labels give {n_topics:,} topics, but 65,535 is the maximum: drop rare labels"
            )
        return n_topics

    def _topic_groups(self, n_topics: int) -> NDArray[np.int64]:
        """Return the label of each topic; shared topics are a group as well."""
        per_label, n_shared = self._topics_of_labels
        n_labels = (n_topics - n_shared) // per_label
        return np.concatenate([np.repeat(np.arange(n_labels), per_label), np.full(n_shared, n_labels)])

    def _prior_of_documents(self, design: Design) -> LogLinear:
        return Masked(design, self.doc_prior, *self._topics_of_labels)

    def _prior_of_words(self, design: Design) -> LogLinear:
        return Fixed(design, self.word_prior)

    @property
    def topic_labels_(self) -> tuple[str, ...]:
        """The label that each topic belongs to; of a merged topic, the labels of its parts, such as ``a + b``."""
        per_label, n_shared = self._topics_of_labels
        labels = (*(name for name in self.label_names_ for _ in range(per_label)), *[SHARED] * n_shared)
        return tuple(" + ".join(dict.fromkeys(labels[topic] for topic in part)) for part in self.fitted_.parts)

    def _topics(self, top_n: int = 10, words_by: str = "probability") -> Table:
        """Return a row per topic, as other models do, with a column for the label that the topic belongs to."""
        table = super()._topics(top_n, words_by)
        first, *others = table.columns
        return Table({first: table[first], "label": self.topic_labels_, **{name: table[name] for name in others}})

    def predict_label_probabilities(self, X: object) -> pd.DataFrame:
        """Return the probabilities of labels for unlabeled documents: a row per document, a column per label.

        A probability is the share of the label's topics in the document, if all topics are allowed and shared topics
        are left out.
        """
        import pandas as pd

        theta = self._infer_trained(without_labels(X, self.schema_, self.vocabulary_))
        per_label, n_shared = self._topics_of_labels
        own = theta[:, : theta.shape[1] - n_shared]
        by_label = own.reshape(len(own), len(self.label_names_), per_label).sum(axis=2)
        return pd.DataFrame(by_label / by_label.sum(axis=1, keepdims=True), columns=list(self.label_names_))


@dataclass(eq=False, repr=False)
class LabeledLDA(_LabeledModel):
    """Labeled LDA: one topic per label, and every word of a document belongs to one of its labels.

    Parameters
    ----------
    doc_prior : float
        Symmetric Dirichlet parameter of the topic proportions of a document, over the topics of its labels.
    word_prior : float
        Symmetric Dirichlet parameter of the word probabilities of a topic.
    vocabulary, n_iter, n_iter_limit, burn_in, thin, n_draws, n_chains, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    A document without labels may have every topic. There are as many topics as labels; topic k belongs to
    ``label_names_[k]``.

    Examples
    --------
    >>> from metalda import LabeledLDA
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> model = LabeledLDA(n_iter=50, random_state=0).fit(texts, ["pets", "pets", "weather", "weather"])
    >>> model.predict_labels(["dog dog", "rain"]).tolist()
    ['pets', 'weather']
    """


@dataclass(eq=False, repr=False)
class PartiallyLabeledLDA(_LabeledModel):
    """Partially Labeled LDA: several topics per label, and topics that all documents share.

    Parameters
    ----------
    topics_per_label : int
        Number of topics that belong to each label.
    n_shared : int
        Number of background topics, which every document may have; 0 in the paper's experiments.
    doc_prior, word_prior : float
        As in `LabeledLDA`.
    vocabulary, n_iter, n_iter_limit, burn_in, thin, n_draws, n_chains, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Topics are numbered label by label, in the order of ``label_names_``; shared topics come last. ``topic_labels_``
    names the label of each.

    Examples
    --------
    >>> from metalda import PartiallyLabeledLDA
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> model = PartiallyLabeledLDA(2, n_shared=1, n_iter=50, random_state=0)
    >>> model.fit(texts, ["pets", "pets", "weather", "weather"]).topic_labels_
    ('pets', 'pets', 'weather', 'weather', '(shared)')
    """

    topics_per_label: int = 5
    n_shared: int = 0

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **_LabeledModel._parameter_constraints,
        "topics_per_label": [Interval(Integral, 1, None, closed="left")],
        "n_shared": [Interval(Integral, 0, None, closed="left")],
    }

    @property
    def _topics_of_labels(self) -> tuple[int, int]:
        return int(self.topics_per_label), int(self.n_shared)
