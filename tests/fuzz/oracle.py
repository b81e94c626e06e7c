"""Independent parsers of the formats: what the documents of a file are, for a comparison with what was read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

from tests.fuzz.cases import Violation

from metalda.corpus.unicode import normalize

REFUSE: Literal["refuse"] = "refuse"  # the file is damaged, and reading it must fail
Expected = list["Found"] | Literal["refuse"] | None  # None: either is fine

_PATTERNS = {True: r"(?s).+", False: r"\w{2,}"}  # not the default, which depends on the script
_PLAUSIBLE = {"text", "body", "content", "abstract", "document"}
_MARKUP = re.compile(r"[\[\]{}<>&='_|]|https?:")
_OTHER_KINDS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF-", b"SQLite format 3", b"PAR1")


class Found(NamedTuple):
    """A document: its text or tokens (None: not compared), its labels and its id."""

    content: str | Sequence[str] | None
    labels: frozenset[str] = frozenset()
    id: str | None = None


class Unsure(Exception):
    """The documentation leaves open how the file is read."""


class Damaged(Exception):
    """No reading of the file is right."""


class Empty(Damaged):
    """The file has no documents, which is an error for a corpus but not for a reference corpus."""


def tokenizing(whole: bool) -> dict[str, Any]:
    """Arguments of `Corpus.read`: the whole text is one token, or words as by default in most scripts."""
    return {"token_pattern": _PATTERNS[whole], "lowercase": not whole}


def documents(path: Path, kind: str, options: Mapping[str, Any]) -> Expected:
    """Return the documents of a file or folder."""
    parse = _PARSERS.get(kind)
    if parse is None:
        return None
    if options["route"] == "blocks":  # which reads texts alone
        options = {**options, "labels": None}
    try:
        found = parse(path, options)
        if any(_has_surrogate(each) for each in found):
            return None
    except Empty:
        return None if options["route"] == "blocks" else REFUSE
    except (Damaged, UnicodeDecodeError):
        return REFUSE
    except Unsure:
        return None
    if options["route"] == "blocks":
        return found or None
    found = [each._replace(content=_tokens(each.content, options["whole"])) for each in found]
    if any(each.content for each in found):
        return found
    return None if any(each.content is None for each in found) else REFUSE  # no words


def describe(corpus: Any) -> list[Found]:
    """Return the documents of a corpus."""
    matrix = None if corpus.labels is None else corpus.labels.matrix
    found = []
    for i, tokens in enumerate(corpus):
        columns = [] if matrix is None else matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]]
        labels = frozenset(corpus.label_names[column] for column in columns)
        found.append(Found(tokens, labels, None if corpus.ids is None else corpus.ids[i]))
    return found


def compare(found: list[Found], expected: list[Found], *, blocks: bool) -> None:
    """Raise `Violation` if documents, labels, ids or texts differ."""
    if len(found) != len(expected):
        raise Violation("documents lost", f"{len(found)} documents instead of {len(expected)}")
    has_ids = all(each.id is not None for each in expected)
    for i, (one, other) in enumerate(zip(found, expected, strict=True)):
        if other.content is not None and _plain(one.content) != _plain(other.content):
            raise Violation("text changed", f"document {i}: {_short(one.content)} instead of {_short(other.content)}")
        if blocks:
            continue
        if one.labels != other.labels:
            raise Violation("labels changed", f"document {i}: {sorted(one.labels)} instead of {sorted(other.labels)}")
        if one.id != (other.id if has_ids else None):
            raise Violation("id changed", f"document {i}: {one.id!r} instead of {other.id!r}")


def _plain(content: Any) -> Any:
    return content if isinstance(content, str | None) else list(content)


def _short(value: object) -> str:
    return repr(value)[:200]


def _tokens(content: str | Sequence[str] | None, whole: bool) -> Sequence[str] | None:
    if not isinstance(content, str):
        return content
    content = normalize(content)
    return re.findall(_PATTERNS[whole], content if whole else content.lower())


def _has_surrogate(document: Found) -> bool:
    texts = [*(document.content or ()), *document.labels, document.id or ""]
    return any("\ud800" <= character <= "\udfff" for text in texts for character in text)


def _read_bytes(path: Path, options: Mapping[str, Any]) -> bytes:
    """Read a file, decompressed; a stream has no suffix."""
    return decompress(path.read_bytes(), "" if options["route"] == "stream" else path.suffix)


def decompress(data: bytes, suffix: str) -> bytes:
    """Return the content of a file, decompressed by its suffix or its first bytes; raise `Damaged` if it cannot be."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = openers.get(suffix.lower())
    if opener is None:
        starts = {b"\x1f\x8b\x08": gzip.open, b"\xfd7zXZ\0": lzma.open}
        opener = next((each for start, each in starts.items() if data.startswith(start)), None)
        opener = bz2.open if re.match(rb"BZh[1-9]1AY&SY", data) else opener
    if opener is None:
        return data
    try:
        with opener(io.BytesIO(data)) as file:
            return bytes(file.read())
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        raise Damaged from None


def _text(path: Path, options: Mapping[str, Any]) -> str:
    data = _read_bytes(path, options)
    if b"\0" in data or data.startswith(_OTHER_KINDS):
        raise Unsure
    return data.decode("utf-8-sig")


def _lines(text: str) -> list[str]:
    """Lines end at \\n or \\r\\n, and at nothing else."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _json(path: Path, options: Mapping[str, Any]) -> list[Found]:
    text = _text(path, options)
    try:
        if text.lstrip(" \t\r\n").startswith("["):
            records = json.loads(text)
        else:
            records = [json.loads(line) for line in _lines(text) if line and not line.isspace()]
    except (ValueError, RecursionError):
        raise Damaged from None
    return _records(records, options)


def _csv(path: Path, options: Mapping[str, Any]) -> list[Found]:
    lines = _lines(_text(path, options))
    header = lines[0] if lines else ""
    separator = ";" if ";" in header and "," not in header else ","
    csv.field_size_limit(2**31 - 1)
    try:
        rows = [row for row in csv.reader([line + "\n" for line in lines], delimiter=separator) if row]
    except csv.Error:
        raise Damaged from None
    return _table(rows, options)


def _tsv(path: Path, options: Mapping[str, Any]) -> list[Found]:
    """Quotes are plain characters, or those of a spreadsheet; where both are possible the parser is not sure."""
    lines = _lines(_text(path, options))
    plain = [line.split("\t") for line in lines if line]
    if not any(cell.startswith('"') for row in plain for cell in row):
        return _table(plain, options)
    csv.field_size_limit(2**31 - 1)
    try:
        quoted = [row for row in csv.reader([line + "\n" for line in lines], delimiter="\t", strict=True) if row]
    except csv.Error:
        raise Unsure from None
    if _is_even(plain) or not _is_even(quoted) or any(line == "" for line in lines):
        raise Unsure
    return _table(quoted, options)


def _is_even(rows: list[list[str]]) -> bool:
    return len({len(row) for row in rows}) == 1


def _table(rows: list[list[str]], options: Mapping[str, Any]) -> list[Found]:
    if not rows or len({name.strip() for name in rows[0]}) < len(rows[0]) or not _is_even(rows):
        raise Damaged
    header = [name.strip() for name in rows[0]]
    named = [name for name in (options["text"], options["labels"]) if name is not None]
    if not set(named) <= set(header):
        raise Damaged
    return _records([dict(zip(header, row, strict=True)) for row in rows[1:]], options)


def _parquet(path: Path, options: Mapping[str, Any]) -> list[Found]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(io.BytesIO(_read_bytes(path, options))).to_pylist()
    except (pa.ArrowException, OSError, ValueError, ArithmeticError, UnicodeError):
        raise Unsure from None  # perhaps in a column that nobody needs
    return _records(rows, options)


def _records(records: Any, options: Mapping[str, Any]) -> list[Found]:
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise Damaged
    if not records:
        raise Empty
    field, labels = options["text"], options["labels"]
    if field is None:
        plausible = [name for name in records[0] if name.strip().lower() in _PLAUSIBLE]
        if len(plausible) != 1:
            raise Damaged
        field = plausible[0]
    if labels is not None and not any(labels in record for record in records):
        raise Damaged
    has_id = "id" in records[0] and field != "id"
    delimiter = options.get("label_delimiter")
    return [
        Found(
            _content(record, field),
            frozenset() if labels is None else frozenset(_labels(record.get(labels), delimiter)),
            _id(record["id"]) if has_id and "id" in record else None,
        )
        for record in records
    ]


def _content(record: Mapping[str, Any], field: str) -> str | list[str]:
    if field not in record:
        raise Damaged
    value = record[field]
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        return value
    raise Damaged


def _labels(value: Any, delimiter: str | None) -> list[str]:
    if isinstance(value, str) and delimiter is not None:
        names = value.split(delimiter)
    elif value is None or isinstance(value, str):
        names = [value or ""]
    elif isinstance(value, list) and all(isinstance(each, str) or each is None for each in value):
        names = [each or "" for each in value]
    else:
        raise Unsure
    return [name.strip() for name in names if name.strip()]


def _id(value: Any) -> str:
    if isinstance(value, float):
        raise Unsure
    return "" if value is None else str(value)


def _text_lines(path: Path, options: Mapping[str, Any]) -> list[Found]:
    lines = _lines(_text(path, options))
    if options["format"] is None and any(line.count("\t") == 2 for line in lines):
        raise Unsure  # it may be the format of the Java original
    if options["format"] is None and not path.suffix:
        raise Unsure  # the content decides
    if not lines:
        raise Empty
    if options["route"] == "blocks":
        lines = [line for line in lines if line and not line.isspace()]
    return [Found(line) for line in lines]


def _folder(path: Path, options: Mapping[str, Any]) -> list[Found]:
    found = []
    for folder, subfolders, names in os.walk(path):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        for file in (Path(folder, name) for name in names if not name.startswith(".")):
            if not file.is_file():
                raise Damaged if (file.exists() and not file.is_dir()) or not file.is_symlink() else Unsure
            name = file.relative_to(path).as_posix()
            label = name.rpartition("/")[0]
            text = _read_bytes(file, {"route": "read"}).decode("utf-8-sig")
            found.append((name, Found(text, frozenset([label] if label else []), name)))
    if not found:
        raise Empty
    return [document for _, document in sorted(found, key=lambda each: each[0])]


def _java(path: Path, options: Mapping[str, Any]) -> list[Found]:
    found = []
    for line in _lines(_text(path, options)):
        if line and not line.isspace():
            parts = line.split("\t", 2)
            if len(parts) < 3:
                raise Damaged
            labels = [name.strip() for name in parts[1].split(options.get("label_delimiter")) if name.strip()]
            found.append(Found(parts[2].split(), frozenset(labels), parts[0].strip()))
    if not found:
        raise Empty
    return found


def _wikipedia(path: Path, options: Mapping[str, Any]) -> list[Found]:
    try:
        root = ElementTree.fromstring(_read_bytes(path, options))
    except ElementTree.ParseError:
        raise Damaged from None
    except (LookupError, ValueError):  # an encoding that the parser does not know
        raise Damaged from None
    if root.tag.rpartition("}")[2] != "mediawiki":
        raise Damaged
    if any(each.tag.rpartition("}")[2] == "page" for page in root for each in list(page.iter())[1:]):
        raise Unsure  # pages inside pages
    found = []
    for page in (each for each in root if each.tag.rpartition("}")[2] == "page"):
        parts: dict[str, list[str]] = {}
        for element in page.iter():
            parts.setdefault(element.tag.rpartition("}")[2], []).append(element.text or "")
        text = parts.get("text", [""])[-1]
        if text and "redirect" not in parts and set(parts.get("ns", ["0"])) == {"0"}:
            found.append(Found(None if _MARKUP.search(text) else text, id=parts.get("title", [""])[-1]))
    if not found:
        raise Empty
    return found


_PARSERS: dict[str, Callable[[Path, Mapping[str, Any]], list[Found]]] = {
    "jsonl": _json,
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "text": _text_lines,
    "folder": _folder,
    "java": _java,
    "wikipedia": _wikipedia,
}
