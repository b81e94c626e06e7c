"""HTML tables for notebooks. All cells are escaped: words, labels and ids come from untrusted data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MAX_CHARACTERS = 200  # of a cell
MAX_ROWS = 30


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """Return HTML with a title, a table and a note below it; long cells are cut."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><p>{escape(title)}</p>{table}{below}</div>"


def frame_html(title: str, frame: pd.DataFrame, source: str) -> str:
    """Return the first rows of a DataFrame as HTML; if there are more, a note names `source`, which has all rows."""
    n_more = max(len(frame) - MAX_ROWS, 0)
    note = f"… and {n_more:,} more: see {source}" if n_more else ""
    return html_table(title, list(frame.columns), frame.head(MAX_ROWS).to_numpy(object), note)


def _cell(value: object) -> str:
    """Escape a cell; `bdi` isolates a word that is written from right to left."""
    text = str(value)
    text = text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    return f'<td style="text-align: left"><bdi>{escape(text)}</bdi></td>'
