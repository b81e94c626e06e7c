"""``metalda prepare``: tokenize a corpus of any size and save it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.data import ReadingOptions
from metalda.utils.terminal import clean

EPILOG = options.epilog(
    "metalda prepare papers.tsv.xz -o corpus --text abstract --labels categories --min-df 5 --jobs 2"
)


def prepare(
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="CORPUS", help="Folder for the corpus.", parser=options.location),
    ],
    reading_options: ReadingOptions,
    id: options.Id = None,
    keep_text: Annotated[
        bool | None,
        typer.Option(
            "--keep-text/--no-keep-text",
            help="Keep the texts as written, for the report, metalda documents and metalda export.",
            show_default="up to 100 MB",
            rich_help_panel=options.TEXT,
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            help="Processes; -1 uses all cores. Results do not depend on it.",
            rich_help_panel=options.COMPUTING,
        ),
    ] = 1,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard the work of an interrupted command instead of resuming.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Tokenize DATA of any size, in little memory, and save it in a folder.

    Other commands accept the folder as DATA. They do not tokenize again, and training reads the tokens from disk. After
    Ctrl-C or a crash the same command resumes.
    """
    from metalda.corpus import Corpus

    corpus = Corpus.prepare(
        data,
        output,
        n_jobs=options.check_jobs(jobs),
        verbose=not quiet,
        resume=not restart,
        id=id,
        keep_text=keep_text,
        **reading_options.arguments,
    )
    if not quiet:
        print(clean(tables.corpus_line(data.name, corpus)))
        print(f"Saved to {clean(str(output))}. Next:")
        print(f"  metalda fit {clean(shlex.quote(str(output)))} -o model")
