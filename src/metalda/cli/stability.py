"""``metalda stability``: compare the topics of several models."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.options import Format
from metalda.utils.terminal import clean

EPILOG = options.epilog("metalda stability model-0 model-1 model-2")


class Similarity(StrEnum):
    """The measure of the similarity of two topics."""

    words = "words"
    probabilities = "probabilities"


def stability(
    models: options.Models,
    measure: Annotated[
        Similarity,
        typer.Option("--measure", help="Compare the top words of topics, or the probabilities of all words."),
    ] = Similarity.words,
    top_n: Annotated[
        int, typer.Option("--top-n", "-n", metavar="N", min=1, help="Words per topic to compare and print.")
    ] = 10,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Compare the topics of several models, such as fits with different seeds.

    Topics are matched one to one so that their total similarity is largest. The table contains the topics of the first
    MODEL, the most stable first; json and csv contain the topics of all models. A topic of the first MODEL recurs in
    another if each of the two is the most similar to the other, with a similarity of 0.8 or more (probabilities).
    """
    from metalda.evaluation import recurring_topics
    from metalda.evaluation import stability as measure_stability

    first, *others = loaded = options.load_models(models)
    found = measure_stability(loaded, measure=measure.value, top_n=top_n)
    n_recurring = [len(recurring_topics(first, other)) for other in others]
    table = found.topics.assign(model=[str(models[i]) for i in found.topics["model"]])
    if format is Format.json:
        result = {"stability": found.score, "measure": measure.value, "recurring": n_recurring}
        tables.print_json({**result, "topics": table.to_dict("records")})
    elif format is Format.csv:
        tables.print_frame(table, raw=raw)
    else:
        rows = found.topics[found.topics["model"] == 0].sort_values("similarity", ascending=False, kind="stable")
        names = rows.get("name", [""] * len(rows))
        words = [tables.with_name(name, tables.joined(own)) for name, own in zip(names, rows["words"], strict=True)]
        shown = [f"{similarity:.3f}" for similarity in rows["similarity"]]
        cells = list(zip(map(str, rows["topic"]), shown, words, strict=True))
        tables.print_table(("topic", "similarity", f"words of the topics of {clean(str(models[0]))}"), cells)
        print(f"\nStability {found.score:.3f}: mean over all topics of {len(models)} models. 1 means equal topics.")
        for path, n in zip(models[1:], n_recurring, strict=True):
            print(f"{n:,} of {len(first.components_):,} topics recur in {clean(str(path))}.")
