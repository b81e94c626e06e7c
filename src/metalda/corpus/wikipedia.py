"""The articles of a Wikipedia dump (pages-articles.xml) as plain text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from metalda.errors import InputError

_DEEPEST = 20  # templates within templates; what is deeper stays
# Patterns end at the next beginning of their own kind, so that a page full of beginnings takes no long time.
_DROPPED = re.compile(
    r"<!--(?:(?!<!--|-->).)*-->|<ref\b[^<>]*/>"
    r"|<(ref|math|gallery|timeline|syntaxhighlight|source|score)\b[^<>]*>(?:(?!</?\1\b).)*</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\}")
_TABLE = re.compile(r"\{\|(?:[^{|]|\{(?!\|)|\|(?!\}))*\|\}")
_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_NOT_TEXT = re.compile(r"\s*(file|image|category|media)\s*:", re.IGNORECASE)
_WEB_LINK = re.compile(r"\[(?:https?:)?//[^\s\[\]]*([^\[\]]*)\]|https?://\S+")
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
_MARKS = re.compile(r"'{2,}|^=+|=+\s*$|__[A-Z]+__", re.MULTILINE)


def article_texts(path: Path, pieces: Iterable[bytes]) -> Iterator[str]:
    """The articles of a dump, given its bytes: no talk, no redirects; the memory of one page at a time."""
    root = None
    try:
        for event, element in ElementTree.iterparse(_Pieces(pieces), events=("start", "end")):
            if root is None:
                root = element
            elif event == "end" and _name(element) == "page":
                text = _article(element)
                root.clear()
                if text is not None:
                    yield strip_markup(text)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not a Wikipedia dump: {error}") from None


class _Pieces:
    """An iterator of bytes as the file that the parser wants; it takes whatever size comes."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


def _article(page: ElementTree.Element) -> str | None:
    """The wikitext of a page in the main name space, of its last revision here."""
    text = None
    for element in page.iter():
        name = _name(element)
        if name == "redirect" or (name == "ns" and element.text != "0"):
            return None
        if name == "text":
            text = element.text
    return text


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def strip_markup(text: str) -> str:
    """Wikitext without comments, references, templates, tables and files; of links what a reader sees.

    This is simple on purpose: what is left is for counting words.

    Examples
    --------
    >>> strip_markup("The '''cat'''{{efn|no}} is a [[carnivore|small carnivore]].<ref>Book</ref>")
    'The cat is a small carnivore.'
    """
    text = _DROPPED.sub("", text)
    text = _from_within(_TEMPLATE, "", text)
    text = _from_within(_TABLE, "", text)
    text = _from_within(_LINK, _visible, text)
    text = _WEB_LINK.sub(r"\1", text)
    return html.unescape(_MARKS.sub("", _TAG.sub(" ", text)))


def _from_within(pattern: re.Pattern[str], new: str | Callable[[re.Match[str]], str], text: str) -> str:
    """Replace what is innermost until nothing is left, or it goes on for too long."""
    for _ in range(_DEEPEST):
        text, n_found = pattern.subn(new, text)
        if not n_found:
            break
    return text


def _visible(link: re.Match[str]) -> str:
    """What a reader sees of ``[[target|text]]``; nothing of files and categories."""
    content = link[1]
    return "" if _NOT_TEXT.match(content) else content.rpartition("|")[2]
