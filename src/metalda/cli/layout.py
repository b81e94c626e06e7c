"""The layout of a table on a terminal: aligned columns, or one record after another in a narrow window.

Styles are names, such as "raises". `metalda.cli.colors` gives them colors; in a pipe they are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from metalda.utils.terminal import clean, width


class Cell(NamedTuple):
    """A text with a style, or with a style at its beginning."""

    text: str
    style: str = ""
    length: int | None = None  # characters that have the style; all by default


class Fragment(NamedTuple):
    """A part of a line."""

    text: str
    style: str = ""


Line: TypeAlias = list[Fragment]

GAP = "  "
NARROWEST = 20  # of the last column
_BAR = 8  # columns
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def cell_of(value: str | Cell) -> Cell:
    """Return the cell with control characters escaped."""
    cell = value if isinstance(value, Cell) else Cell(value)
    return cell._replace(text=clean(cell.text))


def bar(share: float, largest: float) -> Cell:
    """Return a bar whose length is proportional to the share; the largest share has the longest bar."""
    eighths = round(8 * _BAR * share / largest) if largest > 0 else 0
    full, rest = divmod(max(eighths, 1 if share > 0 else 0), 8)
    return Cell((_EIGHTHS[8] * full + (_EIGHTHS[rest] if rest else "")).ljust(_BAR), "bar")


def text_of(line: Line) -> str:
    """Return a line without its styles."""
    return "".join(span.text for span in line).rstrip()


def table_lines(header: Sequence[str], rows: Sequence[Sequence[Cell]], left: set[str], columns: int) -> list[Line]:
    """Return the lines of a table, header first. Cells contain no control characters.

    The last column wraps, others are right-aligned unless in `left`.
    """
    titles = [Cell(name, "header") for name in header]
    fixed = _fixed_widths((titles, *rows))
    used = sum(fixed) + len(GAP) * len(fixed)
    room = max(columns - used, NARROWEST)
    lines: list[Line] = []
    for row in (titles, *rows):
        line: Line = []
        for cell, size, name in zip(row, fixed, header, strict=False):
            space = Fragment(" " * (size - width(cell.text)))
            line += [*spans(cell), space] if name in left else [space, *spans(cell)]
            line.append(Fragment(GAP))
        first, *rest = _wrap(row[-1], room)
        lines.append(line + first)
        lines += [[Fragment(" " * used), *more] for more in rest]
    return lines


def fits(header: Sequence[str], rows: Sequence[Sequence[Cell]], columns: int) -> bool:
    """Return whether a table fits the window, with a last column that is wide enough to be read."""
    table = ([Cell(name) for name in header], *rows)
    fixed = _fixed_widths(table)
    last = min(max(width(row[-1].text) for row in table), NARROWEST)
    return sum(fixed) + len(GAP) * len(fixed) + last <= columns


def record_lines(header: Sequence[str], rows: Sequence[Sequence[Cell]], columns: int) -> list[Line]:
    """Return the lines of a table in a narrow window: a line for each cell that is not empty, under each other."""
    size = max(map(width, header))
    room = max(columns - size - len(GAP), NARROWEST)
    lines: list[Line] = []
    for row in rows:
        if lines:
            lines.append([])
        for name, cell in zip(header, row, strict=True):
            if not cell.text.strip():
                continue
            first, *rest = _wrap(cell, room)
            lines.append([Fragment(name, "header"), Fragment(" " * (size - width(name)) + GAP), *first])
            lines += [[Fragment(" " * (size + len(GAP))), *more] for more in rest]
    return lines


def _fixed_widths(table: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the widths of all columns but the last."""
    return [max(width(row[j].text) for row in table) for j in range(len(table[0]) - 1)]


def spans(cell: Cell) -> Line:
    """Return the parts of a cell."""
    if cell.length is None:
        return [Fragment(cell.text, cell.style)]
    return [Fragment(cell.text[: cell.length], cell.style), Fragment(cell.text[cell.length :])]


def _wrap(cell: Cell, room: int) -> list[Line]:
    """Return lines of at most `room` columns, broken at spaces if possible."""
    rest = len(cell.text) if cell.length is None else cell.length
    lines: list[Line] = []
    for text in _wrapped(cell.text, room):
        lines.append(spans(Cell(text, cell.style, min(rest, len(text)))))
        rest = max(rest - len(text) - 1, 0)  # the space at which the line is broken
    return lines


def _wrapped(text: str, room: int) -> list[str]:
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if width(joined) <= room:
            line = joined
            continue
        if line:
            lines.append(line)
        line = word
        while width(line) > room:
            cut = _columns(line, room)
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line]


def _columns(text: str, room: int) -> int:
    """Return the number of characters that fit, at least one."""
    used = 0
    for i, character in enumerate(text):
        used += width(character)
        if used > room:
            return max(i, 1)
    return len(text)
