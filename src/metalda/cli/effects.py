"""``metalda effects``: what labels and word features do to topics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import short

if TYPE_CHECKING:
    import pandas as pd

    from metalda.models.base import TopicModel

FEW_DRAWS = 20  # 90 % intervals of 15 draws hold 84 % (docs/effects.md)


def effects(
    model: options.Model,
    interval: Annotated[float, typer.Option("--interval", help="Probability that an interval holds the effect.")] = 0.9,
    label: Annotated[
        str | None, typer.Option("--label", metavar="NAME", help="What this label (or feature) does to all topics.")
    ] = None,
    contrast: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--contrast",
            metavar="FIRST SECOND",
            help="What sets one label apart from another; sport,2019 politics,2019 compares combinations.",
            show_default=False,
        ),
    ] = None,
    proportions: Annotated[
        bool, typer.Option("--proportions", help="Topic proportions expected of documents with a label, not effects.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=0,
            help="Rows per topic (with --proportions per label), or for the label or contrast; 0 shows all.",
            show_default="5; all in json and csv",
        ),
    ] = None,
    features: Annotated[bool, typer.Option("--features", help="Effects of word features, not of labels.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Also draw the effects: a .png, .svg or .pdf.", show_default=False),
    ] = None,
    format: options.Printing = Format.table,
) -> None:
    """Show what labels do to topics, with intervals over the kept draws.

    For each topic the labels that raise it most (or lower it least), or, with --label, the topics that one label moves
    most. An effect is the log of the label's weight beside that of the average label: 0 does nothing, 0.7 doubles. Rows
    are in the order of the end of the interval that is nearest to 0, so that what is uncertain comes late.
    """
    import metalda

    _check_choice(label, contrast, proportions, features, plot)
    if top is None:
        top = 5 if format is Format.table else 0
    fitted = metalda.load(model)
    sides = None
    if contrast is not None:
        sides = _labels_of(fitted, contrast[0], features), _labels_of(fitted, contrast[1], features)
        compare = fitted.feature_contrasts if features else fitted.label_contrasts
        table = _surest(compare(*sides, interval=interval), top)
    elif proportions:
        table = _proportions_of(fitted, interval, label, top)
    else:
        table = _effects_of(fitted, interval, label, top, features)
    if plot is not None:
        from metalda.evaluation.plots import save_figure

        drawn = metalda.plot_effects(fitted, label, contrast=sides, features=features, interval=interval)
        save_figure(drawn.figure, plot)
    _print(fitted, table, interval, format)


def _check_choice(
    label: str | None, contrast: tuple[str, str] | None, proportions: bool, features: bool, plot: Path | None
) -> None:
    if contrast is not None and (label is not None or proportions):
        raise InputError("--contrast goes neither with --label nor with --proportions: choose one")
    if proportions and features:
        raise InputError("--proportions are those of documents with a label; --features have none")
    if plot is None:
        return
    if proportions:
        raise InputError("--plot draws effects and contrasts; leave out --proportions")
    from metalda.evaluation.plots import check_figure_path

    check_figure_path(plot)


def _labels_of(model: TopicModel, text: str, features: bool) -> list[str]:
    """A label, or several with commas between them; a label may have a comma of its own."""
    names = model.feature_names_ if features else model.label_names_
    return [text] if text in names else [part.strip() for part in text.split(",") if part.strip()]


def _effects_of(model: TopicModel, interval: float, name: str | None, top: int, features: bool) -> pd.DataFrame:
    """The rows to show, strongest first within a topic (or within the label that was asked for)."""
    table = model.feature_effects(interval) if features else model.label_effects(interval)
    if name is None:
        return strongest(table, "topic", top)
    return _surest(_rows_of(table, name, model), top)


def _proportions_of(model: TopicModel, interval: float, name: str | None, top: int) -> pd.DataFrame:
    """The largest topics of each label, or of one."""
    table = model.label_proportions(interval)
    if name is not None:
        table = _rows_of(table, name, model)
    table = table.sort_values(["label", "proportion"], ascending=[True, False], kind="stable")
    return table.groupby("label", sort=False).head(top) if top else table


def _rows_of(table: pd.DataFrame, name: str, model: TopicModel) -> pd.DataFrame:
    from metalda.models.effects import suggest

    kind = table.columns[0]
    names = model.feature_names_ if kind == "feature" else model.label_names_
    if name not in names:
        raise InputError(f"the model has no {kind} {name!r}; {suggest(name, names)}")
    return table[table[kind] == name]


def strongest(table: pd.DataFrame, by: str, top: int) -> pd.DataFrame:
    """The rows of each group that surely raise a topic most: by the lower end of their interval."""
    table = table.sort_values([by, "low"], ascending=[True, False], kind="stable")
    return table.groupby(by, sort=False).head(top) if top else table


def _surest(table: pd.DataFrame, top: int) -> pd.DataFrame:
    """The rows that are surely far from 0, either way."""
    order = table[["low"]].assign(high=-table["high"]).max(axis=1).sort_values(ascending=False, kind="stable").index
    return table.loc[order[: top or None]]


def _print(model: TopicModel, table: pd.DataFrame, interval: float, format: Format) -> None:
    if format is Format.json:
        tables.print_json(table.to_dict("records"))
    elif format is Format.csv:
        tables.print_csv(list(table.columns), ([tables.cell(value) for value in row] for row in table.to_numpy(object)))
    else:
        print_effects(model, table, interval)


def print_effects(model: TopicModel, table: pd.DataFrame, interval: float) -> None:
    """Effects or proportions as a table; the words of a topic stand where it comes first."""
    from metalda.cli.summary import count, top_words

    kind = table.columns[0] if table.columns[0] in ("label", "feature") else None
    value, style = ("effect", "+.2f") if "effect" in table else ("proportion", ".3f")
    rows, previous = [], None
    for row in table.to_dict("records"):
        own = (row["topic"], row[kind] if value == "proportion" else None)  # proportions are listed label by label
        words = "" if own == previous else ", ".join(short(w) for w in top_words(model, row["topic"], 5))
        previous = own
        ends = f"{row['low']:{style}} to {row['high']:{style}}"
        name = (short(row[kind]),) if kind else ()
        rows.append((str(row["topic"]), *name, f"{row[value]:{style}}", ends, words))
    if kind is None and len(table):
        print(f"{short(table['first'].iloc[0])} beside {short(table['second'].iloc[0])}:\n")
    named = (kind,) if kind else ()
    header = ("topic", *named, value, f"{interval:.0%} interval", "words of the topic")
    tables.print_table(header, rows, left=named)
    n_draws = len(model.draws_)
    advice = "" if n_draws >= FEW_DRAWS else "; so few make them too narrow (see fit --draws, --iterations)"
    print(f"\nIntervals are over {count(n_draws, 'kept draw')}{advice}.")
