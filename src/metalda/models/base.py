"""The base class of all models: fit a model to documents, and save it."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus, NamedMatrix, Schema
from metalda.corpus.hints import warn_of_labels
from metalda.errors import InputError, hint, warn
from metalda.meta.design import Design
from metalda.meta.terms import Terms
from metalda.models.documents import DocumentTables
from metalda.models.estimator import follows_set_output
from metalda.models.fitted import Fitted
from metalda.models.inputs import has_words, read_input
from metalda.models.registry import CLASSES
from metalda.models.saving import PROPORTIONS, identify, pack_model
from metalda.priors import LogLinear
from metalda.samplers import Problem, Sampler, Tokens
from metalda.samplers.shards import group_words, order_by_group, shard_bounds
from metalda.storage import write_folder
from metalda.training.checkpoint import open_checkpoint
from metalda.training.distributed.cluster import Cluster
from metalda.training.loop import Trained, chain_seeds, train
from metalda.training.memory import require_memory
from metalda.training.schedule import Stage
from metalda.utils.convergence import trend
from metalda.utils.keywords import names_wrong_keywords
from metalda.utils.threads import count_jobs

if TYPE_CHECKING:
    from typing import Self

    from distributed import Client

logger = logging.getLogger("metalda")

TOKENS_PER_SHARD, MOST_SHARDS = 1_000_000, 8
MOST_RISE = 3  # of the log-likelihood after the burn-in, in standard deviations
_FREE = ("n_jobs", "verbose")  # parameters without an effect on the result


class TopicModel(DocumentTables):
    """Base class of all models. A model adds its parameters and declares its priors and its sampler (`Declaration`)."""

    n_features_in_: int  # words; `fit` also assigns feature_names_in_ for a frame of counts with names
    feature_names_in_: NDArray[np.object_]

    @names_wrong_keywords()
    def fit(
        self,
        X: object,
        y: object = None,
        *,
        labels: object = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100,
        resume: bool = False,
        client: Client | None = None,
    ) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : Corpus, count matrix, list of texts or list of token lists
            The documents.
        y : optional
            Labels, if the corpus has none: one per document, lists of them, or an indicator matrix or frame.
            Models without labels ignore them.
        labels : optional
            Labels, in any form of y, if y is something else: the target of a classifier behind this step in a
            pipeline. y is then ignored. `set_fit_request` and `set_transform_request` route them through a pipeline.
        checkpoint : path, optional
            Folder for the training state, saved every `checkpoint_every` iterations and when Ctrl-C ends training. Two
            fits cannot use one folder at the same time.
        resume : bool
            Resume from the checkpoint, if there is one. The model equals that of an uninterrupted run.
        client : dask.distributed.Client, optional
            Train on the workers of a Dask cluster instead of in threads. The model is the same. Workers may join and
            leave during training.

        Returns
        -------
        self
            Ctrl-C ends training early and keeps the result so far, of all chains.
        """
        self._validate_params()
        given = (y if labels is None else labels) if self._reads_labels else None
        corpus = read_input(self, X, given, self.vocabulary, fitting=True, names_needed=self._needs_names)
        if len(corpus) == 0:
            raise InputError("the corpus is empty: there is no document to learn from")
        if corpus.n_tokens == 0:
            raise InputError("every document is empty: there is no word to learn from; check the tokenizing options")
        if isinstance(self.n_iter, str) and self.burn_in is not None:
            raise InputError('n_iter="auto" keeps the second half of the iterations: leave burn_in (--burn-in) out')
        problem = self._build_problem(corpus)
        stages = [
            Stage.plan(problem, n_iter, self._burn_in_of(n_iter), self.thin, self.n_draws)
            for n_iter in self._stage_lengths()
        ]
        n_kept, n_jobs = len(stages[0].keep), count_jobs(self.n_jobs)
        self._warn_of_settings(corpus, problem.n_topics, n_kept)
        cluster = None if client is None else self._require_cluster(client, problem)
        n_held = max(self.n_draws, n_kept) * min(len(stages), 2)  # draws of this stage, and of the one before
        require_memory(problem, n_held, n_jobs, self.n_chains)
        with open_checkpoint(checkpoint, checkpoint_every, lambda: identify(self, corpus, problem), resume) as opened:
            chains = train(
                problem,
                stages=stages,
                until_settled=isinstance(self.n_iter, str),
                seeds=chain_seeds(_draw_seed(self.random_state), self.n_chains),
                n_jobs=n_jobs,
                verbose=self.verbose,
                checkpoint=opened,
                cluster=cluster,
            )
        if not isinstance(self.n_iter, str):
            self._warn_if_rising(chains)
        self._keep_result(
            chains,
            corpus.vocabulary,
            problem.doc_prior,
            problem.word_prior,
            schema=corpus.schema,
            wording=self._wording_names(corpus),
            n_shards=len(problem.shards),
            named_words=self.vocabulary is not None or has_words(X) or hasattr(self, "feature_names_in_"),
        )
        self._hint_of_background()
        return self

    def _hint_of_background(self) -> None:
        """Give a hint if some topics collect rare words instead of a theme, with the remedies."""
        found = np.flatnonzero(self.fitted_.is_background)
        if not len(found):
            return
        numbers = f"topic{'s' if len(found) > 1 else ''} {', '.join(map(str, found))}"
        remedies = ["drop rare words (min_df, --min-df)", "drop frequent words (max_df, --max-df)"]
        if isinstance(self.get_params(deep=False).get("word_prior"), str):
            remedies.append("fix the prior of words (word_prior=0.01, --word-prior 0.01)")
        hint(
            f"{numbers}: no theme, but rare words from the whole vocabulary, with "
            f"{self.fitted_.topic_shares[found].sum():.1%} of the tokens. To avoid such background topics, "
            f"{', '.join(remedies[:-1])} or {remedies[-1]}"
        )

    def _warn_if_rising(self, chains: Sequence[Trained]) -> None:
        """Warn if the log-likelihood still rises after the burn-in: a chain has not reached its distribution."""
        rises = [trend(chain.history["log_likelihood"][self.n_burn_in :]) for chain in chains]
        rising = [rise for rise in rises if rise > MOST_RISE]
        if rising:
            which = f" in {len(rising)} of {len(chains)} chains" if len(chains) > 1 else ""
            warn(
                f"the log-likelihood still rises{which} after {chains[0].n_sweeps:,} iterations: by {max(rising):.0f} "
                "standard deviations over those that are kept. Topics and effects may still change: make n_iter "
                '(--iterations) larger, or "auto"'
            )

    @follows_set_output
    def fit_transform(
        self, X: object, y: object = None, *, labels: object = None, **fit_params: Any
    ) -> NDArray[np.float32]:
        """Fit, then transform the same documents without y.

        Labels given as y inform training only, so that a classifier behind this step in a pipeline does not see its
        own target. The labels of a Corpus belong to its documents and are used for both, and so are `labels`.
        """
        return self.fit(X, y, labels=labels, **fit_params).transform(X, labels=labels)

    def validate(self, corpus: Corpus | None = None) -> Self:
        """Raise the errors that `fit` would raise for the parameters, and for the corpus if one is given."""
        self._validate_params()
        self._seeds()
        if corpus is not None:
            self._build_problem(corpus)
        return self

    def _build_problem(self, corpus: Corpus) -> Problem:
        """Return the posterior of this model on these documents."""
        doc_prior = self._prior_of_documents(self._design_of_labels(corpus))
        features, seeds = self._word_features(), self._seeds()
        if features is not None:
            features.require_overlap(corpus.vocabulary)
            logger.info("Word features for %.1f %% of the vocabulary.", 100 * features.coverage(corpus.vocabulary))
        if seeds is not None:
            seeds.require_words(corpus.vocabulary)
        columns = self._features_of(corpus.vocabulary)
        names = () if columns is None else _drop_empty_columns(columns).names
        word_prior = self._prior_by_name(corpus.vocabulary, names)
        sampler = self._sampler(corpus)
        n_shards, words = self._count_shards(corpus, sampler), corpus.words
        if n_shards > 1:
            words = order_by_group(words, corpus.offsets, group_words(words, len(corpus.vocabulary), n_shards))
        return Problem(
            words,
            corpus.offsets,
            len(corpus.vocabulary),
            self._count_topics(doc_prior.design.names[:-1]),
            doc_prior,
            word_prior,
            sampler,
            shard_bounds(corpus.offsets, n_shards),
            corpus.words,
        )

    def _design_of_labels(self, corpus: Corpus) -> Design:
        """Return the design of the training documents, from the terms of `prevalence` or from all labels."""
        if corpus.labels is None or not self.uses_labels:
            if self._prevalence is not None:
                raise InputError(
                    f"prevalence={self._prevalence!r}: the corpus has no columns; read them with labels= (--labels) or "
                    "numbers= (--numbers)"
                )
            return Design.build(None, len(corpus))
        labels = _drop_empty_columns(corpus.labels)
        terms = Terms.fit(self._prevalence, labels, corpus.schema)
        columns = terms.fit_columns(labels, corpus.schema, self._resolution)
        return Design.build(columns, len(corpus), real=self._real_labels).describe(terms, corpus.schema)

    def _warn_of_settings(self, corpus: Corpus, n_topics: int, n_kept: int) -> None:
        """Give hints on settings that are valid but probably not meant."""
        read_from_columns = corpus.schema is not None and corpus.schema.has_labels
        if self.uses_labels and corpus.labels is not None and not read_from_columns:
            warn_of_labels(_drop_empty_columns(corpus.labels).names, len(corpus))
        if (seeds := self._seeds()) is not None:
            seeds.warn_of_unknown(corpus.vocabulary)
        if hasattr(self, "n_components") and n_topics > len(corpus):
            hint(f"{n_topics:,} topics are more than the {len(corpus):,} documents: lower n_components (--topics)")
        if n_kept < self.n_draws != type(self).n_draws:  # the default is the largest number
            thin = 1 if self.thin is None else self.thin
            needed = thin * (self.n_draws - 1) + 1  # iterations after the burn-in
            n_iter = max(2 * needed if self.burn_in is None else 0, self._burn_in_of(self._stage_lengths()[0]) + needed)
            lower = "" if thin == 1 else f", or lower thin (--thin), which is {thin:,}"
            hint(
                f"n_draws={self.n_draws:,}, but the iterations after the burn-in give {n_kept:,}: raise n_iter "
                f"(--iterations) to {n_iter:,}{lower}"
            )

    def _count_shards(self, corpus: Corpus, sampler: Sampler) -> int:
        if self.n_shards != "auto":
            return min(int(self.n_shards), len(corpus))
        if not isinstance(sampler, Tokens):  # its shards do not see each other's counts within an iteration
            return 1
        exponent = np.clip(round(math.log2(corpus.n_tokens / TOKENS_PER_SHARD)), 0, math.log2(MOST_SHARDS))
        return 1 << int(exponent)

    def _require_cluster(self, client: Client, problem: Problem) -> Cluster:
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
        chains: Sequence[Trained],
        vocabulary: tuple[str, ...],
        doc_prior: LogLinear,
        word_prior: LogLinear,
        *,
        schema: Schema | None,
        n_shards: int,
        named_words: bool,
        wording: tuple[str, ...] = (),
        phi: Sequence[NDArray[np.float32]] = (),
        proportions: Sequence[Callable[[], NDArray[np.float32]] | None] = (),
    ) -> Self:
        """Build `fitted_`, for `fit`, `load` and the Mallet import.

        A saved model has phi of each chain, and functions that read the proportions of the training documents.
        """
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in _FREE}
        results = [
            Fitted(
                draws=trained.draws,
                weights=trained.weights,
                phi=self._mean_phi(trained.draws, vocabulary, word_prior) if own_phi is None else own_phi,
                topic_names=self._topic_names(len(trained.draws[0].mean_alpha)),
                proportions=read or partial(np.asarray, trained.doc_topics),
                vocabulary=vocabulary,
                doc_prior=doc_prior,
                word_prior=word_prior,
                history=trained.history,
                schema=schema,
                seed=trained.seed,
                n_iter=trained.n_sweeps,
                n_shards=n_shards,
                named_words=named_words,
                wording=wording,
                parameters={**parameters, "n_chains": 1},
            )
            for trained, own_phi, read in zip_longest(chains, phi, proportions)
        ]
        groups = self._topic_groups(results[0].n_topics)
        self._fitted = results[0] if len(results) == 1 else Fitted.pool(results, groups, parameters)
        self.n_features_in_ = len(vocabulary)  # scikit-learn assigns it, so it cannot be a property
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a folder of safetensors and JSON; `metalda.load` reads it.

        Parameters have the values that they had when the model was fitted, except for `n_jobs` and `verbose`.
        """
        name = type(self).__name__
        if name not in CLASSES:
            raise InputError(
                f"{name}: load would not know this model; add it to MODELS in metalda/models/registry.py first"
            )
        as_fitted = copy(self).set_params(**self.fitted_.parameters)
        write_folder(path, "model", *pack_model(as_fitted, self.fitted_), apart=(PROPORTIONS,))


def _draw_seed(random_state: Any) -> int:
    """Return the seed of a run from `random_state`, as estimators of scikit-learn do; None is NumPy's global state."""
    if random_state is None:
        return int(np.random.randint(2**31))  # noqa: NPY002
    is_generator = isinstance(random_state, np.random.RandomState)
    return int((random_state if is_generator else np.random.RandomState(random_state)).randint(2**31))


def _drop_empty_columns(matrix: NamedMatrix) -> NamedMatrix:
    """Drop labels that no document has, or features that no word has: their weights would only follow the prior."""
    used = np.bincount(matrix.matrix.indices, minlength=len(matrix.names)) > 0
    return matrix.select([name for name, kept in zip(matrix.names, used, strict=True) if kept])
