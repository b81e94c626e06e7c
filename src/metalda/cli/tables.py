"""Tables on the screen, as JSON and as CSV."""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from metalda.utils.terminal import clean, width

_GAP = "  "
_NARROWEST = 20


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: Iterable[str] = ()) -> None:
    """Aligned text that fits the terminal: the last column wraps, the others are right-aligned unless named `left`."""
    for line in table_lines(header, list(rows), set(left), shutil.get_terminal_size((100, 24)).columns):
        print(line)


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]], left: set[str], columns: int) -> list[str]:
    """The lines of a table, the header first. Cells must be clean."""
    fixed = [max(width(row[j]) for row in (header, *rows)) for j in range(len(header) - 1)]
    used = sum(fixed) + len(_GAP) * len(fixed)
    room = max(columns - used, _NARROWEST)
    lines = []
    for row in (header, *rows):
        cells = [_pad(text, size, name in left) for text, size, name in zip(row, fixed, header, strict=False)]
        first, *rest = _wrap(row[-1], room)
        lines.append(_GAP.join([*cells, first]).rstrip())
        lines += [" " * used + line for line in rest]
    return lines


def _pad(text: str, size: int, left: bool) -> str:
    space = " " * (size - width(text))
    return text + space if left else space + text


def _wrap(text: str, room: int) -> list[str]:
    """Lines of at most `room` columns, broken at spaces where there are some."""
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
    """How many characters fit; at least one."""
    used = 0
    for i, character in enumerate(text):
        used += width(character)
        if used > room:
            return max(i, 1)
    return len(text)


def print_json(value: Any) -> None:
    """Readable JSON: no NaN, and nothing that a terminal would obey."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2)
    print(json_safe(text))


def json_safe(text: str) -> str:
    """JSON leaves some control characters as they are; inside its strings they may as well be escaped."""
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def plain(value: Any) -> Any:
    """The same in JSON's own types; a number that JSON lacks is null."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV for a terminal or a pipe that ends in one: control characters are escaped."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([clean(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)


def cell(value: Any) -> Any:
    """A value for CSV; of numbers six digits."""
    return f"{value:.6g}" if isinstance(value, float) else value
