"""Measures of one fitted model: distinctness of topics, and prediction of held-out words and labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.corpus import Corpus, NamedMatrix
from metalda.errors import InputError
from metalda.evaluation.clustering import NOT_COMPARED, label_agreement
from metalda.evaluation.coherence import coherence
from metalda.models.base import TopicModel
from metalda.models.encoded import every_second
from metalda.models.estimator import require_fitted
from metalda.models.saving import fingerprint_corpus
from metalda.models.word_scores import top_indices

Matrix: TypeAlias = NDArray[np.floating] | csr_array

ACCURACY, MICRO_F1 = "accuracy", "micro-F1"
MEASURES = (
    "perplexity",
    "coherence",
    "diversity",
    "exclusivity",
    "label_score",
    "label_baseline",
    "nmi",
    "purity",
    "background",
    "seconds_per_iteration",
)
_MAX_LABELS = 500  # for which a classifier is trained
_KEPT_WORDS = 10  # of each topic; the topics of runs are compared by them


def topic_diversity(model: TopicModel, top_n: int = 25) -> float:
    """Return the share of distinct words among the top words of all topics: 1 if no two topics share a word.

    Parameters
    ----------
    model : fitted model
    top_n : int
        Number of top words per topic; the whole vocabulary if it is smaller.

    Examples
    --------
    >>> from metalda import LDA, topic_diversity
    >>> model = LDA(2, n_iter=50, random_state=0).fit(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain"] * 5)
    >>> topic_diversity(model, top_n=2)
    1.0
    """
    best = _top_columns(model, top_n)
    return len(np.unique(best)) / best.size


def exclusivity(model: TopicModel, top_n: int = 10) -> float:
    """Return how exclusively the top words of a topic belong to it: the mean over topics and their top words.

    A word v of topic k scores ``phi[k, v] / sum_j phi[j, v]``: 1 if no other topic has the word, 1/K if it is equally
    probable in all topics. Topics that repeat common words can be coherent, but their exclusivity is low.

    Parameters
    ----------
    model : fitted model
    top_n : int
        Number of top words per topic; the whole vocabulary if it is smaller.

    Examples
    --------
    >>> from metalda import LDA, exclusivity
    >>> model = LDA(2, n_iter=50, random_state=0).fit(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain"] * 5)
    >>> round(exclusivity(model, top_n=2), 2)
    1.0
    """
    best = _top_columns(model, top_n)
    phi = model.components_
    own = np.take_along_axis(phi, best, axis=1).astype(np.float64)
    return float(np.mean(own / phi.sum(axis=0, dtype=np.float64)[best]))


def _top_columns(model: TopicModel, top_n: int) -> NDArray[np.int64]:
    """Return the columns of the top words of each topic."""
    require_fitted(model)
    if top_n < 1:
        raise InputError(f"top_n must be at least 1, not {top_n}")
    return top_indices(model.components_, top_n)


def topic_coherence(model: TopicModel, corpus: Corpus | None) -> NDArray[np.float64] | None:
    """Return NPMI of the ten top words of each topic, with documents as windows, -1 for words that never co-occur.

    It is NaN for a background topic, whose top words are arbitrary, unless there are no others. Returns None without
    documents, if no top word occurs in them, or for a vocabulary of one word.
    """
    if corpus is None or len(model.vocabulary_) < 2:
        return None
    top = {model.vocabulary_[v] for v in np.unique(top_indices(model.components_, 10))}
    if top.isdisjoint(corpus.vocabulary[v] for v in np.unique(corpus.words)):
        return None
    found = coherence(model, corpus, "npmi", window=0, smoothing=0)
    if len(found.background) == len(found.scores):
        return found.scores
    return np.where(model.fitted_.is_background, np.nan, found.scores)


class LabelScore(NamedTuple):
    """Quality of predicted labels and the name of its measure; NaN if no label could be predicted."""

    measure: str
    value: float


def label_accuracy(
    theta_train: Matrix,
    labels_train: NamedMatrix,
    theta_test: Matrix,
    labels_test: NamedMatrix,
) -> LabelScore:
    """Predict labels from topic proportions by logistic regression.

    If no document has more than one label, the score is the share of test documents whose label is predicted.
    Otherwise there is one regression per label, and the score is their micro-averaged F1. Documents without labels are
    left out. A label that only test documents have is never predicted, and counts as missed.

    Parameters
    ----------
    theta_train, theta_test : array [document, topic]
        Topic proportions of ``model.transform(corpus.without_labels())``; with labels, the proportions would
        contain the answer.
    labels_train, labels_test : NamedMatrix
        ``corpus.labels``; matched by name.
    """
    names = tuple(dict.fromkeys(labels_train.names + labels_test.names))
    theta, truth = _labeled(theta_train, labels_train.select(names))
    new_theta, new_truth = _labeled(theta_test, labels_test.select(names))
    one_each = all((rows.sum(axis=1) == 1).all() for rows in (truth, new_truth))
    measure = ACCURACY if one_each else MICRO_F1
    if not len(truth) or not len(new_truth):
        return LabelScore(measure, float("nan"))
    if one_each:
        predicted = _classify(theta, truth.argmax(axis=1), new_theta)
        return LabelScore(measure, float(np.mean(predicted == new_truth.argmax(axis=1))))
    columns = [_classify(theta, column, new_theta) for column in truth.T]
    hits = np.sum(np.transpose(columns) & new_truth)
    errors = np.sum(np.transpose(columns) ^ new_truth)
    return LabelScore(measure, float(2 * hits / (2 * hits + errors)))


def _labeled(theta: Matrix, labels: NamedMatrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """Return the proportions of the documents that have labels, and an indicator matrix of these labels."""
    if theta.shape[0] != len(labels):
        raise InputError(f"topic proportions of {theta.shape[0]:,} documents, but labels of {len(labels):,}")
    truth = labels.matrix.toarray() != 0
    kept = truth.any(axis=1)
    return theta[kept], truth[kept]


def label_baseline(train: Corpus, test: Corpus) -> LabelScore:
    """Predict labels from words, without topics: logistic regression on tf-idf, scored as in `label_accuracy`.

    Words that only test documents have are left out.

    Examples
    --------
    >>> from metalda import Corpus
    >>> from metalda.evaluation import label_baseline
    >>> train = Corpus.from_texts(["cat dog", "dog cat", "rain sun", "sun rain"], ["pets", "pets", "sky", "sky"])
    >>> label_baseline(train, Corpus.from_texts(["cat", "rain"], ["pets", "sky"]))
    LabelScore(measure='accuracy', value=1.0)
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    if train.labels is None or test.labels is None:
        raise InputError("the training documents and the test documents must have labels; give them as y, or --labels")
    column = {word: v for v, word in enumerate(train.vocabulary)}
    known = [v for v, word in enumerate(test.vocabulary) if word in column]
    moves = np.ones(len(known)), (known, [column[test.vocabulary[v]] for v in known])
    counts = test.counts() @ csr_array(moves, shape=(len(test.vocabulary), len(train.vocabulary)))
    tfidf = TfidfTransformer(sublinear_tf=True).fit(train.counts())
    return label_accuracy(tfidf.transform(train.counts()), train.labels, tfidf.transform(counts), test.labels)


def _classify(theta: Matrix, classes: NDArray[np.generic], new_theta: Matrix) -> NDArray[np.generic]:
    """Predict the class of each new document; if training documents have a single class, return that class."""
    from sklearn.linear_model import LogisticRegression

    if (classes == classes[0]).all():
        return np.full(new_theta.shape[0], classes[0])
    return np.asarray(LogisticRegression(max_iter=1000).fit(theta, classes).predict(new_theta))


@dataclass(frozen=True)
class Split:
    """Training documents and held-out documents, with a fingerprint of each."""

    train: Corpus
    test: Corpus
    fingerprints: tuple[str, str]
    hidden: NamedMatrix | None = None  # labels of the training documents that training does not see

    @classmethod
    def of(cls, train: Corpus, test: Corpus, hidden: NamedMatrix | None = None) -> Split:
        """Return the split; InputError if the held-out documents have no words to score."""
        words = test.words[every_second(test.offsets)]
        if {test.vocabulary[v] for v in np.unique(words)}.isdisjoint(train.vocabulary):
            raise InputError("no words to score: no test document has a second word that the training documents have")
        return cls(train, test, (fingerprint_corpus(train), fingerprint_corpus(test)), hidden)

    @cached_property
    def label_baseline(self) -> LabelScore:
        """Return the score of labels that are predicted from words, which is the same for all models."""
        return label_baseline(self.train, self.test)


@dataclass(frozen=True)
class PerplexityOptions:
    """How perplexity is computed, as in `TopicModel.perplexity`."""

    draws: str = "mean"
    unseen: str = "ignore"

    def __post_init__(self) -> None:
        for name, choices in (("draws", ("mean", "last", "each")), ("unseen", ("ignore", "features"))):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")


def measure_model(model: TopicModel, split: Split, options: PerplexityOptions) -> dict[str, object]:
    """Return all measures of a fitted model, None if one does not apply, and the top words of its topics."""
    train, test = split.train, split.test
    score, baseline = None, float("nan")
    if _is_predictable(train.labels) and _is_predictable(test.labels):
        # Labels are hidden from both parts: otherwise the proportions would contain the answer.
        theta, new_theta = (np.asarray(model.transform(part.without_labels())) for part in (train, test))
        score = label_accuracy(theta, train.labels, new_theta, test.labels)
        baseline = split.label_baseline.value
    coherences = topic_coherence(model, train)
    agreement = NOT_COMPARED if split.hidden is None else label_agreement(model.doc_topics_, split.hidden)
    measures = {
        "perplexity": model.perplexity(test, draws=options.draws, unseen=options.unseen),
        "coherence": float("nan") if coherences is None else float(np.nanmean(coherences)),
        "diversity": topic_diversity(model),
        "exclusivity": exclusivity(model),
        "label_score": float("nan") if score is None else score.value,
        "label_baseline": baseline,
        "background": float(model.fitted_.topic_shares[model.fitted_.is_background].sum()),
        **agreement._asdict(),
        "seconds_per_iteration": float(np.mean(model.history_["seconds"][model.n_iter_ // 2 :])),
    }
    figures = {name: value if np.isfinite(value) else None for name, value in measures.items()}
    return {
        "topics": len(model.components_),
        **figures,
        "label_measure": None if score is None else score.measure,
        "top_words": model.top_words(_KEPT_WORDS),
    }


def _is_predictable(labels: NamedMatrix | None) -> TypeGuard[NamedMatrix]:
    """Return whether labels are classes, and few enough for a classifier."""
    return labels is not None and labels.is_binary and len(labels.names) <= _MAX_LABELS
