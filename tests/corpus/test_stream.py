"""Pipes, standard input and open files give all documents, although the format is recognized first."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from corpus.files import as_parquet
from metalda.corpus import Corpus
from metalda.errors import InputError
from metalda.evaluation import count_windows

COMPRESS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def lines(n: int) -> bytes:
    return "".join(f"cat w{i} dog rain\n" for i in range(n)).encode()


def records(n: int) -> bytes:
    return "".join(
        json.dumps({"id": str(i), "body": f"cat w{i}", "tag": f"t{i % 2}"}) + "\n" for i in range(n)
    ).encode()


@contextmanager
def pipe(content: bytes, *, by: int = 1 << 16):
    """The name of a pipe that a thread fills, as the shell makes it for ``<(cat file)``."""
    reader, writer = os.pipe()

    def fill() -> None:
        try:
            with open(writer, "wb", buffering=0) as file:
                for first in range(0, len(content), by):
                    file.write(content[first : first + by])
        except BrokenPipeError:
            pass

    thread = threading.Thread(target=fill)
    thread.start()
    try:
        yield f"/dev/fd/{reader}"
    finally:
        os.close(reader)
        thread.join()


needs_fd = pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd")


@needs_fd
@pytest.mark.parametrize("n_documents", [1, 50, 5000])
@pytest.mark.parametrize("compression", COMPRESS)
def test_a_pipe_gives_all_documents(n_documents, compression):
    with pipe(COMPRESS[compression](lines(n_documents))) as path:
        corpus = Corpus.read(path)
    assert len(corpus) == n_documents
    assert list(corpus) == list(Corpus.from_texts(lines(n_documents).decode().splitlines()))


@needs_fd
def test_a_slow_pipe_gives_all_documents():
    with pipe(gzip.compress(lines(50)), by=1) as path:
        assert len(Corpus.read(path)) == 50


@needs_fd
def test_documents_larger_than_a_pipe_are_whole():
    content = b"".join(b"cat " * 50_000 + b"\n" for _ in range(60))
    with pipe(content) as path:
        corpus = Corpus.read(path)
    assert (len(corpus), corpus.n_tokens) == (60, 3_000_000)


def test_standard_input_is_a_dash(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(300))))
    assert len(Corpus.read("-")) == 300


def test_a_file_may_be_called_dash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(lines(3))
    assert len(Corpus.read(Path("-"))) == len(Corpus.read("./-")) == 3


@pytest.mark.parametrize("compression", COMPRESS)
def test_json_lines_are_recognized_by_content(compression):
    corpus = Corpus.read(io.BytesIO(COMPRESS[compression](records(500))), text="body", labels="tag")
    assert (len(corpus), corpus.label_names, corpus.ids[-1]) == (500, ("t0", "t1"), "499")


def test_java_lines_parquet_and_dumps_are_recognized_by_content():
    java = b"".join(b"%d\tred\tcat dog\n" % i for i in range(200))
    assert Corpus.read(io.BytesIO(java)).label_names == ("red",)
    assert Corpus.read(io.BytesIO(as_parquet()), text="text").schema.format == "parquet"
    page = "<page><title>T{0}</title><ns>0</ns><revision><text>cat {0}</text></revision></page>"
    dump = f"<mediawiki>{''.join(map(page.format, range(400)))}</mediawiki>"
    assert len(Corpus.read(io.BytesIO(dump.encode()))) == 400


def test_a_given_format_is_used():
    content = ("body,n\n" + "cat dog,1\n" * 900).encode()
    assert len(Corpus.read(io.BytesIO(content), format="csv", text="body")) == 900
    with pytest.raises(InputError, match=r"no fields: text= .* give the format with format="):
        Corpus.read(io.BytesIO(content), text="body")


def test_a_stream_has_the_format_of_training(tmp_path):
    path = tmp_path / "n.csv"
    path.write_text("body,n\ncat dog,1\n")
    schema = Corpus.read(path, text="body").schema
    assert list(Corpus.read(io.BytesIO(b"n,body\n1,rain\n"), schema=schema)) == [["rain"]]
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("cat dog")
    assert len(Corpus.read(io.BytesIO(b"rain\nsun\n"), schema=Corpus.read(folder).schema)) == 2


def test_a_text_file_that_is_open_is_read_as_bytes(tmp_path):
    path = tmp_path / "n.txt"
    path.write_bytes(lines(70))
    with path.open() as file:
        assert len(Corpus.read(file)) == 70
    with pytest.raises(InputError, match="binary stream"):
        Corpus.read(io.StringIO("cat"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input: is empty"),
        (b"cat\ncaf\xe9\n", "standard input: not utf-8; give the encoding"),
        (gzip.compress(lines(5000))[:-20], "standard input: damaged or incomplete"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "standard input: not a text file"),
    ],
)
def test_an_error_names_the_stream(monkeypatch, content, message):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(InputError) as error:
        Corpus.read("-")
    assert str(error.value).startswith(message)


def test_a_stream_is_prepared_as_a_file_is(tmp_path):
    path = tmp_path / "n.txt"
    path.write_bytes(lines(3000))
    prepared = Corpus.prepare(io.BytesIO(lines(3000)), tmp_path / "corpus")
    assert list(prepared) == list(Corpus.read(path))
    assert not (tmp_path / "corpus" / ".parts").exists()


def test_a_stream_does_not_resume(tmp_path):
    parts = tmp_path / "corpus" / ".parts"
    parts.mkdir(parents=True)
    (parts / "preparation.json").write_text("{}")
    with pytest.raises(InputError, match=r"a stream is read once; start anew with resume=False \(--restart\)"):
        Corpus.prepare(io.BytesIO(lines(3)), tmp_path / "corpus")
    assert len(Corpus.prepare(io.BytesIO(lines(3)), tmp_path / "corpus", resume=False)) == 3


def test_a_stream_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="not utf-8"):
        Corpus.prepare(io.BytesIO(lines(3000) + b"caf\xe9\n"), tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


@needs_fd
def test_a_reference_may_be_a_pipe():
    with pipe(lines(700)) as path:
        counts = count_windows(["cat", "dog"], path)
    assert counts.n_documents == 700


def test_a_pipe_in_a_folder_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("cat dog")
    os.mkfifo(tmp_path / "b.txt")
    with pytest.raises(InputError, match=r"b\.txt: not a regular file"):
        Corpus.read(tmp_path)
