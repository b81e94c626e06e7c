"""``metalda prevalence``: expected topic proportions over a number or a label column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.effects import ends, signed_cells
from metalda.cli.layout import Cell
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    import pandas as pd

    from metalda.meta.terms import ColumnValue, Terms
    from metalda.models.base import TopicModel

_FEW_POINTS = 5  # of a number in a printed table
EPILOG = options.epilog(
    "metalda prevalence model --over year --by genre --plot years.png",
    "metalda prevalence model --over year --by genre --at genre=Drama --at genre=War --contrast",
)


def prevalence(
    model: options.Model,
    over: Annotated[
        str,
        typer.Option("--over", metavar="COLUMN", help="Column with a number or labels.", show_default=False),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Column whose values are shown side by side: in tables and plots its 8 most frequent labels, unless "
            "--at chooses them.",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="COLUMN=VALUE",
            help="Values of a column: of --over or --by to choose what is shown, of another to hold it fixed. Repeat "
            "the option, or separate values by commas. Proportions are averages over the training documents, "
            "which keep their labels and numbers of other columns.",
            show_default=False,
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            "--points",
            metavar="N",
            min=2,
            max=10_000,
            help="Points over the range of a number.",
            show_default="5 in a table; 40 in json, csv and plots",
        ),
    ] = None,
    contrast: Annotated[
        bool,
        typer.Option("--contrast", help="Print differences from the first value of --by, or of --over without --by."),
    ] = False,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topics",
            metavar="N|NAME,…",
            help="Topics to show, by number or name; by default all.",
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option("--interval", metavar="PROBABILITY", help="Posterior probability of the intervals.")
    ] = 0.9,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.csv", help="Write the table as CSV.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot the curves: a .png, .svg or .pdf.", show_default=False),
    ] = None,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the expected proportions of topics over a number or a label column, with posterior intervals.

    Intervals describe the expected proportion, not that of a single document.
    """
    import metalda
    from metalda.evaluation.figures import check_figure_path, save_figure
    from metalda.evaluation.plots import of_topics
    from metalda.models.prevalence import N_POINTS, require_columns
    from metalda.models.weights import require_effects

    if output is not None:
        _check_output(output)
    if plot is not None:
        check_figure_path(plot)
    chosen = None if topics is None else options.topics("--topics", topics)
    fitted = metalda.load(model)
    require_effects(fitted, "label")
    require_columns(fitted.fitted_, over, by)
    if over == by:
        raise InputError(f"--over and --by are both {over}: give two columns")
    terms = fitted.fitted_.labels.terms
    assert terms is not None, "require_columns was called"
    given = parse_values(at or [], terms)
    brief = format is Format.table and output is None
    values = _grid(fitted, over, by, given, points or (_FEW_POINTS if brief else N_POINTS), brief)
    table = fitted.prevalence_at(values, interval, contrast=(by or over) if contrast else None)
    table = _shown(of_topics(table, chosen, fitted.fitted_), values, by or over)
    if plot is not None:
        panels = metalda.plot_prevalence(
            fitted, over, by, chosen, at=given, contrast=contrast, interval=interval, n_points=points or N_POINTS
        )
        save_figure(panels[0].figure, plot)
    if output is not None:
        _write(table, output, raw)
        print(f"{tables.count(len(table), 'row')} saved to {clean(str(output))}.")
    elif format is Format.json:
        tables.print_json(table.to_dict("records"))
    elif format is Format.csv:
        tables.print_frame(table, raw=raw)
    else:
        _print_table(fitted, table, list(values), interval)


def parse_values(texts: list[str], terms: Terms) -> dict[str, list[ColumnValue]]:
    """Parse ``genre=Drama`` and ``year=1950,2000`` as values of the columns of a model."""
    columns = sorted((*terms.labels, *terms.numbers), key=len, reverse=True)
    found: dict[str, list[ColumnValue]] = {}
    for text in texts:
        column = next((column for column in columns if text.startswith(f"{column}=")), None)
        if column is None:
            name, equals, _ = text.partition("=")
            if not equals:
                raise InputError(f"--at {text}: expected COLUMN=VALUE, such as year=1990")
            terms.require_column(name)
            continue
        value = text.removeprefix(f"{column}=")
        is_label = column in terms.labels and bool({value, text} & set(terms.labels[column]))
        own = [value] if is_label else options.columns([value]) or [value]
        found.setdefault(column, []).extend(own if column in terms.labels else (_number(column, each) for each in own))
    return found


def _number(column: str, text: str) -> float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    raise InputError(f"--at {column}={text}: {column!r} is a number, and {text!r} is not")


def _grid(
    fitted: TopicModel, over: str, by: str | None, given: Mapping[str, list[ColumnValue]], points: int, brief: bool
) -> dict[str, list[ColumnValue]]:
    """Return the values of the table: those given, or all. A brief one has the most frequent labels of `by`."""
    from metalda.models.prevalence import default_values, frequent_values

    model, values = fitted.fitted_, {column: own for column, own in given.items() if column not in (over, by)}
    if by is not None:
        is_number = model.labels.terms is not None and by in model.labels.terms.numbers
        values[by] = given.get(by) or (frequent_values if brief or is_number else default_values)(model, by)
    values[over] = given.get(over) or default_values(model, over, points)
    return values


def _shown(table: pd.DataFrame, columns: Iterable[str], contrast: str) -> pd.DataFrame:
    """Return the table by topic, with labels as they are in the data."""
    from metalda.models.prevalence import shown_value

    shown = table.assign(
        **{column: [shown_value(column, value) for value in table[column]] for column in columns},
    )
    if "reference" in table:
        shown["reference"] = [shown_value(contrast, value) for value in table["reference"]]
    shown = shown.sort_values("topic", kind="stable")
    shown.attrs.update(table.attrs)
    return shown


def _check_output(path: Path) -> None:
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path}: the name must end in .csv; for JSON use --format json")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file; choose another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def _write(table: pd.DataFrame, path: Path, raw: bool) -> None:
    from metalda.storage import replacing
    from metalda.utils.csv_writer import write_csv

    with replacing(path, "x", encoding="utf-8", errors="backslashreplace", newline="") as file:
        write_csv(file, list(table.columns), table.to_numpy(object), raw=raw)


def _print_table(model: TopicModel, table: pd.DataFrame, columns: list[str], interval: float) -> None:
    """Print a row for each point; the words of a topic are in its first row."""
    rows, previous = [], None
    differences = "reference" in table
    style = "+.3f" if differences else ".3f"
    for row in table.to_dict("records"):
        words = Cell("") if row["topic"] == previous else tables.describe_topic(model, row["topic"], 5)
        previous = row["topic"]
        cells: list[str | Cell] = [short(_text(row[column])) for column in columns]
        if differences:
            cells += signed_cells(row["mean"], row["low"], row["high"], style)
        else:
            cells += [f"{row['mean']:{style}}", ends(row["low"], row["high"], style)]
        if "chains" in row:
            cells += tables.chain_cells(model, [row["chains"]])
        rows.append((str(row["topic"]), *cells, words))
    if differences and len(table):
        print(f"Differences from {short(_text(table['reference'].iloc[0]))}:\n")
    header = ["topic", *map(short, columns), "difference" if differences else "proportion", f"{interval:.0%} interval"]
    tables.print_table(
        (*header, *(["chains"] if "chains" in table else []), "words of the topic"), rows, left=map(short, columns)
    )
    tables.print_notes(model)
    if not model.fitted_.doc_prior.samples_weights:
        print(
            f"\nThese proportions have no intervals: the weights of {type(model).__name__} are point estimates. Those "
            "of MetaLDA are sampled."
        )
    elif table["low"].notna().any():
        print(f"\nIntervals are over {tables.count(table.attrs['n_draws'], 'draw')}.")


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
