"""The readers of the file formats, which `corpus/formats.py` registers.

A reader of a format with fields yields records with their numbers; it calls `select` once, with the names of the
fields. A reader of a format without fields yields documents.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from metalda.corpus.files import (
    can_seek,
    check_line,
    one_line,
    open_binary,
    open_text,
    pieces_of,
    read_ahead,
    read_lines,
    read_text,
    reading,
    too_large,
)
from metalda.corpus.json_array import ArrayElements, excerpt
from metalda.corpus.stream import Location
from metalda.corpus.wikipedia import read_articles
from metalda.errors import InputError, missing_extra

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile

    from metalda.corpus.schema import Schema
    from metalda.storage import Remote

Records = Iterator[tuple[int, Mapping[str, object]]]
"""Records with the numbers of their lines or rows."""

Select = Callable[..., list[str]]
"""Called once with the names of the fields (`Columns.resolve`), and with ``complete=False`` if later records may have
others; returns those that are needed."""

_LARGEST_FIELD = 2**31 - 1
_PIECE = 2**20  # characters
_FEW_ROWS, _MANY_ROWS = 16, 1024  # of a Parquet file that are read at a time


class Document(NamedTuple):
    """One document: a text or a list of tokens, its labels, and its id."""

    content: str | Sequence[str]
    labels: Sequence[str] = ()
    id: str | None = None


def jsonl_records(path: Location, schema: Schema, select: Select) -> Records:
    """Read a JSON object per line, where empty lines are skipped, or one JSON array of objects."""
    is_first = True
    for number, record in _json_values(path, schema):
        if not isinstance(record, dict):
            raise InputError(f"{path} line {number}: not an object with fields, but {excerpt(json.dumps(record))}")
        if is_first:
            select(list(record), complete=False)
            is_first = False
        yield number, record


def _json_values(path: Location, schema: Schema) -> Iterator[tuple[int, object]]:
    """Yield the values of JSON Lines, or the elements of an array, with the numbers of their lines."""
    max_bytes, encoding = schema.max_document_bytes, schema.encoding
    with open_text(path, encoding) as text:
        start, number = "", 0
        while not start and (piece := text.readline(_PIECE)):
            start = piece.lstrip()
            number += bool(start) or piece.endswith("\n")
        if start.startswith("["):
            yield from ArrayElements(path, chain([start], pieces_of(text)), number, max_bytes)
            return
        if start and not start.endswith("\n"):
            start += text.readline(max_bytes + 2)
        is_first = True
        while start:
            line = check_line(start, path, number, max_bytes, encoding)
            if line and not line.isspace():
                yield number, _parse_line(line, path, number, is_first)
                is_first = False
            start = text.readline(max_bytes + 2)
            number += 1


def _parse_line(line: str, path: Location, number: int, is_first: bool) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        hint = "; each line must be an object, or the file one array of objects" if is_first else ""
        raise InputError(f"{path} line {number}: not JSON: {one_line(error)}, found {excerpt(line)}{hint}") from None
    return value


def csv_records(path: Location, schema: Schema, select: Select) -> Records:
    """Read comma-separated values with a header.

    Spreadsheets write semicolons where the comma is the decimal mark: a header with semicolons and no commas is split
    at semicolons.
    """
    _allow_long_fields()
    lines = _RecordLines(path, schema)
    header = next(lines, "")
    separator = ";" if ";" in header and "," not in header else ","
    rows = csv.reader(chain([header], lines), delimiter=separator)
    return _table(path, _numbered(path, rows, lines), select)


def tsv_records(path: Location, schema: Schema, select: Select) -> Records:
    """Read tab-separated values with a header; see `_tsv_rows` for quotes."""
    _allow_long_fields()
    lines = read_lines(path, schema.encoding, schema.max_document_bytes)
    return _table(path, _tsv_rows(lines, schema.max_document_bytes), select)


def _table(path: Location, rows: Iterable[tuple[int, list[str]]], select: Select) -> Records:
    """Yield the rows below a header as records."""
    header: list[str] | None = None
    for number, row in rows:
        if header is None:
            header = [name.strip() for name in row]
            if len(set(header)) < len(header):
                raise InputError(f"{path} line {number}: two columns of the header have the same name")
            select(header)
        elif len(row) != len(header):
            raise InputError(
                f"{path} line {number}: {len(row)} fields, but the header has {len(header)}: "
                "check separators and quotes, or give the format with format= (--input-format)"
            )
        else:
            yield number, dict(zip(header, row, strict=True))


class _RecordLines:
    """The lines of a file, for a csv reader; a row of several lines may not exceed the limit."""

    def __init__(self, path: Location, schema: Schema) -> None:
        self._path, self._encoding, self._max_bytes = path, schema.encoding, schema.max_document_bytes
        self._lines = read_lines(path, schema.encoding, schema.max_document_bytes)
        self._n_characters = 0  # of the current row
        self._number = 1  # the line on which it begins

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines) + "\n"
        self._n_characters += len(line)
        if self._n_characters > self._max_bytes + 2:
            raise too_large(f"{self._path} line {self._number}", self._max_bytes)
        return line

    def begin_row(self, number: int) -> None:
        self._n_characters, self._number = 0, number


def _numbered(path: Location, rows: Any, lines: _RecordLines) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of a csv reader with the number of its first line; empty lines are skipped."""
    while True:
        number = rows.line_num + 1
        if number > 1:  # the header has been read
            lines.begin_row(number)
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"{path} line {number}: not CSV: {error}") from None
        if row:
            yield number, row


def _tsv_rows(lines: Iterator[str], max_bytes: int) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of both kinds of TSV: spreadsheets quote fields, other programs write quotes unchanged.

    A row with a field that begins with a quote is read as quoted, over as many lines as needed. This is accepted if the
    row has as many fields as the header and no text after closing quotes, unless it took several lines that are each a
    complete row. Otherwise its quotes are plain characters.
    """
    n_fields = 0
    number = 1
    source = _Lookahead(lines)
    for line in source:
        row, n_lines = line.split("\t"), 1
        if line.startswith('"') or '\t"' in line:
            quoted = _quoted_row(line, source, max_bytes)
            are_rows = n_fields > 1 and all(text.count("\t") == n_fields - 1 for text in (line, *source.seen))
            if quoted is None or n_fields not in (0, len(quoted)) or (source.seen and are_rows):
                source.put_back()
            else:
                row, n_lines = quoted, 1 + len(source.seen)
                source.seen.clear()
        if line:
            n_fields = n_fields or len(row)
            yield number, row
        number += n_lines


class _Lookahead:
    """An iterator over lines that can look ahead and put back the lines it has seen."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._next: deque[str] = deque()
        self.seen: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return self._next.popleft() if self._next else next(self._lines)

    def look(self, n_lines: int, n_characters: int) -> Iterator[str]:
        for line in islice(self, n_lines):
            self.seen.append(line)
            n_characters -= len(line)
            if n_characters < 0:
                return
            yield line

    def put_back(self) -> None:
        self._next.extendleft(reversed(self.seen))
        self.seen.clear()


def _quoted_row(line: str, source: _Lookahead, max_bytes: int) -> list[str] | None:
    """Read the row that begins with this line as quoted, over at most 10,000 lines that are one document at most."""
    lines = chain([line], source.look(10_000, max_bytes - len(line)))
    try:
        return next(csv.reader((text + "\n" for text in lines), delimiter="\t", strict=True))
    except csv.Error:
        return None


def _allow_long_fields() -> None:
    """Raise the limit of the csv module, which refuses fields above 128 KiB; the limit is global."""
    if csv.field_size_limit() < _LARGEST_FIELD:
        csv.field_size_limit(_LARGEST_FIELD)


def parquet_records(path: Location, schema: Schema, select: Select) -> Records:
    """Read the rows of a Parquet file; only the columns that are needed are read."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise missing_extra("pyarrow", "parquet", "Reading Parquet") from None

    with reading(path), open_binary(path) as binary, tempfile.TemporaryFile() as unpacked:
        file: IO[bytes] = binary
        if not can_seek(binary):  # Parquet is read from its end
            shutil.copyfileobj(binary, unpacked)
            file = unpacked
        try:
            table = ParquetFile(file)
            all_names = table.schema_arrow.names
            if twice := [name for name in all_names if all_names.count(name) > 1]:
                raise InputError(f"{path}: two columns have the name {twice[0]!r}: rename one")
            names = select(all_names)
            number = 0
            for batch in _parquet_batches(path, table, names, schema.max_document_bytes):
                rows = f"{path} rows {number + 1} to {number + len(batch)}"
                if batch.nbytes > schema.max_document_bytes:
                    _check_cells(path, batch, number + 1, schema.max_document_bytes)
                columns = [_cells(rows, name, batch.column(name)) for name in names]
                for number, row in enumerate(zip(*columns, strict=True), start=number + 1):  # noqa: B020
                    yield number, dict(zip(names, row, strict=True))
        except (ArrowException, OSError) as error:
            raise InputError(f"{path}: damaged, or not a Parquet file: {one_line(error)}") from error


def _parquet_batches(path: Location, table: ParquetFile, names: list[str], max_bytes: int) -> Iterator[RecordBatch]:
    """Yield rows, few at a time where a small file may hold large cells; cells are decompressed page by page.

    A group of rows whose cells exceed the limit on average is refused before it is decompressed.
    """
    n_before = 0
    for g in range(table.num_row_groups):
        group = table.metadata.row_group(g)
        columns = [group.column(j) for j in range(group.num_columns)]
        sizes = {column.path_in_schema: column.total_uncompressed_size for column in columns}
        largest = max((size for name, size in sizes.items() if name.split(".")[0] in names), default=0)
        if group.num_rows and largest > max_bytes * group.num_rows + _PIECE:
            raise too_large(f"{path} rows {n_before + 1} to {n_before + group.num_rows}", max_bytes)
        n_rows = _MANY_ROWS if largest <= _PIECE else _FEW_ROWS
        yield from table.iter_batches(batch_size=n_rows, row_groups=[g], columns=names)
        n_before += group.num_rows


def _check_cells(path: Location, batch: RecordBatch, number: int, max_bytes: int) -> None:
    """Raise an error if a row of the batch, which begins with the row `number`, exceeds the limit."""
    for i in range(len(batch)):
        if batch.slice(i, 1).nbytes > max_bytes + 1024:  # Arrow adds a few bytes to every cell
            raise too_large(f"{path} row {number + i}", max_bytes)


def _cells(place: str, name: str, column: ArrowArray) -> list[object]:
    """Return the cells of a Parquet column as Python objects, which times outside the years 1 to 9999 have not."""
    try:
        cells: list[object] = column.to_pylist()
    except (ArithmeticError, ValueError) as error:
        raise InputError(f"{place}: the column {name!r} cannot be read: {one_line(error)}") from error
    return cells


def text_documents(path: Location, schema: Schema) -> Iterator[Document]:
    """Read a document per line; an empty line is an empty document, so that document and line numbers agree."""
    return (Document(line) for line in read_lines(path, schema.encoding, schema.max_document_bytes))


def folder_documents(path: Path | Remote, schema: Schema) -> Iterator[Document]:
    """Read a document per file, in sorted order; the subfolder is the label. Hidden files are skipped."""
    for name, file in sorted(_visible_files(path), key=lambda found: found[0]):
        label = name.rpartition("/")[0]
        text = read_text(file, schema.encoding, schema.max_document_bytes)
        yield Document(text, [label] if label else [], name)


def _visible_files(path: Path | Remote) -> Iterator[tuple[str, Path | Remote]]:
    """Yield the files below a folder, with their names relative to it."""
    if not isinstance(path, Path):  # a `Remote`
        yield from ((name, file) for name, file in path.files() if not f"/{name}".count("/."))
        return

    def fail(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error

    for folder, subfolders, files in os.walk(path, onerror=fail):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        visible = (Path(folder, name) for name in files if not name.startswith("."))
        yield from ((file.relative_to(path).as_posix(), file) for file in visible)


def java_documents(path: Location, schema: Schema) -> Iterator[Document]:
    """Read ``ID<TAB>labels<TAB>words``, the format of the Java MetaLDA; words are used unchanged."""
    for number, line in enumerate(read_lines(path, schema.encoding, schema.max_document_bytes), start=1):
        if not line or line.isspace():
            continue
        parts = line.split("\t", 2)
        if len(parts) < 3:
            raise InputError(
                f"{path} line {number}: expected ID<TAB>labels<TAB>words, but there are {len(parts) - 1} tabs"
            )
        name, labels, words = parts
        names = [each for part in labels.split(schema.label_delimiter) if (each := part.strip())]
        yield Document(words.split(), names, name.strip())


def wikipedia_documents(path: Location, schema: Schema) -> Iterator[Document]:
    """Read the articles of a Wikipedia dump, without markup; the title is the id."""
    with reading(path):
        for title, text in read_articles(path, read_ahead(path), schema.max_document_bytes):
            yield Document(text, id=title)
