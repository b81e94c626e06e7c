"""LF-LDA: words of a topic come from counts, or from a softmax over word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.base import N_COMPONENTS, POSITIVE
from metalda.models.embedded import EmbeddedModel
from metalda.priors import Fixed, LogLinear
from metalda.samplers import Draw, LatentFeatures, Sampler
from metalda.samplers.latent import mean_softmax, mean_softmax_alone


@dataclass(eq=False, repr=False)
class LFLDA(EmbeddedModel):
    """Latent feature LDA (Nguyen et al. 2015): topics are mixtures of counted words and of a softmax over vectors.

    Parameters
    ----------
    n_components : int
        Number of topics.
    embeddings : Embeddings
        Vectors of words, used as they are. Words without one come from counts only.
    weight : float
        How probable it is that a word comes from the vectors (lambda in the paper); 0 is LDA.
    initial_sweeps : int, optional
        Sweeps before vectors of topics are fitted; three quarters of `n_iter` by default. In these, counts of the
        words that come from vectors stand in for the softmax.
    doc_prior, word_prior : float
        Symmetric Dirichlet parameters of the topics of a document and of the words of a topic.
    regularization : float
        How much long vectors of topics are held against them.
    vocabulary, n_iter, burn_in, thin, n_draws, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Labels are not used. The log-likelihood of `history_` is log p(w, z, s), where s is what words come from; it jumps
    where the initial sweeps end. States kept from the initial sweeps, or where Ctrl-C ended training within them, get
    the vectors of topics that fit them best, so that every draw predicts in the same way. Vectors are fitted in single
    precision, until a topic has less than half a nat to gain.

    Examples
    --------
    >>> from metalda import LFLDA, Embeddings
    >>> vectors = Embeddings(("cat", "dog", "rain", "sun"), [[1, 0], [0.9, 0], [0, 1], [0, 0.9]])
    >>> texts = ["cat dog cat", "dog cat", "rain sun", "sun rain"]
    >>> model = LFLDA(n_components=2, embeddings=vectors, n_iter=50, random_state=0).fit(texts)
    >>> model.components_.shape
    (2, 4)
    """

    n_components: int = 50
    _: KW_ONLY
    weight: float = 0.6
    initial_sweeps: int | None = None
    doc_prior: float = 0.1
    word_prior: float = 0.01
    regularization: float = 0.01

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EmbeddedModel._parameter_constraints,
        "n_components": N_COMPONENTS,
        "weight": [Interval(Real, 0, 1, closed="both")],
        "initial_sweeps": [Interval(Integral, 0, None, closed="left"), None],
        "doc_prior": [POSITIVE],
        "word_prior": [POSITIVE],
        "regularization": [POSITIVE],
    }

    def _prior_of_documents(self, documents: Design) -> LogLinear:
        return Fixed(documents, self.doc_prior)

    def _prior_of_words(self, words: Design) -> LogLinear:
        return Fixed(words, self.word_prior)

    def _sampler(self, corpus: Corpus) -> Sampler:
        vectors, known = self._vectors_to_learn_from(corpus.vocabulary)
        if self.weight == 1 and not known.all():
            example = corpus.vocabulary[int(np.flatnonzero(~known)[0])]
            raise InputError(
                f"weight=1 leaves no room for words without a vector, and {(~known).sum():,} of {len(known):,} have "
                f"none, such as {example!r}; lower the weight, or drop these words"
            )
        initial_sweeps = self.n_iter * 3 // 4 if self.initial_sweeps is None else self.initial_sweeps
        return LatentFeatures(vectors[known], known, float(self.weight), initial_sweeps, float(self.regularization))

    def _knows_of(self, unseen: Sequence[str]) -> NDArray[np.bool_]:
        return self._vectors(unseen)[1] & (self.weight > 0)

    def _mean_phi(self, draws: Sequence[Draw], unseen: Sequence[str] = ()) -> NDArray[np.float32]:
        vectors, known = self._vectors((*self.vocabulary_, *unseen))
        return self._mix(super()._mean_phi(draws, unseen), mean_softmax(draws, vectors, known))

    def _mean_phi_alone(self, draws: Sequence[Draw], unseen: Sequence[str]) -> NDArray[np.float32]:
        (seen, known), (new, _) = self._vectors(self.vocabulary_), self._vectors(unseen)
        return self._mix(super()._mean_phi_alone(draws, unseen), mean_softmax_alone(draws, seen[known], new))

    def _mix(self, by_counts: NDArray[np.float32], by_vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.float32(1 - self.weight) * by_counts + np.float32(self.weight) * by_vectors
