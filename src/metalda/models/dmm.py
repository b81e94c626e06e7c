"""The Dirichlet multinomial mixture, one topic for every document; and GPU-DMM, where words promote similar words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from metalda.corpus import Corpus
from metalda.meta.design import Design
from metalda.meta.feature_sources import neighbor_lists
from metalda.models.base import N_COMPONENTS, POSITIVE, TopicModel
from metalda.models.embedded import EmbeddedModel
from metalda.priors import Fixed, LogLinear
from metalda.samplers import Draw, Sampler, Urn
from metalda.samplers.folding import Documents
from metalda.samplers.urn import infer_single_topics
from metalda.utils.threads import count_jobs

DOC_PRIOR_IN_ALL = 50  # that topics share, where doc_prior is not given


@dataclass(eq=False, repr=False)
class DMM(TopicModel):
    """Dirichlet multinomial mixture by collapsed Gibbs sampling: every document has one topic.

    Parameters
    ----------
    n_components : int
        Number of topics.
    doc_prior : float, optional
        Symmetric Dirichlet parameter of the topics of all documents; 50 / n_components by default.
    word_prior : float
        Symmetric Dirichlet parameter of the words of a topic.
    vocabulary, n_iter, burn_in, thin, n_draws, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    For short texts (Yin and Wang 2014). Rows of `doc_topics_` and of `transform` are the probabilities that the topic
    of a document is this one or that. A document without words has no topic: training does not count it, and it gets
    the probabilities of any other.

    Labels are not used: `y`, and the labels of a corpus, are ignored.

    Examples
    --------
    >>> from metalda import DMM
    >>> model = DMM(n_components=2, n_iter=50, random_state=0).fit(["cat dog cat", "dog cat", "rain sun", "sun rain"])
    >>> model.doc_topics_.shape
    (4, 2)
    """

    n_components: int = 50
    _: KW_ONLY
    doc_prior: float | None = None
    word_prior: float = 0.01

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicModel._parameter_constraints,
        "n_components": N_COMPONENTS,
        "doc_prior": [POSITIVE, None],
        "word_prior": [POSITIVE],
    }

    def _prior_of_documents(self, documents: Design) -> LogLinear:
        return Fixed(documents, DOC_PRIOR_IN_ALL / self.n_components if self.doc_prior is None else self.doc_prior)

    def _prior_of_words(self, words: Design) -> LogLinear:
        return Fixed(words, self.word_prior)

    def _sampler(self, corpus: Corpus) -> Sampler:
        return Urn()

    def _infer(
        self, draws: Sequence[Draw], documents: Documents, labels: Design, phi: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        alpha = np.mean([draw.mean_alpha for draw in draws], axis=0)  # what the training documents leave of the prior
        return infer_single_topics(documents, alpha, phi, count_jobs(self.n_jobs))


@dataclass(eq=False, repr=False)
class GPUDMM(DMM, EmbeddedModel):
    """DMM with a generalised Pólya urn: a word that fits its topic promotes similar words there.

    Parameters
    ----------
    n_components, doc_prior, word_prior
        As in `DMM`.
    embeddings : Embeddings
        Word vectors. Words without one neither promote nor are promoted.
    similarity : float
        Words are similar if the cosine of their vectors exceeds this; above 1 none are, and the model is DMM.
    promotion : float
        How much a promoted word counts, beside 1 for a word that occurs.
    max_neighbours : int
        A word that is similar to more than so many says little about any of them, and promotes none.
    vocabulary, n_iter, burn_in, thin, n_draws, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Li et al. 2016. A token promotes the words similar to its own with probability p(k | w) / max p(. | w), k being the
    topic of its document, as the state before the sweep has it. The log-likelihood in `history_` is that of DMM for
    the same topics, without promotions.

    Labels are not used: `y`, and the labels of a corpus, are ignored.

    Examples
    --------
    >>> from metalda import GPUDMM, Embeddings
    >>> vectors = Embeddings(("cat", "dog", "rain", "sun"), [[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> texts = ["cat dog cat", "dog cat", "rain sun", "sun rain"]
    >>> model = GPUDMM(n_components=2, embeddings=vectors, n_iter=50, random_state=0).fit(texts)
    >>> model.components_.shape
    (2, 4)
    """

    _: KW_ONLY
    similarity: float = 0.7
    promotion: float = 0.1
    max_neighbours: int = 20

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DMM._parameter_constraints,
        **EmbeddedModel._parameter_constraints,
        "similarity": [Interval(Real, -1, None, closed="left")],
        "promotion": [Interval(Real, 0, 1, closed="both")],
        "max_neighbours": [Interval(Integral, 0, None, closed="left")],
    }

    def _sampler(self, corpus: Corpus) -> Sampler:
        vectors, _ = self._vectors_to_learn_from(corpus.vocabulary)
        return Urn(neighbor_lists(vectors, self.max_neighbours, self.similarity), self.promotion)
