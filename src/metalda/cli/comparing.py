"""``metalda compare`` and ``metalda search``: several models, or numbers of topics, on one corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import completing, options, tables
from metalda.cli.data import ReadingOptions
from metalda.cli.figures import BETWEEN_SIZES, print_figures
from metalda.cli.options import Format
from metalda.cli.running import RunOptions, run_models
from metalda.errors import InputError
from metalda.models.registry import NAMES
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    from metalda.evaluation.comparison import Comparison

_Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results, and to go on from.")
]


def compare(
    data: options.Data,
    models: Annotated[
        list[str],
        typer.Option(
            "--models",
            "-m",
            metavar="NAME,…",
            help=f"Models, separated by commas: {', '.join(NAMES)}. Parameters follow a colon: metalda:mu=2,nu=2",
            show_default=False,
            autocompletion=completing.several_models,
        ),
    ],
    reading_options: ReadingOptions,
    run_options: RunOptions,
    output: _Output = Path("comparison"),
    topics: options.Topics = None,
    format: options.Printing = Format.table,
) -> None:
    """Fit several models on one corpus and print how good they are, side by side.

    Every model is fitted once for every seed, on another part of DATA each time, and judged on the rest. Each result is
    kept in the folder as soon as it is there: after Ctrl-C the same command goes on, and a command with more models or
    seeds runs only what is new.
    """
    from metalda.evaluation.candidates import find_candidates, split_names

    names = split_names(models)
    size = {} if topics is None else {"n_components": topics}
    comparison = run_models(
        data,
        output,
        reading_options,
        run_options,
        lambda common: find_candidates(names, {**size, **common}),
        f"--models {','.join(names)}",
        quiet=format is not Format.table,
    )
    _print(comparison, output, format, lambda rows: print_figures(rows, ("model", "topics")))


def search(
    data: options.Data,
    topics: Annotated[
        str, typer.Option("--topics", "-k", metavar="NUMBER,…", help="Numbers of topics to try, such as 10,20,50.")
    ],
    reading_options: ReadingOptions,
    run_options: RunOptions,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help=f"The model: {', '.join(NAMES)}. Parameters follow a colon: metalda:mu=2,nu=2",
            autocompletion=completing.one_model,
        ),
    ] = "metalda",
    output: _Output = Path("search"),
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the table as a .png, .pdf or .svg file.")
    ] = None,
    format: options.Printing = Format.table,
) -> None:
    """Fit a model with several numbers of topics, and print what may help to choose one.

    Every number is tried with every seed, on another part of DATA each time, and judged on the rest. No column chooses
    for you: perplexity mostly falls with more topics, while stability and exclusivity show from where on topics come
    apart or repeat each other. Results are kept as by compare, and the same command goes on after Ctrl-C.
    """
    from metalda.evaluation.plotting import check_picture, plot_search, save_figure
    from metalda.evaluation.search import candidates_by_size, table_by_size

    sizes = _sizes(topics)
    if plot is not None:
        check_picture(plot)
    comparison = run_models(
        data,
        output,
        reading_options,
        run_options,
        lambda common: candidates_by_size(model, sizes, common),
        f"--model {model}",
        quiet=format is not Format.table,
    )
    if plot is not None:
        save_figure(plot_search(table_by_size(comparison)), plot)
    _print(comparison, output, format, lambda rows: print_figures(rows, ("topics",), BETWEEN_SIZES))
    if plot is not None and format is Format.table:
        print(f"Drawn in {clean(str(plot))}.")


def _sizes(text: str) -> list[int]:
    """``10,20,50``."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--topics {text}: expected numbers separated by commas, such as 10,20,50") from None


def _print(
    comparison: Comparison,
    output: Path,
    format: Format,
    print_rows: Callable[[Sequence[Mapping[str, Any]]], None],
) -> None:
    from metalda.cli.summary import count

    plain = comparison.to_plain()
    rows = plain["models"]
    if format is Format.json:
        tables.print_json(plain)
        return
    if format is Format.csv:
        tables.print_csv(list(rows[0]), ([tables.cell(value) for value in row.values()] for row in rows))
        return
    print()
    print_rows(rows)
    runs = count(len(comparison.runs), "run")
    before = f", {comparison.n_found:,} of them done before" if comparison.n_found else ""
    print(f"\n{runs}{before}. Saved to {clean(str(output))}: comparison.csv and comparison.json.")
