"""Print text from files on a terminal: escape control characters, shorten names, and measure widths.

Documents and labels are untrusted: they may contain escape sequences that control the terminal.
"""

from __future__ import annotations

import codecs
import unicodedata

_JOINERS = "\u200c\u200d"  # parts of words in Persian and in Indic scripts; harmless
_LONGEST = 60


_LOOK_ALIKES = {
    "–": "-",
    "−": "-",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "×": "x",
    "·": "*",
    "±": "+/-",
}  # in metalda's own texts
LOOK_ALIKE = "metalda.look_alike"  # the name of this way to encode what an encoding does not have


def _encode_look_alikes(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters that an encoding does not have by similar ones, and others by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    texts = (_LOOK_ALIKES.get(c) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(texts), error.end


codecs.register_error(LOOK_ALIKE, _encode_look_alikes)


def clean(text: str) -> str:
    """Escape control and other unprintable characters, for instance as ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Escape a message, and replace line breaks by spaces."""
    return clean(" ".join(text.splitlines()))


def short(text: str) -> str:
    """Escape a name or a word, and shorten it for a table."""
    text = clean(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def width(text: str) -> int:
    """Return the number of terminal columns of a text: Chinese characters take two, combining accents none."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
