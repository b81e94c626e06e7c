"""Convert labels of documents, in any usual form, to a named matrix."""

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from metalda.corpus.matrix import NamedMatrix
from metalda.errors import InputError
from metalda.utils.frames import as_list, as_numbers, collect_frame, column_names, is_missing

_SEVERAL = (list, tuple, set, frozenset, np.ndarray)


def as_labels(y: Any, n_documents: int) -> NamedMatrix | None:
    """Return labels as a named matrix with a row per document.

    Parameters
    ----------
    y : None, NamedMatrix, sequence, Series, array, sparse matrix or DataFrame
        A label per document (None, NaN or an empty string: no label); a list, tuple or set of labels per document; or
        a two-dimensional array, sparse matrix (columns named "0", "1", …) or frame (its own names) of 0 and 1, or of
        real numbers for models that take them (MetaLDA and DMR).
    n_documents : int
        The required number of rows.
    """
    if y is None:
        return None
    if hasattr(y, "__array__") and not hasattr(y, "__iter__"):
        y = np.asarray(y)
    if isinstance(y, NamedMatrix):
        labels = y
    elif issparse(y):
        labels = _indicators(y, [str(j) for j in range(y.shape[1])])
    elif hasattr(y, "columns"):
        labels = _from_indicator_frame(y)
    elif isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biufc":
        labels = _indicators(y, [str(j) for j in range(y.shape[1])])
    else:
        labels = _from_values(y)
    if len(labels) != n_documents:
        raise InputError(f"labels for {len(labels):,} documents, but there are {n_documents:,} documents")
    return labels


def label_names(value: object, delimiter: str | None = None) -> list[str]:
    """Return the labels in one cell: none, one, a list of them, or a string to split at the delimiter."""
    if isinstance(value, _SEVERAL):
        return [name for element in value if (name := _label_name(element))]
    if delimiter is not None and isinstance(value, str):
        return [name for part in value.split(delimiter) if (name := part.strip())]
    name = _label_name(value)
    return [name] if name else []


class LabelCollector:
    """Collects the labels of documents one by one, and numbers their names."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._columns = array("i")
        self._offsets = array("q", [0])

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, names: Iterable[str]) -> None:
        """Add the labels of the next document; a repeated label counts once."""
        own = dict.fromkeys(map(_without_surrogates, names))
        self._columns.extend(self._ids.setdefault(name, len(self._ids)) for name in own)
        self._offsets.append(len(self._columns))

    def numbered(self) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]:
        """Return the labels of all documents so far, their offsets, and the names in order of first occurrence."""
        return np.array(self._columns, dtype=np.int32), np.array(self._offsets, dtype=np.int64), list(self._ids)

    def finish(self) -> NamedMatrix:
        """Return the labels of all documents so far, with sorted names."""
        names = sort_names(self._ids)
        rank = np.empty(len(names), dtype=np.int32)
        for j, name in enumerate(names):
            rank[self._ids[name]] = j
        columns = rank[np.array(self._columns, dtype=np.int64)]
        parts = (np.ones(len(columns)), columns, np.array(self._offsets, dtype=np.int64))
        return NamedMatrix(csr_array(parts, shape=(len(self), len(names))), tuple(names))


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names as numbers if all are numbers (2 before 10), otherwise as strings."""
    by_text = sorted(names)
    try:
        keys = {name: float(name) for name in by_text}
    except ValueError:
        return by_text
    return by_text if any(key != key for key in keys.values()) else sorted(by_text, key=keys.__getitem__)


def _label_name(value: object) -> str:
    """Return one label as a string; empty for a missing one."""
    if isinstance(value, str):
        return value.strip()
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating):
        if not float(value).is_integer():
            raise InputError(f"the label {value} is not a whole number: cut numbers into intervals with bins (--bins)")
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace").strip()
    if isinstance(value, (Mapping, *_SEVERAL)):
        raise InputError(f"a label must be a string or a number, not {type(value).__name__}")
    return str(value).strip()


def _without_surrogates(name: str) -> str:
    """Replace lone surrogates, which JSON can hold but no file or table can, by question marks."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")


def _from_values(y: object) -> NamedMatrix:
    if isinstance(y, str | bytes | Mapping):
        raise InputError(f"labels must be a sequence with an entry per document, not {type(y).__name__}")
    try:
        values = iter(as_list(y))
    except TypeError:
        raise InputError(f"labels must be a sequence with an entry per document, not {type(y).__name__}") from None
    collector = LabelCollector()
    try:
        for value in values:
            collector.add(label_names(value))
    except InputError as error:
        raise InputError(f"labels of document {len(collector)}: {error}") from None
    return collector.finish()


def _from_indicator_frame(frame: object) -> NamedMatrix:
    frame = collect_frame(frame)
    names = column_names(frame)
    try:
        values = as_numbers(frame)
    except (TypeError, ValueError) as error:
        raise InputError(
            "a frame of labels must hold numbers, mostly 0 and 1, a column per label; "
            "for columns of names use Corpus.from_frame(labels=...) or give one column"
        ) from error
    return _indicators(values, names)


def _indicators(values: object, names: list[str]) -> NamedMatrix:
    matrix = csr_array(values)
    if not np.isfinite(matrix.data).all():
        raise InputError("a matrix of labels must hold numbers, but there is NaN or infinity in it")
    return NamedMatrix(matrix, tuple(names))
