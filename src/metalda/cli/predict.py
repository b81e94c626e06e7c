"""``metalda predict``: labels of new documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from numpy.typing import NDArray

from metalda.cli import options, tables
from metalda.cli.data import NewTextOptions
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import short

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

EPILOG = options.epilog(
    "metalda predict model new.jsonl --format csv > labels.csv", "metalda predict model new.jsonl --threshold 0.5"
)
_BETWEEN_LABELS = "|"  # in a cell of CSV, unless the training data had another delimiter


def predict(
    model: options.Model,
    data: options.Data,
    new: NewTextOptions,
    id: options.Id = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="PROBABILITY",
            help="Print all labels with at least this probability, such as 0.5, instead of the most probable label.",
            show_default=False,
        ),
    ] = None,
    jobs: options.Jobs = 1,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Predict the labels of new documents with a model that was trained with labels (metalda, dmr, llda, pllda).

    Labels in DATA are not read. The table contains the most probable label, or one label of each column that the model
    was trained with (--labels section --labels author); json and csv contain the probabilities of all labels. For
    documents with several labels give --threshold. The docs compare the accuracy with that of a logistic regression on
    the words, which is higher: use that if labels are all you need.
    """
    from metalda.models.prediction import above_threshold, best_by_column, check_threshold, label_columns

    check_threshold(threshold)
    fitted = options.load_model(model, jobs)
    if not fitted.label_names_:
        raise InputError(
            f"{model}: this {type(fitted).__name__} was trained without labels; train one with --labels COLUMN"
        )
    corpus = new.read(fitted, data, id=id)
    probabilities = fitted.predict_label_probabilities(corpus)
    names, values = list(probabilities.columns), probabilities.to_numpy()
    ids = corpus.ids if corpus.ids is not None else [str(d) for d in range(len(corpus))]
    columns = label_columns(fitted.fitted_, names) if threshold is None else {}
    if columns:
        best = best_by_column(fitted.fitted_, names, values)
        chances = [values[:, labels].max(axis=1) for labels in columns.values()]
        _print_columns(ids, best, chances, probabilities, format, raw=raw)
        return
    column = "label" if threshold is None else "labels"
    if threshold is None:
        chosen = [[int(best)] for best in values.argmax(axis=1)]
    else:
        chosen = above_threshold(values, threshold)
    rows = list(zip(ids, chosen, values.tolist(), strict=True))
    if format is Format.json:
        tables.print_json(
            [
                {
                    "id": i,
                    column: names[own[0]] if threshold is None else [names[j] for j in own],
                    "probabilities": dict(zip(names, row, strict=True)),
                }
                for i, own, row in rows
            ]
        )
    elif format is Format.csv:
        schema = fitted.schema_
        between = (None if schema is None else schema.label_delimiter) or _BETWEEN_LABELS
        cells = ([i, between.join(names[j] for j in own), *row] for i, own, row in rows)
        tables.print_csv(("id", column, *names), cells, raw=raw)
    elif threshold is None:
        lines = [(short(i), short(names[j]), f"{row[j]:.2f}") for i, (j,), row in rows]
        tables.print_table(("id", "label", "probability"), lines)
    else:
        cells_of_table = [
            (short(i), ", ".join(f"{short(names[j])} ({row[j]:.2f})" for j in own)) for i, own, row in rows
        ]
        tables.print_table(("id", "labels (probability)"), cells_of_table)


def _print_columns(
    ids: Sequence[str],
    best: pd.DataFrame,
    chances: Sequence[NDArray[np.floating]],
    probabilities: pd.DataFrame,
    format: Format,
    *,
    raw: bool,
) -> None:
    """Print the most probable value of every label column."""
    columns, names, values = list(best.columns), list(probabilities.columns), probabilities.to_numpy().tolist()
    rows = list(zip(ids, best.to_numpy().tolist(), values, strict=True))
    if format is Format.json:
        tables.print_json(
            [
                {
                    "id": i,
                    "labels": dict(zip(columns, own, strict=True)),
                    "probabilities": dict(zip(names, row, strict=True)),
                }
                for i, own, row in rows
            ]
        )
    elif format is Format.csv:
        tables.print_csv(("id", *columns, *names), ([i, *own, *row] for i, own, row in rows), raw=raw)
    else:
        cells = [
            (short(i), *(f"{short(value)} ({chance[d]:.2f})" for value, chance in zip(own, chances, strict=True)))
            for d, (i, own, _) in enumerate(rows)
        ]
        tables.print_table(("id", *(f"{short(column)} (probability)" for column in columns)), cells)
