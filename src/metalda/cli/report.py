"""``metalda report``: an interactive HTML report of a model."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options
from metalda.cli.data import NewDocumentOptions
from metalda.errors import InputError

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

EPILOG = options.epilog("metalda report model -o report.html --corpus news.jsonl --compare other-model")


def report(
    model: options.Model,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")],
    new: NewDocumentOptions,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            metavar="DATA",
            help="Documents to show, such as the training data: any DATA of metalda fit, or a saved corpus.",
            parser=options.data_location,
        ),
    ] = None,
    id: options.Id = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(
            "--compare",
            metavar="MODEL",
            help="Another model to compare with; repeat the option for more.",
            show_default=False,
        ),
    ] = None,
    chain: Annotated[
        list[Path] | None,
        typer.Option(
            "--chain",
            metavar="MODEL",
            help="The same model with another seed, for diagnostics; repeat the option for more.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Title of the report.", show_default=False)
    ] = None,
    interval: Annotated[
        float, typer.Option("--interval", metavar="PROBABILITY", help="Posterior probability of the intervals.")
    ] = 0.9,
    max_documents: Annotated[
        int,
        typer.Option("--max-documents", metavar="N", min=1, help="Show at most N documents, sampled at random."),
    ] = 2000,
    names: options.Names = None,
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order",
            metavar="KIND[=LABEL,…]",
            help="A kind of labels that has an order: that of the names, or size=small,medium,large. Years, decades, "
            "dates, numbers and bins are found. Repeat the option for more.",
            show_default=False,
        ),
    ] = None,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write an interactive report of a model: one HTML file that works offline.

    It contains a map of the topics, their words, label effects, documents, and training diagnostics. The corpus is read
    with the options of training unless options are given here; without --corpus the report contains no documents and
    no coherence.
    """
    import metalda
    from metalda.report.page import check_page, write_page
    from metalda.report.summary import summarize

    check_page(output)
    fitted = options.load_model(model, jobs)
    if names is not None:
        options.rename_topics(fitted, names)
    documents = None if corpus is None else new.read(fitted, corpus, id=id, verbose=not quiet, keep_text=True)
    summary = summarize(
        fitted,
        documents,
        models=_load_named(compare or []),
        chains=[metalda.load(path) for path in chain or []],
        title=title,
        interval=interval,
        max_documents=max_documents,
        order=_orders(order or []),
    )
    write_page(summary, output)
    if not quiet:
        print_written(output)


def _orders(texts: list[str]) -> dict[str, list[str] | None]:
    """Parse ``grade``, and ``size=small,medium,large``, where a field in quotes may contain commas."""
    orders: dict[str, list[str] | None] = {}
    for text in texts:
        kind, equals, own = text.partition("=")
        if kind in orders:
            raise InputError(f"--order {text}: {kind!r} is given twice")
        orders[kind] = [part.strip() for part in next(csv.reader([own]), [])] if equals else None
    return orders


def print_written(path: Path) -> None:
    """Print the path and the size of the report."""
    from metalda.utils.terminal import clean

    print(f"Report: {clean(str(path))} ({path.stat().st_size / 1e6:.1f} MB); open it in a browser.")


def _load_named(paths: list[Path]) -> dict[str, TopicModel]:
    """Load models under the names of their folders."""
    import metalda

    return {path.resolve().name: metalda.load(path) for path in dict.fromkeys(paths)}
