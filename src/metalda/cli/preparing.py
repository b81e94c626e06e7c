"""``metalda prepare``: texts of any size as a corpus on the disk."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from metalda.cli import options
from metalda.cli.reading import ReadingOptions


def prepare(
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="CORPUS", help="Folder for the corpus.", parser=options.location),
    ],
    reading_options: ReadingOptions,
    id: options.Id = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes that tokenise; -1 is all cores. Results do not depend on it.")
    ] = 1,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what a command that was stopped has left in the folder.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Tokenise DATA of any size, in little memory, into a folder that other commands take in its place.

    They need not tokenise again, and training reads the words from the disk. After Ctrl-C or a crash the same command
    goes on where it was.
    """
    from metalda.cli.summary import sizes_line
    from metalda.utils.terminal import clean

    reading = reading_options.for_training(data, id=id)
    sizes = reading.prepare(
        data,
        output,
        n_jobs=options.jobs(jobs),
        progress=not quiet,
        resume=not restart,
        **reading_options.filters,
    )
    if not quiet:
        print(clean(sizes_line(data.name, sizes)))
        print(f"Saved to {clean(str(output))}. Next:")
        print(f"  metalda fit {clean(shlex.quote(str(output)))} -o model")
