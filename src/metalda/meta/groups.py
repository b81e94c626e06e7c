"""Groups of documents, from the values of a label column: the groups that word topics in their own way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import NamedMatrix, Schema
from metalda.corpus.columns import columns_of_labels
from metalda.errors import InputError, hint
from metalda.meta.terms import NO_COLUMN

NO_VALUE = "(none)"  # the group of training documents without a value
UNKNOWN = -1  # the group of a new document without a value, or with one that the model does not know
MOST_GROUPS = 200


class DocumentGroups(NamedTuple):
    """The group of every document, and the names of the groups: the labels of a column."""

    names: tuple[str, ...]
    of_document: NDArray[np.int32]

    @classmethod
    def find(cls, column: str, labels: NamedMatrix | None, schema: Schema | None) -> DocumentGroups:
        """Return the groups of the training documents; InputError unless the column tells them apart."""
        asked = f"wording={column!r}"
        if labels is None:
            raise InputError(f"{asked}: the corpus has no labels; read the column with labels= (--labels {column})")
        own = labels.select(_labels_of(column, labels, schema))
        counts = np.diff(own.matrix.indptr)
        several = np.flatnonzero(counts > 1)
        if len(several):
            row = own.matrix.indices[own.matrix.indptr[several[0]] :][:2]
            examples = " and ".join(repr(own.names[j]) for j in row)
            raise InputError(
                f"{asked}: {len(several):,} documents have several values, such as {examples} of document "
                f"{several[0]}; choose a column with one value for each document"
            )
        used = np.bincount(own.matrix.indices, minlength=len(own.names)) > 0
        names = [name for name, is_used in zip(own.names, used, strict=True) if is_used]
        groups = np.full(len(labels), UNKNOWN, np.int32)
        groups[counts == 1] = (np.cumsum(used) - 1)[own.matrix.indices]
        if (counts == 0).any():
            names = names if NO_VALUE in names else [*names, NO_VALUE]
            groups[counts == 0] = names.index(NO_VALUE)
        if len(names) < 2:
            raise InputError(f"{asked}: all documents have the value {names[0]!r}, so there are no groups to compare")
        if len(names) > MOST_GROUPS:
            raise InputError(
                f"{asked}: the column has {len(names):,} values, and at most {MOST_GROUPS} groups are possible; choose "
                "a column with fewer, or cut numbers into intervals (bins, --bins)"
            )
        return cls(tuple(names), groups)

    def hint_of_missing(self, column: str) -> None:
        """Give a hint if documents have no value."""
        if NO_VALUE in self.names:
            n_missing = int((self.of_document == self.names.index(NO_VALUE)).sum())
            hint(
                f"wording={column!r}: {n_missing:,} of {len(self.of_document):,} documents have no value; they are a "
                f"group of their own, {NO_VALUE}"
            )


def groups_of(labels: NamedMatrix | None, names: Sequence[str], n_documents: int) -> NDArray[np.int32]:
    """Return the groups of new documents, `UNKNOWN` for those without one of these labels, or with several."""
    groups = np.full(n_documents, UNKNOWN, np.int32)
    if labels is not None:
        matrix = labels.select(names).matrix
        known = np.diff(matrix.indptr) == 1
        groups[known] = matrix.indices[matrix.indptr[:-1][known]]
    return groups


def _labels_of(column: str, labels: NamedMatrix, schema: Schema | None) -> list[str]:
    """Return the names of a column's labels."""
    names = labels.names
    if schema is not None and column in schema.numbers:
        raise InputError(f"wording={column!r}: the column holds numbers; cut it into intervals (bins, --bins)")
    if schema is not None and schema.has_labels:
        owners = tuple(owner or NO_COLUMN for owner in columns_of_labels(names, schema))
    elif column == NO_COLUMN:
        owners = (column,) * len(names)
    else:
        owners = tuple(column if name.startswith(f"{column}=") else "" for name in names)
    own = [name for name, owner in zip(names, owners, strict=True) if owner == column]
    if own and not labels.select(own).is_binary:
        raise InputError(f"wording={column!r}: the labels must be 0 or 1; cut numbers into intervals (bins, --bins)")
    if own:
        return own
    known = list(dict.fromkeys(owner for owner in owners if owner))
    if not known:
        raise InputError(
            f"wording={column!r}: the labels have no columns; use wording={NO_COLUMN!r} for labels that are given as "
            "y, or read a column (Corpus.from_frame(labels=...), --labels)"
        )
    raise InputError(
        f"wording={column!r}: the corpus has no label column {column!r}; it has {', '.join(map(repr, known[:20]))}. "
        f"Read it with labels= (--labels {column})"
    )
