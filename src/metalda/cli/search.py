"""``metalda search``: one model with several numbers of topics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metalda.cli import options
from metalda.cli.comparison import BY_SIZE, ResultFolder, RunOptions, print_comparison, run_models
from metalda.cli.data import ReadingOptions, WordFiles
from metalda.cli.model_options import COMMON, MODEL, ModelOptions
from metalda.cli.options import Format
from metalda.models.registry import NAMES
from metalda.utils.terminal import clean

EPILOG = options.epilog(
    "metalda search news.jsonl --text body --labels section --topics 10,20,50,100 --seeds 3 --plot k.png"
)


def search(
    data: options.Data,
    topics: Annotated[
        str,
        typer.Option(
            "--topics",
            "-k",
            metavar="N,…",
            help="Numbers of topics to try, such as 10,20,50.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ],
    reading_options: ReadingOptions,
    word_files: WordFiles,
    model_options: Annotated[ModelOptions, COMMON],
    run_options: RunOptions,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help=f"The model: {', '.join(NAMES)}. Parameters follow a colon: metalda:mu=2,nu=2.",
            autocompletion=options.complete_model,
            rich_help_panel=MODEL,
        ),
    ] = "metalda",
    output: ResultFolder = Path("search"),
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot the table to a .png, .svg or .pdf file.", show_default=False),
    ] = None,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model with several numbers of topics, and print measures that help to choose one.

    Each number is tried with each seed, on a different part of DATA for each seed, and evaluated on the rest. No single
    measure decides: perplexity usually falls with more topics, while stability and exclusivity show when topics split
    or repeat. Results are saved and runs are resumed as in metalda compare.
    """
    from metalda.evaluation.comparison import models_by_size, table_by_size
    from metalda.evaluation.figures import check_figure_path, save_figure
    from metalda.evaluation.plots import plot_search

    sizes = options.whole_numbers(topics, "--topics")
    if plot is not None:
        check_figure_path(plot)
    comparison = run_models(
        data,
        output,
        reading_options,
        word_files,
        model_options,
        run_options,
        lambda parameters: models_by_size(model, sizes, parameters),
        f"--model {model}",
        format=format,
        quiet=quiet,
    )
    if plot is not None:
        save_figure(plot_search(table_by_size(comparison))[0].figure, plot)
    if quiet:
        return
    print_comparison(comparison, output, format, ("topics",), BY_SIZE, raw=raw)
    if plot is not None and format is Format.table:
        print(f"Plot saved to {clean(str(plot))}.")
