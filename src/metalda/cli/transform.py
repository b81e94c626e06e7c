"""``metalda transform``: topic proportions of new documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.cluster import connected
from metalda.cli.data import NewDocumentOptions
from metalda.errors import InputError
from metalda.utils.csv_writer import write_csv
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    import numpy as np

EPILOG = options.epilog("metalda transform model new.jsonl -o proportions.csv")
SUFFIXES = (".csv", ".jsonl", ".npy")


def transform(
    model: options.Model,
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .csv, .jsonl or .npy file, or - to print CSV.", show_default=False
        ),
    ],
    new: NewDocumentOptions,
    raw: options.Raw = False,
    id: options.Id = None,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
    quiet: options.Quiet = False,
) -> None:
    """Infer the topic proportions of new documents and write them to a file.

    DATA is read with the options of training unless options are given here. Out-of-vocabulary words that have
    features are used; labels that the model was not trained on are ignored. In CSV, an apostrophe guards ids that a
    spreadsheet would run as formulas (= + - @), unless --raw is given.
    """
    on_screen = str(output) == "-"
    if not on_screen:
        _check_output(output)
        if output.exists() and data.is_file() and output.samefile(data):
            raise InputError(f"{output}: is DATA itself; give another file with --output")
    fitted = options.load_model(model, jobs)
    corpus = new.read(fitted, data, id=id, verbose=not quiet)
    with connected(cluster, jobs) as client:
        proportions = fitted.transform(corpus, client=client)
    names = ["id", *fitted.get_feature_names_out()]
    ids = corpus.ids if corpus.ids is not None else [str(d) for d in range(len(corpus))]
    if on_screen:
        tables.print_csv(names, _rows(ids, proportions), raw=raw)
        return
    _write(output, names, ids, proportions, raw)
    if not quiet:
        saved = tables.count(len(corpus), "document")
        print(f"Topic proportions of {saved} saved to {clean(str(output))}.")
        tables.print_hidden(fitted)


def _check_output(path: Path) -> None:
    """Raise an error if `_write` would fail, before topics are inferred."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}, or be - to print CSV")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file; choose another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def _write(path: Path, names: Sequence[str], ids: Sequence[str], proportions: np.ndarray, raw: bool) -> None:
    """Write one row per document; CSV and JSON Lines contain the ids, ``.npy`` only the numbers."""
    from metalda.storage import replacing

    suffix = path.suffix.lower()
    if suffix == ".npy":
        import numpy as np

        with replacing(path, "xb") as file:
            header = np.lib.format.header_data_from_array_1_0(proportions)
            np.lib.format.write_array_header_1_0(file, header)
            file.write(np.ascontiguousarray(proportions).data)  # np.save would not notice a full disk
        return
    with replacing(path, "x", encoding="utf-8", errors="backslashreplace", newline="") as file:  # as on a terminal
        if suffix == ".csv":
            write_csv(file, names, _rows(ids, proportions), raw=raw)
        else:
            for name, row in zip(ids, proportions, strict=True):
                json.dump({"id": name, "topics": [float(f"{p:.6g}") for p in row.tolist()]}, file)
                file.write("\n")


def _rows(ids: Sequence[str], proportions: np.ndarray) -> Iterator[list[object]]:
    for name, row in zip(ids, proportions, strict=True):
        yield [name, *row.tolist()]
