"""``metalda compare``: several models on one corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metalda.cli import options
from metalda.cli.comparison import ResultFolder, RunOptions, print_comparison, run_models
from metalda.cli.data import ReadingOptions, WordFiles
from metalda.cli.model_options import COMMON, MODEL, ModelOptions
from metalda.cli.options import Format
from metalda.models.registry import NAMES

EPILOG = options.epilog(
    "metalda compare news.jsonl --text body --labels section --models metalda,lda -k 50 --seeds 3",
    "metalda compare news.jsonl --text body --labels section --models metalda,metalda:mu=2,nu=2 -k 50",
)

_PARAMETERS = ("n_components", *COMMON)


def compare(
    data: options.Data,
    models: Annotated[
        list[str],
        typer.Option(
            "--models",
            "-m",
            metavar="NAME,…",
            help=f"Models separated by commas: {', '.join(NAMES)}. Parameters follow a colon: metalda:mu=2,nu=2.",
            show_default=False,
            autocompletion=options.complete_models,
            rich_help_panel=MODEL,
        ),
    ],
    reading_options: ReadingOptions,
    word_files: WordFiles,
    model_options: Annotated[ModelOptions, _PARAMETERS],
    run_options: RunOptions,
    output: ResultFolder = Path("comparison"),
    format: options.Printing = Format.table,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> None:
    """Train several models on one corpus, evaluate them, and print one table.

    Each model is trained once per seed, on a different part of DATA for each seed, and evaluated on the rest. Results
    are saved as soon as a run is finished. After Ctrl-C the same command resumes; a command with more models or seeds
    runs only the new ones.
    """
    from metalda.evaluation.named_models import name_models, split_names

    names = split_names(models)
    comparison = run_models(
        data,
        output,
        reading_options,
        word_files,
        model_options,
        run_options,
        lambda parameters: name_models(names, parameters),
        f"--models {','.join(names)}",
        format=format,
        quiet=quiet,
    )
    if not quiet:
        print_comparison(comparison, output, format, ("model", "topics"), raw=raw)
