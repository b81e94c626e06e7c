"""``metalda effects``: effects of labels and word features on topics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metalda.cli import options, tables
from metalda.cli.layout import Cell
from metalda.cli.options import Format
from metalda.errors import InputError
from metalda.utils.factors import written_factor
from metalda.utils.terminal import short

if TYPE_CHECKING:
    import pandas as pd

    from metalda.meta.label_index import LabelIndex
    from metalda.models.base import TopicModel

EPILOG = options.epilog("metalda effects model --contrast sport politics --plot effects.png")


def effects(
    model: options.Model,
    interval: Annotated[
        float, typer.Option("--interval", metavar="PROBABILITY", help="Posterior probability of the intervals.")
    ] = 0.9,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="NAME",
            help="Effects of this label (or feature) on all topics: genre=Drama (or Drama, if one column has it), "
            "'1940 <= year < 1960' (or year=1950).",
        ),
    ] = None,
    contrast: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--contrast",
            metavar="FIRST SECOND",
            help="Difference between two labels, or between combinations: sport,2019 politics,2019. In a combination, "
            "quote a label that contains a comma: '\"Smith, J.\",2019'.",
            show_default=False,
        ),
    ] = None,
    proportions: Annotated[
        bool, typer.Option("--proportions", help="Print expected topic proportions by label instead of effects.")
    ] = False,
    pooling: Annotated[
        bool,
        typer.Option("--pooling", help="Print how much each label column and source of word features matters."),
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="N",
            min=0,
            help="Rows per topic (per label with --proportions), or rows of one label or contrast; 0 prints all.",
            show_default="5; all in json and csv",
        ),
    ] = None,
    features: Annotated[
        bool, typer.Option("--features", help="Print effects of word features instead of labels.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot the effects: a .png, .svg or .pdf.", show_default=False),
    ] = None,
    format: options.Printing = Format.table,
    raw: options.Raw = False,
) -> None:
    """Print the effects of labels on topics, with posterior intervals.

    Without options: for each topic, the labels that raise it most. The difference is the change of the topic's expected
    proportion in documents with the label, in percentage points. The effect is a factor: 2× doubles the weight of the
    topic (json and csv have its logarithm, as in Python). A label is compared with the average label of its kind if
    every document has one of the kind, and with its absence otherwise. Rows are sorted by the end of the effect's
    interval that is nearer to 1×, so that uncertain effects come last.
    """
    import metalda
    from metalda.meta.label_index import LabelIndex
    from metalda.models.weights import feature_weights, label_weights, require_effects

    _check_choice(label, contrast, proportions, features, pooling, plot)
    if top is None:
        top = 5 if format is Format.table else 0
    fitted = metalda.load(model)
    if pooling:
        _print_pooling(fitted, format, raw)
        return
    kind, weights = ("feature", feature_weights) if features else ("label", label_weights)
    require_effects(fitted, kind)
    index = LabelIndex(weights(fitted.fitted_).names, kind)
    label = None if label is None else index.require(label)
    sides = None
    if contrast is not None:
        sides = _labels_of(index, contrast[0]), _labels_of(index, contrast[1])
        compare = fitted.feature_contrasts if features else fitted.label_contrasts
        table = _farthest_from_zero(compare(*sides, interval=interval), top)
    elif proportions:
        table = _proportions_of(fitted, interval, label, top)
    else:
        table = _effects_of(fitted, interval, label, top, features)
    if plot is not None:
        from metalda.evaluation.figures import save_figure

        drawn = metalda.plot_effects(fitted, label, contrast=sides, features=features, interval=interval)
        save_figure(drawn.figure, plot)
    _print(fitted, table, interval, format, raw)


def _check_choice(
    label: str | None,
    contrast: tuple[str, str] | None,
    proportions: bool,
    features: bool,
    pooling: bool,
    plot: Path | None,
) -> None:
    if pooling and (label is not None or contrast is not None or proportions or features or plot is not None):
        raise InputError("--pooling is a table of its own: leave out the other options")
    if contrast is not None and (label is not None or proportions):
        raise InputError("--contrast excludes --label and --proportions: choose one")
    if proportions and features:
        raise InputError("--proportions are by label; leave out --features")
    if plot is None:
        return
    if proportions:
        raise InputError("--plot shows effects and contrasts; leave out --proportions")
    from metalda.evaluation.figures import check_figure_path

    check_figure_path(plot)


def _labels_of(index: LabelIndex, text: str) -> list[str]:
    """Return a label, or several separated by commas; in a list, a label that contains a comma is quoted as in CSV."""
    whole = index.find(text)
    return [whole] if whole is not None else index.require_all(options.columns([text]) or [text])


def _effects_of(model: TopicModel, interval: float, name: str | None, top: int, features: bool) -> pd.DataFrame:
    """Return the rows to print, strongest first by topic, or of one label."""
    table = model.feature_effects(interval) if features else model.label_effects(interval)
    if name is None:
        return strongest(table, "topic", top)
    return _farthest_from_zero(table[table[table.columns[0]] == name], top)


def _proportions_of(model: TopicModel, interval: float, name: str | None, top: int) -> pd.DataFrame:
    """Return the largest topics of each label, or of one."""
    table = model.label_proportions(interval)
    if name is not None:
        table = table[table["label"] == name]
    table = table.sort_values(["label", "proportion"], ascending=[True, False], kind="stable")
    return table.groupby("label", sort=False).head(top) if top else table


def strongest(table: pd.DataFrame, by: str, top: int) -> pd.DataFrame:
    """Return the rows of each group that have the largest lower ends of intervals, of differences if there are any."""
    value, low, _ = _scale_of(table)
    clear = table[low].fillna(table[value])  # without intervals, the largest effects
    table = table.assign(clear=clear).sort_values([by, "clear"], ascending=[True, False], kind="stable")
    table = table.drop(columns="clear")
    return table.groupby(by, sort=False).head(top) if top else table


def _farthest_from_zero(table: pd.DataFrame, top: int) -> pd.DataFrame:
    """Return the rows whose intervals are farthest from 0."""
    value, low, high = _scale_of(table)
    clear = table[[low]].assign(high=-table[high]).max(axis=1).fillna(table[value].abs())
    order = clear.sort_values(ascending=False, kind="stable").index
    return table.loc[order[: top or None]]


def _scale_of(table: pd.DataFrame) -> tuple[str, str, str]:
    """Return the columns that effects are judged by: a label can raise the weight of a topic and lower its share."""
    known = "difference" in table and table["difference"].notna().any()
    return ("difference", "difference_low", "difference_high") if known else ("effect", "low", "high")


def _count_opposed(table: pd.DataFrame) -> int:
    """Return how many effects are clear on both scales, with opposite signs."""
    if "difference" not in table:
        return 0
    raises = (table["low"] > 0) & (table["difference_high"] < 0)
    lowers = (table["high"] < 0) & (table["difference_low"] > 0)
    return int((raises | lowers).sum())


def _print(model: TopicModel, table: pd.DataFrame, interval: float, format: Format, raw: bool) -> None:
    tables.print_as(format, table, lambda: _print_table(model, table, interval), raw=raw)


def _print_table(model: TopicModel, table: pd.DataFrame, interval: float) -> None:
    """Print effects or proportions as a table; the words of a topic are in its first row."""
    kind = table.columns[0] if table.columns[0] in ("label", "feature") else None
    proportions = "effect" not in table
    lengths = iter(tables.bars(table["proportion"])) if proportions and tables.shows_bars() else None
    rows, previous = [], None
    for row in table.to_dict("records"):
        own = (row["topic"], row[kind] if proportions else None)  # proportions are listed by label
        words = Cell("") if own == previous else tables.describe_topic(model, row["topic"], 5)
        previous = own
        cells: list[str | Cell] = []
        if proportions:
            cells += [short(row["label"]), _number(row["proportion"], ".3f")]
            cells += [next(lengths)] if lengths else []
            cells.append(ends(row["low"], row["high"], ".3f"))
        else:
            effect = factor_cells(row["effect"], row["low"], row["high"])
            points: list[Cell] = []
            if "difference" in row:
                change, *edges = (100 * row[name] for name in ("difference", "difference_low", "difference_high"))
                points = signed_cells(change, edges[0], edges[1], "+.1f")
            judged = points if _scale_of(table)[0] == "difference" else effect
            cells += [Cell(short(row[kind]), judged[1].style), *points] if kind else points
            cells += effect
        if "chains" in row:
            cells += tables.chain_cells(model, [row["chains"]])
        rows.append((str(row["topic"]), *cells, words))
    if kind is None and len(table):
        print(f"{short(table['first'].iloc[0])} vs. {short(table['second'].iloc[0])}:\n")
    named, level = (kind,) if kind else (), f"{interval:.0%} interval"
    values = ["proportion", *([tables.BAR] if lengths else []), level] if proportions else ["effect", level]
    if "difference" in table:
        values = ["difference (%)", level, *values]
    if "chains" in table:
        values.append("chains")
    tables.print_table(("topic", *named, *values, "words of the topic"), rows, left=(*named, tables.BAR))
    tables.print_notes(model)
    if table["low"].isna().all():
        print("\nThese effects have no intervals" + _reason(model) + ".")
    else:
        print(f"\nIntervals are over {tables.count(table.attrs['n_draws'], 'draw')}.")
    if opposed := _count_opposed(table):
        print(
            f"{opposed:,} of these effects raise the weight of a topic and lower its share, or the reverse, because "
            "they change the weights of other topics more. The difference is what happens to the share."
        )
    if "tail_ess" in table:
        from metalda.models.weights import FEW_DRAWS

        few = int((table["tail_ess"] < FEW_DRAWS).sum())
        if few:
            print(
                f"{few:,} of these {len(table):,} intervals have fewer than {FEW_DRAWS} effective draws behind their "
                "ends and may be off: fit with more --iterations."
            )


def _reason(model: TopicModel) -> str:
    if model.fitted_.doc_prior.samples_weights and model.fitted_.word_prior.samples_weights:
        return ""  # a warning has said it
    return f": the weights of {type(model).__name__} are point estimates. Those of MetaLDA are sampled"


def _print_pooling(model: TopicModel, format: Format, raw: bool) -> None:
    table = getattr(model, "pooling_", None)
    if table is None or table.empty:
        raise InputError(
            "the model has no learned scales; fit MetaLDA with labels or word features and --weight-prior normal"
        )

    def show() -> None:
        rows = [
            (
                row["kind"],
                short(row["group"]) or "–",
                f"{row['n']:,}",
                f"{row['scale']:.2f}",
                ends(row["low"], row["high"], ".2f"),
            )
            for row in table.to_dict("records")
        ]
        tables.print_table(("kind", "group", "number", "scale", "90% interval"), rows, left=("kind", "group"))
        print("\nThe scale is the standard deviation of log weights: at 0.7 a typical one doubles or halves a topic.")

    tables.print_as(format, table, show, raw=raw)


def _number(value: float, style: str) -> str:
    return f"{value:{style}}" if math.isfinite(value) else "–"


def factor_cells(effect: float, low: float, high: float) -> list[Cell]:
    """Return an effect on the log scale and its interval as cells with factors."""
    sign = tables.sign_style(effect, low, high)
    interval = f"{written_factor(low)} to {written_factor(high)}" if math.isfinite(low) else "–"
    return [Cell(written_factor(effect), sign), Cell(interval, sign if sign == "uncertain" else "")]


def signed_cells(value: float, low: float, high: float, style: str) -> list[Cell]:
    """Return an effect and its interval as cells: on a terminal its sign has a color, and an uncertain one is dim."""
    sign = tables.sign_style(value, low, high)
    return [Cell(_number(value, style), sign), Cell(ends(low, high, style), sign if sign == "uncertain" else "")]


def ends(low: float, high: float, style: str) -> str:
    """Return the ends of an interval, or a dash if there is none."""
    return f"{low:{style}} to {high:{style}}" if math.isfinite(low) else "–"
