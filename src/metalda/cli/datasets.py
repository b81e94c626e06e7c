"""``metalda datasets``: the built-in datasets, and the size of one compared with the paper."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.datasets import Dataset, Statistics

EPILOG = options.epilog("metalda datasets reuters --folder data -o reuters.jsonl")


def _complete_dataset() -> list[str]:
    from metalda.datasets.catalog import DATASETS

    return list(DATASETS)


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Load this dataset and print its size.",
            show_default=False,
            autocompletion=_complete_dataset,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="Folder with the files. By default METALDA_DATA, then the cache."),
    ] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option("--embeddings", metavar="FILE", help="Drop words without a vector, as the paper did."),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="20ng: let scikit-learn download it if it is missing.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the documents as .jsonl for metalda fit."),
    ] = None,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """List the built-in datasets; or load one, and compare its size with the paper."""
    if name is None:
        if folder or embeddings or download or output:
            raise InputError("options need the name of a dataset, as in metalda datasets reuters --folder data")
        _print_all(format, raw)
        return
    from metalda.datasets import describe, load

    entry = describe(name)
    if output is not None:
        _check_output(output)
    settings: dict[str, object] = {"embeddings": embeddings, "download": download or None}
    given = {setting: value for setting, value in settings.items() if value is not None}
    loaded = load(name, folder, verbose=sys.stderr.isatty(), **given)
    if output is not None:
        _write_documents(output, loaded)
    _print_one(entry, loaded, format, raw)


def _print_all(format: Format, raw: bool) -> None:
    from metalda.datasets import available, cache_folder

    entries = available()
    if format is Format.json:
        tables.print_json([asdict(entry) for entry in entries])
        return
    if format is Format.csv:
        records = [asdict(entry) for entry in entries]
        tables.print_records([{name: each[name] for name in each if name != "paper"} for each in records], raw=raw)
        return
    rows = [
        (
            entry.name,
            "?" if entry.n_documents is None else f"{entry.n_documents:,}",
            f"{entry.description}; files: {entry.files}",
        )
        for entry in entries
    ]
    tables.print_table(("name", "documents", "description"), rows, left=("name",))
    place = clean(str(cache_folder()))
    print(f"\nFiles are searched in --folder, or in METALDA_DATA, then in {place}.")


def _print_one(entry: Dataset, loaded: Corpus | tuple[Corpus, Corpus], format: Format, raw: bool) -> None:
    from metalda.datasets import count_empty, statistics

    found, n_empty = statistics(loaded), count_empty(loaded)
    measures = _compare(found, entry.paper)
    if format is Format.json:
        tables.print_json({"name": entry.name, **measures, "empty_documents": n_empty})
        return
    if format is Format.csv:
        tables.print_records([{"measure": measure, **row} for measure, row in measures.items()], raw=raw)
        return
    rows = [
        (measure.replace("_", " "), _number(row["ours"]), _number(row["paper"]), _percent(row["difference"]))
        for measure, row in measures.items()
    ]
    tables.print_table((entry.name, "loaded", "the paper", "difference"), rows, left=(entry.name,))
    if n_empty:
        print(f"\n{tables.count(n_empty, 'document')} without words; kept to match the distributed files.")


def _compare(found: Statistics, paper: Statistics | None) -> dict[str, dict[str, float | None]]:
    """Return each measure of a corpus, that of the paper, and the relative difference."""
    published: dict[str, float] = {} if paper is None else asdict(paper)
    return {
        measure: {
            "ours": value,
            "paper": published.get(measure),
            "difference": value / published[measure] - 1 if measure in published else None,
        }
        for measure, value in asdict(found).items()
    }


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _percent(difference: float | None) -> str:
    if difference is None:
        return "–"
    return "0" if difference == 0 else f"{difference:+.1%}"


def _check_output(path: Path) -> None:
    """Raise an error if the file cannot be written, before the dataset is loaded."""
    if path.suffix.lower() != ".jsonl":
        raise InputError(f"{path}: the name must end in .jsonl")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def _write_documents(path: Path, loaded: Corpus | tuple[Corpus, Corpus]) -> None:
    """Write one line per document: id, labels, words, and its part if the dataset is split."""
    from metalda.storage import replacing

    parts = dict(zip(("train", "test"), loaded, strict=True)) if isinstance(loaded, tuple) else {None: loaded}
    with replacing(path, "x", encoding="utf-8", newline="\n") as file:
        for part, corpus in parts.items():
            for i, words in enumerate(corpus):
                record: dict[str, object] = {"id": str(i) if corpus.ids is None else corpus.ids[i]}
                if part is not None:
                    record["part"] = part
                if corpus.labels is not None:
                    matrix = corpus.labels.matrix
                    columns = matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]]
                    record["labels"] = [corpus.label_names[column] for column in columns]
                file.write(json.dumps({**record, "words": words}, ensure_ascii=False) + "\n")
