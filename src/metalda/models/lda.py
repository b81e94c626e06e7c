"""Latent Dirichlet allocation: both priors fixed and symmetric."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.models.base import TopicModel
from metalda.priors import Fixed, LogLinear


class LDA(TopicModel):
    """Latent Dirichlet allocation by collapsed Gibbs sampling.

    Parameters
    ----------
    n_components : int
        Number of topics.
    doc_prior, word_prior : float
        Symmetric Dirichlet parameters of the topics of a document and of the words of a topic.
    vocabulary, n_iter, burn_in, thin, n_draws, n_jobs, n_shards, random_state, verbose
        As in :class:`MetaLDA`.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicModel._parameter_constraints,
        "doc_prior": [Interval(Real, 0, None, closed="neither")],
        "word_prior": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int = 50,
        *,
        doc_prior: float = 0.1,
        word_prior: float = 0.01,
        vocabulary: Any = None,
        n_iter: int = 1000,
        burn_in: int | None = None,
        thin: int = 10,
        n_draws: int = 15,
        n_jobs: int | None = 1,
        n_shards: int | str = "auto",
        random_state: Any = None,
        verbose: bool = True,
    ) -> None:
        self.n_components = n_components
        self.doc_prior = doc_prior
        self.word_prior = word_prior
        self.vocabulary = vocabulary
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.thin = thin
        self.n_draws = n_draws
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.random_state = random_state
        self.verbose = verbose

    def _prior_of_documents(self, labels: NamedMatrix | None, n_documents: int) -> LogLinear:
        return Fixed(Design.build(None, n_documents), self.doc_prior)

    def _prior_of_words(self, features: NamedMatrix | None, n_words: int) -> LogLinear:
        return Fixed(Design.build(None, n_words), self.word_prior)
