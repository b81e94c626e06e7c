"""New documents under a fitted model: their topics, and how well it predicts their words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from metalda.corpus import Corpus, Schema
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.distributed import infer_on
from metalda.models.encoding import Encoded, encode, known_labels
from metalda.models.inputs import has_words, read_input
from metalda.samplers import Draw
from metalda.samplers.folding import Documents, complete
from metalda.training.distributed.cluster import Cluster

if TYPE_CHECKING:
    from metalda.models.base import TopicModel


class NewDocuments(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Folding-in and document completion."""

    if TYPE_CHECKING:
        draws_: tuple[Draw, ...]
        components_: NDArray[np.float32]
        vocabulary_: tuple[str, ...]
        label_names_: tuple[str, ...]
        named_words_: bool
        schema_: Schema | None
        seed_: int
        _phi: NDArray[np.float32]
        _word_index: dict[str, int]
        _real_labels: ClassVar[bool]
        _training_labels: Design | None

        @property
        def _uses_labels(self) -> bool: ...

        def _knows_of(self, unseen: Sequence[str]) -> NDArray[np.bool_]: ...

        def _mean_phi(self, draws: Sequence[Draw], unseen: Sequence[str] = ()) -> NDArray[np.float32]: ...

        def _mean_phi_alone(self, draws: Sequence[Draw], unseen: Sequence[str]) -> NDArray[np.float32]: ...

        def _infer(
            self, draws: Sequence[Draw], documents: Documents, labels: Design, phi: NDArray[np.float32]
        ) -> NDArray[np.float32]: ...

    def transform(self, X: Any, y: Any = None, *, client: Any = None) -> NDArray[np.float32]:
        """Topic proportions of documents, one row each; rows sum to 1.

        Words that training never saw are used where they have features (or vectors, in models that learn from these),
        labels that it never saw are ignored with a warning, and documents without labels get the prior of an average
        document. A row depends on its own document only. With a `dask.distributed.Client` the workers of a cluster
        share the documents.
        """
        check_is_fitted(self)
        documents, labels, phi = self._known_documents(X, y)
        if client is not None:
            return infer_on(Cluster(client), cast("TopicModel", self), documents, labels, phi)
        return self._infer(self.draws_, documents, labels, phi)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def _known_documents(self, X: Any, y: Any) -> tuple[Documents, Design, NDArray[np.float32]]:
        """New documents without words of which nothing is known, their labels, and phi of the words that are left."""
        corpus = self._read(X, y)
        unseen = self._unseen_words(corpus)
        unseen = tuple(compress(unseen, self._knows_of(unseen)))
        encoded = self._encode(corpus, unseen)
        phi = self._phi
        if unseen:
            phi = np.concatenate([phi, self._mean_phi_alone(self.draws_, unseen)])
        documents = encoded.all()
        _warn_of_strangers(corpus.offsets, documents.offsets)
        return documents, encoded.design, phi

    def perplexity(self, X: Any, y: Any = None, *, unseen: str = "ignore", draws: str = "mean") -> float:
        """Perplexity of every second word of each document, given the other words and the labels.

        Parameters
        ----------
        X, y
            Documents and labels, as in `fit`.
        unseen : {"ignore", "features"}
            Words that training never saw: leave them out, or give them the probability that their features (or the
            default feature alone, or their vectors) suggest.
        draws : {"mean", "last", "each"}
            Use averaged topics; the last state only, as the Java original does; or average the predictions of all
            kept states, which is best and slowest.
        """
        return float(np.exp(-np.mean(self._log_predictive(X, y, unseen=unseen, draws=draws))))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log predictive probability per word by document completion; higher is better."""
        return float(np.mean(self._log_predictive(X, y, unseen="ignore", draws="mean")))

    def _log_predictive(self, X: Any, y: Any, *, unseen: str, draws: str) -> NDArray[np.float64]:
        check_is_fitted(self)
        if unseen not in ("ignore", "features"):
            raise InputError(f"unseen must be 'ignore' or 'features', not {unseen!r}")
        if draws not in ("mean", "last", "each"):
            raise InputError(f"draws must be 'mean', 'last' or 'each', not {draws!r}")
        corpus = self._read(X, y)
        new_words = self._unseen_words(corpus) if unseen == "features" else ()
        encoded = self._encode(corpus, new_words)
        observed, scored = encoded.halves()
        if not len(scored.words):
            raise InputError("no words to score: no document has a second word that the model knows")
        kept = self.draws_[-1:] if draws == "last" else self.draws_
        groups = [(draw,) for draw in kept] if draws == "each" else [kept]

        def predict(group: Sequence[Draw]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            known = group is self.draws_ and not new_words
            phi = self._phi if known else self._mean_phi(group, new_words)
            return self._infer(group, observed, encoded.design, phi), phi

        return np.log(complete(scored, map(predict, groups)))

    def _read(self, X: Any, y: Any) -> Corpus:
        if not self.named_words_ and has_words(X):
            raise InputError(
                "the model was fitted on a matrix without names, so it knows no words, only columns; "
                "give a matrix with the same columns, or fit with vocabulary="
            )
        labels = y if self._uses_labels else None
        schema = self.schema_ if self._uses_labels or self.schema_ is None else self.schema_.override(labels=())
        return read_input(self, X, labels, self.vocabulary_, fitting=False, schema=schema)

    def _unseen_words(self, corpus: Corpus) -> tuple[str, ...]:
        return tuple(word for word in corpus.vocabulary if word not in self._word_index)

    def _encode(self, corpus: Corpus, unseen: tuple[str, ...]) -> Encoded:
        labels = known_labels(corpus.labels if self._uses_labels else None, self.label_names_, len(corpus))
        numbers = corpus.labels is not None and self._training_labels is not None and self._training_labels.has_numbers
        documents = Design.build(labels, len(corpus), real=self._real_labels, numbers=numbers)
        return encode(corpus, self._word_index, unseen, documents, self.seed_)


def _warn_of_strangers(before: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Documents that had words, of which the model knows none, get the prior: that is easily overlooked."""
    strangers = int(((np.diff(before) > 0) & (np.diff(after) == 0)).sum())
    if strangers:
        warnings.warn(
            f"{strangers:,} of {len(before) - 1:,} documents have no word that the model knows; "
            "they get the proportions expected of a document with their labels",
            stacklevel=4,
        )
