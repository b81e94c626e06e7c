"""``metalda export``: documents with metadata and topics, words of topics, or their network, as a file."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import options, tables
from metalda.cli.data import NewDocumentOptions
from metalda.errors import InputError, missing_extra
from metalda.utils.csv_writer import write_csv
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    import pandas as pd

EPILOG = options.epilog(
    "metalda export model news.jsonl -o documents.csv",
    "metalda export model --what words -o words.parquet",
    "metalda export model news.jsonl -o topics.gexf",
)
NETWORK = ".gexf"
SUFFIXES = (".csv", ".parquet", ".jsonl", NETWORK)
_BETWEEN_LABELS = "|"  # in a cell of CSV


class Content(StrEnum):
    """What is exported."""

    documents = "documents"
    words = "words"


def export(
    model: options.Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .csv, .parquet or .jsonl file; or .gexf for the network of topics and words, which Gephi opens.",
            show_default=False,
            parser=options.location,
        ),
    ],
    new: NewDocumentOptions,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Documents, such as the training data. Without it, documents are those of training, without metadata.",
            show_default=False,
            parser=options.data_location,
        ),
    ] = None,
    what: Annotated[
        Content,
        typer.Option(
            "--what",
            help="A row per document, with metadata, top topic and proportions; or a row per topic and word, with "
            "probability, relevance, FREX and lift.",
        ),
    ] = Content.documents,
    with_text: Annotated[bool, typer.Option("--with-text", help="Add the texts of documents, as written.")] = False,
    top_n: Annotated[
        int | None,
        typer.Option(
            "--top-n", "-n", metavar="N", min=1, help="Words per topic.", show_default="100, 10 in the network"
        ),
    ] = None,
    raw: options.Raw = False,
    id: options.Id = None,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write documents with their topics, or words of topics, to a file for other programs.

    DATA is read with the options of training unless options are given here. In CSV, an apostrophe guards texts that a
    spreadsheet would run as formulas (= + - @), unless --raw is given.
    """
    _check(output, data, what, with_text)
    fitted = options.load_model(model, jobs)
    corpus = None
    if data is not None:
        corpus = new.read(fitted, data, id=id, verbose=not quiet, keep_text=with_text)
    if output.suffix.lower() == NETWORK:
        from metalda.report.network import write_network

        write_network(fitted, output, corpus, top_n=top_n or 10)
        written = "Network of topics and words"
    else:
        table = fitted.words_frame(top_n or 100) if what is Content.words else fitted.to_frame(corpus, text=with_text)
        _write(table, output, raw)
        written = f"{len(table):,} {'words' if what is Content.words else 'documents'}"
    if not quiet:
        print(f"{written} saved to {clean(str(output))}.")


def _check(path: Path, data: Path | None, what: Content, with_text: bool) -> None:
    """Raise an error if the file could not be written, before documents are read."""
    from metalda.storage import Remote

    if isinstance(path, Remote):
        raise InputError(f"{path}: the file must be on this machine; give a local path with --output")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file; choose another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")
    if data is not None and path.exists() and data.is_file() and path.samefile(data):
        raise InputError(f"{path}: is DATA itself; give another file with --output")
    if with_text and (data is None or what is Content.words or suffix == NETWORK):
        raise InputError("--with-text adds the texts of DATA to a table of documents: give DATA, or leave it out")
    if what is Content.words and data is not None:
        raise InputError("--what words needs no DATA: leave it out")
    if suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise missing_extra("pyarrow", "parquet", "Writing Parquet") from None


def _write(table: pd.DataFrame, path: Path, raw: bool) -> None:
    """Write a table; the file appears when it is complete."""
    from metalda.storage import replacing

    suffix = path.suffix.lower()
    if suffix == ".parquet":
        texts = {name: table[name].map(_encodable) for name in table.columns if table[name].dtype.kind not in "fib"}
        with replacing(path, "xb") as file:
            table.assign(**texts).rename(columns=_encodable).to_parquet(file, index=False)
        return
    with replacing(path, "x", encoding="utf-8", errors="backslashreplace", newline="") as file:  # as on a terminal
        if suffix == ".csv":
            rows = ([_cell(value) for value in row] for row in table.itertuples(index=False, name=None))
            write_csv(file, list(table.columns), rows, raw=raw)
            return
        names = list(table.columns)
        for row in table.itertuples(index=False, name=None):
            record = {name: _rounded(value) for name, value in zip(names, row, strict=True)}
            json.dump(tables.plain(record), file, ensure_ascii=False)
            file.write("\n")


def _cell(value: Any) -> Any:
    return _BETWEEN_LABELS.join(value) if isinstance(value, list) else value


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _encodable(value: Any) -> Any:
    """Escape half of a surrogate pair, which no file can contain."""
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
