"""Measures of models as a table on the screen: means over seeds ± standard deviations, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from metalda.cli import tables
from metalda.utils.terminal import short


class Column(NamedTuple):
    """A measure as the table shows it, and what it means."""

    title: str
    measure: str
    form: str
    meaning: str
    factor: int = 1


_FROM_THETA = "by logistic regression from topic proportions that were inferred without labels; higher is better"
_LABEL_COLUMNS = {  # whichever it is that was measured
    "accuracy": Column("accuracy", "label_score", ".3f", f"of labels told {_FROM_THETA}"),
    "micro-F1": Column("micro-F1", "label_score", ".3f", f"of all labels together, told {_FROM_THETA}"),
}
_BEFORE_LABELS = (
    Column(
        "perplexity",
        "perplexity",
        ",.1f",
        "every second word of the test documents, given the others and the labels; lower is better",
    ),
    Column(
        "coherence",
        "coherence",
        ".3f",
        "mean NPMI of the 10 top words of a topic, in the training documents; higher is better",
    ),
    Column(
        "diversity", "diversity", ".3f", "of the 25 top words of every topic, put together, the share that is distinct"
    ),
)
BETWEEN_SIZES = (
    Column(
        "exclusivity",
        "exclusivity",
        ".3f",
        "share that a topic has in the probability of its 10 top words, among all topics; higher is better",
    ),
    Column(
        "stability",
        "stability",
        ".3f",
        "how far the topics of the seeds agree, by their 10 top words; higher is better",
    ),
)
_AFTER_LABELS = (
    Column(
        "ms per iteration",
        "seconds_per_iteration",
        ",.2f",
        "milliseconds; the mean over the second half of the iterations",
        1000,
    ),
)


def print_figures(rows: Sequence[Mapping[str, Any]], names: Sequence[str], more: Sequence[Column] = ()) -> None:
    """A line per row, with the columns `names` that tell rows apart, and with the measures that there are."""
    labels = {row["label_measure"] for row in rows} - {None}
    columns = (*_BEFORE_LABELS, *more, *(_LABEL_COLUMNS[name] for name in sorted(labels)), *_AFTER_LABELS)
    header = (*names, *(column.title for column in columns))
    cells = [(*(_name(row[name]) for name in names), *(_figure(row, column) for column in columns)) for row in rows]
    tables.print_table(header, cells, left=("model",))
    print("\nMeans over seeds ± standard deviations.\n")
    tables.print_table(("column", "meaning"), [(column.title, column.meaning) for column in columns], left=("column",))


def _name(value: Any) -> str:
    return short(value) if isinstance(value, str) else f"{value:,}"


def _figure(row: Mapping[str, Any], column: Column) -> str:
    """``774.3 ± 4.2``; a dash where there is nothing to measure."""
    mean, deviation = row[column.measure], row[f"{column.measure}_sd"]
    if mean is None:
        return "–"
    spread = "" if deviation is None else f" ± {column.factor * deviation:{column.form}}"
    return f"{column.factor * mean:{column.form}}{spread}"
