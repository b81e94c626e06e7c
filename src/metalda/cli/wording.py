"""``metalda wording``: the words that set groups of documents apart within a topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.effects import factor_cells
from metalda.cli.layout import Cell
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import short

if TYPE_CHECKING:
    import pandas as pd

    from metalda.models.base import TopicModel
    from metalda.models.wording import WordingTables

EPILOG = options.epilog(
    "metalda wording model",
    "metalda wording model --topic 3 --groups left,right",
)


def wording(
    model: options.Model,
    topic: Annotated[
        str | None,
        typer.Option(
            "--topic",
            metavar="N|NAME",
            help="Topic whose words are compared, by its number or name. Without it, all topics are printed with how "
            "alike groups word them.",
            show_default=False,
        ),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--groups",
            metavar="GROUP,GROUP",
            help="Two groups to compare, or one that is compared with all others. By default each group is compared "
            "with all others.",
            show_default=False,
        ),
    ] = None,
    top_n: Annotated[int, typer.Option("--top-n", metavar="N", min=1, help="Words of each of the two groups.")] = 10,
    interval: Annotated[
        float, typer.Option("--interval", metavar="PROBABILITY", help="Posterior probability of the intervals.")
    ] = 0.9,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the words that groups of documents use more or less than others in a topic, with posterior intervals.

    The model was fitted with --wording COLUMN, which names the groups.
    """
    import pandas as pd

    import metalda
    from metalda.models.wording import require_wording

    loaded = metalda.load(model)
    fitted = require_wording(loaded)
    if topic is None:
        if groups:
            raise InputError("--groups needs --topic N: words are compared within a topic")
        table = fitted.wording_
    else:
        pairs = _pairs(groups, fitted)
        number = options.topic_number(loaded, topic)
        found = [fitted.wording_contrasts(number, *pair, top_n=top_n, interval=interval) for pair in pairs]
        table = pd.concat(found, ignore_index=True)

    def show() -> None:
        if topic is None:
            _print_topics(loaded, table)
        else:
            _print_words(loaded, table, number, interval)

    tables.print_as(format, table, show, raw=raw)


def _pairs(groups: list[str] | None, model: WordingTables) -> list[tuple[str, str | None]]:
    """Return the groups to compare, one or two each."""
    names = options.columns(groups) or []
    if len(names) > 2:
        raise InputError(f"--groups {','.join(names)}: give two groups, or one that is compared with all others")
    known = model.wording_groups_
    if not names and len(known) == 2:
        return [(known[0], known[1])]
    if len(names) == 2:
        return [(names[0], names[1])]
    return [(name, None) for name in names or known]


def _print_topics(model: TopicModel, table: pd.DataFrame) -> None:
    """Print how alike groups word each topic, those that they word most differently first."""
    rows = []
    for row in table.sort_values("concentration", kind="stable").to_dict("records"):
        shown = f"{row['concentration']:,.0f}", f"{row['low']:,.0f} to {row['high']:,.0f}", f"{row['factor']:.2f}"
        rows.append((str(row["topic"]), *shown, tables.describe_topic(model, row["topic"], 8)))
    tables.print_table(("topic", "concentration", "90% interval", "factor", "words of the topic"), rows)
    print(
        "\nGroups word a topic alike if its concentration is large. The factor says the same: by it, the probability "
        "of a word that has 1% of the topic typically differs between two groups."
    )
    tables.print_notes(model)


def _print_words(model: TopicModel, table: pd.DataFrame, topic: int, interval: float) -> None:
    """Print a row for each word, with the group that uses it more."""
    tables.print_heading(f"Topic {topic}: ", tables.describe_topic(model, topic, 8))
    rows: list[Sequence[str | Cell]] = []
    for row in table.to_dict("records"):
        more, less, times = row["first"], row["second"], (row["effect"], row["low"], row["high"])
        if row["effect"] <= 0:
            more, less, times = less, more, (-row["effect"], -row["high"], -row["low"])
        shares = f"{row['probability_first']:.4f}", f"{row['probability_second']:.4f}"
        rows.append([short(more), short(less), *factor_cells(*times), *shares, short(row["word"])])
    header = ("used more by", "than by", "times", f"{interval:.0%} interval", "p(first)", "p(second)", "word")
    tables.print_table(header, rows, left=header[:2])
    print("\n2× means that the one group uses the word twice as often as the other when it writes about the topic.")
