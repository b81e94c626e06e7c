"""The file formats: each reader turns a file into records or documents, one at a time."""

import csv
import json
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from metalda.corpus.columns import Document
from metalda.corpus.files import is_compressed, one_line, open_binary, read_lines, read_text, reading
from metalda.corpus.labels import label_names
from metalda.errors import InputError, missing_extra
from metalda.storage import Remote

Select = Callable[..., list[str]]
"""Called once with the names of the fields (`Columns.resolve`); returns those that are needed."""

_LARGEST_FIELD = 2**31 - 1


def jsonl_records(path: Path, encoding: str, select: Select) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """A JSON object per line; empty lines are skipped."""
    is_first = True
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} line {number}: not JSON: {one_line(error)}, found {_excerpt(line)}") from None
        if not isinstance(record, dict):
            raise InputError(f"{path} line {number}: not an object with fields, but {_excerpt(line)}")
        if is_first:
            select(list(record), complete=False)
            is_first = False
        yield number, record


def csv_records(path: Path, encoding: str, select: Select) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Comma-separated values with a header, as Python's csv module reads them; see `_separator`."""
    _allow_long_fields()
    lines = (line + "\n" for line in read_lines(path, encoding))
    header = next(lines, "")
    rows = csv.reader(chain([header], lines), delimiter=_separator(header))
    return _table(path, _numbered(path, rows), select)


def tsv_records(path: Path, encoding: str, select: Select) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Tab-separated values with a header; quotes count only where the row makes sense with them."""
    _allow_long_fields()
    return _table(path, _tsv_rows(read_lines(path, encoding)), select)


def parquet_records(path: Path, encoding: str, select: Select) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a Parquet file, reading only the columns that are needed."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise missing_extra("pyarrow", "parquet", "Reading Parquet") from None

    with reading(path), open_binary(path) as binary, tempfile.TemporaryFile() as unpacked:
        file: Any = binary
        if is_compressed(path):  # Parquet is read from its end, and compressed files cannot seek
            shutil.copyfileobj(binary, unpacked)
            file = unpacked
        try:
            table = ParquetFile(file)
            names = select(table.schema_arrow.names)
            number = 0
            for batch in table.iter_batches(batch_size=1024, columns=names):
                columns = [batch.column(name).to_pylist() for name in names]
                for number, row in enumerate(zip(*columns, strict=True), start=number + 1):  # noqa: B020
                    yield number, dict(zip(names, row, strict=True))
        except (ArrowException, OSError) as error:
            raise InputError(f"{path}: damaged, or not a Parquet file: {one_line(error)}") from error


def text_documents(path: Path, encoding: str) -> Iterator[Document]:
    """A document per line; an empty line is an empty document, so that line numbers stay those of the documents."""
    return (Document(line) for line in read_lines(path, encoding))


def java_documents(path: Path, encoding: str, delimiter: str | None) -> Iterator[Document]:
    """The Java original's ``ID<TAB>labels<TAB>words``; words are used as they are."""
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if not line or line.isspace():
            continue
        parts = line.split("\t", 2)
        if len(parts) < 3:
            raise InputError(
                f"{path} line {number}: expected ID<TAB>labels<TAB>words, but there are {len(parts) - 1} tabs"
            )
        name, labels, words = parts
        yield Document(words.split(), label_names(labels, delimiter) if delimiter else labels.split(), name.strip())


def folder_documents(path: Path, encoding: str) -> Iterator[Document]:
    """A document per file, in sorted order; the folders between are the label. Hidden files are skipped."""
    for name, file in sorted(_visible_files(path), key=lambda found: found[0]):
        label = name.rpartition("/")[0]
        yield Document(read_text(file, encoding), [label] if label else [], name)


def looks_java(path: Path, encoding: str) -> bool:
    """Whether the first 50 lines that are not empty have two tabs each."""
    n_lines = 0
    for line in read_lines(path, encoding):
        if line and not line.isspace():
            if line.count("\t") != 2:
                return False
            n_lines += 1
            if n_lines == 50:
                break
    return n_lines > 0


def _visible_files(path: Path | Remote) -> Iterator[tuple[str, Any]]:
    """Files below a folder, with their names relative to it."""
    if isinstance(path, Remote):
        yield from ((name, file) for name, file in path.files() if not f"/{name}".count("/."))
        return

    def fail(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error

    for folder, subfolders, files in os.walk(path, onerror=fail):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        visible = (Path(folder, name) for name in files if not name.startswith("."))
        yield from ((file.relative_to(path).as_posix(), file) for file in visible)


def _table(
    path: Path, rows: Iterable[tuple[int, list[str]]], select: Select
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Rows under a header, as records."""
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


def _separator(header: str) -> str:
    """Spreadsheets write semicolons where the comma is the decimal mark."""
    return ";" if ";" in header and "," not in header else ","


def _numbered(path: Path, rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Each row of a csv reader with the line it begins on; empty lines are skipped."""
    while True:
        number = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"{path} line {number}: not CSV: {error}") from None
        if row:
            yield number, row


def _tsv_rows(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Two customs exist: spreadsheets quote fields, others write quotes as they are, balanced or not.

    So a row with a field that begins with a quote is read as quoted, over as many lines as that takes, and taken so
    if it has as many fields as the header and nothing after its quotes, unless it took several lines each of which is
    a row by itself. Otherwise its quotes are plain characters.
    """
    n_fields = 0
    number = 1
    source = _Lookahead(lines)
    for line in source:
        row, n_lines = line.split("\t"), 1
        if line.startswith('"') or '\t"' in line:
            quoted = _quoted_row(line, source)
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
    """An iterator over lines that can look ahead, then put back what it saw."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._next: deque[str] = deque()
        self.seen: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return self._next.popleft() if self._next else next(self._lines)

    def look(self, n_lines: int) -> Iterator[str]:
        for line in islice(self, n_lines):
            self.seen.append(line)
            yield line

    def put_back(self) -> None:
        self._next.extendleft(reversed(self.seen))
        self.seen.clear()


def _quoted_row(line: str, source: _Lookahead) -> list[str] | None:
    """The row that begins with this line, read as quoted over as many lines as it takes (within reason)."""
    lines = chain([line], source.look(10_000))
    try:
        return next(csv.reader((text + "\n" for text in lines), delimiter="\t", strict=True))
    except csv.Error:
        return None


def _allow_long_fields() -> None:
    """The csv module refuses fields above 128 KiB; its limit is global, and is only ever raised here."""
    if csv.field_size_limit() < _LARGEST_FIELD:
        csv.field_size_limit(_LARGEST_FIELD)


def _excerpt(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:57] + "...")
