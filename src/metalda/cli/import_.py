"""``metalda import``: convert a model trained by Mallet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metalda.cli import options, tables
from metalda.utils.terminal import clean

EPILOG = options.epilog("metalda import topic-state.gz -o model")


def import_(
    state: Annotated[
        Path,
        typer.Argument(metavar="STATE", help="File written by mallet train-topics --output-state.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Folder for the model.")],
    encoding: options.Encoding = None,
    quiet: options.Quiet = False,
) -> None:
    """Read the state of a model trained by Mallet, and save it as an LDA model.

    Topics keep their numbers. All other commands work on the saved model.
    """
    import metalda
    from metalda.storage import check_writable

    check_writable(output)
    model, corpus = metalda.read_mallet_state(state, encoding=encoding or "utf-8", verbose=not quiet)
    model.save(output)
    if not quiet:
        print(clean(tables.corpus_line(state.name, corpus)))
        tables.print_topics(model, top_n=10)
        print(f"\nSaved to {clean(str(output))}.")
