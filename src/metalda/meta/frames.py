"""A DataFrame as word features: 0/1 columns as they are, columns of categories one feature per value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from metalda.errors import InputError
from metalda.utils.frames import collect_frame, column_names, column_values

if TYPE_CHECKING:
    import pandas as pd


def frame_features(frame: Any) -> tuple[tuple[str, ...], sparse.csr_array, tuple[str, ...]]:
    """Words (the index, or the first column of a frame that has none), words × features, and names."""
    frame = frame if hasattr(frame, "index") else _indexed(collect_frame(frame))
    words = tuple(frame.index)
    if wrong := [word for word in words if not isinstance(word, str)]:
        raise InputError(f"the frame's index must hold the words, not {wrong[0]!r}: use frame.set_index(COLUMN)")
    if not words or not len(frame.columns):
        raise InputError("the frame of word features is empty; it needs a row per word and a column per feature")
    active: dict[str, np.ndarray] = {}
    for position, column in enumerate(frame.columns):
        for name, rows in _column_features(str(column), frame.iloc[:, position], words):
            if name in active:
                raise InputError(f"two columns of the frame give the feature {name!r}; rename one")
            active[name] = rows
    columns = np.repeat(np.arange(len(active)), [len(rows) for rows in active.values()])
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *active.values()])
    matrix = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(words), len(active)))
    return words, sparse.csr_array(matrix), tuple(active)


def _indexed(frame: Any) -> pd.DataFrame:
    import pandas as pd

    words, *columns = [column_values(frame, j) for j in range(len(frame.columns))] or [[]]
    names = column_names(frame)[1:]
    return pd.DataFrame(dict(zip(names, columns, strict=True)), index=words)


def _column_features(name: str, column: pd.Series, words: tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """The features a column gives, each with the rows that have it."""
    import pandas as pd

    missing = column.isna().to_numpy(dtype=bool)
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        if missing.any():
            word = words[int(missing.argmax())]
            raise InputError(f"column {name!r} has no value for the word {word!r}; use 0 or 1")
        values = np.asarray(column, dtype=np.float64)
        if (wrong := (values != 0) & (values != 1)).any():
            row = int(wrong.argmax())
            raise InputError(
                f"column {name!r} has {values[row]:g} for the word {words[row]!r}; features are 0 or 1: "
                "cut numbers into classes with pandas.cut"
            )
        return [(name, np.flatnonzero(values))]
    rows_of: dict[str, list[int]] = {}
    for row, value in enumerate(column.tolist()):
        if not missing[row]:
            rows_of.setdefault(f"{name}={_shown(value, name)}", []).append(row)
    return [(feature, np.array(rows)) for feature, rows in sorted(rows_of.items())]


def _shown(value: Any, column: str) -> str:
    if isinstance(value, (list, tuple, set, dict, np.ndarray)):
        raise InputError(
            f"column {column!r} holds {type(value).__name__}s; use WordFeatures.from_mapping for lists of names"
        )
    return str(value)
