"""Labels of documents that have none, from the probabilities of the label sets of the training documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus.columns import columns_of_labels
from metalda.errors import InputError
from metalda.models.fitted import Fitted
from metalda.samplers.folding import Documents, LabelSets, infer_labels

if TYPE_CHECKING:
    import pandas as pd


def check_threshold(threshold: float | None) -> None:
    """Raise InputError unless the threshold is a probability, or None."""
    if threshold is not None and not 0 < threshold <= 1:
        raise InputError(f"threshold must lie between 0 and 1, not {threshold!r}")


def above_threshold(probabilities: NDArray[np.floating], threshold: float) -> list[list[int]]:
    """Return for each document the labels with at least this probability, the most probable first."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    return [[int(j) for j in best if row[j] >= threshold] for row, best in zip(probabilities, order, strict=True)]


def require_labels(fitted: Fitted) -> None:
    """Raise InputError unless the model learned from labels that can be predicted."""
    if not fitted.label_names:
        raise InputError("the model learned from no labels, so it cannot predict them; fit it with labels (--labels)")
    if fitted.labels.has_numbers:
        raise InputError("the model learned from numbers, which it cannot predict; cut them into bins (bins, --bins)")
    if not predicted_labels(fitted):
        raise InputError("the formula of the model has interactions only, so it cannot predict labels; add the columns")


def predicted_labels(fitted: Fitted) -> list[int]:
    """Return the columns of the design that are labels of documents, not interactions or upper levels of labels."""
    terms = fitted.labels.terms
    if terms is None or terms.formula is None:
        return list(range(len(fitted.label_names)))
    return [j for j, name in enumerate(fitted.label_names) if name in terms.label_names]


def label_probabilities(
    fitted: Fitted, documents: Documents, phi: NDArray[np.float32], n_jobs: int
) -> NDArray[np.float32]:
    """Return p(label | words) [document, label] by Bayes' rule over the label sets of the training documents."""
    design = fitted.labels
    sizes = np.where(
        np.diff(design.row_starts) > 1, design.row_sizes, 0
    )  # labels of unlabeled documents may be missing
    labeled = np.flatnonzero(sizes)
    shares = sparse.csr_array((sizes[labeled], labeled, [0, len(labeled)]), shape=(1, design.n_rows))
    sets = LabelSets.of(shares, design.matrix, [draw.log_doc_weights for draw in fitted.draws])
    return infer_labels(documents, sets, phi, n_jobs)[:, predicted_labels(fitted)]


def label_columns(fitted: Fitted, names: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of labels by column of the training data, if there are several columns; else nothing."""
    if fitted.schema is None:
        return {}
    columns: dict[str, list[int]] = {}
    for label, column in enumerate(columns_of_labels(names, fitted.schema)):
        columns.setdefault(column or "label", []).append(label)
    return columns if len(columns) > 1 else {}


def best_by_column(fitted: Fitted, names: Sequence[str], probabilities: NDArray[np.floating]) -> pd.DataFrame:
    """Return the most probable value of every label column, a row per document."""
    import pandas as pd

    table = {}
    for column, labels in label_columns(fitted, names).items():
        values = np.array([names[j].removeprefix(f"{column}=") for j in labels], dtype=object)
        table[column] = values[probabilities[:, labels].argmax(axis=1)]
    return pd.DataFrame(table)
