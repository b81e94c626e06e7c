"""Options and arguments that several commands share, and functions that parse their values."""

from __future__ import annotations

import csv
import logging
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from metalda.corpus.formats import FORMATS
from metalda.errors import InputError
from metalda.models.registry import NAMES

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

# Sections of the help.
DATA, TEXT, WORDS, TRAINING = "Data", "Text", "Word features", "Training"
COMPUTING, EVALUATION = "Computing", "Evaluation"


def epilog(*examples: str) -> str:
    """Return the examples at the end of the help of a command."""
    return "\b\nExample:\n" + "".join(f"  {example}\n" for example in examples)


def location(text: str) -> Path:
    """Return a path, or a `Remote` for ``scheme://…``."""
    from metalda.storage import locate

    return _parsed(locate, text)


def data_location(text: str) -> Path:
    """As `location`, or the stream that stands for ``-`` or a pipe."""
    from metalda.corpus.stream import locate_data

    return _parsed(locate_data, text)


def _parsed(parse: Callable[[str], object], text: str) -> Path:
    """Return a location; the annotations of options name one class."""
    try:
        return cast("Path", parse(text))
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


def add_vectors(corpus: Corpus, path: Path | None) -> Corpus:
    """Return the corpus with the vectors of --document-vectors, if they are given."""
    from metalda.corpus.vectors import read_vectors

    if path is None:
        return corpus
    vectors = read_vectors(path)
    try:
        return corpus.with_vectors(vectors)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


class Format(StrEnum):
    """The format of printed output."""

    table = "table"
    json = "json"
    csv = "csv"


class Unseen(StrEnum):
    """The treatment of out-of-vocabulary words."""

    ignore = "ignore"
    features = "features"


class Draws(StrEnum):
    """How a prediction averages over posterior samples."""

    mean = "mean"
    last = "last"
    each = "each"


# Arguments, output and computing.

DATA_HELP = (
    f"{', '.join(entry.description for entry in FORMATS.values())}; may be compressed (.gz, .bz2, .xz) or remote "
    "(scheme://…). Or a corpus saved by metalda prepare, or - for standard input."
)
Data = Annotated[Path, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False, parser=data_location)]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Folder of a saved model.", show_default=False, parser=location)
]
Models = Annotated[
    list[Path],
    typer.Argument(metavar="MODEL…", help="Folders of saved models, two or more.", show_default=False, parser=location),
]
Printing = Annotated[
    Format,
    typer.Option(
        "--format",
        help="Output format. In csv, an apostrophe guards texts that a spreadsheet would run as formulas (= + - @).",
    ),
]
Raw = Annotated[
    bool,
    typer.Option("--raw", help="Write texts to CSV as they are, without guards and escapes, for other programs."),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Threads; -1 uses all cores. Results do not depend on it.",
        rich_help_panel=COMPUTING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", metavar="N", min=0, help="Random seed. One seed gives one result.", rich_help_panel=TRAINING
    ),
]
CheckpointEvery = Annotated[
    int,
    typer.Option(
        "--checkpoint-every", metavar="N", min=1, help="Iterations between checkpoints.", rich_help_panel=TRAINING
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS|local",
        help="Run on a Dask cluster: the address of its scheduler, or local for --jobs processes on this machine.",
        rich_help_panel=COMPUTING,
    ),
]


def _silence(quiet: bool) -> bool:
    if quiet:
        logging.getLogger("metalda.corpus").setLevel(logging.WARNING)  # the error border resets it
    return quiet


Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print only warnings and errors.", callback=_silence, show_default=False),
]

# Reading of data.

Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Column with the text. Several columns are joined.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="COLUMN",
        help="Column with labels. Repeat the option, or separate columns by commas.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--label-delimiter",
        metavar="TEXT",
        help="Separator of several labels in one cell, such as a comma.",
        rich_help_panel=DATA,
    ),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        "--bins",
        metavar="COLUMN=BINS",
        help="Numeric column binned into labels: year=5 for five bins of about equal size, year=1990,2000 for "
        "inner edges.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        "--numbers",
        metavar="COLUMN",
        help="Numeric column used as a standardized covariate, for metalda and dmr. Repeat the option, or separate "
        "columns by commas.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
DocumentVectors = Annotated[
    Path | None,
    typer.Option(
        "--document-vectors",
        metavar="FILE.npy",
        help="Vectors of the documents, such as embeddings of their texts: a matrix with a row per document, in their "
        "order. Its columns are numbers like those of --numbers, with the names vector0, vector1, …",
        parser=location,
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar=".|,",
        help="Decimal mark of the numbers in --bins and --numbers columns.  [default: .]",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Names = Annotated[
    Path | None,
    typer.Option(
        "--names",
        metavar="FILE",
        help='Names of topics, as a report saves them: a JSON file such as {"7": "economy"}.',
        show_default=False,
    ),
]
Id = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column with document ids.", rich_help_panel=DATA)
]
Input = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="|".join(FORMATS),
        autocompletion=lambda: list(FORMATS),
        help="Format of DATA. By default it follows from the file name, or from the beginning of a stream.",
        rich_help_panel=DATA,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Encoding of text files, such as latin-1.", rich_help_panel=DATA),
]
MaxDocumentBytes = Annotated[
    int | None,
    typer.Option(
        "--max-document-bytes",
        metavar="N",
        min=1,
        help="Refuse DATA with a larger document, which a small compressed file may contain.",
        show_default="100 MB",
        rich_help_panel=DATA,
    ),
]
StopWords = Annotated[
    list[str] | None,
    typer.Option(
        "--stop-words",
        metavar="auto|none|LANGUAGE|FILE",
        help="Stop words to remove: of a language (de, german), or a FILE with one per line. Repeat the option to join "
        "lists. auto, the default, guesses the language; documents that are lists of tokens keep all words.",
        show_default=False,
        rich_help_panel=TEXT,
    ),
]
Stem = Annotated[
    str | None,
    typer.Option(
        "--stem",
        metavar="LANGUAGE",
        help="Reduce words to their stems by the Snowball stemmer of a language, such as de or german.",
        show_default=False,
        rich_help_panel=TEXT,
    ),
]
Tokenizer = Annotated[
    str | None,
    typer.Option(
        "--tokenizer",
        metavar="MODULE:FUNCTION|characters:N",
        help="Split texts by a Python function, such as jieba:lcut, which is imported and run; or scripts without "
        "spaces into N characters each.",
        show_default=False,
        rich_help_panel=TEXT,
    ),
]
Phrases = Annotated[
    bool,
    typer.Option(
        "--phrases",
        help="Find pairs of words that occur together more often than by chance, and join them: new_york.",
        rich_help_panel=TEXT,
    ),
]
PhraseMinCount = Annotated[
    int | None,
    typer.Option(
        "--phrase-min-count",
        metavar="N",
        min=1,
        help="Phrases occur at least N times.",
        show_default="10",
        rich_help_panel=TEXT,
    ),
]
PhraseThreshold = Annotated[
    float | None,
    typer.Option(
        "--phrase-threshold",
        metavar="NUMBER",
        help="The smallest NPMI of a phrase: 1 for words that only occur together, 0 for chance.",
        show_default="0.5",
        rich_help_panel=TEXT,
    ),
]
AllowTokenizer = Annotated[
    bool,
    typer.Option(
        "--allow-tokenizer",
        help="Import and run the function that tokenized the training texts, if MODEL names one.",
        rich_help_panel=TEXT,
    ),
]
MinDf = Annotated[
    str,
    typer.Option(
        "--min-df",
        metavar="N|SHARE|auto",
        help="Drop words in fewer documents: 5 documents, or a share 0.01. auto is 1 below 100 documents, 2 below "
        "1,000, else 5.",
        rich_help_panel=TEXT,
    ),
]
MaxDf = Annotated[
    str,
    typer.Option(
        "--max-df",
        metavar="N|SHARE|auto",
        help="Drop words in more documents: 900 documents, or a share 0.5. auto is 1.0 below 100 documents, else 0.5.",
        rich_help_panel=TEXT,
    ),
]
Ngrams = Annotated[
    int, typer.Option("--ngrams", metavar="N", min=1, help="Use phrases of up to N words.", rich_help_panel=TEXT)
]
Lowercase = Annotated[
    bool, typer.Option("--lowercase/--no-lowercase", help="Convert text to lowercase.", rich_help_panel=TEXT)
]
TokenPattern = Annotated[
    str | None,
    typer.Option(
        "--token-pattern",
        metavar="REGEX",
        help="Regular expression of a token. By default two or more letters or digits.",
        show_default=False,
        rich_help_panel=TEXT,
    ),
]

# Prediction.

UnseenWords = Annotated[
    Unseen,
    typer.Option(
        "--unseen",
        help="Ignore out-of-vocabulary words, or predict them by their features.",
        rich_help_panel=EVALUATION,
    ),
]
Predicting = Annotated[
    Draws,
    typer.Option(
        "--draws",
        help="Predict with topics averaged over the posterior samples (mean), with the last sample (last), or average "
        "the predictions of each sample (each).",
        rich_help_panel=EVALUATION,
    ),
]


# Values.


def columns(values: list[str] | None) -> list[str] | None:
    """Return the names of columns, given one by one or separated by commas; names with commas are quoted as in CSV."""
    if not values:
        return None
    try:
        rows = list(csv.reader(values, skipinitialspace=True))
    except csv.Error:
        raise InputError(
            f"{', '.join(values)!r}: names are separated by commas; put quotes around a name with a line break"
        ) from None
    return [name for row in rows for part in row if (name := part.strip())]


def bins(values: list[str] | None) -> dict[str, int | list[float]]:
    """Parse ``year=5`` as five bins, and ``year=1990,2000`` or ``year=1990,`` as inner edges."""
    result: dict[str, int | list[float]] = {}
    for value in values or ():
        name, equals, numbers = value.rpartition("=")
        try:
            if not equals or not name:
                raise ValueError
            parts = [part.strip() for part in numbers.split(",")]
            result[name] = int(parts[0]) if len(parts) == 1 else [float(part) for part in parts if part]
        except ValueError:
            raise InputError(f"--bins {value}: expected COLUMN=5 (bins) or COLUMN=1990,2000 (inner edges)") from None
    return result


def count_or_share(value: str, option: str) -> int | float:
    """Parse ``5`` as a number of documents, and ``0.5`` as a share."""
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{option} {value}: expected a number of documents (5) or a share of them (0.5)") from None


def frequency_limits(min_df: str, max_df: str) -> dict[str, int | float]:
    """Return the arguments `min_df` and `max_df` of `Corpus.read`; none for ``auto``, its default."""
    given = (("min_df", min_df, "--min-df"), ("max_df", max_df, "--max-df"))
    return {name: count_or_share(value, option) for name, value, option in given if value != "auto"}


def names(text: str | None) -> tuple[str, ...]:
    """Split names at commas: ``ws, tmn`` are two names."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """Parse ``10,20,50`` as three positive numbers."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = (0,)
    if min(numbers) < 1:
        raise InputError(f"{option} {text}: expected positive whole numbers separated by commas, such as 10,20,50")
    return numbers


def check_jobs(value: int) -> int:
    """Check a number of threads or processes."""
    if value == 0:
        raise InputError("--jobs 0: expected at least 1, or -1 for all cores")
    return value


def load_model(path: Path, n_jobs: int) -> TopicModel:
    """Load a model, and set its number of threads."""
    import metalda

    model = metalda.load(path)
    model.set_params(n_jobs=check_jobs(n_jobs))
    return model


def rename_topics(model: TopicModel, path: Path) -> None:
    """Give topics the names of a file."""
    import metalda

    names = metalda.read_names(path)
    try:
        model.rename(names)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def topic_number(model: TopicModel, text: str) -> int:
    """Return the number of a topic that was given by its number or name."""
    fitted = model.fitted_
    return int(fitted.topic_numbers[fitted.find_topic(as_topic(text))])


def topics(option: str, values: list[str]) -> list[int | str]:
    """Parse ``0,economy`` as two topics; a name with a comma is quoted as in CSV."""
    found = [as_topic(text) for text in columns(values) or []]
    if not found:
        raise InputError(f"{option}: give numbers or names of topics separated by commas, such as 0,3")
    return found


def as_topic(text: str) -> int | str:
    """Return the number or the name of a topic."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 10  # Python refuses to parse very long numbers
    return int(text) if is_number else text


def load_models(paths: Sequence[Path]) -> list[TopicModel]:
    """Load two models or more."""
    import metalda

    if len(paths) < 2:
        raise InputError(f"{paths[0]}: one model cannot be compared; give two or more")
    return [metalda.load(path) for path in paths]


# Shell completion. The shell waits for it, so slow modules are not loaded.


def complete_model() -> list[str]:
    """Return the names of models."""
    return list(NAMES)


def complete_models(incomplete: str) -> list[str]:
    """Return completions of the name after the last comma, without models that are in the list already."""
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in NAMES if name not in before.split(",")]
