"""Text from files on its way to a terminal: documents and labels are not to be trusted with one."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"  # parts of words in Persian and the scripts of India, and harmless
_LONGEST = 60


def clean(text: str) -> str:
    """Control characters, and whatever else does not print, as ``\\x1b`` and the like."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """The same for a message: line breaks become spaces."""
    return clean(" ".join(text.splitlines()))


def short(text: str) -> str:
    """A name or a word that a table can hold."""
    text = clean(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def width(text: str) -> int:
    """Columns of a terminal that a text takes: Chinese characters take two, accents that combine none."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
