"""Topic proportions into a file, whole or not at all."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from metalda.errors import InputError
from metalda.storage import replacing

if TYPE_CHECKING:
    import numpy as np

SUFFIXES = (".csv", ".jsonl", ".npy")


def check_output(path: Path) -> None:
    """Raise an InputError where `write_proportions` could not write: better now than after the work."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}, or be - for CSV on the screen")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file; choose another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def write_proportions(path: Path, ids: Sequence[str], proportions: np.ndarray) -> None:
    """A row per document; CSV and JSON Lines have its id, ``.npy`` holds the numbers alone."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        import numpy as np

        with replacing(path, "xb") as file:
            np.save(file, proportions, allow_pickle=False)
        return
    with replacing(path, "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
        if suffix == ".csv":
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header(proportions))
            writer.writerows(rows(ids, proportions))
        else:
            for name, row in zip(ids, proportions, strict=True):
                json.dump({"id": name, "topics": [float(f"{p:.6g}") for p in row.tolist()]}, file)
                file.write("\n")


def header(proportions: np.ndarray) -> list[str]:
    """The names of the columns."""
    return ["id", *(f"topic{k}" for k in range(proportions.shape[1]))]


def rows(ids: Sequence[str], proportions: np.ndarray) -> Iterator[list[str]]:
    """The cells of each document."""
    for name, row in zip(ids, proportions, strict=True):
        yield [name, *(f"{p:.6g}" for p in row)]
