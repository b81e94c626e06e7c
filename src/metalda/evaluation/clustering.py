"""Agreement of topics with labels that training did not see: NMI and purity of the dominant topic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.corpus import Corpus, NamedMatrix, as_labels
from metalda.errors import InputError


class LabelAgreement(NamedTuple):
    """Agreement of the dominant topics of documents with their labels; NaN if no document has a label."""

    nmi: float
    purity: float


NOT_COMPARED = LabelAgreement(float("nan"), float("nan"))


def label_agreement(theta: NDArray[np.floating], labels: NamedMatrix) -> LabelAgreement:
    """Compare the most probable topic of each document with its labels.

    The labels should be hidden from training: a model that learned from them agrees with them for that reason.

    Parameters
    ----------
    theta : array [document, topic]
        Topic proportions, such as ``model.doc_topics_``.
    labels : NamedMatrix
        ``corpus.labels``. A document with several labels counts for each of them, with weights that sum to 1. Documents
        without labels are left out.

    Returns
    -------
    LabelAgreement
        ``nmi``, the mutual information of topic and label divided by the mean of their entropies, as in scikit-learn's
        `normalized_mutual_info_score`: 0 for independence, 1 if each determines the other. ``purity``, the share of
        documents whose label is the most frequent one among the documents of their topic; it grows with the number of
        topics.

    Examples
    --------
    >>> import numpy as np
    >>> from metalda.corpus import as_labels
    >>> theta = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> found = label_agreement(theta, as_labels(["pets", "pets", "sky", "sky"], 4))
    >>> round(found.nmi, 3), found.purity
    (0.344, 0.75)
    """
    if len(theta) != len(labels):
        raise InputError(f"topic proportions of {len(theta):,} documents, but labels of {len(labels):,}")
    n_labels = np.diff(labels.matrix.indptr)
    if not labels.is_binary or not n_labels.any():
        return NOT_COMPARED
    labeled = np.flatnonzero(n_labels)
    topics = np.asarray(theta)[labeled].argmax(axis=1)
    rows = (np.ones(len(labeled)), topics, np.arange(len(labeled) + 1))
    by_topic = csr_array(rows, shape=(len(labeled), theta.shape[1])).T
    shares = labels.matrix[labeled].multiply(1 / n_labels[labeled, None])  # of each label in its document
    table = np.asarray((by_topic @ csr_array(shares)).todense()) / len(labeled)  # p(topic, label)
    return LabelAgreement(_normalized_information(table), float(table.max(axis=1).sum()))


def _normalized_information(table: NDArray[np.float64]) -> float:
    """Return I(topic; label) / mean entropy; 1 if there is one topic and one label, as in scikit-learn."""
    topic, label = table.sum(axis=1), table.sum(axis=0)
    entropies = _entropy(topic) + _entropy(label)
    if entropies == 0:
        return 1.0
    information = entropies - _entropy(table.ravel())
    return float(np.clip(2 * information / entropies, 0, 1))


def _entropy(p: NDArray[np.float64]) -> float:
    some = p[p > 0]
    return float(-(some * np.log(some)).sum()) if len(some) > 1 else 0.0


def hide_labels(corpus: Corpus, hidden: object) -> tuple[Corpus, NamedMatrix | None]:
    """Return the corpus for training, and the labels for scoring.

    Parameters
    ----------
    corpus : Corpus
    hidden : str or labels
        The name of a label column of the corpus, which training then does not see; or labels of its documents, in any
        form that `Corpus.from_texts` takes.
    """
    if not isinstance(hidden, str):
        return corpus, as_labels(hidden, len(corpus))
    columns = () if corpus.schema is None else tuple(corpus.schema.labels)
    if corpus.labels is None or hidden not in columns:
        found = ", ".join(columns) or "none"
        raise InputError(f"no label column {hidden!r} to hide; label columns of the corpus are: {found}")
    assert corpus.schema is not None
    names = corpus.labels.names
    is_only = columns == (hidden,) and not corpus.schema.bins and not corpus.schema.numbers
    own = names if is_only else tuple(name for name in names if name.startswith(f"{hidden}="))
    others = tuple(name for name in names if name not in set(own))
    seen = corpus.with_labels(corpus.labels.select(others)) if others else corpus.without_labels()
    return seen, corpus.labels.select(own)
