"""``metalda topics``: the topics of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import short

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

EPILOG = options.epilog("metalda topics model --top-n 15", "metalda topics model --seeds")


def topics(
    model: options.Model,
    top_n: Annotated[int, typer.Option("--top-n", "-n", metavar="N", min=1, help="Words per topic.")] = 10,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="N|NAME", help="Show only this topic (number or name), with probabilities."),
    ] = None,
    seeds: Annotated[
        bool, typer.Option("--seeds", help="Print how strong the seed words of named topics are, instead of words.")
    ] = False,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the topics of a model: their share of the training tokens, and their most probable words."""
    import metalda

    if seeds and topic is not None:
        raise InputError("--seeds is a table of all named topics: leave out --topic")
    fitted = metalda.load(model)
    if seeds:
        _print_seeds(fitted, format, raw)
    elif topic is not None:
        _print_topic(fitted, options.topic_number(fitted, topic), top_n, format, raw)
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
    import numpy as np

    words = model.topic_words(topic, top_n).to_dict("records")
    if format is Format.json:
        place = model.fitted_.find_topic(topic)
        named = {name: column[0] for name, column in model.fitted_.named(np.array([place])).items()}
        tables.print_json({**named, "words": words})
    elif format is Format.csv:
        tables.print_records(words, raw=raw)
    else:
        rows = [(f"{row['probability']:.4f}", short(row["word"])) for row in words]
        if model.fitted_.topic_names and (name := model.fitted_.topic_names[model.fitted_.find_topic(topic)]):
            print(f"Topic {topic}: {short(name)}\n")
        tables.print_table(("probability", "word"), rows)


def _print_seeds(model: TopicModel, format: Format, raw: bool) -> None:
    from metalda.cli.effects import ends

    if not hasattr(model, "seed_strengths"):
        raise InputError("the model has no seed words; fit MetaLDA with --seeds FILE")
    table = model.seed_strengths()
    if format is Format.json:
        tables.print_json(table.to_dict("records"))
    elif format is Format.csv:
        tables.print_frame(table, raw=raw)
    else:
        rows = [
            (
                str(row["topic"]),
                short(row["name"]),
                f"{row['strength']:.3g}",
                ends(row["low"], row["high"], ".3g"),
                f"{row['words']:,}",
                f"{row['tokens']:,}",
                f"{row['in_topic']:.1%}",
            )
            for row in table.to_dict("records")
        ]
        columns = ("topic", "name", "strength", "90% interval", "words", "tokens", "in the topic")
        tables.print_table(columns, rows, left=("name",))
        print(
            "\nThe strength is how many times as probable a seed word is a priori as another word of the topic, given "
            f"the documents; before them it was {model.get_params()['seed_weight']:g}."
        )
