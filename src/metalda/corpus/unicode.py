"""Unicode in texts: one spelling for what looks the same, and words with combining marks.

Texts in ASCII stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Latin ligatures, Arabic presentation forms, and characters of other widths: shapes of letters, not other letters.
_SHAPES = re.compile("[\ufb00-\ufb06\ufb50-\ufbb1\ufbd3-\ufd3d\ufd50-\ufdc7\ufe70-\ufefc\uff01-\uffef]+")
_SPELLING = str.maketrans({"\N{SOFT HYPHEN}": None, "\N{RIGHT SINGLE QUOTATION MARK}": "'"})
_SCRIPTS_WITH_MARKS = ((0x300, 0x1FFF), (0x3099, 0x309A), (0xA66F, 0xABFF), (0x10000, 0x1FFFF))
_MAY_HAVE_MARKS = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _SCRIPTS_WITH_MARKS) + "]")
_WORD = re.compile(r"\w{2,}")


def normalize(text: str) -> str:
    """Return a text in normal form C, without soft hyphens, ligatures and typographic apostrophes.

    Letters that differ only in shape (ﬁ, full-width and half-width letters, Arabic presentation forms) become the usual
    ones. Signs such as ™, ½ and ² stay, unlike in the normal form KC, which would add letters to the words before them.
    """
    if text.isascii():
        return text
    text = _SHAPES.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text.translate(_SPELLING))
    return unicodedata.normalize("NFC", text)


def find_words(text: str) -> list[str]:
    r"""Return the words of a text: two or more word characters in a row, among which are combining marks.

    Python's ``\w`` does not match marks, so that a pattern cuts words of Hindi or Tamil at their vowel signs.
    """
    return word_pattern(text).findall(text)


def word_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern by which `find_words` finds the words of this text."""
    if text.isascii() or _MAY_HAVE_MARKS.search(text) is None:
        return _WORD
    return _word_with_marks()


@cache
def word_marks() -> frozenset[int]:
    """Return the code points of combining marks that are part of words."""
    codes = (code for first, last in _SCRIPTS_WITH_MARKS for code in range(first, last + 1))
    return frozenset(code for code in codes if unicodedata.category(chr(code)) in ("Mn", "Mc"))


@cache
def mark_class() -> str:
    """Return the marks that are part of words as ranges, for a class in a regular expression."""
    marks = word_marks()
    starts = sorted(code for code in marks if code - 1 not in marks)
    ends = sorted(code for code in marks if code + 1 not in marks)
    return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in zip(starts, ends, strict=True))


@cache
def _word_with_marks() -> re.Pattern[str]:
    return re.compile(rf"[\w{mark_class()}]{{2,}}")
