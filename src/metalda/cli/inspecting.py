"""``metalda topics`` and ``metalda effects``: looking at what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.cli.text import short
from metalda.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

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


def effects(
    model: options.Model,
    interval: Annotated[float, typer.Option("--interval", help="Width of the intervals.")] = 0.9,
    label: Annotated[
        str | None, typer.Option("--label", metavar="NAME", help="What this label (or feature) does to all topics.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Rows per topic, or for the label; 0 shows all.")] = 5,
    features: Annotated[bool, typer.Option("--features", help="Effects of word features, not of labels.")] = False,
    format: options.Printing = Format.table,
) -> None:
    """Show what labels do to topics, with intervals over the kept draws.

    For each topic the labels that raise it most (or lower it least), or, with --label, the topics that one label moves
    most. An effect is the log of the label's weight beside that of the average label: 0 does nothing, 0.7 doubles. Rows
    are in the order of the end of the interval that is nearest to 0, so that what is uncertain comes late.
    """
    import metalda

    fitted = metalda.load(model)
    table = _effects_of(fitted, interval, label, top, features)
    if format is Format.json:
        tables.print_json(table.to_dict("records"))
    elif format is Format.csv:
        tables.print_csv(list(table.columns), ([tables.cell(value) for value in row] for row in table.to_numpy(object)))
    else:
        print_effects(fitted, table, interval)


def _effects_of(model: TopicModel, interval: float, name: str | None, top: int, features: bool) -> pd.DataFrame:
    """The rows to show, strongest first within a topic (or within the label that was asked for)."""
    kind = "feature" if features else "label"
    names = model.feature_names_ if features else model.label_names_
    if not names:
        option = "--word-features or --embeddings" if features else "--labels"
        model_name = type(model).__name__
        raise InputError(f"this {model_name} learnt from no {kind}s: it has no effects (see fit {option}, --model)")
    table = model.feature_effects(interval) if features else model.label_effects(interval)
    if name is None:
        return strongest(table, "topic", top)
    if name not in names:
        raise InputError(f"the model has no {kind} {name!r}; {_suggestions(name, names)}")
    table = table[table[kind] == name]
    order = table[["low"]].assign(high=-table["high"]).max(axis=1).sort_values(ascending=False, kind="stable").index
    return table.loc[order[: top or None]]


def strongest(table: pd.DataFrame, by: str, top: int) -> pd.DataFrame:
    """The rows of each group that surely raise a topic most: by the lower end of their interval."""
    table = table.sort_values([by, "low"], ascending=[True, False], kind="stable")
    return table.groupby(by, sort=False).head(top) if top else table


def print_effects(model: TopicModel, table: pd.DataFrame, interval: float) -> None:
    """Effects as a table; the words of a topic stand where it comes first."""
    from metalda.cli.summary import count, top_words

    kind = table.columns[0]
    rows, previous = [], None
    for row in table.to_dict("records"):
        words = "" if row["topic"] == previous else ", ".join(short(w) for w in top_words(model, row["topic"], 5))
        previous = row["topic"]
        ends = f"{row['low']:+.2f} to {row['high']:+.2f}"
        rows.append((str(row["topic"]), short(row[kind]), f"{row['effect']:+.2f}", ends, words))
    header = ("topic", kind, "effect", f"{interval:.0%} interval", "words of the topic")
    tables.print_table(header, rows, left=(kind,))
    n_draws = len(model.draws_)
    advice = "" if n_draws >= 10 else ": too few for them to mean much; fit with more --iterations"
    print(f"\nIntervals are over {count(n_draws, 'kept draw')}{advice}.")


def _suggestions(name: str, names: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=3, cutoff=0.6)
    return (
        f"did you mean {', '.join(map(repr, close))}?"
        if close
        else f"it has {', '.join(map(repr, names[:5]))}" + (" …" if len(names) > 5 else "")
    )
