"""Tables of topics and effects as notebooks show them: names, bars, intervals, and faint rows where uncertain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pandas as pd

if TYPE_CHECKING:
    from metalda.models.fitted_model import FittedModel

Row: TypeAlias = Mapping[str, Any]
Write: TypeAlias = Callable[[Row], str]  # makes the HTML of a cell

_WORDS = 3  # of a topic, beside its number
_RAISES, _LOWERS, _BAR = "#c8620a", "#2f81c4", "#2f81c4"  # readable on white and on black
_FAINT = "opacity: 0.55"
_PLAIN = {"topic", "name", "share", "background", "words", "rhat", "tail_ess"}  # shown in other columns
_INTERVALS: dict[
    str, tuple[str, tuple[str, str], Callable[[float], str]]
] = {  # by value: its title, the columns of its interval, and how it is written
    "difference": ("difference (%)", ("difference_low", "difference_high"), lambda value: f"{100 * value:+.1f}"),
    "effect": ("effect (log)", ("low", "high"), lambda value: f"{value:+.2f}"),
    "proportion": ("proportion", ("proportion_low", "proportion_high"), lambda value: f"{value:.1%}"),
}
_QUALITY = {"rhat": "R-hat", "tail_ess": "tail ESS"}  # shown where the mouse is
_OF_PROPORTIONS = ("low", "high")  # in tables of nothing else


class ResultFrame(pd.DataFrame):
    """A DataFrame of topics or effects with a compact display in notebooks. Everything else is that of pandas."""

    _metadata: ClassVar[list[str]] = ["_topic_words"]  # what pandas hands on to sorted and filtered tables
    _topic_words: Mapping[int, str] = {}

    @property
    def _constructor(self) -> Callable[..., ResultFrame]:
        return ResultFrame

    def _repr_html_(self) -> str | None:
        values = [name for name in _INTERVALS if name in self.columns]
        is_known = "topic" in self.columns and self.columns.is_unique and self.columns.nlevels == 1
        if not (is_known and (values or {"share", "words"} <= {*self.columns})):
            shown: str | None = super()._repr_html_()
            return shown
        return _html(self) if pd.get_option("display.notebook_repr_html") else None


def result_frame(table: pd.DataFrame, model: FittedModel) -> ResultFrame:
    """Return a table with the display for notebooks, given the model whose topics it is about."""
    fitted = model.fitted_
    words = model.top_words(_WORDS)
    shown: ResultFrame = ResultFrame(table).__finalize__(table)
    shown._topic_words = {
        int(number): "background" if is_background else ", ".join(own)
        for number, is_background, own in zip(fitted.topic_numbers, fitted.is_background, words, strict=True)
    }
    return shown


def _html(table: ResultFrame) -> str:
    columns = dict(_columns(table))
    length = len(table)
    most = pd.get_option("display.max_rows") or length
    fewer = min(pd.get_option("display.min_rows") or most, most)
    shown = length if length <= most else fewer
    head = "".join(f'<th style="text-align: left">{escape(title)}</th>' for title in columns)
    first = table.head(shown - shown // 2) if shown < length else table
    rows = [_row(row, columns) for row in first.to_dict("records")]
    if shown < length:
        rows.append(f'<tr><td colspan="{len(columns)}">…</td></tr>')
        rows += [_row(row, columns) for row in table.tail(shown // 2).to_dict("records")]
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    size = f"{length:,} rows × {len(table.columns):,} columns"
    return f'<div>{body}<p style="{_FAINT}">{size} of a pandas DataFrame</p></div>'


def _columns(table: ResultFrame) -> Iterator[tuple[str, Write]]:
    """Yield the titles of the columns that are shown, and what makes their cells."""
    hidden = set(_PLAIN)
    values = [name for name in _INTERVALS if name in table.columns]
    for name in values:
        hidden |= {name, *_ends(table, name)}
    for name in table.columns:
        if name not in hidden:
            yield str(name), partial(_other, name=name)
        elif name == "topic":
            yield "topic", partial(_topic, words=table._topic_words)
        elif name == "share":
            yield "share", partial(_share, largest=table["share"].max())
        elif name == "words":
            yield "words", _words
        elif name in values:
            yield _INTERVALS[name][0], partial(_value, name=name, ends=_ends(table, name))


def _ends(table: pd.DataFrame, name: str) -> tuple[str, str]:
    """Return the columns of the interval of a value."""
    ends = _INTERVALS[name][1]
    return _OF_PROPORTIONS if name == "proportion" and "effect" not in table.columns else ends


def _row(row: Row, columns: Mapping[str, Write]) -> str:
    is_uncertain = "effect" in row and not _excludes_zero(row.get("low"), row.get("high"))
    style = f' style="{_FAINT}"' if is_uncertain or row.get("background") is True else ""
    quality = [f"{title} {row[name]:.4g}" for name, title in _QUALITY.items() if name in row]
    title = f' title="{escape(", ".join(quality))}"' if quality else ""
    cells = "".join(f'<td style="text-align: left">{write(row)}</td>' for write in columns.values())
    return f"<tr{style}{title}>{cells}</tr>"


def _excludes_zero(low: object, high: object) -> bool:
    """Return whether an interval excludes 0; True without an interval, of which nothing is known."""
    ends = [end for end in (low, high) if isinstance(end, float) and math.isfinite(end)]
    return len(ends) < 2 or not ends[0] <= 0 <= ends[1]


def _text(value: object) -> str:
    """Escape a cell; `bdi` isolates a name that is written from right to left."""
    shown = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"<bdi>{escape(shown)}</bdi>"


def _other(row: Row, name: str) -> str:
    return _text(row[name])


def _words(row: Row) -> str:
    return _text("background" if row.get("background") else ", ".join(row["words"]))


def _topic(row: Row, words: Mapping[int, str]) -> str:
    name, own = row.get("name"), "" if "words" in row else words.get(row["topic"], "")
    parts = [str(row["topic"]), f"<b>{_text(name)}</b>" if name else "", _text(own) if own else ""]
    return " ".join(part for part in parts if part)


def _share(row: Row, largest: float) -> str:
    share = row["share"]
    width = 4 * share / largest if largest > 0 else 0
    bar = f'<span style="display: inline-block; width: {width:.2f}em; height: 0.7em; background: {_BAR}"></span>'
    return f'<span style="white-space: nowrap">{share:.1%} {bar}</span>'


def _value(row: Row, name: str, ends: tuple[str, str]) -> str:
    value, (low, high), write = row[name], [row.get(end, math.nan) for end in ends], _INTERVALS[name][2]
    if not math.isfinite(value):
        return "–"
    shown = write(value)
    if name != "proportion" and _excludes_zero(low, high) and value != 0:
        shown = f'<b style="color: {_RAISES if value > 0 else _LOWERS}">{shown}</b>'
    if math.isfinite(low) and math.isfinite(high):
        shown += f' <span style="{_FAINT}">({write(low)} to {write(high)})</span>'
    return f'<span style="white-space: nowrap">{shown}</span>'
