"""The metadata of documents as columns of a table: values of label columns, and numbers in their own units."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from metalda.corpus.columns import columns_of_labels
from metalda.corpus.vectors import VECTORS

if TYPE_CHECKING:
    from metalda.corpus.corpus import Corpus

_WITHOUT_COLUMN = "label"  # of labels that come from no column


def metadata_columns(corpus: Corpus) -> dict[str, list[object]]:
    """Return the values of each label column and number, by the name of the column.

    A value is a string, or a list of strings if some document has several labels of the column; None without a label.
    Vectors of documents are left out.
    """
    labels, schema = corpus.labels, corpus.schema
    if labels is None:
        return {}
    of_label = ("",) * len(labels.names) if schema is None else columns_of_labels(labels.names, schema)
    scales = {} if schema is None else schema.numbers
    table: dict[str, list[object]] = {}
    by_column = sparse.csc_array(labels.matrix)
    for column in dict.fromkeys(of_label):
        if column == VECTORS:
            continue
        members = [j for j, own in enumerate(of_label) if own == column]
        scale = scales.get(column)
        if scale is not None:
            center, unit = scale
            values = np.round(by_column[:, members].toarray()[:, 0] * unit + center, 6)
            is_whole = (values == np.round(values)).all() and (np.abs(values) < 2**53).all()
            table[column] = [*values.astype(np.int64).tolist()] if is_whole else [*values.tolist()]
        else:
            prefix = f"{column}="
            names = [labels.names[j].removeprefix(prefix) if column else labels.names[j] for j in members]
            table[column or _WITHOUT_COLUMN] = _values(by_column[:, members].tocsr(), names)
    return table


def _values(matrix: sparse.csr_array, names: list[str]) -> list[object]:
    """Return the names of the labels of each document."""
    starts = matrix.indptr.tolist()
    is_set = matrix.data != 0
    rows = [
        [names[j] for j, own in zip(matrix.indices[a:b], is_set[a:b], strict=True) if own] for a, b in pairwise(starts)
    ]
    if all(len(row) <= 1 for row in rows):
        return [row[0] if row else None for row in rows]
    return [*rows]
