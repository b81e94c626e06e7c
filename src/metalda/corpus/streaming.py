"""Texts of any number from a file, in blocks, so that memory holds a few of them at a time."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from metalda.corpus.files import read_ahead, reading, text_codec, uncompressed_suffix
from metalda.corpus.formats import FORMATS, find_format, stream_documents
from metalda.corpus.wikipedia import article_texts
from metalda.errors import InputError

Block = list[str | Sequence[str]]

WIKIPEDIA = "wikipedia"
_BLOCK = 1000  # documents, where they come one by one


def read_blocks(
    path: Path,
    *,
    text: str | int | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    progress: bool = False,
) -> Iterator[Block]:
    """The texts (or tokens, where the file has tokens) of documents, block by block.

    Parameters
    ----------
    path : Path
        Whatever `Corpus.read` reads, or the XML dump of a Wikipedia.
    text : str or int, optional
        The field that holds the text; a number is that of a column, from 1, in a TSV file without a header.
    format : str, optional
        As for `Corpus.read`, or ``"wikipedia"``; by default from the end of the file's name, where ``.xml`` means the
        latter.
    """
    if format not in (None, WIKIPEDIA, *FORMATS):
        raise InputError(f"format={format!r} is not known: use one of {', '.join((*FORMATS, WIKIPEDIA))}")
    codec = text_codec(encoding)
    if isinstance(text, int):
        if format not in (None, "tsv"):
            raise InputError(f"{path}: text={text} is the number of a TSV column, but the format is {format!r}")
        with _pieces(path, encoding, progress) as pieces:
            yield from _columns(path, _lines(pieces, codec), text)
    elif format == WIKIPEDIA or (format is None and uncompressed_suffix(path) == ".xml"):
        if text is not None:
            raise InputError(f"{path}: a Wikipedia dump has no fields: text= (--text) has no meaning")
        with _pieces(path, encoding, progress) as pieces:
            yield from in_blocks(article_texts(path, pieces))
    elif (found := find_format(path, format, encoding)) == "text" and text is None:
        with _pieces(path, encoding, progress) as pieces:
            for lines in _lines(pieces, codec):
                yield [line for line in lines if line and not line.isspace()]
    else:
        documents = stream_documents(path, found, text=text, encoding=encoding, progress=progress)
        yield from in_blocks(document.content for document in documents)


@contextmanager
def _pieces(path: Path, encoding: str, progress: bool) -> Iterator[Iterator[bytes]]:
    """The bytes of a file, under a bar that shows how much of it was read, if there is a terminal."""
    from tqdm import tqdm

    with reading(path, encoding):
        size = path.stat().st_size
        shown: dict[str, Any] = {"unit": "B", "unit_scale": True, "disable": None if progress else True}
        with tqdm(total=size, desc="Reading", **shown) as bar:
            yield read_ahead(path, bar.update)


def _lines(pieces: Iterable[bytes], codec: str) -> Iterator[list[str]]:
    decoder = codecs.getincrementaldecoder(codec)()
    begun: list[str] = []  # parts of a line that goes on in the next piece
    for piece in pieces:
        first, *others = decoder.decode(piece).split("\n")
        begun.append(first)
        if others:
            *whole, last = others
            yield ["".join(begun), *whole]
            begun = [last]
    yield ["".join([*begun, decoder.decode(b"", final=True)])]


def _columns(path: Path, blocks: Iterable[list[str]], column: int) -> Iterator[Block]:
    """One column of lines that have several."""
    if column < 1:
        raise InputError(f"text={column}: columns are numbered from 1")
    n_before = 0
    for lines in blocks:
        texts: Block = []
        for number, line in enumerate(lines, start=n_before + 1):
            if line:
                cells = line.split("\t", column)
                if len(cells) < column:
                    raise InputError(f"{path} line {number}: no column {column}, but {len(cells)} in all (--text)")
                texts.append(cells[column - 1])
        n_before += len(lines)
        yield texts


def in_blocks(documents: Iterable[str | Sequence[str]]) -> Iterator[Block]:
    """Documents that come one by one, in lists of some."""
    source = iter(documents)
    while block := list(islice(source, _BLOCK)):
        yield block
