"""``metalda coherence``: coherence of topics in a reference corpus."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metalda.cli import options, tables
from metalda.cli.cluster import connected
from metalda.cli.options import Format
from metalda.corpus.stream import Stream
from metalda.errors import InputError
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    from metalda.evaluation import Coherence, WindowCounts

EPILOG = options.epilog(
    "metalda coherence model --reference wiki.txt.gz --counts wiki-counts",
    "metalda coherence model other --reference articles.tsv.xz --text 3 --measure c_v --format json",
)
_BEST = 20  # topics, as in the paper's Table V


class MeasureName(StrEnum):
    """A coherence measure."""

    npmi = "npmi"
    c_v = "c_v"
    uci = "uci"
    umass = "umass"
    c_p = "c_p"


def coherence(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL", help="Folders of saved models.", parser=options.location)
    ],
    reference: Annotated[
        Path,
        typer.Option(
            "--reference",
            metavar="FILE",
            help="Reference corpus: text with one document per line, a Wikipedia dump (.xml), or any format of "
            "metalda fit; may be compressed (.gz, .bz2, .xz), or - for standard input.",
            parser=options.data_location,
        ),
    ],
    measure: Annotated[MeasureName, typer.Option("--measure", help="Coherence measure.")] = MeasureName.npmi,
    top_n: Annotated[int, typer.Option("--top-n", "-n", metavar="N", min=2, help="Words per topic.")] = 10,
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            metavar="N",
            min=0,
            help="Tokens per window; 0 uses whole documents.",
            show_default="depends on the measure",
        ),
    ] = None,
    smoothing: Annotated[
        str,
        typer.Option(
            "--smoothing",
            metavar="SHARE|count",
            help="Added to the share of windows with both words, inside logarithms. count adds one window: with "
            "--measure umass the measure of Mimno et al. (2011).",
        ),
    ] = "1e-12",
    counts: Annotated[
        Path | None,
        typer.Option("--counts", metavar="FOLDER", help="Save the counts in this folder, and reuse them later."),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="COLUMN",
            help="Column with the text: a name, or a number for a TSV file without header.",
            rich_help_panel=options.DATA,
        ),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            metavar="NAME",
            help="Format of the reference, such as text, tsv, jsonl, wikipedia.",
            rich_help_panel=options.DATA,
        ),
    ] = None,
    encoding: options.Encoding = None,
    max_document_bytes: options.MaxDocumentBytes = None,
    lowercase: options.Lowercase = True,
    token_pattern: options.TokenPattern = None,
    as_gensim: Annotated[
        bool, typer.Option("--as-gensim", help="Count repeated words as gensim does, to reproduce its values.")
    ] = False,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Score topics by how often their top words occur together in a reference corpus. Higher is better.

    One pass over the reference counts the words of all models. Words that the reference does not contain are left out
    of the scores, and their number is printed.
    """
    import metalda
    from metalda.corpus.files import MAX_DOCUMENT_BYTES
    from metalda.corpus.schema import TOKEN_PATTERN
    from metalda.evaluation.coherence import as_topics, find_measure

    added = _smoothing(smoothing)
    kind = find_measure(measure.value, added)
    named = {str(path): metalda.load(path) for path in models}
    found = metalda.coherence(
        named,
        _count(
            sorted({word for each in named.values() for topic in as_topics(each, top_n) for word in topic}),
            reference,
            counts,
            window=kind.window if window is None else window,
            as_gensim=as_gensim,
            text=int(text) if text is not None and text.isdecimal() else text,
            lowercase=lowercase,
            token_pattern=TOKEN_PATTERN if token_pattern is None else token_pattern,
            format=input_format,
            encoding=encoding or "utf-8",
            max_document_bytes=max_document_bytes or MAX_DOCUMENT_BYTES,
            n_jobs=options.check_jobs(jobs),
            cluster=cluster,
        ),
        measure.value,
        top_n=top_n,
        smoothing=added,
    )
    if format is Format.json:
        tables.print_json(_plain(found))
    elif format is Format.csv:
        rows = [{"model": name, **row} for name, each in found.items() for row in each.to_frame().to_dict("records")]
        tables.print_records(rows, raw=raw)
    else:
        _print(found, reference)


def _smoothing(text: str) -> float | str:
    """Return a number, or a word for `find_measure` to check."""
    try:
        return float(text)
    except ValueError:
        return text


def _count(
    words: list[str],
    reference: Path,
    folder: Path | None,
    *,
    window: int,
    as_gensim: bool,
    cluster: str | None,
    **how: Any,
) -> WindowCounts:
    """Load the counts from the folder, or count and save them there."""
    from metalda.evaluation.windows import WindowCounts, count_windows, describe_file
    from metalda.storage import check_writable

    if folder is not None and isinstance(reference, Stream):
        raise InputError(f"--counts: {reference} cannot be recognized when counts are reused: give a file")
    if folder is not None and (folder / "counts.json").exists():
        kept = WindowCounts.load(folder)
        reading = {name: how[name] for name in ("text", "format", "encoding", "lowercase", "token_pattern")}
        asked = {"window": window, "as_gensim": as_gensim, **describe_file(reference, **reading)}
        there = {"window": kept.window, "as_gensim": kept.as_gensim, **kept.source}
        for name in (name for name in asked if asked[name] != there.get(name)):
            raise InputError(
                f"{folder}: contains other counts, with {name} {there.get(name)!r} instead of {asked[name]!r}: "
                "give another folder with --counts"
            )
        if kept.covers(words):
            return kept
        words = sorted({*kept.words, *words})
    elif folder is not None:
        check_writable(folder, "counts")
    with connected(cluster, how["n_jobs"]) as client:
        counted = count_windows(
            words, reference, window=window, as_gensim=as_gensim, verbose=True, client=client, **how
        )
    if folder is not None:
        counted.save(folder)
    return counted


def _plain(found: dict[str, Coherence]) -> dict[str, object]:
    first = next(iter(found.values()))
    return {
        "measure": first.measure,
        "window": first.counts.window,
        "reference": _sizes(first.counts),
        "models": [
            {
                "model": name,
                "mean": each.mean,
                f"mean_of_best_{_BEST}": each.best(_BEST),
                "missing_words": each.missing,
                "topics": [
                    {**row, "words": words}
                    for row, words in zip(each.to_frame().to_dict("records"), each.topics, strict=True)
                ],
            }
            for name, each in found.items()
        ],
    }


def _sizes(counts: WindowCounts) -> dict[str, object]:
    names = ("n_documents", "n_short", "n_tokens", "n_windows")
    return {**counts.source, **{name.removeprefix("n_"): getattr(counts, name) for name in names}}


def _print(found: dict[str, Coherence], reference: Path) -> None:
    """Print the topics of a single model, best first, and a line for each model."""
    from metalda.models.fitted import BACKGROUND

    if len(found) == 1:
        (only,) = found.values()
        rows = only.to_frame().sort_values(["background", "score"], ascending=[True, False], kind="stable")
        cells = [
            (
                str(row.topic),
                "–" if row.background else f"{row.score:.4f}",
                str(row.missing),
                str(row.apart),
                tables.with_name(getattr(row, "name", ""), BACKGROUND if row.background else tables.joined(words)),
            )
            for row, words in zip(rows.itertuples(), [only.topics[place] for place in rows.index], strict=True)
        ]
        tables.print_table(("topic", only.measure, "missing", "apart", "words"), cells)
        print()
    header = ("model", "topics", "mean", f"best {_BEST}", "words missing")
    lines = [
        (short(name), f"{len(each.topics):,}", f"{each.mean:.4f}", f"{each.best(_BEST):.4f}", f"{len(each.missing):,}")
        for name, each in found.items()
    ]
    tables.print_table(header, lines, left=("model",))
    counts = next(iter(found.values())).counts
    windows = f"windows of {counts.window} tokens" if counts.window else "windows, one per document"
    print(
        f"\n{clean(reference.name)}: {counts.n_documents:,} documents ({counts.n_short:,} shorter than a window), "
        f"{counts.n_tokens:,} tokens, {counts.n_windows:,} {windows}."
    )
    if len(found) == 1:
        print("missing: words that the reference does not contain. apart: pairs that never occur in one window.")
