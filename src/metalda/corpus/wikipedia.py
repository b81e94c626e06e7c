"""The articles of a Wikipedia dump (pages-articles.xml) as plain text, without wiki markup."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from xml.etree import ElementTree

from metalda.corpus.files import MAX_DOCUMENT_BYTES, too_large
from metalda.corpus.stream import Location
from metalda.errors import InputError

_DEEPEST = 20  # nested templates; those at a greater depth are kept
# Patterns end where another of their kind begins, so that a page of unclosed markup takes linear time.
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


def read_articles(
    path: Location, pieces: Iterable[bytes], max_bytes: int = MAX_DOCUMENT_BYTES
) -> Iterator[tuple[str, str]]:
    """Yield title and text of the articles of a dump, given its bytes; one page is in memory at a time.

    Talk and other pages outside the main namespace, redirects and empty pages are skipped.
    """
    root, source = None, _Pieces(path, pieces, max_bytes)
    try:
        for event, element in ElementTree.iterparse(source, events=("start", "end")):
            if root is None:
                root = element
                if _name(root) != "mediawiki":
                    raise InputError(f"{path}: not a Wikipedia dump: it begins with <{_name(root)}>, not <mediawiki>")
            elif event == "end" and _name(element) == "page":
                title, text = _article(element)
                root.clear()
                source.begin_page()
                if text:
                    yield title, strip_markup(text)
    except InputError:
        raise
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # LookupError: an unknown encoding
        raise InputError(f"{path}: not a Wikipedia dump: {error}") from None


class _Pieces:
    """An iterator of bytes as a file for the parser, which accepts pieces of any size.

    A page may exceed the limit by two pieces: pages begin and end within pieces.
    """

    def __init__(self, path: Location, pieces: Iterable[bytes], max_bytes: int) -> None:
        self._path, self._pieces, self._max_bytes = path, iter(pieces), max_bytes
        self._n_bytes = 0  # of whole pieces since the last page ended

    def read(self, size: int = -1) -> bytes:
        if self._n_bytes > self._max_bytes:
            raise too_large(f"{self._path}: a page", self._max_bytes)
        piece = next(self._pieces, b"")
        self._n_bytes += len(piece)
        return piece

    def begin_page(self) -> None:
        self._n_bytes = 0


def _article(page: ElementTree.Element) -> tuple[str, str | None]:
    """Return the title and the wikitext of the last revision; no text outside the main namespace or of a redirect."""
    title, text = "", None
    for element in page.iter():
        name = _name(element)
        if name == "redirect" or (name == "ns" and element.text != "0"):
            return title, None
        if name == "title":
            title = element.text or ""
        if name == "text":
            text = element.text
    return title, text


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def strip_markup(text: str) -> str:
    """Remove comments, references, templates, tables and files from wikitext, and keep the visible text of links.

    This is a simple approximation, sufficient for counting words.

    Examples
    --------
    >>> strip_markup("The '''cat'''{{efn|no}} is a [[carnivore|small carnivore]].<ref>Book</ref>")
    'The cat is a small carnivore.'
    """
    text = _DROPPED.sub("", text)
    text = _replace_innermost(_TEMPLATE, "", text)
    text = _replace_innermost(_TABLE, "", text)
    text = _replace_innermost(_LINK, _visible, text)
    text = _WEB_LINK.sub(r"\1", text)
    return html.unescape(_MARKS.sub("", _TAG.sub(" ", text)))


def _replace_innermost(pattern: re.Pattern[str], new: str | Callable[[re.Match[str]], str], text: str) -> str:
    """Replace innermost matches until none is left, at most `_DEEPEST` times."""
    for _ in range(_DEEPEST):
        text, n_found = pattern.subn(new, text)
        if not n_found:
            break
    return text


def _visible(link: re.Match[str]) -> str:
    """Return the visible text of ``[[target|text]]``; files and categories have none."""
    content = link[1]
    return "" if _NOT_TEXT.match(content) else content.rpartition("|")[2]
