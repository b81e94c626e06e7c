"""``metalda import``: models that other programs have trained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metalda.cli import options


def import_state(
    state: Annotated[
        Path, typer.Argument(metavar="STATE", help="What mallet train-topics --output-state wrote.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Folder for the model.")],
    encoding: options.Encoding = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Read the state of a model that Mallet trained, and save it as one of ours: an LDA.

    Topics keep their numbers. The other commands then work on MODEL as on any other.
    """
    import metalda
    from metalda.cli.summary import corpus_line, print_topics
    from metalda.storage import check_writable
    from metalda.utils.terminal import clean

    check_writable(output)
    model, corpus = metalda.read_mallet_state(state, encoding=encoding or "utf-8", verbose=not quiet)
    model.save(output)
    if not quiet:
        print(clean(corpus_line(state.name, corpus)))
        print_topics(model, top_n=10)
        print(f"\nSaved to {clean(str(output))}.")
