"""The base of all models: parameters, what a model declares, training, and predictions for new documents."""

from __future__ import annotations

import logging
import math
import os
from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from metalda.corpus import Corpus, NamedMatrix
from metalda.corpus.tokenising import Tokenising
from metalda.errors import InputError
from metalda.meta import WordFeatures
from metalda.meta.design import Design
from metalda.meta.shards import group_words, order_by_group, shard_bounds
from metalda.models.effects import EffectTables
from metalda.models.fitted import Fitted, available_if
from metalda.models.inputs import has_words, read_input
from metalda.models.saving import identify, pack_model
from metalda.models.transform import (
    Encoded,
    encode,
    encode_labels,
    infer_on_cluster,
    label_probabilities,
    require_labels,
    warn_of_unknown_documents,
)
from metalda.priors import LogLinear
from metalda.samplers import Draw, Problem, Sampler, Tokens
from metalda.samplers.draws import mean_alpha, mean_phi, mean_phi_alone
from metalda.samplers.folding import Documents, complete, infer_theta
from metalda.storage import write_folder
from metalda.training.checkpoint import open_checkpoint
from metalda.training.distributed.cluster import Cluster
from metalda.training.loop import Trained, kept_sweeps, train
from metalda.training.memory import require_memory
from metalda.utils.threads import count_jobs

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

logger = logging.getLogger("metalda")

POSITIVE = Interval(Real, 0, None, closed="neither")
N_COMPONENTS = [Interval(Integral, 1, 2**16 - 1, closed="both")]
TOKENS_PER_SHARD, MOST_SHARDS = 750_000, 8


@dataclass(kw_only=True, eq=False, repr=False)
class TopicModel(TransformerMixin, EffectTables):
    """Base of all models; a model declares its priors and its sampler, and adds its parameters."""

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

    # What a model declares.

    @abstractmethod
    def _prior_of_documents(self, documents: Design) -> LogLinear:
        """alpha of documents with these labels."""

    @abstractmethod
    def _prior_of_words(self, words: Design) -> LogLinear:
        """beta of words with these features."""

    def _sampler(self, corpus: Corpus) -> Sampler:
        """How topics are assigned."""
        return Tokens()

    def _count_topics(self, label_names: tuple[str, ...]) -> int:
        return int(self.n_components)

    @property
    def uses_labels(self) -> bool:
        """Whether the model, with its parameters, learns from labels of documents."""
        return False

    _real_labels: ClassVar[bool] = False  # whether labels may have values other than 0 and 1

    @property
    def _has_label_effects(self) -> bool:
        """Whether labels raise and lower topics."""
        return self.uses_labels

    @property
    def uses_word_features(self) -> bool:
        """Whether the model, with its parameters, learns from features of words."""
        return False

    def _word_features(self) -> WordFeatures | None:
        """The features of words, where some are given and used."""
        return None

    @property
    def _needs_names(self) -> bool:
        """Whether words are looked up by name."""
        return self._word_features() is not None

    def _knows_of(self, unseen: Sequence[str]) -> NDArray[np.bool_]:
        """Which out-of-vocabulary words the model has information on: here, those with features."""
        features = self._word_features()
        if features is None:
            return np.zeros(len(unseen), bool)
        return np.diff(features.rows(unseen).select(self.feature_names_).matrix.indptr) > 0

    def _mean_phi(
        self, draws: Sequence[Draw], vocabulary: Sequence[str], word_prior: LogLinear, unseen: Sequence[str] = ()
    ) -> NDArray[np.float32]:
        """phi[word, topic] averaged over draws: the vocabulary, then out-of-vocabulary words, as one distribution."""
        of_unseen = self._prior_by_name(unseen, word_prior.design.names[:-1]) if unseen else None
        return mean_phi(draws, word_prior, of_unseen)

    def _mean_phi_alone(self, draws: Sequence[Draw], unseen: Sequence[str]) -> NDArray[np.float32]:
        """phi[word, topic] of out-of-vocabulary words averaged over draws, each as if it were the only one."""
        return mean_phi_alone(draws, self._prior_by_name(unseen, self.feature_names_))

    def _infer(
        self, draws: Sequence[Draw], documents: Documents, labels: Design, phi: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """theta of new documents, given phi[word, topic]."""
        alpha = mean_alpha(draws, self._prior_of_documents(labels), self.fitted_.has_unlabeled)
        return infer_theta(documents, alpha, phi, count_jobs(self.n_jobs))

    def _prior_by_name(self, words: Sequence[str], feature_names: Sequence[str]) -> LogLinear:
        """beta of words, in terms of the features that the model learned from."""
        features = self._word_features()
        rows = None if features is None else features.rows(words).select(feature_names)
        return self._prior_of_words(Design.build(rows, len(words)))

    # Training.

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100,
        resume: bool = False,
        client: Any = None,
    ) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : Corpus, count matrix, list of texts or list of token lists
            The documents.
        y : optional
            Labels, where the corpus has none: one per document, lists of them, or an indicator matrix or frame.
            Models without labels ignore them.
        checkpoint : path, optional
            Folder that keeps the state of training, every `checkpoint_every` iterations and when Ctrl-C ends it.
        resume : bool
            Resume from the checkpoint, if there is one: the model is the same as without the interruption.
        client : dask.distributed.Client, optional
            Sweep the shards on the workers of a cluster instead of in threads: the model is the same. Workers may
            come and go meanwhile.

        Returns
        -------
        self
            Ctrl-C ends training early and keeps the result so far.
        """
        self._validate_params()
        labels = y if self.uses_labels else None
        corpus = read_input(self, X, labels, self.vocabulary, fitting=True, names_needed=self._needs_names)
        if len(corpus) == 0:
            raise InputError("the corpus is empty: there is no document to learn from")
        if corpus.n_tokens == 0:
            raise InputError("every document is empty: there is no word to learn from; check the tokenizing options")
        problem = self._pose(corpus)
        cluster = None if client is None else self._require_cluster(client, problem)
        keep, n_jobs = kept_sweeps(self.n_iter, self.burn_in, self.thin, self.n_draws), count_jobs(self.n_jobs)
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
        return self._keep_result(
            trained,
            corpus.vocabulary,
            problem.doc_prior,
            problem.word_prior,
            schema=corpus.tokenising,
            n_shards=len(problem.shards),
            named_words=self.vocabulary is not None or has_words(X) or hasattr(self, "feature_names_in_"),
        )

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32]:
        """Fit, then transform the same documents without y.

        Labels given as y inform training only, so that a classifier behind this step in a pipeline does not see its
        own target. The labels of a Corpus belong to its documents and are used for both.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def validate(self, corpus: Corpus | None = None) -> Self:
        """Raise the error that `fit` would raise: of the parameters, and of the corpus if one is given."""
        self._validate_params()
        if corpus is not None:
            self._pose(corpus)
        return self

    def _pose(self, corpus: Corpus) -> Problem:
        """What is to be sampled for this model on these documents."""
        labels = _drop_empty_columns(corpus.labels) if self.uses_labels else None
        doc_prior = self._prior_of_documents(Design.build(labels, len(corpus), real=self._real_labels))
        features = self._word_features()
        rows = None
        if features is not None:
            features.require_overlap(corpus.vocabulary)
            logger.info("Word features for %.1f %% of the vocabulary.", 100 * features.coverage(corpus.vocabulary))
            rows = _drop_empty_columns(features.rows(corpus.vocabulary))
        word_prior = self._prior_of_words(Design.build(rows, len(corpus.vocabulary)))
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

    def _count_shards(self, corpus: Corpus) -> int:
        if self.n_shards != "auto":
            return min(int(self.n_shards), len(corpus))
        return 2 ** int(np.clip(round(math.log2(corpus.n_tokens / TOKENS_PER_SHARD)), 0, math.log2(MOST_SHARDS)))

    def _require_cluster(self, client: Any, problem: Problem) -> Cluster:
        if not isinstance(problem.sampler, Tokens):
            raise InputError(
                f"{type(self).__name__} runs on one machine only, since its tokens are not drawn one by one; fit it "
                "without client= (--cluster)"
            )
        cluster = Cluster(client)
        cluster.require_workers()
        return cluster

    def _keep_result(
        self,
        trained: Trained,
        vocabulary: tuple[str, ...],
        doc_prior: LogLinear,
        word_prior: LogLinear,
        *,
        schema: Tokenising | None,
        n_shards: int,
        named_words: bool,
    ) -> Self:
        """Build `fitted_`: the only place that does, for `fit`, `load` and the Mallet import."""
        self._fitted = Fitted(
            draws=trained.draws,
            phi=self._mean_phi(trained.draws, vocabulary, word_prior),
            doc_topics=trained.doc_topics,
            vocabulary=vocabulary,
            doc_prior=doc_prior,
            word_prior=word_prior,
            history=trained.history,
            schema=schema,
            seed=trained.seed,
            n_iter=trained.n_sweeps,
            n_shards=n_shards,
            named_words=named_words,
        )
        self.n_features_in_ = len(vocabulary)  # scikit-learn assigns it, so it cannot be a property
        self.metadata_: dict[str, Any] = {}
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a folder of safetensors and JSON; `metalda.load` reads it."""
        write_folder(path, "model", *pack_model(self, self.fitted_))

    # New documents.

    def transform(self, X: Any, y: Any = None, *, client: Any = None) -> NDArray[np.float32]:
        """Topic proportions of documents, one row each; rows sum to 1.

        Out-of-vocabulary words are used where they have features (or vectors, in models that learn from these), labels
        that the model was not trained on are ignored with a warning, and documents without labels get the prior of an
        average document. A row depends on its own document only. With a `dask.distributed.Client` the workers of a
        cluster share the documents.
        """
        documents, labels, phi = self._encode_known(X, y)
        if client is None:
            return self._infer(self.draws_, documents, labels, phi)
        light = copy(self).set_params(n_jobs=1)
        light._fitted = replace(self.fitted_, doc_topics=self.doc_topics_[:0])  # workers do not need the rows
        return infer_on_cluster(Cluster(client), partial(light._infer, light.draws_), documents, labels, phi)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: topic0, topic1, …."""
        return np.array([f"topic{k}" for k in range(self.fitted_.n_topics)], dtype=object)

    def perplexity(self, X: Any, y: Any = None, *, unseen: str = "ignore", draws: str = "mean") -> float:
        """Perplexity of every second word of each document, given the other words and the labels.

        Parameters
        ----------
        X, y
            Documents and labels, as in `fit`.
        unseen : {"ignore", "features"}
            Out-of-vocabulary words: leave them out, or give them the probability that their features (or the default
            feature alone, or their vectors) suggest.
        draws : {"mean", "last", "each"}
            Use averaged topics; the last state only, as the Java original does; or average the predictions of all
            kept states, which is best and slowest.
        """
        return float(np.exp(-np.mean(self._log_predictive(X, y, unseen=unseen, draws=draws))))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log predictive probability per word by document completion; higher is better."""
        return float(np.mean(self._log_predictive(X, y, unseen="ignore", draws="mean")))

    @available_if(lambda model: model.uses_labels)
    def predict_label_probabilities(self, X: Any) -> pd.DataFrame:
        """Probabilities of labels of documents without known labels: a row per document, a column per label.

        By Bayes' rule over the sets of labels that training documents had: the share of the set times the probability
        of the document's words under the set's alpha, averaged over draws; a label has the probability of all sets
        with it. Where each training document had one label, the sets are the labels, and rows sum to 1.

        Parameters
        ----------
        X
            Documents, as in `fit`. Labels in a corpus are ignored.

        Notes
        -----
        The sum over the topics of words is done by Gibbs sampling, seeded by the document. Only the 2,000 most frequent
        sets are considered.
        """
        import pandas as pd

        require_labels(self.fitted_)
        documents, _, phi = self._encode_known(X.without_labels() if isinstance(X, Corpus) else X, None)
        probabilities = label_probabilities(self.fitted_, documents, phi, count_jobs(self.n_jobs))
        return pd.DataFrame(probabilities, columns=list(self.label_names_))

    @available_if(lambda model: model.uses_labels)
    def predict_labels(self, X: Any, threshold: float | None = None) -> NDArray[Any] | list[tuple[str, ...]]:
        """The most probable label of each document; or, with a threshold, all labels that are probable enough.

        Parameters
        ----------
        X
            Documents, as in `fit`. Labels in a corpus are ignored.
        threshold : float, optional
            For documents that may have several labels, or none: the least probability of a label, such as 0.5.

        Returns
        -------
        array of str, or list of tuples of str
            One label per document; with a threshold its labels, the most probable first.

        Examples
        --------
        >>> from metalda import MetaLDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> labels = ["pets", "pets", "weather", "weather"]
        >>> model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(10 * texts, 10 * labels)
        >>> model.predict_labels(["dog dog", "rain"]).tolist()
        ['pets', 'weather']
        >>> model.predict_labels(["dog dog", "rain"], threshold=0.5)
        [('pets',), ('weather',)]
        """
        if threshold is not None and not 0 < threshold <= 1:
            raise InputError(f"threshold must lie between 0 and 1, not {threshold!r}")
        probabilities = self.predict_label_probabilities(X).to_numpy()
        names = np.array(self.label_names_, dtype=object)
        if threshold is None:
            return names[probabilities.argmax(axis=1)]
        order = np.argsort(-probabilities, axis=1, kind="stable")
        rows = zip(probabilities, order, strict=True)
        return [tuple(names[j] for j in best if row[j] >= threshold) for row, best in rows]

    def to_corpus(self, X: Any, y: Any = None) -> Corpus:
        """Documents as the model reads them: texts are tokenized as those of the training were."""
        fitted = self.fitted_
        if not fitted.named_words and has_words(X):
            raise InputError(
                "the model was fitted on a matrix without names, so it knows no words, only columns; "
                "give a matrix with the same columns, or fit with vocabulary="
            )
        labels = y if self.uses_labels else None
        return read_input(self, X, labels, fitted.vocabulary, fitting=False, tokenising=fitted.schema)

    def to_pyldavis(self, X: Any, y: Any = None) -> dict[str, Any]:
        """The arguments of ``pyLDAvis.prepare`` for these documents; pyLDAvis need not be installed.

        Out-of-vocabulary words are left out of lengths and frequencies. Topics keep their order, but pyLDAvis counts
        from 1: its topic 1 is our topic 0.

        Parameters
        ----------
        X, y
            Documents and labels, as in `fit`: those of the training, or others.

        Examples
        --------
        >>> from metalda import LDA
        >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
        >>> model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(texts)
        >>> arguments = model.to_pyldavis(texts)
        >>> arguments["doc_lengths"].tolist()
        [3, 2, 3, 2]

        Then ``pyLDAvis.display(pyLDAvis.prepare(**arguments))``.
        """
        corpus = self.to_corpus(X, y)
        known = self._encode(corpus, ()).all()
        return {
            "topic_term_dists": self.components_.astype(np.float64),
            "doc_topic_dists": np.asarray(self.transform(corpus), np.float64),
            "doc_lengths": np.diff(known.offsets),
            "vocab": list(self.vocabulary_),
            "term_frequency": np.bincount(known.words, minlength=len(self.vocabulary_)),
            "sort_topics": False,
        }

    def _encode_known(self, X: Any, y: Any) -> tuple[Documents, Design, NDArray[np.float32]]:
        """New documents in the words that the model has information on, their labels, and phi of these words."""
        corpus = self.to_corpus(X, y)
        unseen = self._unseen_words(corpus)
        unseen = tuple(compress(unseen, self._knows_of(unseen)))
        encoded = self._encode(corpus, unseen)
        documents, phi = encoded.all(), self.fitted_.phi
        if unseen:
            phi = np.concatenate([phi, self._mean_phi_alone(self.draws_, unseen)])
        warn_of_unknown_documents(corpus.offsets, documents.offsets)
        return documents, encoded.labels, phi

    def _unseen_words(self, corpus: Corpus) -> tuple[str, ...]:
        return tuple(word for word in corpus.vocabulary if word not in self.fitted_.word_index)

    def _encode(self, corpus: Corpus, unseen: tuple[str, ...]) -> Encoded:
        given = corpus.labels if self.uses_labels else None
        labels = encode_labels(self.fitted_, given, len(corpus), real=self._real_labels)
        return encode(self.fitted_, corpus, unseen, labels)

    def _log_predictive(self, X: Any, y: Any, *, unseen: str, draws: str) -> NDArray[np.float64]:
        """log p(w) of every second word."""
        fitted = self.fitted_
        if unseen not in ("ignore", "features"):
            raise InputError(f"unseen must be 'ignore' or 'features', not {unseen!r}")
        if draws not in ("mean", "last", "each"):
            raise InputError(f"draws must be 'mean', 'last' or 'each', not {draws!r}")
        corpus = self.to_corpus(X, y)
        new_words = self._unseen_words(corpus) if unseen == "features" else ()
        encoded = self._encode(corpus, new_words)
        observed, scored = encoded.halves()
        if not len(scored.words):
            raise InputError("no words to score: no document has a second word that the model knows")
        kept = fitted.draws[-1:] if draws == "last" else fitted.draws
        groups = [(draw,) for draw in kept] if draws == "each" else [kept]

        def predict(group: Sequence[Draw]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            known = group is fitted.draws and not new_words
            phi = fitted.phi if known else self._mean_phi(group, fitted.vocabulary, fitted.word_prior, new_words)
            return self._infer(group, observed, encoded.labels, phi), phi

        return np.log(complete(scored, map(predict, groups)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _drop_empty_columns(matrix: NamedMatrix | None) -> NamedMatrix | None:
    """Drop labels that no document has, or features that no word has: they would only be drawn from their prior."""
    if matrix is None:
        return None
    used = np.bincount(matrix.matrix.indices, minlength=len(matrix.names)) > 0
    return matrix.select([name for name, kept in zip(matrix.names, used, strict=True) if kept])
