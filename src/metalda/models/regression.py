"""Dirichlet-multinomial regression on labels (DMR), and on word features (WF-LDA)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import ClassVar

from metalda.corpus import Corpus
from metalda.errors import hint, warn
from metalda.meta import WordFeatures, as_word_features
from metalda.meta.design import Design
from metalda.models.base import TopicModel
from metalda.models.declaration import N_COMPONENTS, POSITIVE, RESOLUTION
from metalda.priors import Fixed, LogLinear, Regression
from metalda.samplers import Problem
from metalda.utils.constraints import Interval

START_ALPHA, START_BETA = 0.1, 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class _RegressionModel(TopicModel):
    """Base class with the parameters of a regression."""

    variance: float = 1.0
    default_variance: float = 100.0
    optimize_burn_in: int = 50
    optimize_interval: int = 10

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **TopicModel._parameter_constraints,
        "n_components": N_COMPONENTS,
        "variance": [POSITIVE],
        "default_variance": [POSITIVE],
        "optimize_burn_in": [Interval(Integral, 0, None, closed="left")],
        "optimize_interval": [Interval(Integral, 1, None, closed="left")],
    }

    def _build_problem(self, corpus: Corpus) -> Problem:
        n_iter = self._stage_lengths()[0]
        if n_iter <= self.optimize_burn_in:
            warn(
                f"training ends before the first optimization of the weights, so they stay 0: make n_iter "
                f"({n_iter:,}) larger, or optimize_burn_in ({self.optimize_burn_in:,}) smaller",
            )
        return super()._build_problem(corpus)

    def _burn_in_of(self, n_iter: int) -> int:
        """Return the iterations before the first draw; draws from before the first optimization have no weights."""
        burn_in = super()._burn_in_of(n_iter)
        return max(burn_in, self.optimize_burn_in) if n_iter > self.optimize_burn_in else burn_in

    def _regression(self, design: Design, start: float) -> Regression:
        settings = self.variance, self.default_variance, self.optimize_burn_in, self.optimize_interval
        return Regression(design, start, *settings)


@dataclass(eq=False, repr=False)
class DMR(_RegressionModel):
    """Dirichlet-multinomial regression: the topics of a document depend on its labels or numeric covariates.

    Parameters
    ----------
    n_components : int
        Number of topics.
    word_prior : float
        Symmetric Dirichlet parameter of the words of a topic.
    prevalence, resolution
        As in `MetaLDA`.
    variance : float
        Variance of the Gaussian prior on the weights of labels or features, whose mean is 0.
    default_variance : float
        Variance of the Gaussian prior on the weights of the default label, which every document (or word) has.
    optimize_burn_in : int
        Iterations before weights are optimized for the first time. No draw is kept before.
    optimize_interval : int
        Iterations from one optimization of the weights to the next.
    vocabulary, n_iter, n_iter_limit, burn_in, thin, n_draws, n_chains, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Labels may be real numbers: give `y` as a matrix or a frame of numbers, preferably standardized to mean 0 and
    standard deviation 1. The weights are posterior modes given the topics (L-BFGS) instead of draws, so effects have no
    intervals.

    Examples
    --------
    >>> from metalda import DMR
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> model = DMR(n_components=2, n_iter=80, random_state=0).fit(texts, ["pets", "pets", "weather", "weather"])
    >>> model.label_names_
    ('pets', 'weather')
    """

    n_components: int = 50
    _: KW_ONLY
    word_prior: float = START_BETA
    prevalence: str | None = None
    resolution: int = 512

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **_RegressionModel._parameter_constraints,
        "word_prior": [POSITIVE],
        "prevalence": [str, None],
        "resolution": RESOLUTION,
    }

    @property
    def _real_labels(self) -> bool:
        return True

    @property
    def uses_labels(self) -> bool:
        return True

    def _warn_of_settings(self, corpus: Corpus, n_topics: int, n_kept: int) -> None:
        if corpus.labels is None:
            hint("DMR without labels learns one prior for all documents: give labels as y or in the corpus (--labels)")
        super()._warn_of_settings(corpus, n_topics, n_kept)

    def _prior_of_documents(self, design: Design) -> LogLinear:
        return self._regression(design, START_ALPHA)

    def _prior_of_words(self, design: Design) -> LogLinear:
        return Fixed(design, self.word_prior)


@dataclass(eq=False, repr=False)
class WFLDA(_RegressionModel):
    """Word-feature LDA: the words of a topic depend on the features of words, through a regression.

    Parameters
    ----------
    n_components : int
        Number of topics.
    word_features : WordFeatures, Embeddings, DataFrame or mapping
        Features of words, e.g. ``Embeddings.read(...).binarize()``. Words without features are allowed. Embeddings
        themselves are numbers, as with ``Embeddings.standardize()``.
    doc_prior : float
        Symmetric Dirichlet parameter of the topics of a document.
    variance, default_variance, optimize_burn_in, optimize_interval
        As in `DMR`, for features instead of labels.
    vocabulary, n_iter, n_iter_limit, burn_in, thin, n_draws, n_chains, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Labels are not used: `y`, and the labels of a corpus, are ignored.

    Examples
    --------
    >>> from metalda import WFLDA
    >>> features = {"cat": "animal", "dog": "animal", "rain": "weather", "sun": "weather"}
    >>> model = WFLDA(n_components=2, word_features=features, n_iter=80, random_state=0)
    >>> model.fit(["cat dog cat", "dog cat", "rain sun rain", "sun rain"]).feature_names_
    ('animal', 'weather')
    """

    n_components: int = 50
    _: KW_ONLY
    word_features: object = None
    doc_prior: float = START_ALPHA

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **_RegressionModel._parameter_constraints,
        "word_features": "no_validation",
        "doc_prior": [POSITIVE],
    }

    def _warn_of_settings(self, corpus: Corpus, n_topics: int, n_kept: int) -> None:
        if self.word_features is None:
            hint(
                "WFLDA without word_features learns one prior for all words of a topic: give features (--word-features "
                "or --embeddings)"
            )
        super()._warn_of_settings(corpus, n_topics, n_kept)

    def _prior_of_documents(self, design: Design) -> LogLinear:
        return Fixed(design, self.doc_prior)

    def _prior_of_words(self, design: Design) -> LogLinear:
        return self._regression(design, START_BETA)

    @property
    def uses_word_features(self) -> bool:
        return True

    def _word_features(self) -> WordFeatures | None:
        return as_word_features(self.word_features)
