"""``metalda prepare``: texts of any size as a corpus on disk."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from metalda.cli import options
from metalda.cli.data import ReadingOptions


def prepare(
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="CORPUS", help="Folder for the corpus.", parser=options.location),
    ],
    reading_options: ReadingOptions,
    id: options.Id = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes that tokenize; -1 is all cores. Results do not depend on it.")
    ] = 1,
    restart: Annotated[
        bool, typer.Option("--restart", help="Delete the parts that an interrupted command left in the folder.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")] = False,
) -> None:
    """Tokenize DATA of any size, in little memory, into a folder that other commands take in its place.

    DATA is then tokenized only once, and training reads the words from disk. After Ctrl-C or a crash the same command
    resumes the work.
    """
    from metalda.cli.summary import corpus_line
    from metalda.corpus import Corpus
    from metalda.utils.terminal import clean

    n_jobs = options.jobs(jobs)
    corpus = Corpus.prepare(
        data, output, n_jobs=n_jobs, verbose=not quiet, resume=not restart, id=id, **reading_options.arguments
    )
    if not quiet:
        print(clean(corpus_line(data.name, corpus)))
        print(f"Saved to {clean(str(output))}. Next:")
        print(f"  metalda fit {clean(shlex.quote(str(output)))} -o model")
