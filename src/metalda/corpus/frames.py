"""Frames and columns of pandas, polars and others, through their own methods: none of them is imported here."""

from typing import Any

import numpy as np


def settle(frame: Any) -> Any:
    """A frame that can be read as it is: a lazy one is collected; what is neither pandas' nor polars' becomes pandas'.

    A frame of polars stays one: to become one of pandas it would need pyarrow.
    """
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        frame = frame.collect()
    return frame.to_pandas() if hasattr(frame, "to_pandas") and not _is_polars(frame) else frame


def column_names(frame: Any) -> list[str]:
    """The names of the columns, as strings."""
    return [str(name) for name in frame.columns]


def column_values(frame: Any, position: int) -> list[Any]:
    """The cells of a column as plain Python objects."""
    column = frame.get_columns()[position] if _is_polars(frame) else frame.iloc[:, position]
    return column.to_list()


def as_numbers(frame: Any) -> np.ndarray:
    """All cells as float64, missing ones as NaN; TypeError or ValueError where they are no numbers."""
    return np.asarray(frame.to_numpy(), np.float64) if _is_polars(frame) else frame.to_numpy(dtype=np.float64)


def listed(values: Any) -> Any:
    """A column (a Series) as a list of plain Python objects; anything else as it is."""
    return values.to_list() if hasattr(values, "to_list") else values


def _is_polars(frame: Any) -> bool:
    return hasattr(frame, "get_columns")
