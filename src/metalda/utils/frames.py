"""Access to frames and columns of pandas, polars, Hugging Face and Arrow through their own methods.

None of these libraries is imported, except for pyarrow, which converts tables that only have the Arrow interface.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metalda.errors import missing_extra

Frame: TypeAlias = Any  # a DataFrame of pandas, polars or another library, none of which has types here


def is_frame(values: object) -> bool:
    """Return whether these are rows with named columns; a single column, such as a Series, is not a frame."""
    if hasattr(values, "select_columns"):  # of Hugging Face
        return _is_dataset(values)
    signs = ("collect_schema", "columns", "to_pandas", "__arrow_c_stream__")
    return not hasattr(values, "tolist") and not hasattr(values, "to_list") and any(hasattr(values, s) for s in signs)


def collect_frame(frame: Frame) -> Frame:
    """Collect a lazy frame, and convert frames of other libraries than pandas, polars and datasets to pandas.

    A polars frame is not converted, because its conversion to pandas needs pyarrow. A dataset is not converted,
    because columns that are not read may be large.
    """
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        frame = frame.collect()
    if _is_polars(frame) or _is_dataset(frame):
        return frame
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()
    if hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "iloc"):
        try:
            import pyarrow
        except ImportError as error:
            raise missing_extra("pyarrow", "parquet", f"reading a {type(frame).__name__}") from error
        return pyarrow.table(frame).to_pandas()
    return frame


def column_names(frame: Frame) -> list[str]:
    """Return the names of the columns as strings."""
    return [str(name) for name in (frame.column_names if _is_dataset(frame) else frame.columns)]


def column_values(frame: Frame, position: int) -> list[object]:
    """Return the cells of a column as plain Python objects."""
    if _is_dataset(frame):
        name = frame.column_names[position]
        cells = frame.select_columns([name]).with_format("arrow")[:].column(0).to_pylist()
        return _named_classes(cells, frame.features[name])
    column = frame.get_columns()[position] if _is_polars(frame) else frame.iloc[:, position]
    values: list[object] = column.to_list()
    return values


def as_numbers(frame: Frame) -> NDArray[np.float64]:
    """Return all cells as float64, missing ones as NaN; TypeError or ValueError if some cells are not numbers."""
    return np.asarray(frame.to_numpy() if _is_polars(frame) else frame.to_numpy(dtype=np.float64), np.float64)


def as_list(values: Any) -> Any:
    """Return a column (a Series) as a list of plain Python objects; other values are returned unchanged."""
    if hasattr(values, "features") and hasattr(values, "column_name"):  # of a dataset
        return _named_classes(list(values), values.features)
    return values.to_list() if hasattr(values, "to_list") else values


def is_missing(value: object) -> bool:
    """Return whether a cell is None, NaN or one of the missing values of pandas, without importing pandas."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


def _is_polars(frame: Frame) -> bool:
    return hasattr(frame, "get_columns")


def _is_dataset(frame: Frame) -> bool:
    """Return whether this is a Dataset of Hugging Face, in memory or on disk; a stream of rows has no length."""
    return hasattr(frame, "select_columns") and hasattr(frame, "features") and hasattr(frame, "__len__")


def _named_classes(cells: list[Any], feature: Any) -> list[Any]:
    """Replace the numbers of classes by their names; -1 stands for a class that is not known."""
    if hasattr(feature, "feature"):  # of the elements of lists
        return [cell and _named_classes(cell, feature.feature) for cell in cells]
    if not hasattr(feature, "int2str"):
        return cells
    return [None if cell is None or cell < 0 else feature.names[cell] for cell in cells]
