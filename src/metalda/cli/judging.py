"""``metalda stability`` and ``metalda chains``: several saved models of one corpus beside each other."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.terminal import clean, short

if TYPE_CHECKING:
    import pandas as pd

    from metalda.models.base import TopicModel

_Models = Annotated[
    list[Path], typer.Argument(metavar="MODEL…", help="Folders of saved models, two or more.", show_default=False)
]


class Measure(str, Enum):
    """How similar two topics are."""

    words = "words"
    probabilities = "probabilities"


def stability(
    models: _Models,
    measure: Annotated[
        Measure,
        typer.Option("--measure", help="Compare the top words of topics, or their probabilities of all words."),
    ] = Measure.words,
    top_n: Annotated[int, typer.Option("--top-n", "-n", min=1, help="Words of each topic to compare and show.")] = 10,
    format: options.Printing = Format.table,
) -> None:
    """Show whether several models have the same topics, for instance fits with several seeds.

    Topics are matched one to one so that they are as similar as can be. The table has the topics of the first MODEL,
    the steadiest first; json and csv have those of all.
    """
    from metalda.evaluation import stability as measure_stability

    found = measure_stability(_load(models), measure=measure.value, top_n=top_n)
    table = found.topics.assign(model=[str(models[i]) for i in found.topics["model"]])
    if format is Format.json:
        tables.print_json({"stability": found.score, "measure": measure.value, "topics": table.to_dict("records")})
        return
    if format is Format.csv:
        _print_csv(table)
        return
    rows = found.topics[found.topics["model"] == 0].sort_values("similarity", ascending=False, kind="stable")
    cells = [(str(row.topic), f"{row.similarity:.3f}", clean(row.words)) for row in rows.itertuples()]
    tables.print_table(("topic", "similarity", f"words of the topics of {clean(str(models[0]))}"), cells)
    print(f"\nStability {found.score:.3f}: the mean over all topics of all {len(models)} models. 1 is the same topics.")


def chains(
    models: _Models,
    top: Annotated[int, typer.Option("--top", min=0, help="Effects to show, the worst first; 0 shows all.")] = 10,
    format: options.Printing = Format.table,
) -> None:
    """Show whether several chains agree: R-hat and effective sample size, over fits that differ in their --seed alone.

    Of the log-likelihood after the burn-in, and of the effects of labels over the kept draws, once the topics of the
    chains have been matched. The latter needs many draws: fit with, say, --iterations 2000 --thin 5 --draws 200.
    """
    from metalda.evaluation import diagnose_chains

    table = diagnose_chains(_load(models))
    if format is Format.json:
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        tables.print_json({"quantities": rows, "verdicts": table["verdict"].value_counts().to_dict()})
        return
    if format is Format.csv:
        _print_csv(table.astype(object).where(table.notna(), ""))
        return
    _print_chains(table, top)


def _print_chains(table: pd.DataFrame, top: int) -> None:
    """The log-likelihood, then the effects with the largest R-hat."""
    effects = table.iloc[1:].sort_values("rhat", ascending=False, kind="stable", na_position="first")
    rows = [
        (
            row["quantity"].replace("_", " "),
            short(row["label"]) if isinstance(row["label"], str) else "",
            "" if row["topic"] is None else str(row["topic"]),
            *("–" if row[name] is None else f"{row[name]:{form}}" for name, form in (("rhat", ".3f"), ("ess", ",.0f"))),
            f"{row['chains']} × {row['draws']:,}",
            row["verdict"],
        )
        for part in (table.iloc[:1], effects.head(top) if top else effects)
        for row in part.astype(object).where(part.notna(), None).to_dict("records")
    ]
    header = ("quantity", "label", "topic", "R-hat", "effective draws", "chains × draws", "verdict")
    tables.print_table(header, rows, left=("quantity", "label"))
    if len(effects):
        counts = effects["verdict"].value_counts()
        print(f"\nEffects of labels: {', '.join(f'{n:,} {verdict}' for verdict, n in counts.items())}.")
        print("They are compared between topics that were matched by their words; topics are numbered as in the first.")
    print("Mixed is R-hat up to 1.01, and 100 effective draws for each chain.")


def _load(paths: list[Path]) -> list[TopicModel]:
    import metalda

    if len(paths) < 2:
        raise InputError(f"{paths[0]}: one model has nothing to be compared with; give two or more")
    return [metalda.load(path) for path in paths]


def _print_csv(table: pd.DataFrame) -> None:
    rows = ([tables.cell(value) for value in row] for row in table.to_numpy(object))
    tables.print_csv(list(table.columns), rows)
