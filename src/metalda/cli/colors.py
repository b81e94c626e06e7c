"""Styled lines on a terminal. Rich decides which colors the terminal has, and respects NO_COLOR.

Import this module only if the output is a terminal: Rich takes some time to load.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.style import Style
from rich.text import Text

from metalda.cli.layout import Line

# Orange and blue are those of the report: different for deuteranopes, and readable on black and on white.
_STYLES = {
    "header": Style(bold=True),
    "name": Style(bold=True),
    "best": Style(bold=True, color="color(34)"),
    "bar": Style(color="color(32)"),
    "raises": Style(color="color(166)"),
    "lowers": Style(color="color(32)"),
    "uncertain": Style(dim=True),
}


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines with their styles. The texts are data, never markup."""
    console = Console(file=sys.stdout, highlight=False)
    for line in lines:
        text = Text.assemble(*((span.text, _STYLES.get(span.style, "")) for span in line))
        text.rstrip()
        console.print(text, soft_wrap=True)
