"""A table as plain columns, which commands print without loading pandas; Python's users get it as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


class Table(Mapping[str, "Sequence[Any] | NDArray[Any]"]):
    """Columns of equal length by name. Its methods are those of a DataFrame that commands use."""

    def __init__(self, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Sequence[Any] | NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._columns)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows, with numbers of Python."""
        values = (column.tolist() if isinstance(column, np.ndarray) else column for column in self._columns.values())
        return list(zip(*values, strict=True))

    def to_numpy(self, dtype: type = object) -> NDArray[Any]:
        """Return the rows as an array [row, column] of objects."""
        rows = self.rows()
        cells: NDArray[Any] = np.empty((len(rows), len(self._columns)), dtype)
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                cells[i, j] = value
        return cells

    def to_dict(self, orient: str = "records") -> list[dict[str, Any]]:
        """Return a dictionary for each row."""
        return [dict(zip(self._columns, row, strict=True)) for row in self.rows()]

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> Table:
        """Return these rows, in this order."""
        places = np.asarray(rows, np.int64)
        taken = {
            name: column[places] if isinstance(column, np.ndarray) else [column[place] for place in places]
            for name, column in self._columns.items()
        }
        return Table(taken)

    def frame(self) -> pd.DataFrame:
        """Return the table as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self._columns)
