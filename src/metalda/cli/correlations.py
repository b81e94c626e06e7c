"""``metalda correlations``: which topics occur together, and which have nearly the same words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import options, tables
from metalda.cli.data import NewDocumentOptions
from metalda.cli.layout import Cell
from metalda.cli.options import Format
from metalda.utils.terminal import short

if TYPE_CHECKING:
    import pandas as pd

EPILOG = options.epilog("metalda correlations model news.jsonl", "metalda correlations model --format csv > pairs.csv")


def correlations(
    model: options.Model,
    new: NewDocumentOptions,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Documents, such as the training data. Without it, the average proportions of the training documents "
            "are correlated, without intervals.",
            show_default=False,
            parser=options.data_location,
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Print so many pairs; json and csv contain all.")
    ] = 15,
    interval: Annotated[
        float, typer.Option("--interval", metavar="PROBABILITY", help="Posterior probability of the intervals.")
    ] = 0.8,
    id: options.Id = None,
    jobs: options.Jobs = 1,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the correlations of topic proportions over documents, and how similar the words of the topics are.

    Topics with a similarity of 0.8 or more have nearly the same words: fit fewer topics, or merge them with metalda
    curate.
    """
    fitted = options.load_model(model, jobs)
    corpus = None if data is None else new.read(fitted, data, id=id)
    table = fitted.topic_correlations(corpus, interval=interval)

    def show() -> None:
        _print(table.head(top), interval)
        if len(table) > top:
            print(f"\n{top:,} of {len(table):,} pairs are shown.")
        tables.print_similar(fitted)

    tables.print_as(format, table, show, raw=raw)


def _print(table: pd.DataFrame, interval: float) -> None:
    from metalda.cli.effects import signed_cells

    rows: list[Sequence[str | Cell]] = [
        (
            _topic(row, ""),
            _topic(row, "other_"),
            *signed_cells(row["correlation"], row["low"], row["high"], "+.2f"),
            f"{row['similarity']:.2f}",
        )
        for row in table.to_dict("records")
    ]
    header = ("topic", "other topic", "correlation", f"{interval:.0%} interval", "similarity of words")
    tables.print_table(header, rows, left=header[:2])


def _topic(row: dict[Any, Any], prefix: str) -> str:
    return short(str(row.get(f"{prefix}name") or row[f"{prefix}topic"]))
