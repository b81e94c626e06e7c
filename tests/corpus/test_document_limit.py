"""A document above the limit is refused while memory stays small, whatever the format and the compression."""

import bz2
import gzip
import json
import lzma
import re
import subprocess
import sys

import pytest

from corpus.files import write
from marks import slow_after_first
from metalda import Corpus, count_windows
from metalda.corpus.formats import FORMATS
from metalda.errors import InputError

LIMIT = 1_000_000
MEGABYTES = 200  # of the document that is refused

# What stands before and after a document that is too large, by format and file name.
AROUND = {
    ("text", "a.txt"): (b"short\n", b"\n"),
    ("jsonl", "b.jsonl"): (b'{"text": "short"}\n{"text": "', b'"}\n'),
    ("jsonl", "array.json"): (b'[{"text": "short"},\n{"text": "', b'"}]\n'),
    ("csv", "c.csv"): (b"text,tag\nshort,a\n", b",b\n"),
    ("csv", "quoted.csv"): (b'text,tag\nshort,a\n"', b'",b\n'),
    ("tsv", "d.tsv"): (b"text\ttag\nshort\ta\n", b"\tb\n"),
    ("java", "e.java"): (b"1\ta\tshort\n2\tb\t", b"\n"),
    ("folder", "folder/f.txt"): (b"", b""),
    ("wikipedia", "g.xml"): (
        b"<mediawiki><page><title>A</title><ns>0</ns><revision><text>",
        b"</text></revision></page></mediawiki>",
    ),
}
COMPRESSORS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}

CHILD = """
import io, json, resource, sys
from metalda import Corpus, count_windows
from metalda.errors import InputError
import pyarrow.parquet, sklearn.feature_extraction.text
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
count_windows(["short"], [" ".join(Corpus.read(io.BytesIO(b"short words")).vocabulary)])  # loads what is needed
for path, format in json.loads(sys.argv[1]):
    before = peak()
    for read in (Corpus.read, lambda path, **how: count_windows(["short"], path, **how)):
        try:
            read(path, format=format, max_document_bytes=int(sys.argv[2]))
        except InputError as error:
            print(path, (peak() - before) // 10**6, error)
"""


def large_file(path, start: bytes, end: bytes, filler: bytes = b"x" * 10**6) -> str:
    """Write a file that unpacks to 200 MB; its parts are compressed on their own."""
    path.parent.mkdir(exist_ok=True)
    pack = COMPRESSORS[path.suffix]
    path.write_bytes(pack(start) + MEGABYTES * pack(filler) + pack(end))
    return str(path.parent if path.parent.name == "folder" else path)


@pytest.mark.skipif(sys.platform == "win32", reason="measures with resource.getrusage")
@pytest.mark.parametrize("suffix", slow_after_first(COMPRESSORS))
def test_memory_stays_small_while_a_large_document_is_refused(tmp_path, suffix):
    asked = []
    for (format, name), (start, end) in AROUND.items():
        filler = b"many words\n" * 90_000 if name == "quoted.csv" else b"x" * 10**6
        asked.append((large_file(tmp_path / f"{name}{suffix}", start, end, filler), format))
    assert {format for _, format in asked} | {"parquet"} == set(FORMATS)
    command = [sys.executable, "-c", CHILD, json.dumps(asked), str(LIMIT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 * len(asked), done.stdout
    for line in lines:
        found = re.search(r" (\d+) .*a document of more than 1,000,000 bytes; .*--max-document-bytes", line)
        assert found, line
        assert int(found[1]) < 60, line


def test_a_large_cell_of_a_parquet_file_is_refused_before_it_is_unpacked(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    table = pa.table({"text": ["short", "x" * 60_000_000], "unused": ["y" * 10**7, ""]})
    write_table(table, tmp_path / "n.parquet", compression="zstd")
    write_table(table.slice(0, 1), tmp_path / "fine.parquet")
    command = [sys.executable, "-c", CHILD, json.dumps([[str(tmp_path / "n.parquet"), None]]), str(LIMIT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        assert int(line.split()[1]) < 30, line
        assert "rows 1 to 2: a document of more than 1,000,000 bytes" in line
    assert len(done.stdout.splitlines()) == 2
    assert len(Corpus.read(tmp_path / "fine.parquet", text="text", max_document_bytes=LIMIT)) == 1


def test_one_large_cell_among_many_is_named_by_its_row(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pa.table({"text": ["short"] * 100 + ["x" * 3000] + ["short"] * 100}), tmp_path / "n.parquet")
    with pytest.raises(InputError, match="row 101: a document of more than 1,000 bytes"):
        Corpus.read(tmp_path / "n.parquet", max_document_bytes=1000)


@pytest.mark.parametrize(("name", "number"), [("a.txt", 2), ("b.jsonl", 2), ("array.json", 2), ("c.csv", 3)])
def test_the_error_names_the_line(tmp_path, name, number):
    start, end = next(around for (_, each), around in AROUND.items() if each == name)
    path = write(tmp_path / name, start + b"x" * 5000 + end)
    with pytest.raises(InputError, match=re.escape(f"{path} line {number}: a document of more than 4,000 bytes")):
        Corpus.read(path, max_document_bytes=4000)
    assert len(Corpus.read(path, max_document_bytes=6000)) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_the_limit_counts_bytes_of_the_file(tmp_path, encoding):
    size = len(("é" * 100).encode(encoding))
    path = write(tmp_path / "n.txt", ("é" * 100 + "\r\n").encode(encoding))
    assert len(Corpus.read(path, encoding=encoding, max_document_bytes=size)) == 1
    with pytest.raises(InputError, match="a document of more than"):
        Corpus.read(path, encoding=encoding, max_document_bytes=size - 1)


def test_a_json_array_may_be_larger_than_its_elements(tmp_path):
    rows = [{"text": f"word{i} " * 40, "n": -1.5, "more": [None, True, "é\\\n"]} for i in range(30_000)]
    path = write(tmp_path / "n.json", json.dumps(rows))  # several pieces, on one line
    corpus = Corpus.read(path, max_document_bytes=1000)
    assert len(corpus) == len(rows)
    assert corpus.vocabulary == tuple(sorted(f"word{i}" for i in range(30_000)))


def test_an_error_in_a_long_json_array_names_its_line(tmp_path):
    rows = [json.dumps({"text": "word " * 100}) for _ in range(5000)]
    path = write(tmp_path / "n.json", "[" + ",\n".join([*rows, "{'text': 1}", *rows]) + "]")
    with pytest.raises(InputError, match="line 5001: not JSON: Expecting property name"):
        Corpus.read(path)


def test_the_limit_is_checked_and_not_kept(tmp_path):
    path = write(tmp_path / "n.txt", "some words\n")
    for wrong in (0, -1, True, 1.5, "9", 2**70):
        with pytest.raises(InputError, match="max_document_bytes="):
            Corpus.read(path, max_document_bytes=wrong)
    assert Corpus.read(path, max_document_bytes=50).schema == Corpus.read(path).schema
    Corpus.prepare(path, tmp_path / "corpus", max_document_bytes=50)
    with pytest.raises(InputError, match="a document of more than 5 bytes"):
        Corpus.prepare(path, tmp_path / "other", max_document_bytes=5)
    with pytest.raises(InputError, match="a document of more than 5 bytes"):
        count_windows(["some"], path, max_document_bytes=5)
