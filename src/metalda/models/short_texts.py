"""Models of short texts: one topic per document (DMM), and documents pooled into longer ones (PTM)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.base import TopicModel
from metalda.models.declaration import N_COMPONENTS, POSITIVE
from metalda.models.lda import LDA
from metalda.priors import Fixed, LogLinear
from metalda.samplers import Draw, PseudoDocuments, Sampler, Urn
from metalda.samplers.folding import Documents
from metalda.samplers.pseudo import Mixture, check_pseudo_counts, infer_from_mixtures
from metalda.samplers.urn import infer_single_topics
from metalda.utils.checks import Arrays
from metalda.utils.constraints import Interval
from metalda.utils.threads import count_jobs

DOC_PRIOR_IN_ALL = 50  # sum of alpha over topics, if doc_prior is not given
MOST_PSEUDO_DOCUMENTS = 1000  # if n_pseudo_documents is not given


@dataclass(eq=False, repr=False)
class DMM(TopicModel):
    """Dirichlet multinomial mixture by collapsed Gibbs sampling: every document has one topic.

    Parameters
    ----------
    n_components : int
        Number of topics.
    doc_prior : float, optional
        Symmetric Dirichlet parameter of the topic proportions of the corpus; 50 / n_components by default.
    word_prior : float
        Symmetric Dirichlet parameter of the word probabilities of a topic. The smaller it is, the less a document can
        move to a topic that lacks one of its words: clusters then stay far from the best ones.
    n_shards : int or "auto"
        Parts of the corpus that are sampled in parallel. With more than 1, all counts of the other parts are out of
        date within an iteration, and the fit is worse. "auto" is 1.
    vocabulary, n_iter, n_iter_limit, burn_in, thin, n_draws, n_chains, n_jobs, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    For short texts (Yin and Wang 2014). Rows of `doc_topics_` and of `transform` are the posterior probabilities of a
    document's topic. A document without words has no topic: training does not count it, and it gets the prior
    probabilities.

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
    word_prior: float = 0.1

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **TopicModel._parameter_constraints,
        "n_components": N_COMPONENTS,
        "doc_prior": [POSITIVE, None],
        "word_prior": [POSITIVE],
    }

    def _prior_of_documents(self, design: Design) -> LogLinear:
        return Fixed(design, DOC_PRIOR_IN_ALL / self.n_components if self.doc_prior is None else self.doc_prior)

    def _prior_of_words(self, design: Design) -> LogLinear:
        return Fixed(design, self.word_prior)

    def _sampler(self, corpus: Corpus) -> Sampler:
        return Urn()

    def _infer(
        self, draws: Sequence[Draw], documents: Documents, labels: Design, phi: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        alpha = np.mean([draw.mean_alpha for draw in draws], axis=0)  # prior of topics, given the training documents
        return infer_single_topics(documents, alpha, phi, count_jobs(self.n_jobs))


@dataclass(eq=False, repr=False)
class PTM(LDA):
    """Pseudo-document topic model for short texts (Zuo et al. 2016), by collapsed Gibbs sampling.

    Every document belongs to one of `n_pseudo_documents` pseudo-documents, and shares its topic proportions.

    Parameters
    ----------
    n_components : int
        Number of topics.
    n_pseudo_documents : int, optional
        Number of pseudo-documents; at most the number of documents with words. By default 1,000, or that number if it
        is smaller.
    concentration : float
        Symmetric Dirichlet parameter of the sizes of pseudo-documents, the paper's lambda; smaller values leave more of
        them empty.
    doc_prior : float
        Symmetric Dirichlet parameter of the topic proportions of a pseudo-document.
    word_prior : float
        Symmetric Dirichlet parameter of the word probabilities of a topic.
    n_shards : int or "auto"
        Parts of the corpus that are sampled in parallel. With more than 1, all counts of the other parts are out of
        date within an iteration, and the fit is worse. "auto" is 1.
    vocabulary, n_iter, n_iter_limit, burn_in, thin, n_draws, n_chains, n_jobs, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Labels are not used. An iteration draws the pseudo-documents of all documents, then the topics of all tokens.

    The proportions of a training document are those of its pseudo-document, averaged over draws. Those of a new
    document are the mean over all pseudo-documents, weighted by their probability given its words, without sampling.
    Documents without words belong to no pseudo-document and get the expected proportions of a document.

    Examples
    --------
    >>> from metalda import PTM
    >>> texts = ["cat dog cat", "dog cat", "rain sun", "sun rain"]
    >>> model = PTM(n_components=2, n_pseudo_documents=2, n_iter=50, random_state=0).fit(texts)
    >>> model.doc_topics_.shape
    (4, 2)
    """

    _: KW_ONLY
    n_pseudo_documents: int | None = None
    concentration: float = 0.1

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **LDA._parameter_constraints,
        "n_pseudo_documents": [Interval(Integral, 1, 2**31 - 2, closed="both"), None],
        "concentration": [POSITIVE],
    }

    def _sampler(self, corpus: Corpus) -> Sampler:
        n_documents = int((np.diff(corpus.offsets) > 0).sum())
        n_pseudo = (
            min(MOST_PSEUDO_DOCUMENTS, n_documents) if self.n_pseudo_documents is None else self.n_pseudo_documents
        )
        if n_documents < n_pseudo:
            raise InputError(
                f"{n_pseudo:,} pseudo-documents are more than the {n_documents:,} documents that have "
                f"words: lower n_pseudo_documents to {n_documents:,} or less"
            )
        return PseudoDocuments(int(n_pseudo), float(self.concentration))

    def _check_extra(self, extra: Arrays, n_draws: int, n_topics: int) -> None:
        check_pseudo_counts(extra, n_draws, n_topics)

    def _infer(
        self, draws: Sequence[Draw], documents: Documents, labels: Design, phi: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        mixtures = [
            Mixture.of(
                draw.extra["pseudo_counts"],
                draw.extra["pseudo_sizes"],
                np.exp(draw.log_doc_weights[-1]),  # alpha: there are no labels
                float(self.concentration),
            )
            for draw in draws
        ]
        return infer_from_mixtures(documents, mixtures, phi, count_jobs(self.n_jobs))
