"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import csv
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from metalda.corpus.formats import FORMATS
from metalda.errors import InputError


class Format(str, Enum):
    """How to print."""

    table = "table"
    json = "json"
    csv = "csv"


class PlainFormat(str, Enum):
    """How to print what has no columns."""

    table = "table"
    json = "json"


class Unseen(str, Enum):
    """What to do with words that training never saw."""

    ignore = "ignore"
    features = "features"


class Draws(str, Enum):
    """Which of the kept states predict."""

    mean = "mean"
    last = "last"
    each = "each"


Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS|local",
        help="Run on a Dask cluster: the address of its scheduler, or local for as many processes here as --jobs says.",
    ),
]

DATA_HELP = (
    f"{', '.join(entry.description for entry in FORMATS.values())}; files also as .gz, .bz2 or .xz, and at scheme://…; "
    "or a corpus from metalda prepare."
)


def location(text: str) -> Path:
    """A path, or what stands in its place for ``scheme://…``."""
    from metalda.storage import locate

    return locate(text)


Data = Annotated[Path, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False, parser=location)]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Folder of a saved model.", show_default=False, parser=location)
]
Printing = Annotated[Format, typer.Option("--format", help="How to print.")]

Text = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="COLUMN", help="Column with the text; several are joined.", show_default=False),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="COLUMN",
        help="Column with labels; repeat it, or separate columns by commas.",
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--label-delimiter", metavar="TEXT", help="What separates the labels in a cell, such as a comma."),
]
Id = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the documents.")]
Input = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="|".join(FORMATS),
        autocompletion=lambda: list(FORMATS),
        help="Format of DATA, if its name does not tell.",
        show_default=False,
    ),
]
Encoding = Annotated[str | None, typer.Option("--encoding", metavar="NAME", help="Of text files, e.g. latin-1.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 is all cores. Results do not depend on it.")]

UnseenWords = Annotated[
    Unseen, typer.Option("--unseen", help="Words that training never saw: leave out, or predict by features.")
]
Predicting = Annotated[
    Draws, typer.Option("--draws", help="Average the topics, use the last state, or average predictions of each.")
]

# How training data are read.
Bins = Annotated[
    list[str] | None,
    typer.Option(
        "--bins",
        metavar="COLUMN=BINS",
        help="Column of numbers as labels: year=5 for five bins with about equally many documents each, "
        "year=1990,2000 for inner edges.",
        show_default=False,
    ),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        "--numbers",
        metavar="COLUMN",
        help="Column of numbers that are labels as they are, to scale, for --model dmr; repeat it, or use commas.",
        show_default=False,
    ),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        "--stop-words",
        metavar="english|none|FILE",
        help="Words to drop; a FILE has one per line. By default English stop words, but none for documents that are "
        "lists of tokens.",
        show_default=False,
    ),
]
MinDf = Annotated[str, typer.Option("--min-df", help="Drop words in fewer documents: 5, or a share 0.01.")]
MaxDf = Annotated[str, typer.Option("--max-df", help="Drop words in more documents: 900, or a share 0.5.")]
Ngrams = Annotated[int, typer.Option("--ngrams", min=1, help="Also use phrases of up to so many words.")]
Lowercase = Annotated[bool, typer.Option("--lowercase/--no-lowercase", help="Lower-case the text.")]
TokenPattern = Annotated[
    str | None,
    typer.Option(
        "--token-pattern",
        metavar="REGEX",
        help="What a word is; by default two or more letters or digits.",
        show_default=False,
    ),
]

# What all models have in common.
WordFeaturesFile = Annotated[
    Path | None,
    typer.Option(
        "--word-features",
        metavar="FILE",
        help="Features of words: word<TAB>indices, or a 0/1 CSV.",
        parser=location,
    ),
]
Topics = Annotated[int | None, typer.Option("--topics", "-k", min=1, help="Number of topics.", show_default="50")]
Iterations = Annotated[int, typer.Option("--iterations", min=1, help="Sweeps of the sampler.")]
BurnIn = Annotated[
    int | None,
    typer.Option("--burn-in", min=0, help="Sweeps of which nothing is kept.", show_default="half of them"),
]

NShards = Annotated[
    int | None,
    typer.Option(
        "--n-shards",
        min=1,
        help="Parts of the corpus that threads sweep at the same time; one is exact, more are an approximation.",
        show_default="1 up to about a million words, at most 8",
    ),
]

# What single models have.
TopicsPerLabel = Annotated[
    int | None,
    typer.Option("--topics-per-label", min=1, help="pllda: topics that each label has for itself.", show_default="5"),
]
NShared = Annotated[
    int | None, typer.Option("--n-shared", min=0, help="pllda: topics that all documents share.", show_default="0")
]
Variance = Annotated[
    float | None, typer.Option("--variance", help="dmr, wflda: prior variance of the weights.", show_default="1")
]
DefaultVariance = Annotated[
    float | None,
    typer.Option("--default-variance", help="dmr, wflda: prior variance of the default weight.", show_default="100"),
]
OptimizeInterval = Annotated[
    int | None,
    typer.Option(
        "--optimize-interval", min=1, help="dmr, wflda: optimise weights every so many sweeps.", show_default="10"
    ),
]
OptimizeBurnIn = Annotated[
    int | None,
    typer.Option(
        "--optimize-burn-in", min=0, help="dmr, wflda: sweeps before the first optimisation.", show_default="50"
    ),
]
Weight = Annotated[
    float | None,
    typer.Option(
        "--weight", min=0, max=1, help="lflda: share of words that is drawn from vectors.", show_default="0.6"
    ),
]
InitialSweeps = Annotated[
    int | None,
    typer.Option(
        "--initial-sweeps", min=0, help="lflda: sweeps before vectors are used.", show_default="three quarters of them"
    ),
]
Similarity = Annotated[
    float | None,
    typer.Option("--similarity", help="gpudmm: least cosine of words that promote each other.", show_default="0.7"),
]
Promotion = Annotated[
    float | None, typer.Option("--promotion", help="gpudmm: what a promoted word gains.", show_default="0.1")
]
MaxNeighbours = Annotated[
    int | None,
    typer.Option(
        "--max-neighbours", min=0, help="gpudmm: a word similar to more words promotes none.", show_default="20"
    ),
]
Regularization = Annotated[
    float | None, typer.Option("--regularization", help="lflda: penalty of long topic vectors.", show_default="0.01")
]
NPseudoDocuments = Annotated[
    int | None, typer.Option("--n-pseudo-documents", min=1, help="ptm: pseudo-documents.", show_default="1000")
]
Concentration = Annotated[
    float | None,
    typer.Option("--concentration", help="ptm: weight of a pseudo-document without documents.", show_default="0.1"),
]


def columns(values: list[str] | None) -> list[str] | None:
    """Names of columns, given one by one or separated by commas; a name with a comma is quoted, as in CSV."""
    if not values:
        return None
    rows = csv.reader(values, skipinitialspace=True)
    return [name for row in rows for part in row if (name := part.strip())]


def bins(values: list[str] | None) -> dict[str, int | list[float]]:
    """``year=5`` is five bins; ``year=1990,2000`` are inner edges, and so is ``year=1990,``."""
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
    """``5`` counts documents, ``0.5`` is a share of them."""
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{option} {value}: expected a number of documents (5) or a share of them (0.5)") from None


def prior(value: str | None, name: str, option: str) -> str | float | None:
    """The name of a prior, or the number of a fixed one."""
    if value is None or value in (name, "default"):
        return value
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{option} {value}: expected {name}, default or a number") from None


def jobs(value: int) -> int:
    """A number of threads that makes sense."""
    if value == 0:
        raise InputError("--jobs 0: expected at least 1, or -1 for all cores")
    return value
