"""Shared by ``metalda compare`` and ``metalda search``: options, runs, and the table of measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from metalda.cli import options, tables
from metalda.cli.data import ReadingOptions, WordFiles
from metalda.cli.layout import Cell
from metalda.cli.model_options import ModelOptions
from metalda.cli.options import EVALUATION, Draws, Format, Unseen
from metalda.errors import InputError
from metalda.models.registry import parameters_of
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.evaluation.comparison import Comparison
    from metalda.evaluation.named_models import NamedModel
    from metalda.models.fitted import Parameters
    from metalda.utils.checks import JsonObject

ResultFolder = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results. Finished runs are reused.")
]


@dataclass(frozen=True)
class RunOptions:
    """How several models are trained and evaluated."""

    hidden_labels: Annotated[
        str | None,
        typer.Option(
            "--hidden-labels",
            metavar="COLUMN",
            help="Labels that training does not see: adds their agreement with the topics (NMI and purity).",
            show_default=False,
            rich_help_panel=EVALUATION,
        ),
    ] = None
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            metavar="FILE",
            help="Held-out documents; read with the same options as DATA.",
            parser=options.data_location,
            rich_help_panel=EVALUATION,
        ),
    ] = None
    test_size: Annotated[
        str | None,
        typer.Option(
            "--test-size",
            metavar="N|SHARE",
            help="Documents of DATA to hold out: 500 documents, or a share 0.1.",
            show_default="0.2, without --test",
            rich_help_panel=EVALUATION,
        ),
    ] = None
    unseen: options.UnseenWords = Unseen.ignore
    draws: options.Predicting = Draws.mean
    seeds: Annotated[
        int,
        typer.Option("--seeds", metavar="N", min=1, help="Runs of each model.", rich_help_panel=options.TRAINING),
    ] = 3
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            min=0,
            help="The first seed; other seeds follow it.",
            rich_help_panel=options.TRAINING,
        ),
    ] = 0
    checkpoint_every: options.CheckpointEvery = 100
    jobs: options.Jobs = 1

    @property
    def held_out(self) -> float:
        """Return the number or share of documents to hold out."""
        if self.test is not None and self.test_size is not None:
            raise InputError("give --test or --test-size, not both")
        return 0.2 if self.test_size is None else options.count_or_share(self.test_size, "--test-size")


def run_models(
    data: Path,
    output: Path,
    reading_options: ReadingOptions,
    word_files: WordFiles,
    model_options: ModelOptions,
    run_options: RunOptions,
    find: Callable[[Parameters], list[NamedModel]],
    who: str,
    *,
    format: Format,
    quiet: bool,
) -> Comparison:
    """Train and evaluate every model that `find` returns, with every seed; error messages call them `who`."""
    from metalda.evaluation.comparison import run_comparison
    from metalda.evaluation.measures import PerplexityOptions
    from metalda.storage import check_writable

    test_size = run_options.held_out
    parameters = {**model_options.given, "n_jobs": options.check_jobs(run_options.jobs)}
    check_writable(output, "comparison")
    known = {name for _, model in find(parameters) for name in parameters_of(type(model))}  # checks names early
    word_files.require_use(known, who)
    if word_files.learn_embeddings == "self" and run_options.test is None:
        raise InputError(
            "--learn-embeddings self would learn from held-out documents as well: give another corpus, or separate "
            "held-out documents (--test)"
        )
    corpus, held_out = _read(data, run_options, reading_options, quiet)
    found = word_files.read(known, corpus.vocabulary + (() if held_out is None else held_out.vocabulary), corpus)
    if format is Format.table and not quiet:
        tables.print_input(data, corpus, found)
        if run_options.test is not None and held_out is not None:
            print(clean(tables.corpus_line(f"{run_options.test.name} (held out)", held_out)), flush=True)
    return run_comparison(
        corpus,
        find({**parameters, **found}),
        hidden_labels=run_options.hidden_labels,
        test=held_out,
        test_size=test_size,
        seeds=range(run_options.seed, run_options.seed + run_options.seeds),
        folder=output,
        options=PerplexityOptions(run_options.draws.value, run_options.unseen.value),
        checkpoint_every=run_options.checkpoint_every,
        verbose=not quiet,
    )


def _read(
    data: Path, run_options: RunOptions, reading_options: ReadingOptions, quiet: bool
) -> tuple[Corpus, Corpus | None]:
    """Return the corpus, and the held-out documents if they are in a separate file."""
    from metalda.corpus import Corpus
    from metalda.corpus.formats import is_saved

    verbose, test = not quiet, run_options.test
    corpus = reading_options.read(data, hidden_labels=run_options.hidden_labels, verbose=verbose)
    if test is None:
        return corpus, None
    return corpus, Corpus.load(test) if is_saved(test) else Corpus.read(test, schema=corpus.schema, verbose=verbose)


class Column(NamedTuple):
    """A measure in the table, and its explanation."""

    title: str
    measure: str
    form: str
    meaning: str
    best: Callable[[Iterable[float]], float] | None = None  # max or min, where one end is better
    factor: int = 1


_CLASSIFIER = "of a logistic regression on topic proportions that were inferred without labels; higher is better"
_LABEL_COLUMNS = {  # by the measure that suits the labels
    "accuracy": Column("accuracy", "label_score", ".3f", f"accuracy {_CLASSIFIER}", max),
    "micro-F1": Column("micro-F1", "label_score", ".3f", f"micro-averaged F1 over all labels {_CLASSIFIER}", max),
}
_BASELINE = Column(
    "words", "label_baseline", ".3f", "the same of a logistic regression on the words (tf-idf), no topics"
)
_BEFORE_LABELS = (
    Column(
        "perplexity",
        "perplexity",
        ",.1f",
        "of every second token of the held-out documents, given the other tokens and the labels; lower is better",
        min,
    ),
    Column(
        "coherence",
        "coherence",
        ".3f",
        "mean NPMI of the 10 top words of a topic, in the training documents; higher is better",
        max,
    ),
    Column("diversity", "diversity", ".3f", "share of distinct words among the 25 top words of all topics"),
)
BY_SIZE = (
    Column(
        "exclusivity",
        "exclusivity",
        ".3f",
        "share of a topic in the probability of its 10 top words, among all topics; higher is better",
        max,
    ),
    Column(
        "stability",
        "stability",
        ".3f",
        "agreement of the topics of different seeds, by their 10 top words; higher is better",
        max,
    ),
)
_AGREEMENT = (
    Column(
        "NMI",
        "nmi",
        ".3f",
        "agreement of the most probable topic of a training document with its hidden labels; 1 is complete",
        max,
    ),
    Column(
        "purity",
        "purity",
        ".3f",
        "share of training documents with the most frequent hidden label of their topic; grows with the topics",
    ),
)
_BACKGROUND = Column(
    "background",
    "background",
    ".3f",
    "share of the tokens in background topics: rare words without a theme, left out of the coherence",
)
_TIME = Column(
    "ms per iteration",
    "seconds_per_iteration",
    ",.2f",
    "milliseconds; mean over the second half of training",
    factor=1000,
)


def print_comparison(
    comparison: Comparison,
    output: Path,
    format: Format,
    names: Sequence[str],
    more: Sequence[Column] = (),
    *,
    raw: bool = False,
) -> None:
    """Print a row per model; the columns `names` identify it, and the columns `more` are additional measures."""
    document = comparison.to_plain()
    rows = document["models"]
    if format is Format.json:
        tables.print_json(document)
        return
    if format is Format.csv:
        tables.print_records(rows, raw=raw)
        return
    labels = {row["label_measure"] for row in rows} - {None}
    agreement = [column for column in _AGREEMENT if any(row[column.measure] is not None for row in rows)]
    of_labels = [*(_LABEL_COLUMNS[name] for name in sorted(labels)), *([_BASELINE] if labels else [])]
    background = [_BACKGROUND] if any(row["background"] for row in rows) else []
    columns = (*_BEFORE_LABELS, *more, *of_labels, *agreement, *background, _TIME)
    header = (*names, *(column.title for column in columns))
    best = {column.title: _best(rows, column) for column in columns}
    cells: list[Sequence[str | Cell]] = [
        (
            *(_name(row[name]) for name in names),
            *(Cell(_figure(row, each), "best" if row[each.measure] in best[each.title] else "") for each in columns),
        )
        for row in rows
    ]
    print()
    tables.print_table(header, cells, left=("model",), turn=True)
    shown = " The best mean of a measure is bold." if tables.on_terminal() and any(best.values()) else ""
    print(f"\nMeans over seeds ± standard deviations.{shown}\n")
    tables.print_table(("column", "meaning"), [(column.title, column.meaning) for column in columns], left=("column",))
    runs = tables.count(len(comparison.runs), "run")
    reused = f", {comparison.n_found:,} reused" if comparison.n_found else ""
    print(f"\n{runs}{reused}. Saved to {clean(str(output))}: comparison.csv and comparison.json.")


def _best(rows: Sequence[JsonObject], column: Column) -> set[float]:
    """Return the best mean of a measure, if one end is better and the rows differ."""
    means = {row[column.measure] for row in rows} - {None}
    return {column.best(means)} if column.best is not None and len(means) > 1 else set()


def _name(value: str | int) -> str:
    return short(value) if isinstance(value, str) else f"{value:,}"


def _figure(row: JsonObject, column: Column) -> str:
    """Format a measure as ``774.3 ± 4.2``, or as a dash without a value."""
    mean, deviation = row[column.measure], row[f"{column.measure}_sd"]
    if mean is None:
        return "–"
    spread = "" if deviation is None else f" ± {column.factor * deviation:{column.form}}"
    return f"{column.factor * mean:{column.form}}{spread}"
