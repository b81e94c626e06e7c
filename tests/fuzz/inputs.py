"""Files of documents in every format of the registry, whole or mutated, read in several ways."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from tests.fuzz import mutations, oracle
from tests.fuzz.cases import Case, Kind, Violation, refusing

from metalda.corpus.formats import FORMATS
from metalda.corpus.schema import NO_FREQUENCY_FILTERS

Row = dict[str, Any]
Files = dict[str, bytes]

WORDS = ("cat", "dog", "purr", "bark", "rain", "sun", "cloud", "über", "naïve", "東京", "wind's", "e-mail", "2024", "x")
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
ROUTES = ("read", "read", "stream", "prepare", "save", "blocks")
ENCODINGS = ("latin-1", "utf-16", "utf-16-le", "utf-8-sig", "cp1252", "utf-7", "idna", "zlib", "no such", "")
PATTERNS = ("(", "", ".", r"\w+", "(a)(b)", "(?P<x>.)", "[^", "a{99999999999}", "(?i)CAT", r"\b", "^", "x*", "\0")


def kinds() -> list[Kind]:
    return [Kind(name, _maker(name), check, prepare) for name in FORMATS]


def prepare() -> None:
    """Load what reading needs, so that the first case takes no longer than others."""
    from metalda import Corpus

    Corpus.from_texts(["cat dog"])


def _maker(name: str) -> Callable[[random.Random], tuple[Files, dict[str, Any]]]:
    return lambda rng: make(name, rng)


def make(name: str, rng: random.Random) -> tuple[Files, dict[str, Any]]:
    """Write documents in a format, then change some values or bytes, or none."""
    rows = [_row(rng, i) for i in range(rng.choice((1, 2, 3, 8, 30)))]
    options: dict[str, Any] = {
        "path": "data",
        "format": name,
        "text": "text",
        "labels": None,
        "whole": rng.random() < 0.5,
        "route": rng.choice(ROUTES),
        "extra": {},
    }
    if rng.random() < 0.3:
        for row in rng.sample(rows, min(2, len(rows))):
            row[rng.choice(list(row))] = mutations.value(rng)
    writer = _WRITERS.get(name, _write_any)
    files = writer(rows, options, rng)
    if not FORMATS[name].has_fields:
        options.update(text=None)
    elif options["text"] == "text" and rng.random() < 0.5:
        options["text"] = None  # found by its name
    if name != "folder" and name in _WRITERS:
        files = _rename(name, files, options, rng)
    before = rng.random() < 0.4
    if before:
        files = _mutate_one(files, rng)
    if name != "folder" and rng.random() < 0.25:
        suffix, compress = rng.choice(list(COMPRESSORS.items()))
        path = options["path"]
        data = compress(files.pop(path))
        options["path"] += rng.choice((suffix, suffix, ""))  # without the suffix, the first bytes tell
        files[options["path"]] = mutations.mutate(data, rng) if rng.random() < 0.3 else data
    if rng.random() < 0.15:
        options["extra"] = _extra(rng)
    return files, options


def _row(rng: random.Random, i: int) -> Row:
    tags = rng.sample(("pets", "sky", "Über", "a b", "2024"), rng.choice((0, 1, 1, 2)))
    return {"id": f"d{i}", "text": _text(rng), "tags": tags, "year": 1990 + i}


def _text(rng: random.Random) -> str:
    words = [rng.choice(WORDS) for _ in range(rng.choice((0, 1, 3, 9, 40)))]
    if rng.random() < 0.2:
        words.insert(rng.randrange(len(words) + 1), rng.choice(mutations.NAMES[:-1]))
    return rng.choice((" ", " ", " ", ", ", "\n")).join(words)


def _rename(name: str, files: Files, options: dict[str, Any], rng: random.Random) -> Files:
    """Let the suffix tell the format, or the option; some names are unusual."""
    (data,) = files.values()
    suffixes = FORMATS[name].suffixes
    stem = rng.choice(("data", "data", "data", "a b", "é", "-x", "data.v2", "%41", "x" * 100))
    if suffixes and rng.random() < 0.6:
        options["format"] = None
        options["path"] = (stem if stem != "data.v2" or suffixes[0] else "data") + rng.choice(suffixes)
    else:
        options["path"] = stem + rng.choice((".dat", "", ".txt", ".csv"))
    return {options["path"]: data}


def _mutate_one(files: Files, rng: random.Random) -> Files:
    name = rng.choice(sorted(files)) if files else "data"
    return {**files, name: mutations.mutate(files.get(name, b""), rng)}


def _extra(rng: random.Random) -> dict[str, Any]:
    """Other arguments of `Corpus.read`, many of them wrong."""
    number = rng.choice((0, 1, -1, 0.5, 1.5, 2**63, 10**400, -0.1, 1e308, None, "x", True))
    choices: dict[str, Any] = {
        "encoding": rng.choice(ENCODINGS),
        "token_pattern": rng.choice(PATTERNS),
        "stop_words": rng.choice(("english", None, [], ["cat", "english"], "german", "auto", "klingon", [""], 5)),
        "stem": rng.choice((None, "german", "fr", "klingon", 5)),
        "tokenizer": rng.choice((None, "characters:2", "shlex:split", "no_such_module:x", "os", "characters:", 5)),
        "phrases": rng.choice((True, False, [["cat", "dog"]], [["cat"]], "cat", 5)),
        "phrase_min_count": rng.choice((1, 2, 0, 10**30, 0.5, "x")),
        "phrase_threshold": rng.choice((0, 0.5, -1, 2, float("nan"), "x")),
        "min_df": number,
        "max_df": number,
        "max_features": number,
        "ngram_range": rng.choice(([1, 2], [0, 1], [2, 1], [1, 10**9], [1], "x", None, [1, 10**30])),
        "analyzer": rng.choice(("word", "char", "char_wb", "x", 5)),
        "vocabulary": rng.choice((["cat"], [], ["cat", "cat"], {"cat": 0}, "cat", [5])),
        "label_delimiter": rng.choice(("", ",", "|", " ", "\n", "ab", "\0")),
        "bins": {rng.choice(("year", "id", "text", "no")): rng.choice((number, [1990, 1995], [], [5, 1], "x"))},
        "numbers": rng.choice(("year", ["year", "year"], {"year": [0, 1]}, {"year": [0, 0]}, "id", "no", 5)),
        "id": rng.choice(("id", "text", "tags", "no", "", 5)),
        "labels": rng.choice(("tags", ["tags", "year"], "id", "text", "no", [], "", 5)),
        "format": rng.choice((*FORMATS, "no such")),
        "lowercase": rng.choice((True, False, "x", None)),
    }
    return {name: choices[name] for name in rng.sample(sorted(choices), rng.choice((1, 1, 2, 3)))}


# A writer takes rows, sets options that the reader needs, and returns the files.


def _write_jsonl(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    options["labels"] = rng.choice(("tags", None))
    ascii_only, gaps = rng.random() < 0.5, rng.random() < 0.2
    texts = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    if rng.random() < 0.3:
        data = "[" + rng.choice((",", ",\n", " , ")).join(texts) + "]"
        data = json.dumps(rows, indent=1) if rng.random() < 0.3 else data
    else:
        end = rng.choice(("\n", "\n", "\r\n"))
        data = end.join(texts) + rng.choice(("", end))
        data = data.replace(end, end + end) if gaps else data
    return {"data": (rng.choice(("", "", "\ufeff")) + data).encode("utf-8", "surrogatepass")}


def _write_table(rows: list[Row], options: dict[str, Any], rng: random.Random, delimiter: str) -> Files:
    options["labels"] = rng.choice(("tags", None))
    options["label_delimiter"] = "|" if options["labels"] else None
    cells = [{name: _cell(each) for name, each in row.items()} for row in rows]
    out = io.StringIO(newline="")
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    end = rng.choice(("\n", "\n", "\r\n"))
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writeheader()
    writer.writerows(cells)
    return {"data": (rng.choice(("", "", "\ufeff")) + out.getvalue()).encode("utf-8", "surrogatepass")}


def _write_csv(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    return _write_table(rows, options, rng, rng.choice((",", ",", ";")))


def _write_tsv(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    if rng.random() < 0.5:
        return _write_table(rows, options, rng, "\t")
    options["labels"], options["label_delimiter"] = "tags", "|"
    lines = [list(rows[0]), *([_one_line(_cell(each)) for each in row.values()] for row in rows)]
    return {"data": "\n".join("\t".join(line) for line in lines).encode("utf-8", "surrogatepass")}


def _write_parquet(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    import pyarrow as pa
    import pyarrow.parquet as pq

    options["labels"] = rng.choice(("tags", None))
    columns = {name: _column(pa, [row[name] for row in rows]) for name in rows[0]}
    if rng.random() < 0.2:
        columns[rng.choice(list(columns))] = _odd_column(pa, len(rows), rng)
    size = rng.choice((1, 5, None))
    out = io.BytesIO()
    try:
        pq.write_table(pa.table(columns), out, row_group_size=size)
    except pa.ArrowException:  # Parquet has no objects without fields
        out = io.BytesIO()
        texts = {name: _column(pa, [_cell(row[name]) for row in rows]) for name in rows[0]}
        pq.write_table(pa.table(texts), out, row_group_size=size)
    return {"data": out.getvalue()}


def _column(pa: Any, values: list[Any]) -> Any:
    """A column of these values, or of their texts if they have no common type."""
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([_cell(each).encode("utf-8", "replace").decode() for each in values])


def _odd_column(pa: Any, n: int, rng: random.Random) -> Any:
    """A column of a type that neither a text nor a label usually has."""
    column, kind = rng.choice(
        (
            ([2**62] * n, pa.timestamp("us")),
            ([-(2**62)] * n, pa.duration("us")),
            ([b"\xff\0"] * n, pa.binary()),
            (["cat dog"] * n, pa.dictionary(pa.int8(), pa.string())),
            (["cat dog"] * n, pa.large_string()),
            ([["cat", None]] * n, pa.list_(pa.string())),
            ([{"a": "cat"}] * n, pa.struct([("a", pa.string())])),
            ([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
            ([None] * n, pa.null()),
            ([10**30] * n, pa.decimal128(38)),
            ([float("nan")] * n, pa.float32()),
        )
    )
    return pa.array(column, kind)


def _write_text(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    end = rng.choice(("\n", "\n", "\r\n"))
    lines = [_one_line(_cell(row["text"])) for row in rows]
    return {"data": (end.join(lines) + rng.choice(("", end))).encode("utf-8", "surrogatepass")}


def _write_folder(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    options["path"] = "folder"
    options["format"] = rng.choice(("folder", None))
    files = {}
    for i, row in enumerate(rows):
        label = rng.choice(("", "pets/", "sky/", "deep/er/", ".hidden/", "a b/", "é/"))
        name = rng.choice((f"{i}.txt", f"{i}", f".{i}", f"{i} ü.txt", f"{i}\x1b[31m", f"{i}\udcff.txt"))
        files[f"folder/{label}{name}"] = _cell(row["text"]).encode("utf-8", "replace")
    if rng.random() < 0.1:
        options["pipes"] = ["folder/pipe"]
    if rng.random() < 0.1:
        options["links"] = {"folder/link": rng.choice(("nowhere", ".", "link", "../folder", "/dev/null"))}
    return files


def _write_java(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    options["label_delimiter"] = rng.choice((None, ","))
    comma = options["label_delimiter"] or " "
    lines = [
        "\t".join(
            (_one_line(_cell(row["id"])), comma.join(map(str, _list(row["tags"]))), _one_line(_cell(row["text"])))
        )
        for row in rows
    ]
    return {"data": "\n".join(lines).encode("utf-8", "surrogatepass")}


def _write_wikipedia(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    pages = []
    for row in rows:
        title, text = escape(_cell(row["id"]), quote=False), escape(_cell(row["text"]), quote=False)
        space = rng.choice((0, 0, 0, 0, 1, "", "x"))
        redirect = rng.choice(("", "", "", "<redirect/>"))
        old = rng.choice(("", "<revision><text>old</text></revision>"))
        revision = f"{old}<revision><text>{text}</text></revision>"
        pages.append(f"<page><title>{title}</title><ns>{space}</ns>{redirect}{revision}</page>")
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {name} "{f"&{below};" * 10}">' for below, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    start = rng.choice(("", "", '<?xml version="1.0"?>', '<?xml version="1.0" encoding="latin-1"?>', bomb + "]>"))
    body = "\n".join(pages) + (rng.choice(("&i;", "&no;")) if rng.random() < 0.05 else "")
    space = rng.choice(("", ' xmlns="http://www.mediawiki.org/xml/export-0.10/"'))
    return {"data": f"{start}<mediawiki{space}>{body}</mediawiki>".encode("utf-8", "replace")}


def _write_any(rows: list[Row], options: dict[str, Any], rng: random.Random) -> Files:
    """A format that this module does not know: the files of another one, for crashes, hangs and messages."""
    other = rng.choice([name for name in _WRITERS if name != "folder"])
    files = _WRITERS[other](rows, options, rng)
    options["extra"] = {"encoding": "utf-8"}  # no oracle
    return files


_WRITERS: dict[str, Callable[[list[Row], dict[str, Any], random.Random], Files]] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
    "text": _write_text,
    "folder": _write_folder,
    "java": _write_java,
    "wikipedia": _write_wikipedia,
}


def _cell(value: Any) -> str:
    return "|".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")


def check(case: Case) -> str:
    """Read the documents, and compare them with those that an independent parser found."""
    options = case.options
    expected = None if options["extra"] else oracle.documents(Path(options["path"]), case.kind, options)
    outcome, found = refusing(lambda: _read(case))
    if outcome == "refused":
        if isinstance(expected, list):
            raise Violation("refused valid", f"{found}")
        if not options["extra"] and options["path"] not in found and options["route"] != "stream":
            raise Violation("unnamed", f"the message does not name the file: {found}")
        return outcome
    if expected is oracle.REFUSE:
        raise Violation("accepted invalid", f"{len(found)} documents, but the file is damaged")
    if isinstance(expected, list):
        oracle.compare(found, expected, blocks=options["route"] == "blocks")
    return outcome


def _read(case: Case) -> list[oracle.Found]:
    """Read the documents by the route of the case."""
    from metalda import Corpus
    from metalda.corpus.source import read_blocks

    options = case.options
    path = options["path"]
    arguments = {name: options.get(name) for name in ("format", "text", "labels", "label_delimiter")}
    arguments |= {"stop_words": None, **NO_FREQUENCY_FILTERS, **oracle.tokenizing(options["whole"]), **options["extra"]}
    route = options["route"]
    if route == "blocks":
        names = ("format", "text")
        blocks = read_blocks(Path(path), **{name: arguments[name] for name in names if arguments[name] is not None})
        return [oracle.Found(content) for block in blocks for content in block]
    if route == "stream" and not Path(path).is_dir():
        with open(path, "rb") as stream:
            return oracle.describe(Corpus.read(stream, **{**arguments, "format": arguments["format"] or case.kind}))
    if route == "prepare":
        return oracle.describe(Corpus.prepare(path, "prepared", **arguments))
    corpus = Corpus.read(path, **arguments)
    if route == "save":
        corpus.save("saved")
        corpus = Corpus.load("saved")
    return oracle.describe(corpus)
