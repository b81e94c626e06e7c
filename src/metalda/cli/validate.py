"""``metalda validate``: word and topic intrusion, for people who check the topics of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.data import NewDocumentOptions
from metalda.cli.options import Format
from metalda.errors import warn
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    import pandas as pd

    from metalda.evaluation import IntrusionScores

EPILOG = options.epilog(
    "metalda validate make model news.jsonl -o tasks.html",
    "metalda validate score tasks.key.json answers-*.json",
)


def make(
    model: options.Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file to write. tasks.html gets the key tasks.key.json."
        ),
    ],
    new: NewDocumentOptions,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Documents for topic intrusion, such as the training data. Without it, the page has word intrusion "
            "only.",
            show_default=False,
            parser=options.data_location,
        ),
    ] = None,
    id: options.Id = None,
    words: Annotated[int, typer.Option("--words", metavar="N", min=2, help="Words of a topic in word intrusion.")] = 5,
    topics: Annotated[
        int | None,
        typer.Option("--topics", metavar="N", min=1, help="Topics in word intrusion.", show_default="all"),
    ] = None,
    documents: Annotated[
        int, typer.Option("--documents", metavar="N", min=0, help="Documents in topic intrusion.")
    ] = 20,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Title of the page.", show_default=False)
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Random seed of intruders, documents and orders.")
    ] = 0,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write tasks of word and topic intrusion as one HTML page for coders, and the key with the solutions.

    Send the page to coders. It works offline, and contains no solutions. They send back the file of answers that the
    page saves. Keep the key for metalda validate score.
    """
    from metalda.evaluation import make_intrusion_tasks
    from metalda.report.intrusion import TITLE, check_tasks_page, write_tasks_page

    check_tasks_page(output)
    fitted = options.load_model(model, jobs)
    corpus = None
    if data is not None and documents > 0:
        corpus = new.read(fitted, data, id=id, verbose=not quiet, keep_text=True)
    tasks = make_intrusion_tasks(
        fitted, corpus, n_words=words, n_topics=topics, n_documents=documents, random_state=seed
    )
    key = write_tasks_page(tasks, output, TITLE if title is None else title)
    if not quiet:
        counts = [tables.count(len(tasks.word_tasks), "topic")]
        counts += [tables.count(len(tasks.topic_tasks), "document")] if tasks.topic_tasks else []
        print(f"Tasks: {clean(str(output))} ({', '.join(counts)}); send it to the coders.")
        print(f"Key: {clean(str(key))}; it has the solutions: keep it for metalda validate score.")


def score(
    key: Annotated[
        Path, typer.Argument(metavar="KEY", help="The key that was written with the page.", show_default=False)
    ],
    answers: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS…", help="The files of the coders.", show_default=False)
    ],
    interval: Annotated[
        float, typer.Option("--interval", metavar="PROBABILITY", help="Probability of the intervals.")
    ] = 0.9,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Score the answers of coders: accuracy with intervals, topic log odds, and Krippendorff's alpha.

    Table and json contain the scores of each topic, in all, and of each coder; csv contains those of each topic and in
    all.
    """
    from metalda.evaluation import score_intrusion

    found = score_intrusion(key, answers, interval=interval)
    for note in found.notes:
        warn(note)
    parts = {name: getattr(found, name).to_dict("records") for name in ("overall", "topics", "coders")}
    value = {**parts, "interval": found.interval, "notes": found.notes}
    tables.print_as(format, _all_rows(found), lambda: _print(found), raw=raw, value=value)


COMMANDS = {"make": make, "score": score}


def _all_rows(found: IntrusionScores) -> pd.DataFrame:
    """Return the rows of topics and, below them, those in all, whose topic is empty."""
    import pandas as pd

    topics = found.topics.astype({"topic": object})
    total = found.overall.assign(topic="", words="")
    return pd.concat([topics, total]).reindex(columns=[*topics.columns[:-1], "alpha", "words"])


def _print(found: IntrusionScores) -> None:
    for kind, rows in found.topics.groupby("task", sort=False):
        log_odds = ("log odds",) if rows["log_odds"].notna().any() else ()
        cells = [
            (
                str(row.topic),
                str(row.tasks),
                str(row.coders),
                str(row.answers),
                f"{row.accuracy:.2f}",
                f"{row.low:.2f} to {row.high:.2f}",
                *(f"{row.log_odds:.2f}" for _ in log_odds),
                tables.joined(row.words),
            )
            for row in rows.sort_values("accuracy", ascending=False, kind="stable").itertuples()
        ]
        header = (
            "topic",
            "tasks",
            "coders",
            "answers",
            "accuracy",
            "interval",
            *(("log odds",) if log_odds else ()),
            "words",
        )
        print(str(kind).capitalize())
        tables.print_table(header, cells)
        print()
    cells = [
        (
            row.task,
            str(row.tasks),
            str(row.coders),
            str(row.answers),
            f"{row.chance:.2f}",
            f"{row.accuracy:.3f}",
            f"{row.low:.3f} to {row.high:.3f}",
            f"{row.model_precision:.3f}",
            _number(row.log_odds),
            _number(row.alpha),
        )
        for row in found.overall.itertuples()
    ]
    names = ("in all", "tasks", "coders", "answers", "chance", "accuracy", "interval", "precision", "log odds", "alpha")
    tables.print_table(names, cells, left=("in all",))
    print()
    coders = [(short(row.coder), str(row.answers), f"{row.accuracy:.3f}") for row in found.coders.itertuples()]
    tables.print_table(("coder", "answers", "accuracy"), coders, left=("coder",))
    print(
        f"\nIntervals have a probability of {found.interval:.0%}. precision: mean accuracy of the tasks. "
        "alpha: Krippendorff's alpha of the choices; 1 is perfect agreement, 0 agreement by chance."
    )


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.3f}"
