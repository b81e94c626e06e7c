"""``metalda compare``: models beside each other on one corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from metalda.cli import options, tables
from metalda.cli.options import Draws, Format, Unseen
from metalda.cli.reading import ReadingOptions
from metalda.cli.text import clean, short
from metalda.cli.word_files import WordFiles
from metalda.errors import InputError
from metalda.models.registry import NAMES, parameters_of

if TYPE_CHECKING:
    from metalda.evaluation.comparison import Comparison


def compare(
    data: options.Data,
    models: Annotated[
        list[str],
        typer.Option(
            "--models",
            "-m",
            metavar="NAME,…",
            help=f"Models, separated by commas: {', '.join(NAMES)}. Parameters follow a colon: metalda:mu=2,nu=2",
            show_default=False,
        ),
    ],
    reading_options: ReadingOptions,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results, and to go on from.")
    ] = Path("comparison"),
    test: Annotated[
        Path | None,
        typer.Option("--test", metavar="FILE", help="Documents to judge by; read with the same options as DATA."),
    ] = None,
    test_size: Annotated[
        str | None,
        typer.Option(
            "--test-size", help="Documents of DATA to hold out: 500, or a share.", show_default="0.2, without --test"
        ),
    ] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(
            "--embeddings",
            metavar="FILE",
            help="Word vectors (GloVe, word2vec), for models that learn from vectors, and made binary features for "
            "models that learn from those.",
        ),
    ] = None,
    word_features: options.WordFeaturesFile = None,
    topics: options.Topics = None,
    iterations: options.Iterations = 1000,
    burn_in: options.BurnIn = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each model.")] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The first seed; the others follow it.")] = 0,
    unseen: options.UnseenWords = Unseen.ignore,
    draws: options.Predicting = Draws.mean,
    jobs: options.Jobs = 1,
    checkpoint_every: Annotated[
        int, typer.Option("--checkpoint-every", min=1, help="Sweeps from one checkpoint to the next.")
    ] = 100,
    format: options.Printing = Format.table,
) -> None:
    """Fit several models on one corpus and print how good they are, side by side.

    Every model is fitted once for every seed, on another part of DATA each time, and judged on the rest. Each result is
    kept in the folder as soon as it is there: after Ctrl-C the same command goes on, and a command with more models or
    seeds runs only what is new.
    """
    from metalda.evaluation.candidates import find_candidates, split_names
    from metalda.evaluation.comparison import InterruptedComparison, run_comparison
    from metalda.evaluation.runs import Judging
    from metalda.storage import check_writable

    if test is not None and test_size is not None:
        raise InputError("give --test or --test-size, not both")
    share = 0.2 if test_size is None else options.count_or_share(test_size, "--test-size")
    check_writable(output, "comparison")
    names = split_names(models)
    settings = {"n_components": topics, "n_iter": iterations, "burn_in": burn_in, "n_jobs": options.jobs(jobs)}
    common = {parameter: value for parameter, value in settings.items() if value is not None}
    candidates = find_candidates(names, common)  # wrong names are told before anything is read
    known = {parameter for _, model in candidates for parameter in parameters_of(type(model))}
    word_files = WordFiles(embeddings, word_features)
    word_files.require_use(known, f"--models {','.join(names)}")
    reading = reading_options.for_training(data)
    corpus = reading.read(data, progress=True, **reading_options.filters)
    held_out = None
    if test is not None:
        held_out = reading.with_edges(corpus.label_names).for_new(test).read(test, progress=True)
    found = word_files.read(known, corpus.vocabulary + (() if held_out is None else held_out.vocabulary))
    if format is Format.table:
        from metalda.cli.summary import corpus_line, print_input

        print_input(data, corpus, found)
        if test is not None and held_out is not None:
            print(clean(corpus_line(f"{test.name}, to judge by", held_out)), flush=True)
    try:
        comparison = run_comparison(
            corpus,
            find_candidates(names, {**common, **found}),
            test=held_out,
            test_size=share,
            seeds=range(seed, seed + seeds),
            folder=output,
            judging=Judging(draws.value, unseen.value),
            checkpoint_every=checkpoint_every,
        )
    except InterruptedComparison as stop:
        kept = f"{stop.n_done:,} of {stop.n_runs:,} runs are done and kept in {output}"
        raise KeyboardInterrupt(f"{kept}; give the same command again to go on") from None
    _print(comparison, output, format)


def _print(comparison: Comparison, output: Path, format: Format) -> None:
    from metalda.cli.summary import count

    if format is Format.json:
        tables.print_json(comparison.to_plain())
        return
    rows = comparison.to_plain()["models"]
    if format is Format.csv:
        tables.print_csv(list(rows[0]), ([tables.cell(value) for value in row.values()] for row in rows))
        return
    print()
    _print_table(rows)
    runs = count(len(comparison.runs), "run")
    before = f", {comparison.n_found:,} of them done before" if comparison.n_found else ""
    print(f"\n{runs}{before}. Saved to {clean(str(output))}: comparison.csv and comparison.json.")


class _Column(NamedTuple):
    """A measure as the table shows it, and what it means."""

    title: str
    measure: str
    form: str
    meaning: str
    factor: int = 1


_FROM_THETA = "by logistic regression from topic proportions that were inferred without labels; higher is better"
_LABEL_COLUMNS = {  # whichever it is that was measured
    "accuracy": _Column("accuracy", "label_score", ".3f", f"of labels told {_FROM_THETA}"),
    "micro-F1": _Column("micro-F1", "label_score", ".3f", f"of all labels together, told {_FROM_THETA}"),
}
_BEFORE_LABELS = (
    _Column(
        "perplexity",
        "perplexity",
        ",.1f",
        "every second word of the test documents, given the others and the labels; lower is better",
    ),
    _Column(
        "coherence",
        "coherence",
        ".3f",
        "mean NPMI of the 10 top words of a topic, in the training documents; higher is better",
    ),
    _Column("diversity", "diversity", ".3f", "share of distinct words among the 25 top words of all topics"),
)
_AFTER_LABELS = (
    _Column(
        "ms per sweep", "seconds_per_sweep", ",.2f", "milliseconds; the mean over the second half of the sweeps", 1000
    ),
)


def _print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    labels = {row["label_measure"] for row in rows} - {None}
    columns = (*_BEFORE_LABELS, *(_LABEL_COLUMNS[name] for name in sorted(labels)), *_AFTER_LABELS)
    header = ("model", "topics", *(column.title for column in columns))
    cells = [(short(row["model"]), f"{row['topics']:,}", *(_figure(row, column) for column in columns)) for row in rows]
    tables.print_table(header, cells, left=("model",))
    print("\nMeans over seeds ± standard deviations.\n")
    tables.print_table(("column", "meaning"), [(column.title, column.meaning) for column in columns], left=("column",))


def _figure(row: Mapping[str, Any], column: _Column) -> str:
    """``774.3 ± 4.2``; a dash where there is nothing to measure."""
    mean, deviation = row[column.measure], row[f"{column.measure}_sd"]
    if mean is None:
        return "–"
    spread = "" if deviation is None else f" ± {column.factor * deviation:{column.form}}"
    return f"{column.factor * mean:{column.form}}{spread}"
