"""``metalda reproduce``: the experiments of the MetaLDA paper."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    from metalda.evaluation.runs import RunStore
    from metalda.experiments.tables import Experiment, Plan

Result = tuple[str, dict[str, object], list[dict[str, object]]]  # as Markdown, for JSON, and rows for CSV
EPILOG = options.epilog("metalda reproduce perplexity --dataset ws --topics 50 --models LDA,MetaLDA --seeds 3 --jobs 2")


class What(StrEnum):
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
            metavar="TABLE",
            help="variants (Table II), perplexity (Tables III and IV), unseen (the figure), coherence (Table V), "
            "speed (Table VI), or findings: the conclusions of the paper, checked against the runs.",
            show_default=False,
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", metavar="NAME,…", help="Datasets: ws, tmn, reuters, 20ng."),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option("--models", "-m", metavar="NAME,…", help="Models, named as in the paper: LDA,MetaLDA-dl-def."),
    ] = None,
    topics: Annotated[
        str | None, typer.Option("--topics", "-k", metavar="N,…", help="Numbers of topics.", show_default="the paper's")
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", min=1, help="Runs of each model; the paper used 5.")
    ] = 3,
    iterations: Annotated[int, typer.Option("--iterations", metavar="N", min=4, help="Iterations of each run.")] = 2000,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Folder with the datasets.", show_default="METALDA_DATA"),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder for runs, tables and plots. Runs are reused."),
    ] = Path("reproduction"),
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Runs at a time; speed is always measured alone.")
    ] = 1,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run missing experiments, or only print finished ones.")
    ] = True,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Save a plot as well.")] = True,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the experiments of the paper, and print its tables with our results next to the published ones.

    Each run is saved as soon as it is finished: after Ctrl-C the same command resumes, also on another machine. The
    table is saved too, as Markdown, JSON and a plot. A table with all models of the paper takes hours.
    """
    from metalda.evaluation.runs import RunStore, run_jobs
    from metalda.experiments import EXPERIMENTS
    from metalda.experiments.paper import MODELS
    from metalda.experiments.tables import Plan
    from metalda.experiments.training import DATASETS

    experiment = EXPERIMENTS.get(what.value)  # findings use all of them
    plan = Plan(
        datasets=options.names(dataset) or (DATASETS if experiment is None else experiment.datasets),
        models=options.names(models) or (tuple(MODELS) if experiment is None else experiment.models),
        topics=options.whole_numbers(topics, "--topics") if topics else (),
        seeds=tuple(range(seeds)),
        iterations=iterations,
        data=data,
    )
    store = RunStore(output / "runs")
    if experiment is None:
        text, document, records = _findings(plan, store, output)
    else:
        if run:
            run_jobs(list(experiment.jobs(plan)), store, data, n_processes=jobs if experiment.shared else 1)
            if experiment.finish is not None:
                experiment.finish(plan, store)
        text, document, records = _table(experiment, plan, store, output, plot=plot)
    _write(output / what.value, text, document)
    if quiet:
        return
    if format is Format.json:
        tables.print_json(document)
    elif format is Format.csv:
        tables.print_records(records, raw=raw)
    else:
        print("\n".join(map(clean, text.split("\n"))))


def _table(experiment: Experiment, plan: Plan, store: RunStore, output: Path, *, plot: bool) -> Result:
    table = experiment.table(plan, store)
    if not table.cells:
        raise InputError(f"{output}: no finished runs of {experiment.name}; leave out --no-run")
    if plot:
        from metalda.experiments.plots import save_plot

        save_plot(table, output / f"{experiment.name}.svg")
    cells = [cell.to_plain() for cell in table.cells]
    records = [{**cell, "paper": None if cell["paper"] is None else cell["paper"]["mean"]} for cell in cells]
    return f"# {experiment.title}\n\n{table.text}", {"experiment": experiment.name, "cells": cells}, records


def _findings(plan: Plan, store: RunStore, output: Path) -> Result:
    from metalda.experiments.findings import as_markdown, find_out

    findings = find_out(plan, store)
    if not any(finding.checks for finding in findings):
        raise InputError(f"{output}: no finished runs to check the findings with; run the tables first")
    plain = [finding.to_plain() for finding in findings]
    records = [
        {"statement": finding["statement"], "verdict": finding["verdict"], "comparisons": len(finding["checks"])}
        for finding in plain
    ]
    return f"# The paper's findings\n\n{as_markdown(findings)}", {"findings": plain}, records


def _write(stem: Path, text: str, document: dict[str, object]) -> None:
    """Save the Markdown and the JSON."""
    from metalda.storage import replacing, write_document

    with replacing(stem.with_suffix(".md"), "x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    write_document(stem.with_suffix(".json"), "table", document)
