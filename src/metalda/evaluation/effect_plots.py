"""Effects as a picture: a forest of intervals, or a heat map where there are many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metalda.errors import InputError
from metalda.evaluation.plotting import new_figure
from metalda.models.base import TopicModel
from metalda.models.effects import require_effects, suggest

if TYPE_CHECKING:
    import pandas as pd

MOST_INTERVALS = 40  # beyond, a heat map can be read and a forest cannot
_LONGEST = 40  # letters of a name
_LETTER = 0.08  # inches that one takes
_LARGEST = 60  # inches of a figure


def plot_effects(
    model: TopicModel,
    labels: str | Iterable[str] | None = None,
    topics: int | Iterable[int] | None = None,
    *,
    contrast: tuple[str | Iterable[str], str | Iterable[str]] | None = None,
    features: bool = False,
    interval: float = 0.9,
    style: str = "auto",
    ax: Any = None,
) -> Any:
    """Draw what labels do to topics, with intervals over the draws.

    Parameters
    ----------
    model : TopicModel
        A fitted model with effects: MetaLDA or DMR with labels; with ``features=True`` MetaLDA or WFLDA.
    labels : str or list of str, optional
        The labels (or features) to show; all by default.
    topics : int or list of int, optional
        The topics to show; all by default.
    contrast : pair, optional
        Two labels, or two lists of labels, as in `model.label_contrasts`: shows what sets the first apart.
    features : bool
        Show word features instead of labels.
    interval : float
        Probability that an interval holds the effect.
    style : {"auto", "forest", "heatmap"}
        A point and an interval for each effect, or a coloured cell. "auto" draws a heat map of more than 40 effects.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of a fitting size.

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
    'pets beside weather'
    """
    if style not in ("auto", "forest", "heatmap"):
        raise InputError(f"style must be 'auto', 'forest' or 'heatmap', not {style!r}")
    table, kind = _effects(model, labels, contrast, features, interval)
    table = _of_topics(table, topics, len(model.components_))
    if style == "auto":
        style = "heatmap" if len(table) > MOST_INTERVALS and kind in table else "forest"
    if kind not in table and style == "heatmap":
        raise InputError("a contrast has one effect for each topic: use style='forest'")
    draw = _draw_forest if style == "forest" else _draw_heatmap
    return draw(model, table, kind, interval, ax)


def _effects(
    model: TopicModel, labels: str | Iterable[str] | None, contrast: Any, features: bool, interval: float
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
    names = model.feature_names_ if features else model.label_names_
    wanted = [labels] if isinstance(labels, str) else list(dict.fromkeys(labels))
    for name in wanted:
        if name not in names:
            raise InputError(f"the model has no {kind} {name!r}; {suggest(name, names)}")
    order = {name: number for number, name in enumerate(wanted)}
    table = table[table[kind].isin(wanted)]
    return table.sort_values(kind, key=lambda column: column.map(order), kind="stable"), kind


def _of_topics(table: pd.DataFrame, topics: int | Iterable[int] | None, n_topics: int) -> pd.DataFrame:
    if topics is None:
        return table
    wanted = [int(topics)] if isinstance(topics, int | np.integer) else [int(topic) for topic in topics]
    for topic in wanted:
        if not 0 <= topic < n_topics:
            raise InputError(f"no topic {topic}; topics are numbered 0 to {n_topics - 1}")
    return table[table["topic"].isin(wanted)]


def _draw_forest(model: TopicModel, table: pd.DataFrame, kind: str, interval: float, ax: Any) -> Any:
    """A line for each effect; a colour for each label, the topics below each other."""
    by_label = kind in table
    groups = [(name, part) for name, part in table.groupby(kind, sort=False)] if by_label else [(None, table)]
    topics = list(dict.fromkeys(table["topic"]))
    ax = _axes(ax, 8, 1.2 + 0.3 * len(table))
    rows = {topic: row for row, topic in enumerate(topics)}
    for number, (name, part) in enumerate(groups):
        offset = (number - (len(groups) - 1) / 2) * 0.8 / len(groups)
        heights = np.array([rows[topic] for topic in part["topic"]]) + offset
        middle = part["effect"].to_numpy()
        ends = np.abs(part[["low", "high"]].to_numpy().T - middle)
        # The name of a container that begins with _ would be left out of the legend.
        container = ax.errorbar(middle, heights, xerr=ends, fmt="o", markersize=4, capsize=2, color=f"C{number % 10}")
        container.set_label(f"\u200b{_name(name)}" if name is not None else None)
    ax.axvline(0, color="0.6", linewidth=1, zorder=0)
    ax.set_ylim(len(topics) - 0.5, -0.5)
    _name_ticks(ax.yaxis, range(len(topics)), _topic_names(model, topics))
    ax.set_xlabel(f"effect on the log weight of the topic, {interval:.0%} interval, {table.attrs['n_draws']} draws")
    if by_label:
        legend = ax.legend(title=kind, fontsize="small")
        for text in legend.get_texts():
            _plainly(text)
    else:
        _plainly(ax.set_title(f"{_name(table['first'].iloc[0])} beside {_name(table['second'].iloc[0])}"))
    return ax


def _draw_heatmap(model: TopicModel, table: pd.DataFrame, kind: str, interval: float, ax: Any) -> Any:
    """A cell for each label and topic; faint where the interval holds 0."""
    names = list(dict.fromkeys(table[kind]))
    topics = list(dict.fromkeys(table["topic"]))
    shape = len(names), len(topics)
    effects = table["effect"].to_numpy().reshape(shape).T
    sure = ((table["low"] > 0) | (table["high"] < 0)).to_numpy().reshape(shape).T
    columns, rows = [_name(name) for name in names], _topic_names(model, topics)
    width = 3 + _LETTER * max(map(len, rows)) + 0.3 * len(columns)
    ax = _axes(ax, width, 1.5 + _LETTER * max(map(len, columns)) + 0.25 * len(rows))
    largest = max(float(np.nanmax(np.abs(effects))), 1e-9)
    image = ax.imshow(
        effects, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto", alpha=np.where(sure, 1.0, 0.3)
    )
    _name_ticks(ax.xaxis, range(len(columns)), columns, rotation=90)
    _name_ticks(ax.yaxis, range(len(rows)), rows)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("effect on the log weight of the topic")
    ax.set_xlabel(f"{kind}; faint where the {interval:.0%} interval holds 0, {table.attrs['n_draws']} draws")
    return ax


def _axes(ax: Any, width: float, height: float) -> Any:
    """Those that are given, or new ones; pyplot is left alone, so that nothing pops up and nothing is kept."""
    if ax is not None:
        return ax
    return new_figure(figsize=(min(width, _LARGEST), min(height, _LARGEST)), layout="constrained").add_subplot()


def _topic_names(model: TopicModel, topics: Sequence[int]) -> list[str]:
    return [_name(f"{topic}: {', '.join(model.topic_words(topic, 3)['word'])}") for topic in topics]


def _name(text: Any) -> str:
    """A name that a picture can hold: no line breaks, no control characters, not endless."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _name_ticks(axis: Any, places: Iterable[int], names: Sequence[str], **how: Any) -> None:
    axis.set_ticks(list(places), labels=list(names), fontsize="small", **how)
    for text in axis.get_ticklabels():
        _plainly(text)


def _plainly(text: Any) -> None:
    """Show the text as it is: a label such as $x^2$ is no formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
