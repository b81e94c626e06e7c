"""``metalda topics``: the topics of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.utils.terminal import short

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

EPILOG = options.epilog("metalda topics model --top-n 15")


def topics(
    model: options.Model,
    top_n: Annotated[int, typer.Option("--top-n", "-n", metavar="N", min=1, help="Words per topic.")] = 10,
    topic: Annotated[
        int | None, typer.Option("--topic", metavar="TOPIC", help="Show only this topic, with probabilities.")
    ] = None,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the topics of a model: their share of the training tokens, and their most probable words."""
    import metalda

    fitted = metalda.load(model)
    if topic is not None:
        _print_topic(fitted, topic, top_n, format, raw)
    elif format is Format.table:
        tables.print_topics(fitted, top_n)
    else:
        rows = fitted.topics(top_n=1).to_dict("records")
        records = [{**row, "words": tables.top_words(fitted, row["topic"], top_n)} for row in rows]
        if format is Format.json:
            tables.print_json(records)
        else:
            tables.print_records(records, raw=raw)


def _print_topic(model: TopicModel, topic: int, top_n: int, format: Format, raw: bool) -> None:
    words = model.topic_words(topic, top_n).to_dict("records")
    if format is Format.json:
        tables.print_json({"topic": topic, "words": words})
    elif format is Format.csv:
        tables.print_records(words, raw=raw)
    else:
        rows = [(f"{row['probability']:.4f}", short(row["word"])) for row in words]
        tables.print_table(("probability", "word"), rows)
