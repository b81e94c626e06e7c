"""Models that learn from word vectors: a softmax over them (LF-LDA), or promotion of similar words (GPU-DMM)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.meta import Embeddings
from metalda.meta.feature_sources import neighbor_lists
from metalda.models.base import TopicModel
from metalda.models.declaration import POSITIVE
from metalda.models.lda import LDA
from metalda.models.short_texts import DMM
from metalda.priors import LogLinear
from metalda.samplers import Draw, LatentFeatures, Sampler, Urn
from metalda.samplers.latent import check_topic_vectors, mean_softmax, mean_softmax_alone


@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddedModel(TopicModel):
    """A model with the parameter `embeddings`."""

    embeddings: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicModel._parameter_constraints,
        "embeddings": [Embeddings, None],
    }

    @property
    def _needs_names(self) -> bool:
        return True

    def _vectors(self, vocabulary: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Vectors of words, zeros for words without one; and which words have one."""
        name = type(self).__name__
        if self.embeddings is None:
            raise InputError(
                f"{name} needs word vectors: embeddings=Embeddings.read(...) (--embeddings FILE on the command line)"
            )
        vectors, known = self.embeddings.look_up(vocabulary)
        return vectors, known

    def _vectors_to_learn_from(self, vocabulary: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The same for training; InputError if no word has a vector."""
        vectors, known = self._vectors(vocabulary)
        if not known.any():
            there, here = (", ".join(map(repr, words[:3])) for words in (self.embeddings.words, tuple(vocabulary)))
            raise InputError(
                f"none of the {len(vocabulary):,} words has a vector; the vectors are of {there} …, the words are "
                f"{here} …. If the case differs, lower-case the texts; else check the language"
            )
        return vectors, known


@dataclass(eq=False, repr=False)
class LFLDA(LDA, EmbeddedModel):
    """Latent feature LDA (Nguyen et al. 2015): topics are mixtures of counted words and of a softmax over vectors.

    Parameters
    ----------
    n_components : int
        Number of topics.
    embeddings : Embeddings
        Word vectors, used without scaling. Words without one come from counts only.
    weight : float
        Probability that a word comes from the vectors (lambda in the paper); 0 is LDA.
    initial_iterations : int, optional
        Iterations before vectors of topics are fitted; three quarters of `n_iter` by default. In these, counts of the
        words that come from vectors replace the softmax.
    doc_prior, word_prior : float
        Symmetric Dirichlet parameters of the topics of a document and of the words of a topic.
    regularization : float
        Strength of the L2 penalty on the vectors of topics.
    vocabulary, n_iter, burn_in, thin, n_draws, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Labels are not used. The log-likelihood of `history_` is log p(w, z, s), where s says whether a word comes from
    counts or from vectors; it jumps where the initial iterations end. Draws from the initial iterations get the
    vectors of topics that fit them best, so that every draw predicts in the same way. Vectors are fitted in single
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

    _: KW_ONLY
    weight: float = 0.6
    initial_iterations: int | None = None
    regularization: float = 0.01

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LDA._parameter_constraints,
        **EmbeddedModel._parameter_constraints,
        "weight": [Interval(Real, 0, 1, closed="both")],
        "initial_iterations": [Interval(Integral, 0, None, closed="left"), None],
        "regularization": [POSITIVE],
    }

    def _sampler(self, corpus: Corpus) -> Sampler:
        vectors, known = self._vectors_to_learn_from(corpus.vocabulary)
        if self.weight == 1 and not known.all():
            example = corpus.vocabulary[int(np.flatnonzero(~known)[0])]
            raise InputError(
                f"weight=1 leaves no room for words without a vector, and {(~known).sum():,} of {len(known):,} have "
                f"none, such as {example!r}; lower the weight, or drop these words"
            )
        n_initial = self.n_iter * 3 // 4 if self.initial_iterations is None else self.initial_iterations
        return LatentFeatures(vectors[known], known, float(self.weight), n_initial, float(self.regularization))

    def _check_extra(self, extra: Mapping[str, NDArray[Any]], n_draws: int, n_topics: int) -> None:
        vectors, _ = self._vectors(())
        check_topic_vectors(extra, n_draws, n_topics, vectors.shape[1])

    def _knows_of(self, unseen: Sequence[str]) -> NDArray[np.bool_]:
        return self._vectors(unseen)[1] & (self.weight > 0)

    def _mean_phi(
        self, draws: Sequence[Draw], vocabulary: Sequence[str], word_prior: LogLinear, unseen: Sequence[str] = ()
    ) -> NDArray[np.float32]:
        vectors, known = self._vectors((*vocabulary, *unseen))
        by_counts = super()._mean_phi(draws, vocabulary, word_prior, unseen)
        return self._mix(by_counts, mean_softmax(draws, vectors, known))

    def _mean_phi_alone(self, draws: Sequence[Draw], unseen: Sequence[str]) -> NDArray[np.float32]:
        (seen, known), (new, _) = self._vectors(self.vocabulary_), self._vectors(unseen)
        return self._mix(super()._mean_phi_alone(draws, unseen), mean_softmax_alone(draws, seen[known], new))

    def _mix(self, by_counts: NDArray[np.float32], by_vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        mixed: NDArray[np.float32] = np.float32(1 - self.weight) * by_counts + np.float32(self.weight) * by_vectors
        return mixed


@dataclass(eq=False, repr=False)
class GPUDMM(DMM, EmbeddedModel):
    """DMM with a generalized Pólya urn: a word that fits its topic promotes similar words there.

    Parameters
    ----------
    n_components, doc_prior, word_prior
        As in `DMM`.
    embeddings : Embeddings
        Word vectors. Words without one neither promote nor are promoted.
    similarity : float
        Words are similar if the cosine of their vectors exceeds this; above 1 the model is DMM.
    promotion : float
        Count of a promoted word; a word that occurs counts 1.
    max_neighbors : int
        A word that is similar to more words than this promotes none.
    vocabulary, n_iter, burn_in, thin, n_draws, n_jobs, n_shards, random_state, verbose
        As in `MetaLDA`.

    Notes
    -----
    Li et al. 2016. A token promotes the words similar to its own with probability p(k | w) / max p(. | w), where k is
    the topic of its document, and p is computed before each iteration. The log-likelihood in `history_` is that of DMM
    for the same topics, without promotions.

    Labels are not used: `y`, and the labels of a corpus, are ignored.

    Examples
    --------
    >>> from metalda import GPUDMM, Embeddings
    >>> vectors = Embeddings(("cat", "dog", "rain", "sun"), [[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> texts = ["cat dog cat", "dog cat", "rain sun", "sun rain"]
    >>> model = GPUDMM(n_components=2, embeddings=vectors, n_iter=50, random_state=0).fit(texts)
    >>> model.components_.shape
    (2, 4)
    """

    _: KW_ONLY
    similarity: float = 0.7
    promotion: float = 0.1
    max_neighbors: int = 20

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DMM._parameter_constraints,
        **EmbeddedModel._parameter_constraints,
        "similarity": [Interval(Real, -1, None, closed="left")],
        "promotion": [Interval(Real, 0, 1, closed="both")],
        "max_neighbors": [Interval(Integral, 0, None, closed="left")],
    }

    def _sampler(self, corpus: Corpus) -> Sampler:
        vectors, _ = self._vectors_to_learn_from(corpus.vocabulary)
        return Urn(neighbor_lists(vectors, self.max_neighbors, self.similarity), self.promotion)
