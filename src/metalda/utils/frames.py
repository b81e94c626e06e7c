"""Access to frames and columns of pandas, polars and others through their own methods; none of them is imported."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Frame: TypeAlias = Any  # a DataFrame of pandas, polars or another library, none of which has types here


def collect_frame(frame: Frame) -> Frame:
    """Collect a lazy frame, and convert frames of other libraries than pandas and polars to pandas.

    A polars frame is not converted, because its conversion to pandas needs pyarrow.
    """
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        frame = frame.collect()
    return frame.to_pandas() if hasattr(frame, "to_pandas") and not _is_polars(frame) else frame


def column_names(frame: Frame) -> list[str]:
    """Return the names of the columns as strings."""
    return [str(name) for name in frame.columns]


def column_values(frame: Frame, position: int) -> list[object]:
    """Return the cells of a column as plain Python objects."""
    column = frame.get_columns()[position] if _is_polars(frame) else frame.iloc[:, position]
    values: list[object] = column.to_list()
    return values


def as_numbers(frame: Frame) -> NDArray[np.float64]:
    """Return all cells as float64, missing ones as NaN; TypeError or ValueError if some cells are not numbers."""
    return np.asarray(frame.to_numpy() if _is_polars(frame) else frame.to_numpy(dtype=np.float64), np.float64)


def as_list(values: object) -> Any:
    """Return a column (a Series) as a list of plain Python objects; other values are returned unchanged."""
    return values.to_list() if hasattr(values, "to_list") else values


def is_missing(value: object) -> bool:
    """Return whether a cell is None, NaN or one of the missing values of pandas, without importing pandas."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


def _is_polars(frame: Frame) -> bool:
    return hasattr(frame, "get_columns")
