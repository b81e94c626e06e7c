"""Plots of measures and effects, with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError
from metalda.evaluation.figures import as_panels, new_figure, only_axes
from metalda.meta.label_index import LabelIndex
from metalda.meta.terms import ColumnValue
from metalda.models.base import TopicModel
from metalda.models.prevalence import (
    N_POINTS,
    ColumnValues,
    default_values,
    frequent_values,
    require_columns,
    shown_value,
)
from metalda.models.weights import require_effects
from metalda.utils.factors import factor, round_factors, written_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.text import Text

    from metalda.models.fitted import Fitted

Contrast = tuple[str | Iterable[str], str | Iterable[str]]
Topics = int | str | Iterable[int | str] | None  # numbers or names; None for all

_PANELS = {  # by measure; those without a value are not drawn
    "perplexity": "perplexity (lower is better)",
    "coherence": "coherence (NPMI)",
    "diversity": "topic diversity",
    "exclusivity": "exclusivity",
    "stability": "stability across seeds",
    "label_score": "prediction of labels",
    "nmi": "agreement with hidden labels (NMI)",
}
_COLUMNS = 3  # of panels
MAX_PANELS = 24  # topics that are drawn by default
MAX_INTERVALS = 40  # above this, a heat map is easier to read than a forest plot
_MAX_LETTERS = 40  # of a name
_LETTER_WIDTH = 0.08  # inches
_MAX_INCHES = 60  # of a figure
_UNCERTAIN = "0.7"  # the gray of intervals that contain no effect


def plot_search(table: pd.DataFrame) -> NDArray[np.object_]:
    """Plot the table of `search_k`: a panel per measure over the number of topics.

    Bars are one standard deviation over seeds.

    Parameters
    ----------
    table : DataFrame
        Returned by `search_k`, without ``by_run=True``.

    Returns
    -------
    array of matplotlib Axes
        A panel per measure. The figure is ``axes[0].figure``, e.g. for ``axes[0].figure.savefig("k.png")``.

    Examples
    --------
    >>> from metalda import Corpus, plot_search, search_k
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain sun"] * 5)
    >>> axes = plot_search(search_k(corpus, [2, 3], "lda", seeds=2, n_iter=20))
    >>> axes[0].get_ylabel()
    'perplexity (lower is better)'
    """
    missing = [name for name in ("topics", "perplexity", "perplexity_sd") if name not in table]
    if missing:
        raise InputError(f"no column {missing[0]!r} in the table: give the one that search_k returns, without by_run")
    measures = [name for name in _PANELS if name in table and table[name].notna().any()]
    n_rows = -(-len(measures) // _COLUMNS)
    figure = new_figure(figsize=(4 * min(len(measures), _COLUMNS), 3 * n_rows), layout="constrained")
    panels = np.empty(len(measures), object)
    for i, name in enumerate(measures):
        panels[i] = axes = figure.add_subplot(n_rows, _COLUMNS, i + 1)
        deviations = table[f"{name}_sd"].fillna(0)  # one seed has no deviation
        axes.errorbar(table["topics"], table[name], yerr=deviations, marker="o", capsize=3)
        axes.set_xticks(table["topics"])
        axes.set_xlabel("topics")
        axes.set_ylabel(_PANELS[name])
        axes.grid(alpha=0.3)
    return as_panels(panels)


def plot_effects(
    model: TopicModel,
    labels: str | Iterable[str] | None = None,
    topics: Topics = None,
    *,
    contrast: Contrast | None = None,
    features: bool = False,
    interval: float = 0.9,
    style: str = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Plot the effects of labels on topics, with intervals over the draws.

    Effects are factors on a logarithmic axis: at 2× documents with the label have twice the weight of the topic, and 1×
    is no effect. They are sorted, and gray (in a heat map faint) where the interval contains no effect.

    Parameters
    ----------
    model : TopicModel
        A fitted model with effects: MetaLDA or DMR with labels; with ``features=True`` MetaLDA or WFLDA.
    labels : str or list of str, optional
        Labels (or features) to show, typed as for `model.label_contrasts`; all by default.
    topics : int, str, or list of these, optional
        Topics to show; all by default.
    contrast : pair, optional
        Two labels, or two lists of labels, as in `model.label_contrasts`: the first relative to the second.
    features : bool
        Show word features instead of labels.
    interval : float
        Probability of the credible intervals.
    style : {"auto", "forest", "heatmap"}
        A point and an interval for each effect, or a colored cell. "auto" uses a heat map for more than 40 effects.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        Its figure is ``ax.figure``, e.g. for ``ax.figure.savefig("effects.png")``.

    Examples
    --------
    >>> from metalda import MetaLDA, plot_effects
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> labels = ["pets", "pets", "weather", "weather"]
    >>> model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(texts, labels)
    >>> ax = plot_effects(model, contrast=("pets", "weather"))
    >>> ax.get_title()
    'pets vs. weather'
    """
    if style not in ("auto", "forest", "heatmap"):
        raise InputError(f"style must be 'auto', 'forest' or 'heatmap', not {style!r}")
    table, kind = _effects(model, labels, contrast, features, interval)
    table = of_topics(table, topics, model.fitted_)
    if style == "auto":
        style = "heatmap" if len(table) > MAX_INTERVALS and kind in table else "forest"
    if kind not in table and style == "heatmap":
        raise InputError("a contrast has one effect for each topic: use style='forest'")
    draw = _draw_forest if style == "forest" else _draw_heatmap
    return draw(model, table, kind, interval, ax)


def plot_prevalence(
    model: TopicModel,
    over: str,
    by: str | None = None,
    topics: Topics = None,
    *,
    at: ColumnValues | None = None,
    contrast: bool = False,
    interval: float = 0.9,
    n_points: int = N_POINTS,
) -> NDArray[np.object_]:
    """Plot the expected proportion of topics over a number or a label column, a panel for each topic.

    Parameters
    ----------
    model : TopicModel
        A fitted MetaLDA or DMR with columns of labels or numbers.
    over : str
        The column on the x axis. A number gives curves with bands, labels give points with intervals.
    by : str, optional
        A column whose values have a line each, in different colors: the eight most frequent labels of a label column,
        or the smallest, the middle and the largest number.
    topics : int, str, or list of these, optional
        Topics to show. By default all, or of more than 24 those that change most.
    at : mapping, optional
        Values of columns, as in `model.prevalence_at`: of `over` and `by` to choose what is drawn, of other columns to
        hold them fixed.
    contrast : bool
        Plot differences from the first value of `by`, or of `over` without `by`.
    interval : float
        Posterior probability of the bands. Models without intervals (DMR) have none.
    n_points : int
        Points over the range of the number in the training documents.

    Returns
    -------
    array of matplotlib Axes
        A panel for each topic. The figure is ``axes[0].figure``, e.g. for ``axes[0].figure.savefig("years.png")``.

    Examples
    --------
    >>> import pandas as pd
    >>> from metalda import Corpus, MetaLDA, plot_prevalence
    >>> frame = pd.DataFrame({"text": ["cat dog cat", "rain sun rain"] * 20, "year": range(1980, 2020)})
    >>> corpus = Corpus.from_frame(frame, numbers="year")
    >>> model = MetaLDA(2, prevalence="s(year)", n_iter=100, random_state=0, verbose=False).fit(corpus)
    >>> axes = plot_prevalence(model, "year")
    >>> len(axes), axes[0].get_xlabel()
    (2, 'year')
    """
    table, lines = _prevalence(model, over, by, at or {}, contrast, interval, n_points)
    chosen = of_topics(table, topics, model.fitted_)
    numbers = list(dict.fromkeys(chosen["topic"])) if topics is not None else _most_changing(table)
    n_rows, n_columns = -(-len(numbers) // _COLUMNS), min(len(numbers), _COLUMNS)
    figure = new_figure(figsize=(4 * n_columns, min(3 * n_rows + 0.5, _MAX_INCHES)), layout="constrained")
    panels = np.empty(len(numbers), object)
    for i, (topic, name) in enumerate(zip(numbers, _topic_names(model, numbers), strict=True)):
        panels[i] = axes = figure.add_subplot(n_rows, n_columns, i + 1)
        _draw_prevalence(axes, table[table["topic"] == topic], over, by, lines)
        _show_literally(axes.set_title(name, fontsize="small"))
        _show_literally(axes.set_xlabel(_name(over)))
        axes.set_ylabel("difference" if contrast else "expected proportion")
        axes.grid(alpha=0.3)
        if contrast:
            axes.axhline(0, color="0.6", linewidth=1, zorder=0)
    shown = f"difference from {_name(table.attrs['reference'])}" if contrast else "expected proportion of the topic"
    if table["low"].notna().any():
        shown += f", {interval:.0%} interval, {table.attrs['n_draws']} draws"
    _show_literally(figure.suptitle(shown, fontsize="medium"))
    if by is not None:
        legend = figure.legend(
            *panels[0].get_legend_handles_labels(),
            title=_name(by),
            loc="outside lower center",
            ncols=min(len(lines), 2 * n_columns),
            fontsize="small",
        )
        for text in (legend.get_title(), *legend.get_texts()):
            _show_literally(text)
    return as_panels(panels)


def _prevalence(
    model: TopicModel,
    over: str,
    by: str | None,
    at: ColumnValues,
    contrast: bool,
    interval: float,
    n_points: int,
) -> tuple[pd.DataFrame, list[ColumnValue]]:
    """Return the table of a plot, and the values of `by`."""
    require_effects(model, "label")
    require_columns(model.fitted_, over, by, *at)
    if over == by:
        raise InputError(f"over and by are both {over!r}: give two columns")
    if n_points < 2:
        raise InputError(f"n_points must be at least 2, not {n_points!r}")
    given = {over: default_values(model.fitted_, over, n_points), **at}
    if by is not None and by not in at:
        given[by] = frequent_values(model.fitted_, by)
    values = {column: [own] if isinstance(own, str | int | float) else own for column, own in given.items()}
    for column, own in values.items():
        if column not in (over, by) and len(own) > 1:
            raise InputError(f"at[{column!r}] has {len(own):,} values: give one, or draw a line for each with by")
    table = model.prevalence_at(values, interval, contrast=(by or over) if contrast else None)
    table.attrs["reference"] = shown_value(by or over, next(iter(values[by or over])))
    return table, [] if by is None else list(dict.fromkeys(table[by]))


def _most_changing(table: pd.DataFrame) -> list[int]:
    """Return the topics whose proportions have the widest range, at most MAX_PANELS, in their order."""
    ranges = table.groupby("topic")["mean"].agg(lambda own: own.max() - own.min())
    return sorted(int(topic) for topic in ranges.nlargest(MAX_PANELS).index)


def _draw_prevalence(ax: Axes, table: pd.DataFrame, over: str, by: str | None, lines: Sequence[ColumnValue]) -> None:
    """Draw the lines of a panel: curves over numbers, points over labels."""
    parts = [table] if by is None else [table[table[by] == value] for value in lines]
    labels = [None] if by is None else [f"\u200b{_name(shown_value(by, value))}" for value in lines]
    is_number = all(isinstance(value, int | float) for value in table[over])
    for number, (part, label) in enumerate(zip(parts, labels, strict=True)):
        color, middle, ends = f"C{number % 10}", part["mean"].to_numpy(), part[["low", "high"]].to_numpy().T
        if is_number:
            places = part[over].to_numpy(float)
            ax.plot(places, middle, color=color, label=label)
            if np.isfinite(ends).all():
                ax.fill_between(places, *ends, color=color, alpha=0.2, linewidth=0)
            continue
        places = np.arange(len(part)) + (number - (len(parts) - 1) / 2) * 0.8 / len(parts)
        container = ax.errorbar(places, middle, np.abs(ends - middle), fmt="o", markersize=4, capsize=2, color=color)
        container.set_label(label)
    if not is_number:
        names = [_name(shown_value(over, value)) for value in dict.fromkeys(table[over])]
        _name_ticks(ax.xaxis, range(len(names)), names, rotation=90)


def _effects(
    model: TopicModel, labels: str | Iterable[str] | None, contrast: Contrast | None, features: bool, interval: float
) -> tuple[pd.DataFrame, str]:
    kind = "feature" if features else "label"
    require_effects(model, kind)
    if contrast is not None:
        if labels is not None:
            raise InputError("give labels or a contrast, not both")
        compare = model.feature_contrasts if features else model.label_contrasts
        first, second = contrast
        return compare(first, second, interval), kind
    table = model.feature_effects(interval) if features else model.label_effects(interval)
    if labels is None:
        return table, kind
    wanted = LabelIndex(model.feature_names_ if features else model.label_names_, kind).require_all(labels)
    order = {name: number for number, name in enumerate(wanted)}
    table = table[table[kind].isin(wanted)]
    return table.sort_values(kind, key=lambda column: column.map(order), kind="stable"), kind


def of_topics(table: pd.DataFrame, topics: Topics, fitted: Fitted) -> pd.DataFrame:
    """Return the rows of some topics, by number or name; InputError for a topic that does not exist."""
    if topics is None:
        return table
    wanted = [topics] if isinstance(topics, int | str | np.integer) else list(topics)
    numbers = fitted.topic_numbers[[fitted.find_topic(topic) for topic in wanted]]
    return table[table["topic"].isin(numbers)]


def _draw_forest(model: TopicModel, table: pd.DataFrame, kind: str, interval: float, ax: Axes | None) -> Axes:
    """Draw a line for each effect, a color for each label; topics are sorted by the effect of the first label."""
    by_label = kind in table
    groups = [(name, part) for name, part in table.groupby(kind, sort=False)] if by_label else [(None, table)]
    topics = list(groups[0][1].sort_values("effect", ascending=False, kind="stable")["topic"])
    topics += [topic for topic in dict.fromkeys(table["topic"]) if topic not in topics]
    ax = _axes(ax, 8, 1.2 + 0.3 * len(table))
    rows = {topic: row for row, topic in enumerate(topics)}
    handles = []
    for number, (name, part) in enumerate(groups):
        offset = (number - (len(groups) - 1) / 2) * 0.8 / len(groups)
        heights = np.array([rows[topic] for topic in part["topic"]]) + offset
        middle, low, high = (_factors(part[column]) for column in ("effect", "low", "high"))
        is_certain, color = ~((low <= 1) & (high >= 1)), f"C{number % 10}"
        for chosen, tone in ((is_certain, color), (~is_certain, _UNCERTAIN)):
            if not chosen.any() and tone == _UNCERTAIN:
                continue
            ends = np.abs(np.stack([low, high]) - middle)[:, chosen]
            look: dict[str, Any] = {"fmt": "o", "markersize": 4, "capsize": 2, "color": tone, "markeredgecolor": color}
            container = ax.errorbar(middle[chosen], heights[chosen], xerr=ends, **look)
            if tone == color:  # a label that begins with _ would be left out of the legend
                container.set_label(f"\u200b{_name(name)}" if name is not None else None)
                handles.append(container)
    ax.set_xscale("log")
    ax.axvline(1, color="0.4", linewidth=1, zorder=0)
    _mark_factors(ax.xaxis, *np.log(ax.get_xlim()))
    ax.set_ylim(len(topics) - 0.5, -0.5)
    _name_ticks(ax.yaxis, range(len(topics)), _topic_names(model, topics))
    ax.set_xlabel(f"the topic's weight is multiplied by, {interval:.0%} interval, {table.attrs['n_draws']} draws")
    if by_label:
        legend = ax.legend(handles=handles, title=kind, fontsize="small")
        for text in legend.get_texts():
            _show_literally(text)
    else:
        _show_literally(ax.set_title(f"{_name(table['first'].iloc[0])} vs. {_name(table['second'].iloc[0])}"))
    return ax


def _factors(log_weights: pd.Series[float]) -> NDArray[np.float64]:
    return np.array([factor(value) if np.isfinite(value) else np.nan for value in log_weights])


def _mark_factors(axis: Axis, low: float, high: float, place: Callable[[float], float] = float) -> None:
    """Mark round factors on an axis; `place` gives the position of a factor."""
    marks = round_factors(low, high)
    axis.set_ticks([place(value) for value in marks], labels=[written_mark(value) for value in marks])
    axis.set_ticks([], minor=True)


def _draw_heatmap(model: TopicModel, table: pd.DataFrame, kind: str, interval: float, ax: Axes | None) -> Axes:
    """Draw a cell for each label and topic; faint if the interval contains no effect."""
    names = list(dict.fromkeys(table[kind]))
    topics = list(dict.fromkeys(table["topic"]))
    shape = len(names), len(topics)
    effects = table["effect"].to_numpy().reshape(shape).T
    sure = ((table["low"] > 0) | (table["high"] < 0)).to_numpy().reshape(shape).T
    columns, rows = [_name(name) for name in names], _topic_names(model, topics)
    width = 3 + _LETTER_WIDTH * max(map(len, rows)) + 0.3 * len(columns)
    ax = _axes(ax, width, 1.5 + _LETTER_WIDTH * max(map(len, columns)) + 0.25 * len(rows))
    largest = max(float(np.nanmax(np.abs(effects))), 1e-9)
    image = ax.imshow(
        effects, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto", alpha=np.where(sure, 1.0, 0.3)
    )
    _name_ticks(ax.xaxis, range(len(columns)), columns, rotation=90)
    _name_ticks(ax.yaxis, range(len(rows)), rows)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("the topic's weight is multiplied by")
    _mark_factors(bar.ax.yaxis, -largest, largest, math.log)
    ax.set_xlabel(f"{kind}; faint where the {interval:.0%} interval contains no effect, {table.attrs['n_draws']} draws")
    return ax


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    size = min(width, _MAX_INCHES), min(height, _MAX_INCHES)
    return only_axes(new_figure(figsize=size, layout="constrained"))


def _topic_names(model: TopicModel, topics: Sequence[int]) -> list[str]:
    fitted, n_chains, names = model.fitted_, len(model.chains_), []
    for topic in topics:
        place = fitted.find_topic(topic)
        n_found = fitted.chain_counts[place]
        found = "" if n_found == n_chains else f" ({n_found} of {n_chains} chains)"
        words = "background" if fitted.is_background[place] else ", ".join(model.topic_words(topic, 3)["word"])
        names.append(_name(f"{fitted.column_names[place]}{found}: {words}"))
    return names


def _name(name: object) -> str:
    """Return a name for a plot: without line breaks and control characters, and shortened."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(name))
    return text if len(text) <= _MAX_LETTERS else text[: _MAX_LETTERS - 1] + "…"


def _name_ticks(axis: Axis, places: Iterable[int], names: Sequence[str], **how: Any) -> None:
    axis.set_ticks(list(places), labels=list(names), fontsize="small", **how)
    for text in axis.get_ticklabels():
        _show_literally(text)


def _show_literally(text: Text) -> None:
    """Show the text literally: a label such as $x^2$ is not a formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
