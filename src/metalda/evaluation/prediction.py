"""Whether labels can be told from topic proportions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import NamedMatrix
from metalda.errors import InputError

ACCURACY, MICRO_F1 = "accuracy", "micro-F1"


class LabelScore(NamedTuple):
    """How well labels were predicted, and by which measure; NaN where there was nothing to predict."""

    measure: str
    value: float


def label_accuracy(
    theta_train: NDArray[np.floating],
    labels_train: NamedMatrix,
    theta_test: NDArray[np.floating],
    labels_test: NamedMatrix,
) -> LabelScore:
    """Predict labels from topic proportions by logistic regression.

    Where no document has more than one label, the score is the share of test documents whose label is predicted.
    Otherwise there is a regression for each label, and the score is their micro-averaged F1. Documents without labels
    are left out. A label that training never saw is never predicted, and counts as missed.

    Parameters
    ----------
    theta_train, theta_test : array [document, topic]
        Topic proportions; of ``model.transform(corpus.without_labels())``, or the labels would be known already.
    labels_train, labels_test : NamedMatrix
        ``corpus.labels``; matched by name.
    """
    names = tuple(dict.fromkeys(labels_train.names + labels_test.names))
    theta, truth = _labelled(theta_train, labels_train.select(names))
    new_theta, new_truth = _labelled(theta_test, labels_test.select(names))
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


def _labelled(theta: NDArray[np.floating], labels: NamedMatrix) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    """The documents that have labels, and which."""
    if len(theta) != len(labels):
        raise InputError(f"topic proportions of {len(theta):,} documents, but labels of {len(labels):,}")
    truth = labels.matrix.toarray() != 0
    kept = truth.any(axis=1)
    return np.asarray(theta)[kept], truth[kept]


def _classify(
    theta: NDArray[np.floating], classes: NDArray[np.generic], new_theta: NDArray[np.floating]
) -> NDArray[np.generic]:
    """The class of each new document; the only class, where there is but one."""
    from sklearn.linear_model import LogisticRegression

    if (classes == classes[0]).all():
        return np.full(len(new_theta), classes[0])
    return LogisticRegression(max_iter=1000).fit(theta, classes).predict(new_theta)
