"""Write CSV that people open in a spreadsheet, where a cell such as ``=HYPERLINK(…)`` would run as a formula."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Sequence
from typing import IO

# The characters that OWASP lists, also in full width; spreadsheets may skip spaces before them.
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guard(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet could run it as a formula; numbers are kept."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def write_csv(file: IO[str], header: Sequence[str], rows: Iterable[Sequence[object]], *, raw: bool = False) -> None:
    """Write rows below a header: numbers have six digits, lists are joined by spaces, texts are guarded unless raw.

    NaN is an empty cell.
    """

    def cell(value: object) -> object:
        if isinstance(value, float):
            return "" if math.isnan(value) else f"{value:.6g}"
        if isinstance(value, list | tuple):
            value = " ".join(map(str, value))
        return guard(value) if isinstance(value, str) and not raw else value

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([cell(name) for name in header])
    writer.writerows([cell(value) for value in row] for row in rows)
