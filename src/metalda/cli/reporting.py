"""``metalda report``: a model as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options
from metalda.cli.data import NewDocumentOptions

if TYPE_CHECKING:
    from metalda.models.base import TopicModel


def report(
    model: options.Model,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The .html file to write.")],
    new: NewDocumentOptions,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            metavar="DATA",
            help="Documents to show, such as those of training: a file as for fit, or the folder of a saved corpus.",
            parser=options.location,
        ),
    ] = None,
    id: options.Id = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(
            "--compare",
            metavar="MODEL",
            help="Another model to show beside it; repeat it for more.",
            show_default=False,
        ),
    ] = None,
    chain: Annotated[
        list[Path] | None,
        typer.Option(
            "--chain",
            metavar="MODEL",
            help="The same model with another seed, for the diagnostics; repeat it for more.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Of the report.", show_default=False)] = None,
    interval: Annotated[float, typer.Option("--interval", help="Width of the intervals.")] = 0.9,
    max_documents: Annotated[
        int, typer.Option("--max-documents", min=1, help="Documents to show at most; others are sampled.")
    ] = 2000,
    jobs: options.Jobs = 1,
) -> None:
    """Write a report of a model: one HTML file that works without a network.

    It has a map of the topics, their words, labels and their effects, documents, and how training went. DATA is read as
    the training data was, unless options say otherwise; without it there are no documents and no coherence.
    """
    import metalda
    from metalda.report.page import check_page, require_report

    check_page(output)
    require_report()
    fitted = metalda.load(model).set_params(n_jobs=options.jobs(jobs))
    documents = None if corpus is None else new.read(fitted, corpus, id=id)
    metalda.write_report(
        fitted,
        output,
        documents,
        models=_load_named(compare or []),
        chains=[metalda.load(path) for path in chain or []],
        title=title,
        interval=interval,
        max_documents=max_documents,
    )
    print_written(output)


def print_written(path: Path) -> None:
    """Where the report is, and how large."""
    from metalda.utils.terminal import clean

    print(f"Report: {clean(str(path))} ({path.stat().st_size / 1e6:.1f} MB); open it in a browser.")


def _load_named(paths: list[Path]) -> dict[str, TopicModel]:
    """Models by the names of their folders."""
    import metalda

    return {path.resolve().name: metalda.load(path) for path in dict.fromkeys(paths)}
