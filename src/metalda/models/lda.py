"""Latent Dirichlet allocation: both priors fixed and symmetric."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from metalda.meta.design import Design
from metalda.models.base import TopicModel
from metalda.models.declaration import N_COMPONENTS, POSITIVE
from metalda.priors import Fixed, LogLinear


@dataclass(eq=False, repr=False)
class LDA(TopicModel):
    """Latent Dirichlet allocation by collapsed Gibbs sampling.

    Parameters
    ----------
    n_components : int
        Number of topics.
    doc_prior : float
        Symmetric Dirichlet parameter of the topic proportions of a document.
    word_prior : float
        Symmetric Dirichlet parameter of the word probabilities of a topic.
    vocabulary, n_iter, n_iter_limit, burn_in, thin, n_draws, n_chains, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Labels are not used: `y`, and the labels of a corpus, are ignored.

    Examples
    --------
    >>> from metalda import LDA
    >>> model = LDA(n_components=2, n_iter=50, random_state=0).fit(["cat dog cat", "dog cat", "rain sun", "sun rain"])
    >>> model.components_.shape
    (2, 4)
    """

    n_components: int = 50
    _: KW_ONLY
    doc_prior: float = 0.1
    word_prior: float = 0.01

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **TopicModel._parameter_constraints,
        "n_components": N_COMPONENTS,
        "doc_prior": [POSITIVE],
        "word_prior": [POSITIVE],
    }

    def _prior_of_documents(self, design: Design) -> LogLinear:
        return Fixed(design, self.doc_prior)

    def _prior_of_words(self, design: Design) -> LogLinear:
        return Fixed(design, self.word_prior)
