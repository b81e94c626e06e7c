"""The registry of file formats, from which detection, messages, options and help follow.

A new format is one reader function (`corpus/readers.py`) and one entry of `FORMATS`.
"""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from metalda.corpus.files import (
    begins_as_utf16,
    may_have_zeros,
    open_text,
    pieces_of,
    read_start,
    text_codec,
    uncompressed_suffix,
)
from metalda.corpus.readers import (
    csv_records,
    folder_documents,
    java_documents,
    jsonl_records,
    parquet_records,
    text_documents,
    tsv_records,
    wikipedia_documents,
)
from metalda.corpus.stream import Location, Stream
from metalda.errors import InputError
from metalda.storage import Remote

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileFormat:
    """One entry of the registry.

    Parameters
    ----------
    name : str
        For `format=` and ``--input-format``.
    description : str
        For help texts.
    reader : callable
        ``reader(path, schema, select)`` yields records if the format has fields, ``reader(path, schema)`` documents.
    suffixes : tuple of str
        The suffixes by which the format is recognized.
    has_fields : bool
        Whether documents have named fields, from which text, labels and ids are selected.
    unit : str
        What the number of a record counts, for messages.
    tokenized : bool
        Whether all documents are lists of tokens.
    delimited_labels : bool
        Whether `label_delimiter` applies although there are no fields.
    recognize : callable, optional
        ``recognize(path, encoding)`` returns whether the content of a text file has this format.
    """

    name: str
    description: str
    reader: Callable[..., Iterator[Any]]
    suffixes: tuple[str, ...] = ()
    has_fields: bool = False
    unit: str = "line"
    tokenized: bool = False
    delimited_labels: bool = False
    recognize: Callable[[Location, str], bool] | None = None


def find_format(path: Location, format: str | None = None, encoding: str = "utf-8") -> FileFormat:
    """Find the format by its name, by the suffix of the path, or by the first lines of the file."""
    if format is not None and format not in FORMATS:
        raise InputError(f"format={format!r} is not known: use one of {', '.join(FORMATS)} (--input-format)")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        if is_saved(path):
            raise InputError(f"{path}: is a saved corpus, not a folder of texts: Corpus.load reads it")
        if format not in (None, "folder"):
            raise InputError(f"{path}: is a folder, but the format {format!r} needs a file")
        return FORMATS["folder"]
    if format == "folder":
        raise InputError(f"{path}: is a file, but the format 'folder' needs a folder of files")
    if format is not None:
        return FORMATS[format]
    if isinstance(path, Stream):
        with path.kept():
            return _recognize(path, encoding)
    return _recognize(path, encoding)


def _recognize(path: Location, encoding: str) -> FileFormat:
    """Find the format by the suffix and the first bytes, and raise an error if the file is empty or of another kind."""
    suffix = uncompressed_suffix(path)
    by_suffix = next((entry for entry in FORMATS.values() if suffix in entry.suffixes), None)
    is_certain = by_suffix is not None and by_suffix.name != "text"
    if by_suffix is not None and is_certain and not isinstance(path, Path | Stream):
        return by_suffix  # a remote file, which is opened once
    start = read_start(path)
    if not start:
        raise InputError(f"{path}: is empty")
    if by_suffix is not None and is_certain:
        if by_suffix.name != "parquet":
            _require_text(path, start, encoding, by_suffix.name)
        return by_suffix
    if suffix or not _begins_as_parquet(start):
        _require_text(path, start, encoding, None)
    for entry in FORMATS.values():
        if entry.recognize is not None and entry.recognize(path, encoding):
            logger.info("%s: read as %s (format=%r)", path, entry.description, entry.name)
            return entry
    if by_suffix is None:
        raise InputError(f"{path}: unknown suffix; give the format with format= (--input-format): {', '.join(FORMATS)}")
    if isinstance(path, Stream):
        logger.info("%s: read as %s (format=%r)", path, by_suffix.description, by_suffix.name)
    return by_suffix


def _require_text(path: Location, start: bytes, encoding: str, format: str | None) -> None:
    """Raise an error if the first bytes of a file are not text, with a remedy for kinds of files that are common."""
    has_zeros = b"\0" in start and not may_have_zeros(encoding) and not begins_as_utf16(start)
    for magic, description in _OTHER_KINDS.items():
        if start.startswith(magic):
            raise InputError(f"{path}: is {description}")
    if _begins_as_parquet(start):
        raise InputError(f"{path}: is a Parquet file: give format='parquet' (--input-format parquet)")
    if has_zeros and format is None:
        raise InputError(
            f"{path}: not a text file; give its format with format= (--input-format): {', '.join(FORMATS)}"
        )
    if has_zeros:
        try:
            codecs.getincrementaldecoder(encoding)().decode(start)
        except UnicodeDecodeError:
            raise InputError(f"{path}: is a binary file, but the format {format!r} is text") from None


_OTHER_KINDS = {
    b"PK\x03\x04": "an Excel workbook (.xlsx) or another ZIP archive: save the sheet as CSV, or unpack the archive",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Excel workbook (.xls) or another Office file: save it as CSV or as text",
    b"%PDF-": "a PDF document: convert it to text",
    b"SQLite format 3\0": "a SQLite database: export the table as CSV",
}


def is_saved(path: Location) -> TypeGuard[Path | Remote]:
    """Return whether a folder holds a saved corpus."""
    return not isinstance(path, Stream) and bool((path / "corpus.json").is_file())


def _looks_json(path: Location, encoding: str) -> bool:
    """Return whether a file whose name has no suffix begins with a JSON object, or with an array of objects."""
    if uncompressed_suffix(path):
        return False
    text = read_start(path).decode(text_codec(encoding), "ignore")
    return re.match(r'\s*(\[\s*)?\{\s*("|\}\s*$)', text) is not None


def _looks_parquet(path: Location, encoding: str) -> bool:
    """Return whether a file whose name has no suffix begins as Parquet does."""
    return not uncompressed_suffix(path) and _begins_as_parquet(read_start(path))


def _begins_as_parquet(start: bytes) -> bool:
    return start.startswith(b"PAR1") and b"\0" in start


def _looks_wikipedia(path: Location, encoding: str) -> bool:
    """Return whether a file whose name has no suffix begins as a Wikipedia dump does."""
    return not uncompressed_suffix(path) and read_start(path).lstrip().startswith(b"<mediawiki")


def _looks_java(path: Location, encoding: str) -> bool:
    """Return whether the first 50 nonempty lines, as far as a million characters contain them, have two tabs each."""
    with open_text(path, encoding) as text:
        pieces = pieces_of(text)
        start = next(pieces, "")
        if next(pieces, ""):  # the last line continues
            start = start.rpartition("\n")[0] or start
    lines = [line for line in start.split("\n") if line and not line.isspace()]
    return bool(lines) and all(line.count("\t") == 2 for line in lines[:50])


FORMATS: Mapping[str, FileFormat] = {
    entry.name: entry
    for entry in (
        FileFormat(
            "jsonl", "JSON Lines", jsonl_records, (".jsonl", ".ndjson", ".json"), has_fields=True, recognize=_looks_json
        ),
        FileFormat("csv", "CSV", csv_records, (".csv",), has_fields=True),
        FileFormat("tsv", "TSV", tsv_records, (".tsv", ".tab"), has_fields=True),
        FileFormat(
            "parquet",
            "Parquet",
            parquet_records,
            (".parquet", ".pq"),
            has_fields=True,
            unit="row",
            recognize=_looks_parquet,
        ),
        FileFormat("text", "text (a document per line)", text_documents, ("", ".txt", ".text", ".md", ".log")),
        FileFormat("folder", "a folder of files (subfolders are the labels)", folder_documents),
        FileFormat(
            "java",
            "ID<TAB>labels<TAB>words of the Java MetaLDA",
            java_documents,
            tokenized=True,
            delimited_labels=True,
            recognize=_looks_java,
        ),
        FileFormat("wikipedia", "a Wikipedia dump", wikipedia_documents, (".xml",), recognize=_looks_wikipedia),
    )
}
