"""Small tables of HTML for notebooks. Everything is escaped: words, labels and ids come from anybody."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

LONGEST = 200  # characters of a cell
MOST_ROWS = 30


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """A title, a table, and a note below it; long cells are cut."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><p>{escape(title)}</p>{table}{below}</div>"


def frame_html(title: str, frame: Any, source: str) -> str:
    """The first rows of a DataFrame; where there are more, the note says that `source` has them."""
    n_more = max(len(frame) - MOST_ROWS, 0)
    note = f"… and {n_more:,} more: see {source}" if n_more else ""
    return html_table(title, list(frame.columns), frame.head(MOST_ROWS).to_numpy(object), note)


def _cell(value: object) -> str:
    """`bdi`, so that a word written from right to left does not turn its neighbours around."""
    text = str(value)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f'<td style="text-align: left"><bdi>{escape(text)}</bdi></td>'
