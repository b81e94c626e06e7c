"""``metalda documents``: the typical documents of topics, as written."""

from __future__ import annotations

from typing import Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.data import NewDocumentOptions
from metalda.cli.layout import Cell
from metalda.cli.options import Format
from metalda.utils.terminal import short

EPILOG = options.epilog(
    "metalda documents model news.jsonl --topic 3", "metalda documents model news.jsonl --label party=left -n 2"
)


def documents(
    model: options.Model,
    data: options.Data,
    new: NewDocumentOptions,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="N|NAME", help="Documents of this topic.", show_default="all topics"),
    ] = None,
    n: Annotated[int, typer.Option("--documents", "-n", metavar="N", min=1, help="Documents per topic.")] = 3,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME",
            help="Only documents with this label: genre=Drama (or Drama, if one column has it). Repeat the option for "
            "documents that have several.",
            show_default=False,
        ),
    ] = None,
    characters: Annotated[
        int,
        typer.Option("--characters", metavar="N", min=1, help="Cut longer texts; json and csv contain whole texts."),
    ] = 300,
    id: options.Id = None,
    jobs: options.Jobs = 1,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the documents with the largest proportions of each topic, as written.

    DATA is read with the options of training unless options are given here: the training data, or other documents. Of a
    prepared corpus without texts (metalda prepare --no-keep-text), the words are printed.
    """
    fitted = options.load_model(model, jobs)
    chosen = None if topic is None else options.topic_number(fitted, topic)
    corpus = new.read(fitted, data, id=id, keep_text=True)
    table = fitted.typical_documents(chosen, n, corpus=corpus, label=label or None)

    def show() -> None:
        name = "id" if "id" in table else "document"
        rows = [
            (
                Cell(short(str(row.get("name") or row["topic"])), "name"),
                f"{row['proportion']:.2f}",
                short(str(row[name])),
                _beginning(row["text"], characters),
            )
            for row in table.to_dict("records")
        ]
        tables.print_table(("topic", "proportion", name, "text"), rows, left=("topic", name))

    tables.print_as(format, table, show, raw=raw)


def _beginning(text: str, longest: int) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 2 * longest].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
