"""What every topic model has: fitting, folding-in, scoring, and looking at topics."""

from __future__ import annotations

import logging
import math
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from metalda.corpus import Corpus, NamedMatrix
from metalda.errors import InputError
from metalda.meta import WordFeatures
from metalda.meta.design import Design
from metalda.models.identity import identify
from metalda.models.inputs import has_words, read_input
from metalda.models.inspection import Inspection
from metalda.models.new_documents import NewDocuments
from metalda.models.notebook import Shown
from metalda.models.prediction import Prediction
from metalda.models.saving import pack_model
from metalda.priors import LogLinear
from metalda.samplers import Draw, Problem, Sampler, Tokens
from metalda.samplers.draws import mean_alpha, mean_phi, mean_phi_alone
from metalda.samplers.folding import Documents, infer_theta
from metalda.samplers.shards import group_words, order_by_group, shard_bounds
from metalda.storage import write_folder
from metalda.training.checkpoint import open_checkpoint
from metalda.training.distributed.cluster import Cluster
from metalda.training.loop import Trained, kept_sweeps, train
from metalda.training.memory import require_memory
from metalda.utils.threads import count_jobs

logger = logging.getLogger("metalda")

POSITIVE = Interval(Real, 0, None, closed="neither")
N_COMPONENTS = [Interval(Integral, 1, 2**16 - 1, closed="both")]
TOKENS_PER_SHARD, MOST_SHARDS = 750_000, 8


@dataclass(kw_only=True, eq=False, repr=False)
class TopicModel(Inspection, NewDocuments, Prediction, Shown):
    """Base of all models; a model names its priors and its sampler, and adds its parameters."""

    vocabulary: Any = None
    n_iter: int = 1000
    burn_in: int | None = None
    thin: int = 10
    n_draws: int = 15
    n_jobs: int | None = 1
    n_shards: int | str = "auto"
    random_state: Any = None
    verbose: bool = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "vocabulary": "no_validation",
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left"), None],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "n_shards": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    # What a model says of itself.

    _has_label_effects: ClassVar[bool] = True  # whether labels raise and lower topics
    _real_labels: ClassVar[bool] = False  # whether labels may have values other than 0 and 1

    @property
    def _uses_labels(self) -> bool:
        return False

    @abstractmethod
    def _prior_of_documents(self, documents: Design) -> LogLinear:
        """alpha of documents with these labels."""

    @abstractmethod
    def _prior_of_words(self, words: Design) -> LogLinear:
        """beta of words with these features."""

    def _word_features(self) -> WordFeatures | None:
        return None

    @property
    def _needs_names(self) -> bool:
        """Whether words are looked up by name."""
        return self._word_features() is not None

    def _sampler(self, corpus: Corpus) -> Sampler:
        """How topics are assigned."""
        return Tokens()

    def _count_topics(self, label_names: tuple[str, ...]) -> int:
        return int(self.n_components)

    def _knows_of(self, unseen: Sequence[str]) -> NDArray[np.bool_]:
        """Of which words, though training never saw them, there is something to be said: here, that have features."""
        features = self._word_features()
        if features is None:
            return np.zeros(len(unseen), bool)
        return np.diff(features.rows(unseen).select(self.feature_names_).matrix.indptr) > 0

    def _mean_phi(self, draws: Sequence[Draw], unseen: Sequence[str] = ()) -> NDArray[np.float32]:
        """phi[word, topic] averaged over draws: the training vocabulary, then unseen words, as one distribution."""
        return mean_phi(draws, self._known_words, self._describe(unseen) if unseen else None)

    def _mean_phi_alone(self, draws: Sequence[Draw], unseen: Sequence[str]) -> NDArray[np.float32]:
        """phi[word, topic] of unseen words averaged over draws, each as if it were the only one."""
        return mean_phi_alone(draws, self._describe(unseen))

    def _infer(
        self, draws: Sequence[Draw], documents: Documents, labels: Design, phi: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """theta of new documents, given phi[word, topic]."""
        alpha = mean_alpha(draws, self._prior_of_documents(labels), self.trained_unlabelled_)
        return infer_theta(documents, alpha, phi, count_jobs(self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # Fitting.

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100,
        resume: bool = False,
        client: Any = None,
    ) -> TopicModel:
        """Learn topics.

        Parameters
        ----------
        X : Corpus, count matrix, list of texts or list of token lists
            The documents.
        y : optional
            Labels, where the corpus has none: one per document, lists of them, or an indicator matrix or frame.
            Models without labels ignore them.
        checkpoint : path, optional
            Folder in which to keep the state of training, every `checkpoint_every` sweeps and when Ctrl-C ends it.
        resume : bool
            Go on from the checkpoint, if there is one: the model will be the same as without the interruption.
        client : dask.distributed.Client, optional
            Sweep the shards on the workers of a cluster instead of in threads: the model will be the same. Workers may
            come and go meanwhile.

        Returns
        -------
        self
            Ctrl-C ends training early and keeps what was learnt so far.
        """
        self._validate_params()
        labels = y if self._uses_labels else None
        corpus = read_input(self, X, labels, self.vocabulary, fitting=True, names_needed=self._needs_names)
        _require_words(corpus)
        problem = self._pose(corpus)
        cluster = None if client is None else self._require_cluster(client, problem)
        n_jobs = count_jobs(self.n_jobs)
        keep = kept_sweeps(self.n_iter, self.burn_in, self.thin, self.n_draws)
        require_memory(problem, len(keep), n_jobs)
        trained = train(
            problem,
            n_iter=self.n_iter,
            keep=keep,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            n_jobs=n_jobs,
            verbose=self.verbose,
            checkpoint=open_checkpoint(checkpoint, checkpoint_every, lambda: identify(self, corpus, problem), resume),
            cluster=cluster,
        )
        named = self.vocabulary is not None or has_words(X) or hasattr(self, "feature_names_in_")
        self._adopt(trained, problem, corpus, named)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32]:
        """Fit, then transform the same documents without y.

        Labels given as y inform training only, so that a classifier behind this step in a pipeline does not see its
        own target. The labels of a Corpus belong to its documents and are used for both.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def _require_cluster(self, client: Any, problem: Problem) -> Cluster:
        if not isinstance(problem.sampler, Tokens):
            raise InputError(
                f"{type(self).__name__} runs on one machine only, since its tokens are not drawn one by one; fit it "
                "without client= (--cluster)"
            )
        cluster = Cluster(client)
        cluster.require_workers()
        return cluster

    def _adopt(self, trained: Trained, problem: Problem, corpus: Corpus, named: bool) -> None:
        """Take over what was learnt, here or elsewhere."""
        doc_prior, word_prior = problem.doc_prior, problem.word_prior
        self.seed_ = trained.seed
        self.n_shards_ = len(problem.shards)
        self.n_iter_ = trained.n_sweeps
        self.n_features_in_ = len(corpus.vocabulary)
        self.vocabulary_ = corpus.vocabulary
        self.schema_ = corpus.schema
        self.label_names_ = doc_prior.design.names[:-1]
        self.feature_names_ = word_prior.design.names[:-1]
        self.label_sizes_ = doc_prior.design.label_sizes
        self._training_labels = doc_prior.design
        self.trained_unlabelled_ = doc_prior.design.bare_row is not None
        self.draws_ = trained.draws
        self.doc_topics_ = trained.doc_topics
        self.metadata_: dict[str, Any] = {}
        self.named_words_ = named
        self._history = trained.history
        self._finish()

    def _pose(self, corpus: Corpus) -> Problem:
        """What there is to be sampled for this model on these documents."""
        labels = _without_empty_columns(corpus.labels) if self._uses_labels else None
        features = self._features_of_vocabulary(corpus)
        doc_prior = self._prior_of_documents(Design.build(labels, len(corpus), real=self._real_labels))
        word_prior = self._prior_of_words(Design.build(features, len(corpus.vocabulary)))
        n_shards, words = self._count_shards(corpus), corpus.words
        if n_shards > 1:
            words = order_by_group(words, corpus.offsets, group_words(words, len(corpus.vocabulary), n_shards))
        return Problem(
            words,
            corpus.offsets,
            len(corpus.vocabulary),
            self._count_topics(doc_prior.design.names[:-1]),
            doc_prior,
            word_prior,
            self._sampler(corpus),
            shard_bounds(corpus.offsets, n_shards),
            corpus.words,
        )

    def _features_of_vocabulary(self, corpus: Corpus) -> NamedMatrix | None:
        """Features of the words to be trained on, without those that none of them has."""
        features = self._word_features()
        if features is None:
            return None
        features.require_overlap(corpus.vocabulary)
        logger.info("Word features for %.1f %% of the vocabulary.", 100 * features.coverage(corpus.vocabulary))
        return _without_empty_columns(features.rows(corpus.vocabulary))

    def _count_shards(self, corpus: Corpus) -> int:
        if self.n_shards != "auto":
            return min(int(self.n_shards), len(corpus))
        return 2 ** int(np.clip(round(math.log2(corpus.n_tokens / TOKENS_PER_SHARD)), 0, math.log2(MOST_SHARDS)))

    def _finish(self) -> None:
        """Derive what follows from the draws; also after loading."""
        self._known_words = self._describe(self.vocabulary_)
        self._phi = self._mean_phi(self.draws_)
        self.components_ = self._phi.T
        self._word_index = {word: v for v, word in enumerate(self.vocabulary_)}

    def _describe(self, words: Sequence[str]) -> LogLinear:
        """The prior of words in terms of the features that the model knows."""
        features = self._word_features()
        rows = features.rows(words).select(self.feature_names_) if features is not None else None
        return self._prior_of_words(Design.build(rows, len(words)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a folder of safetensors and JSON; `metalda.load` reads it again."""
        check_is_fitted(self)
        write_folder(path, "model", *pack_model(self))


def _require_words(corpus: Corpus) -> None:
    if len(corpus) == 0:
        raise InputError("the corpus is empty: there is no document to learn from")
    if corpus.n_tokens == 0:
        raise InputError("every document is empty: there is no word to learn from; check the tokenizing options")


def _without_empty_columns(matrix: NamedMatrix | None) -> NamedMatrix | None:
    """Labels that no document has, or features that no word has, would only be drawn from their prior."""
    if matrix is None:
        return None
    used = np.bincount(matrix.matrix.indices, minlength=len(matrix.names)) > 0
    return matrix.select([name for name, kept in zip(matrix.names, used, strict=True) if kept])
