"""MetaLDA: document labels inform alpha, word features inform beta."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.meta import WordFeatures, as_word_features
from metalda.meta.design import Design
from metalda.meta.groups import DocumentGroups
from metalda.meta.seeds import Seeds
from metalda.models.base import TopicModel
from metalda.models.declaration import N_COMPONENTS, POSITIVE, RESOLUTION
from metalda.models.estimator import available_if
from metalda.models.pooling import pooling_table
from metalda.models.seeds import seed_table
from metalda.models.wording import WordingTables
from metalda.priors import Fixed, Gamma, LogLinear, Normal, SeedWeights
from metalda.samplers import Draw, GroupTokens, Problem, Sampler
from metalda.samplers.draws import no_extra
from metalda.samplers.group_topics import mean_group_phi
from metalda.samplers.wording import check_extra
from metalda.utils.checks import Arrays
from metalda.utils.constraints import Interval, StrOptions

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("metalda.models")

START_ALPHA, START_BETA = 0.1, 0.01
# Weights of many numbers, such as word vectors, take longer than all tokens, so they are updated in some iterations.
MANY_NUMBERS: dict[str, Any] = {"interval": 20, "block_size": 8, "slices": 0.02}
MANY = 200_000  # values in the design
RARELY, SELDOM = 4, 16  # iterations from one update of feature weights to the next, if an update takes long
SEED_SHAPE = 1000.0  # of the gamma prior on the strength of a seed set, which counts like this many tables of words
LEVEL_PRECISION = 0.04  # of log lambda of the default label: a standard deviation of 5


@dataclass(eq=False, repr=False)
class MetaLDA(TopicModel, WordingTables):
    """Topic model that learns from document labels and word features.

    Parameters
    ----------
    n_components : int
        Number of topics.
    doc_prior : {"labels", "default"} or float
        Prior of the topic proportions of a document: learned from its labels ("labels"), one learned asymmetric prior
        for all documents ("default"), or a fixed symmetric Dirichlet parameter such as 0.1.
    word_prior : {"features", "default"} or float
        Prior of the word probabilities of a topic: learned from word features ("features"), one learned value per
        topic ("default"), or a fixed symmetric Dirichlet parameter such as 0.01.
    word_features : WordFeatures, Embeddings, DataFrame or mapping, optional
        Features of words, e.g. ``Embeddings.read(...).binarize()``. Words without features are allowed. Embeddings
        themselves are numbers, as with ``Embeddings.standardize()``.
    prevalence : str, optional
        Formula for the columns that inform topic proportions: ``"section + s(year) + section:year"``. Terms are columns
        of labels or numbers, ``s(year)`` or ``s(year, df=7)`` for a smooth curve over a number, ``a:b`` for an
        interaction, ``a*b`` for both columns and their interaction, and ``levels(section)`` for nested labels such as
        ``sport/football``, which also have ``sport``. By default every column is used as it is.
    wording : str, optional
        Label column whose values are groups of documents that word topics in their own way, such as "party": each
        group has its own word probabilities in a topic, around those that all groups share. Documents without a value
        are a group of their own. "label" stands for labels that are given as y. The column also informs topic
        proportions, unless `prevalence` leaves it out.
    resolution : int
        Numbers with more distinct values are rounded to this many quantiles in training.
    weight_prior : {"normal", "gamma"}
        Prior on the weights of labels and word features. "normal": their logarithms have mean 0 and a variance that is
        learned for each label column and each source of word features. "gamma": the prior of the paper, with the fixed
        shapes `mu` and `nu`.
    mu : float or mapping, optional
        Shape of the gamma prior on the weights of labels; smaller values let the weights vary more. If it is given,
        labels have this prior for any `weight_prior`. By default it is 1 if the weights have gamma priors. A mapping
        such as ``{"author": 0.3}`` gives the shapes of some label columns, and the strength of the others is learned.
    nu : float, optional
        Shape of the gamma prior on the weights of word features, like `mu`.
    seeds : mapping, optional
        Seed words by the names of topics: ``{"economy": ["tax", "budget*"], "war": ["army", "battle"]}``. These are the
        first topics, in this order. ``*`` at the end stands for any ending, and a word may be a seed of several topics.
        `read_seeds` reads them from a file.
    seed_weight : float
        How many times as probable a seed word is as another word of its topic, before the documents are seen. The
        documents then decide: see `seed_strengths`.
    vocabulary : sequence of str, optional
        Names of the columns of a count matrix.
    n_iter : int or "auto"
        Iterations of the Gibbs sampler. "auto" doubles them until the log-likelihood has no trend over the second half
        and 90 % of the label effects have 100 effective draws behind their intervals, up to `n_iter_limit`.
    n_iter_limit : int
        Largest number of iterations if `n_iter` is "auto".
    burn_in : int, optional
        Iterations before the first draw is kept; half of `n_iter` by default.
    thin : int, optional
        Iterations from one kept draw to the next, counted back from the last iteration. By default draws are spread
        evenly over the iterations after the burn-in.
    n_draws : int
        Largest number of draws to keep.
    n_chains : int
        Independent chains, each with its own seed. Topics are matched across chains, and results are averages over the
        chains that have a topic. Four chains show which topics and effects do not depend on the seed.
    n_jobs : int
        Threads, which the chains share. The result does not depend on it.
    n_shards : int or "auto"
        Parts of the corpus that are sampled in parallel. With 1 the sampler is exact; with more, only the topic totals
        are slightly out of date. "auto" uses 1 for up to 1.4 million tokens, and at most 8.
    random_state : int, optional
        Seed; equal seeds give equal results.
    verbose : bool
        Show a progress bar, on a terminal or in a notebook.

    Attributes
    ----------
    components_ : array [topic, word]
        Probabilities of words; rows sum to 1.
    doc_topics_ : array [document, topic]
        Topic proportions of the training documents.
    chains_ : tuple of MetaLDA
        The chains, each as a fitted model of its own.
    history_ : DataFrame
        A row per iteration: log-likelihood per token, seconds, tokens moved, tables of documents and of words (0 in an
        iteration that does not update their weights).
    vocabulary_ : tuple of str
        Words, in the order of the columns of `components_`.
    label_names_ : tuple of str
        Labels of the training documents.
    feature_names_ : tuple of str
        Features of the vocabulary.
    pooling_ : DataFrame
        How much each label column and each source of word features matters.
    wording_ : DataFrame
        How alike groups of documents word each topic, with `wording`.
    wording_groups_ : tuple of str
        Groups of documents that word topics in their own way, with `wording`.

    Examples
    --------
    >>> from metalda import MetaLDA
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> model = MetaLDA(n_components=2, n_iter=50, random_state=0).fit(texts, ["pets", "pets", "weather", "weather"])
    >>> model.doc_topics_.shape
    (4, 2)
    """

    n_components: int = 50
    _: KW_ONLY
    doc_prior: str | float = "labels"
    word_prior: str | float = "features"
    word_features: object = None
    prevalence: str | None = None
    wording: str | None = None
    resolution: int = 512
    weight_prior: str = "normal"
    mu: float | Mapping[str, float] | None = None
    nu: float | None = None
    seeds: Mapping[str, Sequence[str]] | None = None
    seed_weight: float = 10_000.0

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **TopicModel._parameter_constraints,
        "n_components": N_COMPONENTS,
        "doc_prior": [StrOptions({"labels", "default"}), POSITIVE],
        "word_prior": [StrOptions({"features", "default"}), POSITIVE],
        "prevalence": [str, None],
        "wording": [str, None],
        "resolution": RESOLUTION,
        "weight_prior": [StrOptions({"normal", "gamma"})],
        "mu": [POSITIVE, Mapping, None],
        "nu": [POSITIVE, None],
        "word_features": "no_validation",
        "seeds": [Mapping, None],
        "seed_weight": [Interval(Real, 1, None, closed="neither")],
    }

    @property
    def uses_labels(self) -> bool:
        return self.doc_prior == "labels"

    @property
    def pooling_(self) -> pd.DataFrame:
        """How much each label column and source of word features matters, with 90 % intervals.

        A row has the `kind` ("label" or "feature"), the `group` (the column, or the source; empty if labels did not
        come from columns), its number `n` of labels or features, and the learned `scale`: the standard deviation of
        their log weights. At 0.7 a typical label doubles or halves the weight of a topic; near 0 the labels of the
        column do not matter. Empty with ``weight_prior="gamma"``.
        """
        return pooling_table(self.fitted_)

    @available_if(lambda model: model.seeds is not None)
    def seed_strengths(self, interval: float = 0.9) -> pd.DataFrame:
        """Return how strong the seed words of each named topic are, with intervals over the iterations after burn-in.

        Parameters
        ----------
        interval : float
            Posterior probability of the intervals.

        Returns
        -------
        DataFrame
            A row for each named topic.

            - `strength`, with the interval `low` to `high`: how many times as probable a seed word is as another word
              of the topic that the documents say nothing about. It is the weight delta of the seed set.
              `seed_weight` is its mean before the documents are seen. A much smaller strength means that the topic
              did without its seeds.
            - `words`: the words of the vocabulary that the seeds match.
            - `tokens`: the occurrences of these words in the training documents, and `in_topic` the share of them
              that is assigned to the topic; to all its parts if it was merged.
            - `chains`, after a fit with several chains.

        Examples
        --------
        >>> from metalda import MetaLDA
        >>> seeds = {"weather": ["rain", "sun*"], "pets": ["cat"]}
        >>> texts = ["cat dog cat", "dog cat", "rain sunny rain", "sunny rain"]
        >>> model = MetaLDA(2, seeds=seeds, n_iter=100, random_state=0, verbose=False).fit(texts)
        >>> model.seed_strengths()[["topic", "name", "words", "tokens"]]
           topic     name  words  tokens
        0      0  weather      2       5
        1      1     pets      1       3
        """
        return seed_table(self.fitted_, cast(Seeds, self._seeds()), interval)

    @property
    def _real_labels(self) -> bool:
        return self.weight_prior == "normal" and not isinstance(self.mu, Real) and self.uses_labels

    @property
    def uses_word_features(self) -> bool:
        return self.word_prior == "features"

    def _build_problem(self, corpus: Corpus) -> Problem:
        if self.uses_labels and corpus.labels is None:
            logger.info("No labels (y, --labels): all documents share one learned prior.")
        if self.uses_word_features and self.word_features is None and self.seeds is None:
            logger.info(
                "No word features (word_features, --word-features, --embeddings): all words of a topic share one prior."
            )
        problem = super()._build_problem(corpus)
        prior = problem.word_prior
        if isinstance(prior, Normal) and prior.interval == 1:
            return replace(problem, word_prior=replace(prior, interval=_update_interval(problem)))
        return problem

    def _sampler(self, corpus: Corpus) -> Sampler:
        if self.wording is None:
            return super()._sampler(corpus)
        groups = DocumentGroups.find(self.wording, corpus.labels, corpus.schema)
        groups.hint_of_missing(self.wording)
        initial = self._burn_in_of(self._stage_lengths()[0]) // 2  # without groups
        return GroupTokens(groups.of_document, len(groups.names), initial)

    def _wording_names(self, corpus: Corpus) -> tuple[str, ...]:
        if self.wording is None:
            return ()
        return DocumentGroups.find(self.wording, corpus.labels, corpus.schema).names

    def _check_extra(self, extra: Arrays, n_draws: int, n_topics: int) -> None:
        (no_extra if self.wording is None else check_extra)(extra, n_draws, n_topics)

    def _mean_phi(
        self, draws: Sequence[Draw], vocabulary: Sequence[str], word_prior: LogLinear, unseen: Sequence[str] = ()
    ) -> NDArray[np.float32]:
        """Return phi[word, topic]; with `wording`, the average over groups by their shares in the tokens of a topic.

        The average is the expectation for a document of an unknown group. phi[k], which the groups share, is not: rare
        words have more weight in it than in any group.
        """
        if self.wording is None:
            return super()._mean_phi(draws, vocabulary, word_prior, unseen)
        of_unseen = self._prior_by_name(unseen, word_prior.design.names[:-1]) if unseen else None
        return mean_group_phi(draws, word_prior, None, of_unseen)

    def _mean_phi_alone(self, unseen: Sequence[str]) -> NDArray[np.float32]:
        if self.wording is None:
            return super()._mean_phi_alone(unseen)
        word_prior, of_unseen = self.fitted_.word_prior, self._prior_by_name(unseen, self.feature_names_)
        return mean_group_phi(self.draws_, word_prior, None, of_unseen, alone=True)[len(self.vocabulary_) :]

    def _prior_of_documents(self, design: Design) -> LogLinear:
        if isinstance(self.doc_prior, str):
            return self._learned(design, START_ALPHA, self.mu, LEVEL_PRECISION)
        return Fixed(design, self.doc_prior)

    def _prior_of_words(self, design: Design) -> LogLinear:
        if isinstance(self.word_prior, str):
            seeds = self._seeds()
            prior = None if seeds is None else SeedWeights(seeds.features, float(self.seed_weight), SEED_SHAPE)
            return self._learned(design, START_BETA, self.nu, 0.0, prior)
        return Fixed(design, self.word_prior)

    @property
    def _real_features(self) -> bool:
        return self.weight_prior == "normal" and self.nu is None

    def _learned(
        self,
        design: Design,
        start: float,
        shape: float | Mapping[str, float] | None,
        level_precision: float,
        seeds: SeedWeights | None = None,
    ) -> LogLinear:
        shapes = _group_shapes(shape) if isinstance(shape, Mapping) else ()
        if shapes and self.weight_prior != "normal":
            raise InputError('mu by column needs weight_prior="normal", which learns the strength of the other columns')
        if not isinstance(shape, Real) and self.weight_prior == "normal":
            n_numbers = np.count_nonzero(design.is_number[design.row_labels])
            settings = MANY_NUMBERS if n_numbers > MANY else {}
            return Normal(
                design, start, 1.0, seeds=seeds, default_precision=level_precision, group_shapes=shapes, **settings
            )
        return Gamma(design, start, shape if isinstance(shape, Real) else 1.0, seeds=seeds)

    def _word_features(self) -> WordFeatures | None:
        return as_word_features(self.word_features) if self.uses_word_features else None

    def _seeds(self) -> Seeds | None:
        if self.seeds is None:
            return None
        if not self.uses_word_features:
            raise InputError(f'seeds need word_prior="features" (--word-prior features), not {self.word_prior!r}')
        seeds = Seeds.from_mapping(self.seeds)
        if len(seeds.sets) > self.n_components:
            raise InputError(
                f"{len(seeds.sets):,} seed sets are more than the {self.n_components:,} topics: raise n_components "
                f"(--topics) to {len(seeds.sets):,} or more"
            )
        return seeds

    def _topic_groups(self, n_topics: int) -> NDArray[np.int64]:
        """Return a group for each named topic, and one for all others."""
        seeds = self._seeds()
        return np.minimum(np.arange(n_topics), 0 if seeds is None else len(seeds.sets))

    def _topic_names(self, n_topics: int) -> tuple[str | None, ...]:
        seeds = self._seeds()
        return () if seeds is None else (*seeds.topics, *[None] * (n_topics - len(seeds.sets)))


def _update_interval(problem: Problem) -> int:
    """Return the number of iterations from one update of feature weights to the next, by the time that updates take.

    An update takes about 0.6 ns for each topic and value of the design, and the topics take 75 + 0.15 K ns for each
    token. With rarer updates each iteration gains less, but a model is good sooner (docs/performance.md).
    """
    n_values, n_topics = len(problem.word_prior.design.row_labels), problem.n_topics
    ratio = 0.6 * n_values * n_topics / ((75 + 0.15 * n_topics) * max(len(problem.words), 1))
    return SELDOM if ratio > 3 else RARELY if ratio > 0.5 else 1


def _group_shapes(shapes: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Return the shapes of label columns, checked."""
    for column, shape in shapes.items():
        if not isinstance(column, str) or not isinstance(shape, Real) or not 0 < shape < math.inf:
            raise InputError(f"mu={dict(shapes)!r}: give positive numbers by the names of label columns")
    return tuple((column, float(shape)) for column, shape in shapes.items())
