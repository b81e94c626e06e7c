"""``metalda predict``: labels of new documents."""

from __future__ import annotations

from metalda.cli import options, tables
from metalda.cli.data import NewTextOptions
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import short

EPILOG = options.epilog("metalda predict model new.jsonl --format csv > labels.csv")


def predict(
    model: options.Model,
    data: options.Data,
    new: NewTextOptions,
    id: options.Id = None,
    jobs: options.Jobs = 1,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Predict the labels of new documents with a model that was trained with labels (metalda, dmr, llda, pllda).

    Labels in DATA are not read. The table contains the most probable label; json and csv contain the probabilities of
    all labels. For documents with several labels, select those with a probability above a threshold
    such as 0.5.
    """
    fitted = options.load_model(model, jobs)
    if not fitted.label_names_:
        raise InputError(
            f"{model}: this {type(fitted).__name__} was trained without labels; train one with --labels COLUMN"
        )
    corpus = new.read(fitted, data, id=id)
    probabilities = fitted.predict_label_probabilities(corpus)
    names, values = list(probabilities.columns), probabilities.to_numpy()
    ids = corpus.ids if corpus.ids is not None else [str(d) for d in range(len(corpus))]
    best = values.argmax(axis=1)
    if format is Format.json:
        rows = zip(ids, best, values.tolist(), strict=True)
        tables.print_json(
            [{"id": i, "label": names[b], "probabilities": dict(zip(names, row, strict=True))} for i, b, row in rows]
        )
    elif format is Format.csv:
        cells = ([i, names[b], *row] for i, b, row in zip(ids, best, values.tolist(), strict=True))
        tables.print_csv(("id", "label", *names), cells, raw=raw)
    else:
        lines = [(short(i), short(names[b]), f"{row[b]:.2f}") for i, b, row in zip(ids, best, values, strict=True)]
        tables.print_table(("id", "label", "probability"), lines)
