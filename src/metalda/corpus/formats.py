"""Which format a path has, and the corpus that it holds."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from metalda.corpus import readers
from metalda.corpus.building import Parts, Settings, collect
from metalda.corpus.columns import Columns, Document
from metalda.corpus.files import looks_binary, text_codec, uncompressed_suffix
from metalda.corpus.named import NamedMatrix
from metalda.corpus.saving import is_saved
from metalda.errors import InputError
from metalda.storage import PathLike, locate

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

_RECORDS = {
    "jsonl": (readers.jsonl_records, "line"),
    "csv": (readers.csv_records, "line"),
    "tsv": (readers.tsv_records, "line"),
    "parquet": (readers.parquet_records, "row"),
}
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
FORMATS = (*_RECORDS, "text", "folder", "java")


_PLAIN = ("", ".txt", ".text", ".md", ".log")  # taken as a document per line


@dataclass(frozen=True)
class Source:
    """Where documents come from: they can be gone through once."""

    name: str  # for messages
    documents: Iterable[Document]
    texts: bool  # or tokens only
    columns: Columns | None  # of records

    def has_labels(self, names: Sequence[str]) -> bool:
        """Whether the corpus has labels, given the names that were found."""
        return self.columns.has_labels if self.columns is not None else bool(names)

    def numeric_labels(self) -> list[NamedMatrix]:
        """Labels of fields with numbers, once all documents have been read."""
        return [] if self.columns is None else self.columns.numeric_labels()


def open_source(
    location: PathLike,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    progress: bool = False,
    delimiter: str | None = None,
    **fields: Any,
) -> Source:
    """The documents of a file or folder; see `Corpus.read`."""
    path = locate(location)
    text_codec(encoding)
    format = find_format(path, format, encoding)
    if format in _RECORDS:
        reader, unit = _RECORDS[format]
        columns = Columns(str(path), unit, delimiter=delimiter, **fields)
        records = _with_progress(reader(path, encoding, columns.resolve), progress)
        return Source(str(path), columns.documents(records), True, columns)
    if format != "java":
        fields["label_delimiter"] = delimiter
    for name, value in fields.items():
        if value:
            option = name.replace("_", "-")
            raise InputError(f"{path}: the format {format!r} has no fields: {name}= (--{option}) has no meaning")
    documents = _with_progress(_documents(path, format, encoding, delimiter), progress)
    return Source(str(path), documents, format != "java", None)


def read_path(path: PathLike, settings: Settings, **how: Any) -> Parts:
    """The fields of the corpus in a file or folder; see `Corpus.read`."""
    source = open_source(path, **how)
    parts = collect(source.documents, settings, texts=source.texts, source=source.name)
    if source.columns is not None:
        return parts | {"labels": source.columns.labels(parts["labels"])}
    return parts if source.has_labels(parts["labels"].names) else parts | {"labels": None}


def find_format(path: Path, format: str | None = None, encoding: str = "utf-8") -> str:
    """The format by its name, by the path's suffix, or by the first lines."""
    if format is not None and format not in FORMATS:
        raise InputError(f"format={format!r} is not known: use one of {', '.join(FORMATS)}")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        if is_saved(path):
            raise InputError(f"{path}: is a saved corpus, not a folder of texts: Corpus.load reads it")
        if format not in (None, "folder"):
            raise InputError(f"{path}: is a folder, but the format {format!r} needs a file")
        return "folder"
    if format == "folder":
        raise InputError(f"{path}: is a file, but the format 'folder' needs a folder of files")
    return format or _SUFFIXES.get(uncompressed_suffix(path)) or _sniffed(path, encoding)


def _sniffed(path: Path, encoding: str) -> str:
    if looks_binary(path, encoding):
        raise InputError(
            f"{path}: not a text file; give its format with format= (--input-format): {', '.join(FORMATS)}"
        )
    if readers.looks_java(path, encoding):
        logger.info("%s: every line has two tabs: read as ID<TAB>labels<TAB>words (format='java')", path)
        return "java"
    if uncompressed_suffix(path) not in _PLAIN:
        raise InputError(
            f"{path}: the name does not tell the format; give it with format= (--input-format): {', '.join(FORMATS)}"
        )
    return "text"


def _documents(path: Path, format: str, encoding: str, delimiter: str | None) -> Iterator[Document]:
    if format == "folder":
        return readers.folder_documents(path, encoding)
    if format == "java":
        return readers.java_documents(path, encoding, delimiter)
    return readers.text_documents(path, encoding)


def stream_documents(
    path: Path, format: str, *, text: str | None = None, encoding: str = "utf-8", progress: bool = False
) -> Iterator[Document]:
    """The documents of a file or folder one by one, without their labels."""
    if format in _RECORDS:
        reader, unit = _RECORDS[format]
        columns = Columns(str(path), unit, text=text)
        return iter(_with_progress(columns.documents(reader(path, encoding, columns.resolve)), progress))
    if text is not None:
        raise InputError(f"{path}: the format {format!r} has no fields: text= (--text) has no meaning")
    return iter(_with_progress(_documents(path, format, encoding, None), progress))


def _with_progress(items: Iterable[Item], progress: bool) -> Iterable[Item]:
    """A bar on the terminal, if there is one."""
    if not progress:
        return items
    from tqdm import tqdm

    return tqdm(items, desc="Reading", unit=" documents", disable=None)
