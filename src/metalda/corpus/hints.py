"""Hints about labels that were probably read in another way than meant."""

from __future__ import annotations

from collections.abc import Sequence

from metalda.corpus.schema import Schema
from metalda.errors import hint

_MANY_LABELS = 0.1  # of the documents
_MANY_NUMBERS = 50  # distinct numbers in a column of labels
_RARE_IN_NAMES, _COMMON_IN_NAMES = "|;", ",/"  # a comma is also part of names, such as "Smith, John"
_SHARE_JOINED = 0.2  # of the labels, so that a character counts as a separator


def warn_of_label_columns(names: Sequence[str], schema: Schema, n_documents: int) -> None:
    """Warn of label columns that are empty, hold several labels in a cell, or many numbers."""
    several = len({*schema.labels, *schema.bins, *schema.numbers}) > 1
    for column in (column for column in schema.labels if column not in {*schema.bins, *schema.numbers}):
        prefix = f"{column}=" if several else ""
        own = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
        if not own:
            hint(f"the field {column!r} is empty in all documents, so it gives no labels: check labels= (--labels)")
        elif _are_many_numbers(own):
            hint(
                f"the field {column!r} has {len(own):,} different numbers, and each is a label: cut it into intervals "
                f"with bins={{{column!r}: 5}} (--bins {column}=5), or use it as a number: numbers={column!r} "
                f"(--numbers {column})"
            )
        elif separator := find_separator(own, n_documents):
            hint(
                f"the field {column!r} has {len(own):,} different labels in {n_documents:,} documents, such as "
                f"{_example(own, separator)!r}: split them with label_delimiter={separator!r} "
                f"(--label-delimiter '{separator}')"
            )


def warn_of_labels(names: Sequence[str], n_documents: int) -> None:
    """Warn of labels given as values: if all are missing, if they seem to be joined, or if they are many numbers."""
    if not names:
        hint("no document has a label: all are None, NaN or empty, so the model learns from none")
    elif _are_many_numbers(names):
        hint(
            f"there are {len(names):,} different labels, all numbers: cut them into intervals (bins of "
            "Corpus.from_frame, --bins), or give them to DMR as a matrix with one column"
        )
    elif separator := find_separator(names, n_documents):
        hint(
            f"there are {len(names):,} different labels for {n_documents:,} documents, such as "
            f"{_example(names, separator)!r}: give each document a list of labels, text.split({separator!r})"
        )


def find_separator(labels: Sequence[str], n_documents: int) -> str | None:
    """Return the character that seems to join several labels, if there are many different labels."""
    if len(labels) <= _MANY_LABELS * n_documents:
        return None
    for separator in _RARE_IN_NAMES + _COMMON_IN_NAMES:
        n_joined = sum(separator in label.strip(separator) for label in labels)
        if n_joined <= _SHARE_JOINED * len(labels):
            continue
        parts = {part.strip() for label in labels for part in label.split(separator)}
        if separator in _RARE_IN_NAMES or len(parts) < len(labels):
            return separator
    return None


def _example(labels: Sequence[str], separator: str) -> str:
    label = next(label for label in labels if separator in label.strip(separator))
    return label if len(label) <= 40 else f"{label[:39]}…"


def _are_many_numbers(labels: Sequence[str]) -> bool:
    if len(labels) < _MANY_NUMBERS:
        return False
    try:
        return all(float(label) == float(label) for label in labels)
    except ValueError:
        return False
