"""``metalda topics``: looking at what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.utils.terminal import short

if TYPE_CHECKING:
    from metalda.models.base import TopicModel


def topics(
    model: options.Model,
    top_n: Annotated[int, typer.Option("--top-n", "-n", min=1, help="Words per topic.")] = 10,
    topic: Annotated[int | None, typer.Option("--topic", help="This topic only, with probabilities.")] = None,
    format: options.Printing = Format.table,
) -> None:
    """Show the topics of a model: their share of the training words, and their most probable words."""
    import metalda

    fitted = metalda.load(model)
    if topic is not None:
        _print_words(fitted, topic, top_n, format)
        return
    from metalda.cli.summary import print_topics, top_words

    if format is Format.table:
        print_topics(fitted, top_n)
        return
    rows = fitted.topics(top_n=1).drop(columns="words").to_dict("records")
    words = [top_words(fitted, row["topic"], top_n) for row in rows]
    if format is Format.json:
        tables.print_json([{**row, "words": own} for row, own in zip(rows, words, strict=True)])
    else:
        cells = [{**row, "share": f"{row['share']:.6g}"} for row in rows]
        lines = ((*row.values(), " ".join(own)) for row, own in zip(cells, words, strict=True))
        tables.print_csv((*rows[0], "words"), lines)


def _print_words(model: TopicModel, topic: int, top_n: int, format: Format) -> None:
    table = model.topic_words(topic, top_n)
    rows = list(zip(table["word"], table["probability"], strict=True))
    if format is Format.json:
        words = [{"word": word, "probability": probability} for word, probability in rows]
        tables.print_json({"topic": topic, "words": words})
    elif format is Format.csv:
        tables.print_csv(("word", "probability"), ((word, f"{p:.6g}") for word, p in rows))
    else:
        tables.print_table(("probability", "word"), [(f"{p:.4f}", short(word)) for word, p in rows])
