"""``metalda reproduce``: the paper's tables and its figure, ours beside theirs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import tables
from metalda.cli.options import PlainFormat
from metalda.errors import InputError

if TYPE_CHECKING:
    from metalda.evaluation.runs import RunStore
    from metalda.experiments.tables import Experiment, Plan


class What(str, Enum):
    """A table of the paper."""

    variants = "variants"
    perplexity = "perplexity"
    unseen = "unseen"
    coherence = "coherence"
    speed = "speed"
    findings = "findings"


def reproduce(
    what: Annotated[
        What,
        typer.Argument(
            help="variants (Table II), perplexity (Tables III and IV), unseen (the figure), coherence (Table V), "
            "speed (Table VI), or findings: what the paper concludes, and whether the runs bear it out.",
            show_default=False,
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", metavar="NAME,…", help="Corpora: ws, tmn, reuters, 20ng."),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option("--models", "-m", metavar="NAME,…", help="As the paper names them: LDA,MetaLDA-dl-def."),
    ] = None,
    topics: Annotated[
        str | None, typer.Option("--topics", "-k", metavar="N,…", help="Numbers of topics.", show_default="the paper's")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each model; the paper has 5.")] = 3,
    iterations: Annotated[int, typer.Option("--iterations", min=4, help="Of each run.")] = 2000,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Where the corpora lie.", show_default="METALDA_DATA"),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="For runs, tables and pictures, and to go on from.")
    ] = Path("reproduction"),
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Runs at a time; speed is always measured alone.")
    ] = 1,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run what is missing, or only show what there is.")
    ] = True,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw a picture as well.")] = True,
    format: Annotated[PlainFormat, typer.Option("--format", help="How to print.")] = PlainFormat.table,
) -> None:
    """Run the paper's experiments, and print its tables with our figures beside its own.

    Every run is kept in the folder as soon as it is done: after Ctrl-C the same command goes on, also on another day or
    machine. The table is written there too, as Markdown, JSON and a picture. A table of all the paper's models takes
    hours.
    """
    from metalda.evaluation.runs import RunStore, run_jobs
    from metalda.experiments import EXPERIMENTS
    from metalda.experiments.paper import MODELS
    from metalda.experiments.tables import Plan
    from metalda.experiments.training import DATASETS

    experiment = EXPERIMENTS.get(what.value)  # findings are drawn from all of them
    plan = Plan(
        datasets=_names(dataset) or (DATASETS if experiment is None else experiment.datasets),
        models=_names(models) or (tuple(MODELS) if experiment is None else experiment.models),
        topics=_whole_numbers(topics, "--topics"),
        seeds=tuple(range(seeds)),
        iterations=iterations,
        data=data,
    )
    store = RunStore(output / "runs")
    if experiment is None:
        _write_findings(plan, store, output, format)
        return
    if run:
        run_jobs(list(experiment.jobs(plan)), store, data, n_processes=jobs if experiment.shared else 1)
        if experiment.finish is not None:
            experiment.finish(plan, store)
    _write_table(experiment, plan, store, output, plot=plot, format=format)


def _write_table(
    experiment: Experiment, plan: Plan, store: RunStore, output: Path, *, plot: bool, format: PlainFormat
) -> None:
    table = experiment.table(plan, store)
    if not table.cells:
        raise InputError(f"{output}: no runs of {experiment.name} are there yet; leave out --no-run")
    if plot:
        from metalda.experiments.plots import save_plot

        save_plot(table, output / f"{experiment.name}.svg")
    document = {"experiment": experiment.name, "cells": [cell.to_plain() for cell in table.cells]}
    _write(output / experiment.name, f"# {experiment.title}\n\n{table.text}", document, format)


def _write_findings(plan: Plan, store: RunStore, output: Path, format: PlainFormat) -> None:
    from metalda.experiments.findings import as_markdown, find_out

    findings = find_out(plan, store)
    if not any(finding.checks for finding in findings):
        raise InputError(f"{output}: no runs to draw findings from; run the tables first")
    document = {"findings": [finding.to_plain() for finding in findings]}
    _write(output / "findings", f"# The paper's findings\n\n{as_markdown(findings)}", document, format)


def _write(stem: Path, text: str, document: dict[str, Any], format: PlainFormat) -> None:
    """Markdown and JSON into files, and one of them onto the screen."""
    from metalda.storage import replacing, write_document

    with replacing(stem.with_suffix(".md"), "x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    write_document(stem.with_suffix(".json"), "table", document)
    if format is PlainFormat.json:
        tables.print_json(document)
    else:
        print(text)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _whole_numbers(text: str | None, option: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in _names(text))
    except ValueError:
        numbers = (0,)
    if any(number < 1 for number in numbers):
        raise InputError(f"{option} {text}: expected whole numbers from 1 on, separated by commas")
    return numbers
