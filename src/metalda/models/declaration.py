"""The declaration of a model: its parameters, its priors and its sampler, and how it uses labels and words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from itertools import compress
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

from metalda.corpus import Corpus, NamedMatrix
from metalda.errors import InputError
from metalda.meta import WordFeatures
from metalda.meta.design import Design
from metalda.meta.seeds import GROUP, Seeds
from metalda.models.prevalence import PrevalenceTables
from metalda.priors import LogLinear
from metalda.samplers import Draw, Sampler, Tokens
from metalda.samplers.draws import mean_alpha, mean_phi, mean_phi_alone, no_extra
from metalda.samplers.folding import Documents, LabelSets, infer_mixed_theta, infer_theta
from metalda.samplers.group_topics import mean_group_phi
from metalda.training.schedule import stage_lengths
from metalda.utils.checks import Arrays
from metalda.utils.constraints import Interval, StrOptions
from metalda.utils.keywords import require_known
from metalda.utils.threads import count_jobs

POSITIVE = Interval(Real, 0, 1e9, closed="neither")  # sums over words stay in the range of float32
N_COMPONENTS = [Interval(Integral, 1, 2**16 - 1, closed="both")]
RESOLUTION = [Interval(Integral, 2, None, closed="left")]


@dataclass(kw_only=True, eq=False, repr=False)
class Declaration(PrevalenceTables):
    """The parameters that all models have, and the methods by which a model differs from others."""

    vocabulary: Collection[str] | None = None
    n_iter: int | str = 1000
    n_iter_limit: int = 8000
    burn_in: int | None = None
    thin: int | None = None
    n_draws: int = 15
    n_chains: int = 1
    n_jobs: int | None = 1
    n_shards: int | str = "auto"
    random_state: object = None
    verbose: bool = True

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "vocabulary": "no_validation",
        "n_iter": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_iter_limit": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left"), None],
        "thin": [Interval(Integral, 1, None, closed="left"), None],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, 1000, closed="both")],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "n_shards": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __new__(cls, *_: object, **parameters: object) -> Declaration:
        """Check the names of the parameters. The dataclass of the model makes `__init__`, so it cannot."""
        require_known(cls.__name__, parameters, [field.name for field in fields(cls) if field.init])
        made: Declaration = super().__new__(cls)
        return made

    @abstractmethod
    def _prior_of_documents(self, design: Design) -> LogLinear:
        """Return the prior of documents with these labels."""

    @abstractmethod
    def _prior_of_words(self, design: Design) -> LogLinear:
        """Return the prior of words with these features."""

    def _stage_lengths(self) -> tuple[int, ...]:
        """Return the numbers of iterations after which training may end: `n_iter`, or with "auto" several."""
        return stage_lengths(self.n_iter_limit) if isinstance(self.n_iter, str) else (int(self.n_iter),)

    def _burn_in_of(self, n_iter: int) -> int:
        """Return the iterations before the first draw of a run is kept: `burn_in`, or half of the run."""
        return n_iter // 2 if self.burn_in is None else int(self.burn_in)

    @property
    def n_burn_in(self) -> int:
        """Iterations before the first draw is kept: `burn_in`, or half of `n_iter`.

        With "auto" it is known after `fit`. A stage that Ctrl-C ended also has the draws of the stage before it.
        """
        lengths = self._stage_lengths()
        n_done = self.fitted_.n_iter if len(lengths) > 1 and self.__sklearn_is_fitted__() else lengths[-1]
        stage = next((number for number, length in enumerate(lengths) if n_done <= length), len(lengths) - 1)
        return self._burn_in_of(lengths[max(stage - (n_done < lengths[stage]), 0)])

    @property
    def was_stopped_(self) -> bool:
        """Whether Ctrl-C ended training early."""
        n_done, lengths = self.fitted_.n_iter, self._stage_lengths()
        return 0 < n_done < lengths[-1] and n_done not in lengths

    def _sampler(self, corpus: Corpus) -> Sampler:
        """Return the sampler that assigns topics."""
        return Tokens()

    def _count_topics(self, label_names: tuple[str, ...]) -> int:
        return int(self.n_components)

    def _topic_groups(self, n_topics: int) -> NDArray[np.int64]:
        """Return the group of each topic. Topics of one group are exchangeable: a chain may number them differently."""
        return np.zeros(n_topics, np.int64)

    def _topic_names(self, n_topics: int) -> tuple[str | None, ...]:
        """Return the name of each topic, or None for a topic without one; empty if no topic has a name."""
        return ()

    @property
    def uses_labels(self) -> bool:
        """Return whether the model, with its parameters, learns from labels of documents."""
        return False

    @property
    def _wording(self) -> str | None:
        """Return the column whose groups of documents word topics in their own way (`wording`), or None."""
        column: str | None = self.get_params(deep=False).get("wording")
        return column

    def _wording_names(self, corpus: Corpus) -> tuple[str, ...]:
        """Return the groups of documents that word topics in their own way."""
        return ()

    @property
    def _reads_labels(self) -> bool:
        """Return whether the model needs the labels of documents, for their topics or for their wording."""
        return self.uses_labels or self._wording is not None

    @property
    def _real_labels(self) -> bool:
        """Return whether labels may have values other than 0 and 1."""
        return False

    @property
    def _prevalence(self) -> str | None:
        """Return the formula of the parameter `prevalence`, or None to use all labels as they are."""
        formula: str | None = self.get_params(deep=False).get("prevalence")
        return formula

    @property
    def _resolution(self) -> int | None:
        """Return how many values of a number are told apart; None for all."""
        resolution: int | None = self.get_params(deep=False).get("resolution")
        return resolution

    @property
    def _has_label_effects(self) -> bool:
        """Return whether labels have effects on topics."""
        return self.uses_labels

    @property
    def uses_word_features(self) -> bool:
        """Return whether the model, with its parameters, learns from features of words."""
        return False

    @property
    def _real_features(self) -> bool:
        """Return whether features of words may have values other than 0 and 1."""
        return True

    def _word_features(self) -> WordFeatures | None:
        """Return the word features, or None if none are given or used."""
        return None

    def _seeds(self) -> Seeds | None:
        """Return the seed words of the first topics, or None."""
        return None

    @property
    def _needs_names(self) -> bool:
        """Return whether words are looked up by name."""
        return self._word_features() is not None or self._seeds() is not None

    def _check_extra(self, extra: Arrays, n_draws: int, n_topics: int) -> None:
        """Raise StorageError unless these are further arrays of this model's draws, stacked: here, none."""
        no_extra(extra, n_draws, n_topics)

    def _mean_phi(
        self, draws: Sequence[Draw], vocabulary: Sequence[str], word_prior: LogLinear, unseen: Sequence[str] = ()
    ) -> NDArray[np.float32]:
        """Return phi[word, topic] averaged over draws: one distribution over the vocabulary and `unseen`."""
        of_unseen = self._prior_by_name(unseen, word_prior.design.names[:-1]) if unseen else None
        return mean_phi(draws, word_prior, of_unseen)

    def _mean_group_phi(
        self, group: int, draws: Sequence[Draw], unseen: Sequence[str] = (), *, alone: bool = False
    ) -> NDArray[np.float32]:
        """Return phi[word, topic] of a group of documents that words topics in its own way (`wording`).

        Out-of-vocabulary words follow the vocabulary; with `alone`, each is added to the vocabulary alone.
        """
        of_unseen = self._prior_by_name(unseen, self.feature_names_) if unseen else None
        return mean_group_phi(draws, self.fitted_.word_prior, group, of_unseen, alone)

    def _phi_of_unseen(self, unseen: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.float32] | None]:
        """Return the out-of-vocabulary words that the model has information on, and their phi[word, topic].

        Here they are the words with features. phi is averaged over draws, with each word added to the vocabulary alone.
        """
        features = self._features_of(unseen)
        if features is None:
            return (), None
        has_features = np.diff(features.select(self.feature_names_).matrix.indptr) > 0
        known = tuple(compress(unseen, has_features))
        if not known:
            return (), None
        return known, self._mean_phi_alone(known)

    def _mean_phi_alone(self, unseen: Sequence[str]) -> NDArray[np.float32]:
        """Return phi[word, topic] of out-of-vocabulary words, each added to the vocabulary alone."""
        return mean_phi_alone(self.draws_, self._prior_by_name(unseen, self.feature_names_))

    def _infer(
        self, draws: Sequence[Draw], documents: Documents, labels: Design, phi: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return theta of new documents, given phi[word, topic].

        Documents with missing labels are a mixture over the training documents' label sets that contain their labels.
        """
        alpha, n_jobs = mean_alpha(draws, self._prior_of_documents(labels)), count_jobs(self.n_jobs)
        trained = self.fitted_.doc_prior
        if not trained.mixes_label_sets:
            return infer_theta(documents, alpha, phi, n_jobs)
        shares, label_sets = trained.design.stand_ins(labels)
        is_mixed = np.diff(shares.indptr)[documents.doc_rows] > 0
        if not is_mixed.any():
            return infer_theta(documents, alpha, phi, n_jobs)
        sets = LabelSets.of(shares, label_sets, [draw.log_doc_weights for draw in draws])
        theta = np.empty((len(is_mixed), phi.shape[1]), np.float32)
        theta[is_mixed] = infer_mixed_theta(documents.take(is_mixed), sets, phi, n_jobs)
        theta[~is_mixed] = infer_theta(documents.take(~is_mixed), alpha, phi, n_jobs)
        return theta

    def _features_of(self, words: Sequence[str]) -> NamedMatrix | None:
        """Return the features [word, feature] of words: those given, then seed sets; None if there are none."""
        features, seeds = self._word_features(), self._seeds()
        if seeds is None:
            return None if features is None else features.rows(words)
        of_seeds = seeds.rows(words)
        if features is None:
            return of_seeds
        given = features.rows(words)
        return NamedMatrix(hstack([given.matrix, of_seeds.matrix], format="csr"), (*given.names, *of_seeds.names))

    def _prior_by_name(self, words: Sequence[str], feature_names: Sequence[str]) -> LogLinear:
        """Return the prior of words, in terms of the features that the model learned from."""
        columns, features, seeds = self._features_of(words), self._word_features(), self._seeds()
        if columns is None:
            return self._prior_of_words(Design.build(None, len(words)))
        if features is not None and not features.is_binary and not self._real_features:
            raise InputError(
                "word features with numbers need a normal prior: leave out weight_prior='gamma' (--weight-prior) and "
                "nu (--nu), or make them 0 or 1 with Embeddings.binarize() (without --real-features)"
            )
        design = Design.build(columns.select(feature_names), len(words), real=True)
        of_seeds = set() if seeds is None else set(seeds.features)
        sources = ("",) * len(feature_names) if features is None else features.sources_of(feature_names)
        groups = [GROUP if name in of_seeds else source for name, source in zip(feature_names, sources, strict=True)]
        return self._prior_of_words(design.group(groups))
