"""``metalda search``: a row per number of topics, a picture, and runs that are kept."""

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import metalda
from cli.helpers import Run, Write, error_line, news
from metalda.models.base import TopicModel
from repository import repository_text

FAST = ("--iterations", 6, "--seeds", 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(write: Write) -> Path:
    """Enough documents that their words are in every part."""
    return write("news.jsonl", news() * 4)


def searched(run: Run, data: Path, *options: object) -> Any:
    return run("search", data, "--text", "body", "--labels", "section", *FAST, *options)


def test_one_row_per_number_is_printed_drawn_and_saved(run: Run, data: Path, folder: Path) -> None:
    result = searched(run, data, "--topics", "3,2", "--plot", "k.png", "-o", "found")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("topics"))
    shown = [re.split(r"\s\s+", line.strip()) for line in lines[start : start + 3]]
    assert shown[0][1:5] == ["perplexity", "coherence", "diversity", "exclusivity"]
    assert shown[0][5:] == ["stability", "accuracy", "words", "ms per iteration"]
    assert [row[0] for row in shown[1:]] == ["2", "3"]
    assert lines[-2:] == ["4 runs. Saved to found: comparison.csv and comparison.json.", "Plot saved to k.png."]
    assert (folder / "k.png").read_bytes().startswith(b"\x89PNG")
    with (folder / "found" / "comparison.csv").open(newline="") as file:
        assert [row["topics"] for row in csv.DictReader(file)] == ["2", "3"]


def test_the_figures_are_those_of_the_library_in_every_format(run: Run, data: Path, folder: Path) -> None:
    shown = json.loads(searched(run, data, "-k", "2,3", "-m", "lda:doc_prior=0.3", "--format", "json").stdout)
    corpus = metalda.Corpus.read(data, text="body", labels="section", stop_words="english")
    table = metalda.search_k(corpus, [2, 3], "lda:doc_prior=0.3", seeds=2, n_iter=6)
    again = searched(run, data, "-k", "2,3", "-m", "lda:doc_prior=0.3", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(again.stdout)))
    for measure in ("perplexity", "coherence", "exclusivity", "stability"):
        assert [row[measure] for row in shown["models"]] == pytest.approx(list(table[measure]))
        assert [float(row[measure]) for row in rows] == pytest.approx(list(table[measure]), rel=1e-5)


def test_quiet_prints_nothing(run: Run, data: Path, folder: Path) -> None:
    result = searched(run, data, "-k", "2,3", "-m", "lda", "--plot", "k.svg", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert (folder / "k.svg").exists()
    assert (folder / "search" / "comparison.csv").exists()


def test_finished_runs_are_not_repeated(run: Run, data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = searched(run, data, "-k", "2,3", "-m", "lda")
    monkeypatch.setattr(TopicModel, "fit", None)
    again = searched(run, data, "-k", "2,3", "-m", "lda")
    assert "4 runs, 4 reused. Saved to search" in again.stdout
    assert again.stdout.splitlines()[2:5] == first.stdout.splitlines()[2:5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--topics"),
        (("-k", ""), "--topics : expected positive whole numbers separated by commas"),
        (("-k", "2,x"), "--topics 2,x: expected positive whole numbers separated by commas"),
        (("-k", "2,3,2"), "2 topics are given twice"),
        (("-k", "0,3"), "--topics 0,3: expected positive"),
        (("-k", "2", "-m", "llda"), "llda: its labels determine"),
        (("-k", "2", "-m", "lda,metalda"), "one model is searched at a time"),
        (("-k", "2", "-m", "lda", "--embeddings", "v.txt"), "--embeddings: --model lda uses no word features"),
        (("-k", "2", "--plot", "k.txt"), "k.txt: unknown figure format"),
        (("-k", "2", "--plot", "no/k.png"), "there is no folder no"),
        (("-k", "2", "--jobs", "0"), "--jobs 0"),
        (("-k", "2", "-o", "no/search"), "there is no folder no"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_fitted_or_written(
    run: Run, data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, options: tuple, message: str
) -> None:
    monkeypatch.setattr(TopicModel, "fit", None)
    assert message in error_line(searched(run, data, *options))
    assert sorted(path.name for path in folder.iterdir()) == ["news.jsonl"]


@pytest.mark.parametrize("document", ["docs/choosing-k.md", "docs/command-line.md"])
def test_the_examples_of_the_documents_run(run: Run, data: Path, folder: Path, document: str) -> None:
    text = repository_text(document)
    examples = [shlex.split(line) for line in re.findall(r"^metalda search .*$", text, re.MULTILINE)]
    assert examples
    for _, *arguments in examples:
        result = run(*arguments, "-k", "2,3", "--iterations", 4)
        assert result.exit_code == 0, result.output
        assert (folder / "k.png").exists()
