"""Runs of several models on one corpus: the options for them, and how they are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import options
from metalda.cli.data import ReadingOptions
from metalda.cli.options import Draws, Unseen
from metalda.cli.word_files import WordFiles
from metalda.errors import InputError
from metalda.models.registry import parameters_of
from metalda.utils.terminal import clean

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.evaluation.candidates import Candidate
    from metalda.evaluation.comparison import Comparison


@dataclass(frozen=True)
class RunOptions:
    """How models are fitted and judged: the options of every command that does so with several."""

    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            metavar="FILE",
            help="Documents to judge by; read with the same options as DATA.",
            parser=options.location,
        ),
    ] = None
    test_size: Annotated[
        str | None,
        typer.Option(
            "--test-size", help="Documents of DATA to hold out: 500, or a share.", show_default="0.2, without --test"
        ),
    ] = None
    embeddings: Annotated[
        Path | None,
        typer.Option(
            "--embeddings",
            metavar="FILE",
            help="Word vectors (GloVe, word2vec), for models that learn from vectors, and made binary features for "
            "models that learn from those.",
            parser=options.location,
        ),
    ] = None
    word_features: options.WordFeaturesFile = None
    iterations: options.Iterations = 1000
    burn_in: options.BurnIn = None
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each model.")] = 3
    seed: Annotated[int, typer.Option("--seed", min=0, help="The first seed; the others follow it.")] = 0
    unseen: options.UnseenWords = Unseen.ignore
    draws: options.Predicting = Draws.mean
    jobs: options.Jobs = 1
    checkpoint_every: Annotated[
        int, typer.Option("--checkpoint-every", min=1, help="Sweeps from one checkpoint to the next.")
    ] = 100

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of all models."""
        given = {"n_iter": self.iterations, "burn_in": self.burn_in, "n_jobs": options.jobs(self.jobs)}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def share(self) -> float:
        """The documents to hold out."""
        if self.test is not None and self.test_size is not None:
            raise InputError("give --test or --test-size, not both")
        return 0.2 if self.test_size is None else options.count_or_share(self.test_size, "--test-size")


def run_models(
    data: Path,
    output: Path,
    reading_options: ReadingOptions,
    run_options: RunOptions,
    find: Callable[[Mapping[str, Any]], list[Candidate]],
    who: str,
    *,
    quiet: bool,
) -> Comparison:
    """Every model that `find` makes of the common parameters, with every seed; `who` names them in errors."""
    from metalda.evaluation.comparison import InterruptedComparison, run_comparison
    from metalda.evaluation.runs import Judging
    from metalda.storage import check_writable

    share, common = run_options.share, run_options.parameters
    check_writable(output, "comparison")
    known = {name for _, model in find(common) for name in parameters_of(type(model))}  # wrong names are told first
    word_files = WordFiles(run_options.embeddings, run_options.word_features)
    word_files.require_use(known, who)
    corpus, held_out = _read(data, run_options.test, reading_options)
    found = word_files.read(known, corpus.vocabulary + (() if held_out is None else held_out.vocabulary))
    if not quiet:
        _print_input(data, corpus, found, run_options.test, held_out)
    try:
        return run_comparison(
            corpus,
            find({**common, **found}),
            test=held_out,
            test_size=share,
            seeds=range(run_options.seed, run_options.seed + run_options.seeds),
            folder=output,
            judging=Judging(run_options.draws.value, run_options.unseen.value),
            checkpoint_every=run_options.checkpoint_every,
        )
    except InterruptedComparison as stop:
        kept = f"{stop.n_done:,} of {stop.n_runs:,} runs are done and kept in {output}"
        raise KeyboardInterrupt(f"{kept}; give the same command again to go on") from None


def _read(data: Path, test: Path | None, reading_options: ReadingOptions) -> tuple[Corpus, Corpus | None]:
    """The corpus, and the documents to judge by if they have a file of their own."""
    from metalda.corpus import Corpus
    from metalda.corpus.formats import is_saved

    corpus = reading_options.read(data, verbose=True)
    if test is None:
        return corpus, None
    return corpus, Corpus.load(test) if is_saved(test) else Corpus.read(test, schema=corpus.schema, verbose=True)


def _print_input(
    data: Path, corpus: Corpus, found: Mapping[str, Any], test: Path | None, held_out: Corpus | None
) -> None:
    from metalda.cli.summary import corpus_line, print_input

    print_input(data, corpus, found)
    if test is not None and held_out is not None:
        print(clean(corpus_line(f"{test.name}, to judge by", held_out)), flush=True)
