"""Read documents from files, frames and lists, and collect them into a corpus in one pass."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypedDict, TypeVar

from numpy.typing import NDArray

from metalda.corpus.columns import Columns
from metalda.corpus.files import MAX_DOCUMENT_BYTES, read_ahead, reading, text_codec, too_large
from metalda.corpus.formats import FORMATS
from metalda.corpus.labels import LabelCollector
from metalda.corpus.matrix import NamedMatrix, first_duplicate
from metalda.corpus.phrases import Pair, log_phrases
from metalda.corpus.readers import Document
from metalda.corpus.schema import Schema
from metalda.corpus.stream import Location, Stream
from metalda.corpus.texts import TextCollector
from metalda.corpus.token_pattern import SlowPatternError
from metalda.corpus.vocabulary import TokenCollector
from metalda.corpus.wikipedia import read_articles
from metalda.errors import InputError
from metalda.utils.frames import collect_frame, column_names, column_values, is_frame
from metalda.utils.progress import progress_bar, shows_progress

if TYPE_CHECKING:
    import numpy as np

Item = TypeVar("Item")
Block = list[str | Sequence[str]]

_BLOCK = 1000  # documents in a block, if they are read one by one


@dataclass(frozen=True)
class Source:
    """Documents that can be read once, and the schema by which they are read.

    Parameters
    ----------
    name : str
        For messages.
    documents : iterable of Document
    schema : Schema
    texts : bool
        Whether documents may be texts; otherwise all are lists of tokens.
    columns : Columns, optional
        The columns of records.
    """

    name: str
    documents: Iterable[Document]
    schema: Schema
    texts: bool = True
    columns: Columns | None = None

    def has_labels(self, names: Sequence[str]) -> bool:
        """Return whether the corpus has labels, given the names that were found."""
        return self.schema.has_labels if self.columns is not None else bool(names)

    def labels(self, named: NamedMatrix) -> NamedMatrix | None:
        """Return all labels, given those by name, once all documents have been read."""
        if self.columns is not None:
            return self.columns.labels(named)
        return named if named.names else None

    def numeric_labels(self) -> list[NamedMatrix]:
        """Return the labels of numeric columns, once all documents have been read."""
        return [] if self.columns is None else self.columns.numeric_labels()

    def fitted_schema(self, phrases: Sequence[Pair] | None = None) -> Schema:
        """Return the schema for new documents, once all documents have been read, with the phrases that were found."""
        found = {} if self.columns is None else self.columns.fitted()
        if phrases is not None:
            log_phrases(phrases)
            found["phrases"] = phrases
        return self.schema.fitted(**found)


def open_source(path: Location, schema: Schema, *, verbose: bool = False) -> Source:
    """Open a file or folder, given its schema from `Schema.for_path`."""
    found = FORMATS[schema.format or "text"]
    if found.has_fields:
        columns = Columns(str(path), found.unit, schema)
        records = with_progress(found.reader(path, schema, columns.resolve), verbose)
        return Source(str(path), columns.documents(records), schema, columns=columns)
    documents = with_progress(found.reader(path, schema), verbose)
    return Source(str(path), documents, schema, texts=not found.tokenized)


def frame_source(frame: object, schema: Schema) -> Source:
    """Read the rows of a frame of pandas or polars, a dataset, or a table that converts to pandas."""
    if not is_frame(frame):
        raise InputError(f"a DataFrame is needed, not {type(frame).__name__}{_remedy(frame)}")
    frame = collect_frame(frame)
    columns = Columns("frame", "row", schema)
    all_names = column_names(frame)
    names = columns.resolve(all_names)
    if (twice := first_duplicate([name for name in all_names if name in set(names)])) is not None:
        raise InputError(f"frame: two columns have the same name, {twice!r}: rename one of them")
    values = [column_values(frame, j) for j, name in enumerate(all_names) if name in set(names)]
    records = ((i, dict(zip(names, row, strict=True))) for i, row in enumerate(zip(*values, strict=True)))
    return Source("frame", columns.documents(records), schema, columns=columns)


def _remedy(frame: object) -> str:
    """Return how to get a frame out of what Hugging Face's load_dataset returns."""
    if isinstance(frame, dict) and frame:
        return f"; choose one of its parts, such as [{next(iter(frame))!r}]"
    return "; load the dataset without streaming=True" if hasattr(frame, "select_columns") else ""


class CorpusFields(TypedDict):
    """The fields of a `Corpus`."""

    words: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: tuple[str, ...]
    labels: NamedMatrix | None
    ids: Sequence[str] | None
    schema: Schema | None
    texts: Sequence[str] | None


def collect(source: Source) -> CorpusFields:
    """Read all documents, and return the fields of their `Corpus`; ids are kept if all documents have one."""
    tokens = TokenCollector(source.schema, texts=source.texts)
    labels = LabelCollector()
    texts = TextCollector(source.schema.keep_text, texts=source.texts)
    ids: list[str] = []
    for document in source.documents:
        try:
            tokens.add(document.content)
        except SlowPatternError as error:
            raise InputError(f"{source.name}: document {len(tokens)}: {error}") from None
        labels.add(document.labels)
        texts.add(document.content)
        if document.id is not None:
            ids.append(document.id)
    if len(tokens) == 0:
        raise InputError(f"{source.name}: no documents")
    try:
        words, offsets, vocabulary = tokens.finish()
    except InputError as error:
        raise type(error)(f"{source.name}: {error}") from None
    words.flags.writeable = offsets.flags.writeable = False  # so that the corpus need not copy them
    return {
        "words": words,
        "offsets": offsets,
        "vocabulary": vocabulary,
        "labels": source.labels(labels.finish()),
        "ids": tuple(ids) if len(ids) == len(tokens) else None,
        "schema": source.fitted_schema(tokens.phrases),
        "texts": texts.finish(),
    }


def with_progress(items: Iterable[Item], verbose: bool) -> Iterable[Item]:
    """Show a progress bar over documents."""
    return progress_bar(items, desc="Reading", unit=" documents") if shows_progress(verbose) else items


def read_blocks(
    path: Location,
    *,
    text: str | int | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
    verbose: bool = False,
) -> Iterator[Block]:
    """Yield the texts (or token lists) of a file in blocks, so that a few documents are in memory at a time.

    Parameters
    ----------
    path : Path
        Any file or folder that `Corpus.read` reads.
    text : str or int, optional
        The field that holds the text; an integer is the number of a column, from 1, in a TSV file without a header.
    format, encoding, max_document_bytes
        As for `Corpus.read`.
    """
    codec = text_codec(encoding)
    if isinstance(text, int):
        if format not in (None, "tsv"):
            raise InputError(f"{path}: text={text} is the number of a TSV column, but the format is {format!r}")
        with _pieces(path, encoding, verbose) as pieces:
            yield from _column(path, _lines(path, pieces, codec, max_document_bytes), text)
        return
    schema = Schema.for_path(path, text=text, format=format, encoding=encoding, max_document_bytes=max_document_bytes)
    if schema.format == "text":  # whole blocks of lines, for speed
        with _pieces(path, encoding, verbose) as pieces:
            for lines in _lines(path, pieces, codec, max_document_bytes):
                yield [line for line in lines if line and not line.isspace()]
    elif schema.format == "wikipedia":  # dumps are large: the bar shows a share of the bytes
        with _pieces(path, encoding, verbose) as pieces:
            yield from in_blocks(article for _, article in read_articles(path, pieces, max_document_bytes))
    else:
        source = open_source(path, schema, verbose=verbose)
        yield from in_blocks(document.content for document in source.documents)


def in_blocks(documents: Iterable[str | Sequence[str]]) -> Iterator[Block]:
    """Yield documents in lists."""
    source = iter(documents)
    while block := list(islice(source, _BLOCK)):
        yield block


@contextmanager
def _pieces(path: Location, encoding: str, verbose: bool) -> Iterator[Iterator[bytes]]:
    """Read the bytes of a file, with a bar that shows the share read."""
    with reading(path, encoding):
        size = None if isinstance(path, Stream) else path.stat().st_size
        with progress_bar(verbose=verbose, total=size, desc="Reading", unit="B", unit_scale=True) as bar:
            yield read_ahead(path, bar.update)


def _lines(path: Location, pieces: Iterable[bytes], codec: str, max_bytes: int) -> Iterator[list[str]]:
    """Yield the lines of each piece; a line that continues in the next piece may not exceed the limit."""
    decoder = codecs.getincrementaldecoder(codec)()
    begun: list[str] = []  # parts of a line that continues in the next piece
    n_lines, n_begun = 0, 0  # lines so far, and characters of the line that is begun
    for piece in pieces:
        first, *others = decoder.decode(piece).replace("\r\n", "\n").split("\n")
        begun.append(first)
        n_begun += len(first)
        if n_begun > max_bytes:
            raise too_large(f"{path} line {n_lines + 1:,}", max_bytes)
        if others:
            *whole, last = others
            yield ["".join(begun).removesuffix("\r"), *whole]  # a piece may end between \r and \n
            begun, n_begun = [last], len(last)
            n_lines += len(others)
    yield ["".join([*begun, decoder.decode(b"", final=True)]).removesuffix("\r")]


def _column(path: Location, blocks: Iterable[list[str]], column: int) -> Iterator[Block]:
    """Yield one column of tab-separated lines."""
    if column < 1:
        raise InputError(f"text={column}: columns are numbered from 1")
    n_before = 0
    for lines in blocks:
        texts: Block = []
        for number, line in enumerate(lines, start=n_before + 1):
            if line:
                cells = line.split("\t", column)
                if len(cells) < column:
                    raise InputError(f"{path} line {number}: no column {column}: the line has {len(cells)} (--text)")
                texts.append(cells[column - 1])
        n_before += len(lines)
        yield texts
