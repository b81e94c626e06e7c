"""DATA may be standard input or a pipe; other files must be regular."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import metalda
from cli.helpers import NEW, Run, Write, error_line, news
from marks import slow_after_first

FAST = ("-k", 2, "--iterations", 4)
COLUMNS = ("--text", "body", "--labels", "section")


def as_lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize(
    ("way", "n_documents"),
    slow_after_first([("<(cat {})", 5000), ("<(gzip -c {})", 50), ("/dev/stdin < <(cat {})", 50), ("- < {}", 5000)]),
)
def test_fit_reads_all_documents_of_a_pipe(write: Write, tmp_path: Path, way: str, n_documents: int) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    data = write("texts", "".join(f"cat dog w{i} rain\n" for i in range(n_documents)))
    command = f"{sys.executable} -m metalda fit {way.format(data)} -o {tmp_path / 'model'} -k 2 --iterations 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f": {n_documents:,} documents" in done.stdout


def test_fit_of_standard_input_gives_the_model_of_the_file(run: Run, data: Path, tmp_path: Path) -> None:
    run("fit", data, "-o", tmp_path / "a", *COLUMNS, *FAST, "-q")
    result = run("fit", "-", "-o", tmp_path / "b", *COLUMNS, *FAST, stdin=gzip.compress(data.read_bytes()))
    assert result.exit_code == 0
    assert "standard input: read as JSON Lines (format='jsonl')" in result.stderr
    assert "standard input: 16 documents" in result.stdout
    assert f"metalda transform {tmp_path / 'b'} new.jsonl -o" in result.stdout
    assert result.stdout.endswith("-o report.html\n")
    models = [metalda.load(tmp_path / name) for name in "ab"]
    assert (models[0].components_ == models[1].components_).all()


def test_the_default_folder_of_a_stream(run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("fit", "-", *COLUMNS, *FAST, "-q", stdin=data.read_bytes()).exit_code == 0
    assert metalda.load("data-model").n_iter_ == 4


def test_every_command_with_data_reads_standard_input(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    new, all_news = as_lines(NEW), 4 * as_lines(news())
    short = (*COLUMNS, "--seeds", 1, "--iterations", 4)
    for arguments, stdin in (
        (("predict", model, "-", "--format", "csv"), new),
        (("transform", model, "-", "-o", tmp_path / "p.csv"), new),
        (("evaluate", model, "-"), new),
        (("prepare", "-", "-o", tmp_path / "corpus", *COLUMNS), all_news),
        (("report", model, "-o", tmp_path / "r.html", "--corpus", "-"), all_news),
        (("coherence", model, "--reference", "-", "--text", "body"), all_news),
        (("search", "-", "--topics", "2", "-o", tmp_path / "s", *short), all_news),
        (("compare", data, "--test", "-", "--models", "lda", "-k", 2, "-o", tmp_path / "c", *short), new),
    ):
        result = run(*arguments, stdin=stdin)
        assert result.exit_code == 0, (arguments, result.output)
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 3
    assert len(metalda.Corpus.load(tmp_path / "corpus")) == 64


def test_counts_of_a_stream_are_not_kept(run: Run, model: Path, tmp_path: Path) -> None:
    line = error_line(run("coherence", model, "--reference", "-", "--counts", tmp_path / "counts", stdin=b"cat dog\n"))
    assert line == "metalda: --counts: standard input cannot be recognized when counts are reused: give a file"


def test_an_empty_pipe_is_one_line(run: Run, tmp_path: Path) -> None:
    assert error_line(run("fit", "-", "-o", tmp_path / "m", stdin=b"")) == "metalda: standard input: is empty"
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_that_is_not_data_is_refused(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    for option in ("--embeddings", "--word-features"):
        line = error_line(run("fit", data, "-o", tmp_path / "m", *COLUMNS, option, pipe, *FAST))
        assert line == f"metalda: {pipe}: not a regular file; a pipe can be read as DATA only"
    broken = tmp_path / "broken"
    shutil.copytree(model, broken)
    (broken / "model.json").unlink()
    os.mkfifo(broken / "model.json")
    assert error_line(run("topics", broken)).endswith("model.json: cannot be read: not a regular file")
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("cat dog")
    os.mkfifo(texts / "b.txt")
    assert "b.txt: not a regular file" in error_line(run("fit", texts, "-o", tmp_path / "m", *FAST))
    os.mkfifo(texts / "corpus.json")
    assert "not a regular file" in error_line(run("prepare", texts, "-o", tmp_path / "m"))
    assert not (tmp_path / "m").exists()
