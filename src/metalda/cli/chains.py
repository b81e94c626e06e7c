"""``metalda chains``: convergence diagnostics over several chains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.utils.terminal import short

if TYPE_CHECKING:
    import pandas as pd

EPILOG = options.epilog("metalda chains model", "metalda chains model-0 model-1 model-2 model-3")


def chains(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL…",
            help="Folder of a model with several chains, or folders of models that differ only in --seed.",
            show_default=False,
            parser=options.location,
        ),
    ],
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=0, help="Effects to print, largest R-hat first; 0 prints all.")
    ] = 10,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Compute R-hat and effective sample sizes over several chains (metalda fit --chains).

    The quantities are the log-likelihood and the label effects of all iterations after the burn-in, after the topics of
    the chains have been matched.
    """
    import metalda

    table = metalda.diagnose_chains([metalda.load(path) for path in models])
    if format is Format.json:
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        tables.print_json({"quantities": rows, "verdicts": table["verdict"].value_counts().to_dict()})
    elif format is Format.csv:
        tables.print_frame(table.astype(object).where(table.notna(), ""), raw=raw)
    else:
        _print_table(table, top)


def _print_table(table: pd.DataFrame, top: int) -> None:
    """Print the log-likelihood, then the effects with the largest R-hat."""
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
        print(f"\nLabel effects: {', '.join(f'{n:,} {verdict}' for verdict, n in counts.items())}.")
        print("Effects are compared between topics matched by their words. Topic numbers are those of the first chain.")
    print("Mixed: R-hat at most 1.01, and at least 100 effective draws per chain.")
