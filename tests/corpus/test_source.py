"""Files of any size come in blocks, as they are."""

import bz2
import gzip
import lzma
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metalda.corpus import files
from metalda.corpus.files import read_ahead
from metalda.corpus.source import read_blocks
from metalda.corpus.wikipedia import strip_markup
from metalda.errors import InputError

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def texts(path: Path, **options: Any) -> list[Any]:
    return [text for block in read_blocks(path, **options) for text in block]


@pytest.fixture(params=[1 << 20, 7, 1])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in pieces of this size."""
    monkeypatch.setattr(files, "_CHUNK", request.param)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_lines_are_documents_wherever_pieces_end(tmp_path: Path, suffix: str, pieces: None) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESS[suffix]("\ufeffein Bär\r\n\n  \nund Käse\nzuletzt".encode()))
    assert [text.rstrip("\r") for text in texts(path)] == ["ein Bär", "und Käse", "zuletzt"]


def test_other_encodings_are_read(tmp_path: Path, pieces: None) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("ein Bär\nKäse\n".encode("utf-16"))
    assert texts(path, encoding="utf-16") == ["ein Bär", "Käse"]


def test_progress_adds_up_to_the_file_on_the_disk(tmp_path: Path, pieces: None) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"word " * 200))
    steps: list[int] = []
    assert b"".join(read_ahead(path, steps.append)) == b"word " * 200
    assert sum(steps) == path.stat().st_size


def test_a_reader_that_stops_early_leaves_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_CHUNK", 1)
    path = tmp_path / "a.txt"
    path.write_bytes(b"word " * 200)
    before = set(threading.enumerate())
    reader = read_ahead(path, lambda n: None)
    next(reader)
    assert len(set(threading.enumerate()) - before) == 1
    reader.close()
    assert set(threading.enumerate()) <= before


def test_a_file_that_is_still_read_does_not_keep_python_from_exiting(tmp_path: Path) -> None:
    """From Python 3.13 on, waiting for the thread of the reader would never end."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"word " * 8_000_000)
    code = "import pathlib, sys; from metalda.corpus.files import read_ahead"
    code += "; reader = read_ahead(pathlib.Path(sys.argv[1])); next(reader)"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=120)


def test_fields_by_name_or_number(tmp_path: Path) -> None:
    tsv = tmp_path / "a.tsv"
    tsv.write_text("id\ttext\n1\tone two\n2\tthree\n", encoding="utf-8")
    assert texts(tsv, text="text") == texts(tsv) == ["one two", "three"]
    assert texts(tsv, text=2) == ["text", "one two", "three"]
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"body": "one two"}\n{"body": ["three"]}\n', encoding="utf-8")
    assert texts(lines, text="body") == ["one two", ["three"]]


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.tsv", b"a\tb\na\n", {"text": 2}, r"a\.tsv line 2: no column 2: the line has 1"),
        ("a.tsv", b"a\tb\n", {"text": 0}, "numbered from 1"),
        ("a.txt", b"a\n", {"text": 2, "format": "text"}, "TSV column"),
        ("a.txt", b"a\n", {"text": "body"}, "no fields"),
        ("a.xml", b"<a/>", {"text": "body"}, "no fields"),
        ("a.txt", b"a\n", {"format": "pdf"}, "wikipedia"),
        ("a.txt", b"\xff\xfe\xff", {}, "encoding"),
        ("a.txt.gz", b"nonsense", {}, "not compressed"),
        ("a.tsv.xz", lzma.compress(b"a\tb\n" * 99)[:-9], {"text": 1}, "damaged or incomplete"),
        ("a.xml", b"<mediawiki><page>", {}, "not a Wikipedia dump"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_file(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        texts(tmp_path / name, **options)
    with pytest.raises(InputError, match="no such file"):
        texts(tmp_path / f"not-{name}")


PAGE = "<page><title>{0}</title><ns>{1}</ns>{2}<revision><text>{3}</text></revision></page>"
DUMP = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/">{}</mediawiki>'


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_wikipedia_dump_gives_its_articles(tmp_path: Path, suffix: str, pieces: None) -> None:
    path = tmp_path / f"wiki.xml{suffix}"
    pages = [
        PAGE.format("Cat", 0, "", "The '''cat''' &amp;amp; the [[dog]]"),
        PAGE.format("Talk:Cat", 1, "", "no"),
        PAGE.format("Kitty", 0, '<redirect title="Cat"/>', "#REDIRECT [[Cat]]"),
        PAGE.format("Bär", 0, "", "ein &lt;ref&gt;Buch&lt;/ref&gt;Bär"),
        PAGE.format("Empty", 0, "", ""),
    ]
    path.write_bytes(COMPRESS[suffix](DUMP.format("".join(pages)).encode()))
    assert texts(path) == ["The cat & the dog", "ein Bär"]
    assert texts(path, format="wikipedia") == texts(path)


@pytest.mark.parametrize(
    ("wikitext", "plain"),
    [
        ("a {{x|{{y|b}}|c={d} }} e", "a  e"),
        ("a {{open b", "a {{open b"),
        ("a <ref name=x>b</ref> c<ref name='y' /> d", "a  c d"),
        ("a <!-- b\nc --> d", "a  d"),
        ("x\n{| class=w\n| b || {| \n|inner\n|}\n|}\ny", "x\n\ny"),
        ("[[File:x.jpg|thumb|a [[cat|big cat]] here]] text", " text"),
        ("[[Category:Cats]][[dog]]s and [[Paris, Texas|Paris]]", "dogs and Paris"),
        ("see [https://x.org/a the page] or https://y.org now", "see  the page or  now"),
        ("== Early ''life'' ==\ntext", " Early life \ntext"),
        ("H<sub>2</sub>O&nbsp;is <math>x^2</math>wet", "H 2 O\xa0is wet"),
        ("__NOTOC__a", "a"),
    ],
)
def test_markup_is_stripped_to_what_a_reader_sees(wikitext: str, plain: str) -> None:
    assert strip_markup(wikitext) == plain


def test_hostile_markup_ends() -> None:
    for text in ("{{" * 50_000, "[[" * 50_000, "{|" * 50_000, "{{" * 20_000 + "}}" * 20_000, "<ref>" * 20_000):
        strip_markup(text)
