"""``metalda topics``: the topics of a model."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.layout import Cell
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import short

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

EPILOG = options.epilog("metalda topics model --top-n 15 --words-by frex", "metalda topics model --seeds")


class WordsBy(StrEnum):
    """The order of the words of a topic: `WORD_SCORES`."""

    probability = "probability"
    relevance = "relevance"
    frex = "frex"
    lift = "lift"


def topics(
    model: options.Model,
    top_n: Annotated[int, typer.Option("--top-n", "-n", metavar="N", min=1, help="Words per topic.")] = 10,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="N|NAME", help="Show only this topic (number or name), with probabilities."),
    ] = None,
    words_by: Annotated[
        WordsBy,
        typer.Option(
            "--words-by",
            help="Order of the words. lift: probability in the topic over that in the corpus. relevance: between "
            "probability and lift. frex: frequent in the topic and exclusive to it.",
        ),
    ] = WordsBy.probability,
    seeds: Annotated[
        bool, typer.Option("--seeds", help="Print how strong the seed words of named topics are, instead of words.")
    ] = False,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the topics of a model: their share of the training tokens, and their first words."""
    import metalda

    if seeds and topic is not None:
        raise InputError("--seeds is a table of all named topics: leave out --topic")
    fitted = metalda.load(model)
    if seeds:
        _print_seeds(fitted, format, raw)
    elif topic is not None:
        _print_topic(fitted, options.topic_number(fitted, topic), top_n, words_by, format, raw)
    else:
        table = fitted._topics(top_n, words_by)
        tables.print_as(format, table, lambda: tables.print_topics(fitted, top_n, words_by), raw=raw)


def _print_topic(model: TopicModel, topic: int, top_n: int, words_by: str, format: Format, raw: bool) -> None:
    import numpy as np

    table = model._topic_words(topic, top_n, words_by)
    words = table.to_dict("records")
    place = model.fitted_.find_topic(topic)
    named = {name: column[0] for name, column in model.fitted_.named(np.array([place])).items()}

    def show() -> None:
        if name := named.get("name"):
            tables.print_heading(f"Topic {topic}: ", Cell(short(name), "name"))
        scores = [name for name in table.columns if name != "word"]
        rows = [(*(f"{row[name]:.4f}" for name in scores), short(row["word"])) for row in words]
        tables.print_table((*scores, "word"), rows)

    tables.print_as(format, table, show, raw=raw, value={**named, "words": words})


def _print_seeds(model: TopicModel, format: Format, raw: bool) -> None:
    from metalda.cli.effects import ends

    if not hasattr(model, "seed_strengths"):
        raise InputError("the model has no seed words; fit MetaLDA with --seeds FILE")
    table = model.seed_strengths()

    def show() -> None:
        rows = [
            (
                str(row["topic"]),
                Cell(short(row["name"]), "name"),
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

    tables.print_as(format, table, show, raw=raw)
