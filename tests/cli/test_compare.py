"""``metalda compare``: what it prints and keeps, and how it stops and goes on."""

import csv
import io
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import metalda
from cli.helpers import Run, Write, news
from metalda.models.base import TopicModel
from repository import repository_text

FAST = ("-k", 2, "--iterations", 6, "--seeds", 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(write: Write) -> Path:
    """Enough documents that their words are in every part."""
    return write("news.jsonl", news() * 4)


def compared(run: Run, data: Path, *options: object) -> Any:
    return run("compare", data, "--text", "body", "--labels", "section", *FAST, *options)


def test_one_table_is_printed_and_saved(run: Run, data: Path, folder: Path) -> None:
    result = compared(run, data, "--models", "metalda,lda,metalda:doc_prior=default,word_prior=0.01")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "news.jsonl: 64 documents" in result.stdout
    lines = result.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("model"))
    assert re.split(r"\s\s+", lines[start])[3:] == ["coherence", "diversity", "accuracy", "words", "ms per iteration"]
    names = [line.split()[0] for line in lines[start + 1 : start + 4]]
    assert names == ["metalda", "lda", "metalda:doc_prior=default,word_prior=0.01"]
    assert all(line.count(" ± ") == 6 for line in lines[start + 1 : start + 4])
    assert "6 runs. Saved to comparison: comparison.csv and comparison.json." in lines
    with (folder / "comparison" / "comparison.csv").open(newline="") as file:
        assert [row["model"] for row in csv.DictReader(file)] == names


def test_the_figures_are_those_of_the_library(run: Run, data: Path, folder: Path) -> None:
    result = compared(run, data, "-m", "metalda", "-m", "lda", "--seed", 3, "--draws", "last", "--format", "json")
    shown = json.loads(result.stdout)
    corpus = metalda.Corpus.read(data, text="body", labels="section", stop_words="english")
    table = metalda.compare(corpus, "metalda,lda", seeds=[3, 4], draws="last", n_components=2, n_iter=6)
    for measure in ("perplexity", "perplexity_sd", "coherence", "diversity", "label_score"):
        assert [row[measure] for row in shown["models"]] == pytest.approx(list(table[measure]))
    assert [(each["model"], each["seed"]) for each in shown["runs"]] == [
        ("metalda", 3),
        ("lda", 3),
        ("metalda", 4),
        ("lda", 4),
    ]
    assert shown["settings"]["draws"] == "last"
    as_csv = compared(run, data, "-m", "metalda,lda", "--seed", 3, "--draws", "last", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(as_csv.stdout)))
    assert [float(row["perplexity"]) for row in rows] == pytest.approx(list(table["perplexity"]), rel=1e-5)


def test_parameters_of_training_reach_the_models_and_quiet_prints_nothing(run: Run, data: Path, folder: Path) -> None:
    result = compared(run, data, "-m", "lda", "--burn-in", 2, "--thin", 2, "--n-draws", 2, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    corpus = metalda.Corpus.read(data, text="body", labels="section", stop_words="english")
    settings = {"seeds": 2, "n_components": 2, "n_iter": 6}
    table = metalda.compare(corpus, "lda", burn_in=2, thin=2, n_draws=2, **settings)
    with (folder / "comparison" / "comparison.csv").open(newline="") as file:
        found = float(next(csv.DictReader(file))["perplexity"])
    assert found == pytest.approx(table["perplexity"][0], rel=1e-5)
    assert found != pytest.approx(metalda.compare(corpus, "lda", **settings)["perplexity"][0], rel=1e-4)


def test_finished_runs_are_not_repeated(run: Run, data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(run, data, "-m", "lda").exit_code == 0
    before = (folder / "comparison" / "comparison.csv").read_bytes()

    def fit(*arguments: Any, **named: Any) -> None:
        raise AssertionError("fitted again")

    monkeypatch.setattr(TopicModel, "fit", fit)
    assert "2 runs, 2 reused." in compared(run, data, "-m", "lda").stdout
    assert (folder / "comparison" / "comparison.csv").read_bytes() == before


def test_several_labels_are_judged_by_micro_f1_and_none_by_nothing(run: Run, write: Write, folder: Path) -> None:
    records = [{**record, "section": [record["section"], "all"]} for record in news() * 4]
    several = compared(run, write("several.jsonl", records), "-m", "lda")
    assert " micro-F1 " in several.stdout
    assert "accuracy" not in several.stdout
    none = run("compare", write("none.jsonl", news() * 4), "--text", "body", *FAST, "-m", "lda")
    assert "micro-F1" not in none.stdout
    assert "accuracy" not in none.stdout


def test_a_test_file_is_read_with_the_same_options(run: Run, data: Path, write: Write, folder: Path) -> None:
    test = write("test.jsonl", news()[3:9])
    result = compared(run, data, "-m", "metalda", "--test", test, "--bins", "year=2", "--format", "json")
    assert result.exit_code == 0, result.output
    train, judged = (
        metalda.Corpus.read(path, text="body", labels="section", stop_words="english", bins={"year": [1998]})
        for path in (data, test)
    )
    table = metalda.compare(train, "metalda", test=judged, seeds=2, n_components=2, n_iter=6)
    assert json.loads(result.stdout)["models"][0]["perplexity"] == pytest.approx(table["perplexity"][0])
    assert "test.jsonl (held out): 6 documents" in compared(run, data, "-m", "lda", "--test", test).stdout


def test_hidden_labels_are_read_but_not_trained_on(run: Run, data: Path, folder: Path) -> None:
    command = ("compare", data, "--text", "body", *FAST, "-m", "metalda", "--hidden-labels", "section")
    corpus = metalda.Corpus.read(data, text="body", labels="section")
    shared = {"hidden_labels": "section", "seeds": 2, "n_components": 2, "n_iter": 6}
    result = run(*command)
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.search(r"coherence +diversity +NMI +purity +ms per iteration", result.stdout)
    (row,) = json.loads(run(*command, "--format", "json").stdout)["models"]
    table = metalda.compare(corpus, "metalda", **shared)
    for measure in ("perplexity", "nmi", "purity"):
        assert row[measure] == pytest.approx(table[measure][0])
    with_year = run(*command, "--labels", "year", "--format", "json")
    both = metalda.Corpus.read(data, text="body", labels=["year", "section"])
    table = metalda.compare(both, "metalda", **shared)
    assert json.loads(with_year.stdout)["models"][0]["perplexity"] == pytest.approx(table["perplexity"][0])
    run("prepare", data, "-o", folder / "corpus", "--text", "body", "--labels", "section", "-q")
    prepared = run(
        "compare", folder / "corpus", *FAST, "-m", "metalda", "--hidden-labels", "section", "--format", "json"
    )
    assert json.loads(prepared.stdout)["models"][0]["nmi"] == pytest.approx(row["nmi"])
    assert "no field 'colour'" in run(*command[:-1], "colour").stderr


def test_embeddings_and_features_reach_the_models_that_use_them(
    run: Run, data: Path, write: Write, folder: Path
) -> None:
    vectors = write("vectors.txt", "cat 1 -1 0.5\ndog 1 -1 0.2\nsun -1 1 0.3\nrain -1 1 0.1\n")
    features = write("features.txt", "cat\t0\nrain\t0\ndog\t1\nsun\t1\n")
    figures = {}
    for name, options in {
        "none": (),
        "vectors": ("--embeddings", vectors),
        "file": ("--word-features", features),
    }.items():
        result = compared(run, data, "-m", "metalda,lda", *options, "--format", "json")
        assert result.exit_code == 0, result.output
        figures[name] = [row["perplexity"] for row in json.loads(result.stdout)["models"]]
    metas, ldas = zip(*figures.values(), strict=True)
    assert len(set(metas)) == 3
    assert len(set(ldas)) == 1
    assert "of the vocabulary has at least one" in compared(run, data, "-m", "metalda", "--embeddings", vectors).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-m", "bert"), "there is no model 'bert'; models are metalda, lda"),
        (("-m", "lda:mu=2"), "lda:mu=2: lda has no parameter 'mu'"),
        (("-m", "lda:doc_prior=labels"), "lda:doc_prior=labels: The 'doc_prior' parameter"),
        (("-m", ","), "no models to compare"),
        ((), "--models"),
        (("-m", "lda", "--seeds", "0"), "--seeds"),
        (("-m", "lda", "--jobs", "0"), "--jobs 0"),
        (("-m", "lda", "--test-size", "much"), "--test-size much"),
        (("-m", "lda", "--test", "x.jsonl", "--test-size", "3"), "give --test or --test-size, not both"),
        (("-m", "lda", "--test-size", "70"), "test_size=70 leaves no training"),
        (("-m", "lda", "--test", "none.jsonl"), "none.jsonl: no such file"),
        (("-m", "lda", "--embeddings", "v.txt"), "--embeddings: --models lda uses no word features"),
        (("-m", "lda,metalda", "--embeddings", "v.txt", "--word-features", "f.txt"), "not both"),
        (("-m", "metalda", "--word-features", "none.txt"), "none.txt"),
        (("-m", "lda", "-o", "no/comparison"), "there is no folder no"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_fitted_or_written(
    run: Run, data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, options: tuple, message: str
) -> None:
    monkeypatch.setattr(TopicModel, "fit", None)
    result = compared(run, data, *options)
    (line,) = result.stderr.splitlines()
    assert result.exit_code == 2
    assert line.startswith("metalda: ")
    assert message in line
    assert sorted(path.name for path in folder.iterdir()) == ["news.jsonl"]


def _second_run_has_a_checkpoint(folder: Path) -> bool:
    runs = folder / "runs.jsonl"
    checkpoints = [*folder.glob("checkpoint-*/checkpoint.json")]
    with suppress(FileNotFoundError):  # the checkpoint of a finished run may vanish at any moment
        return any(each.stat().st_mtime_ns > runs.stat().st_mtime_ns for each in checkpoints)
    return False


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(write: Write, folder: Path) -> None:
    data = write("news.jsonl", news() * 50)
    program = [sys.executable, "-c", "from metalda.cli import main; main()", "compare", str(data), "--seeds", "1"]
    options = ["--text", "body", "--labels", "section", "-k", "5", "--models", "lda:n_iter=5,lda:n_iter=1000000"]
    with subprocess.Popen([*program, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 600
            while not _second_run_has_a_checkpoint(folder / "comparison"):
                assert process.poll() is None, process.stderr and process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == 130
    expected = "1 of 2 runs are finished and saved in comparison; repeat it to resume"
    assert errors == f"metalda: interrupted: {expected}\n"
    kept = folder / "comparison" / "runs.jsonl"
    written = kept.read_text()
    finished = [*options[:-1], "lda:n_iter=5,lda:n_iter=6"]
    again = subprocess.run([*program, *finished], capture_output=True, text=True, check=True)
    assert "2 runs, 1 reused" in again.stdout
    assert kept.read_text().startswith(written)
    assert len(kept.read_text().splitlines()) == 2


@pytest.mark.parametrize("document", ["README.md", "docs/command-line.md"])
def test_the_examples_of_the_documents_run(run: Run, data: Path, folder: Path, document: str) -> None:
    text = repository_text(document)
    examples = [shlex.split(line) for line in re.findall(r"^metalda compare .*$", text, re.MULTILINE)]
    assert examples
    for _, *arguments in examples:
        result = run(*arguments, "-k", 2, "--iterations", 4)
        assert result.exit_code == 0, result.output
        assert "perplexity" in result.stdout


def test_hostile_labels_reach_no_terminal(run: Run, write: Write, folder: Path) -> None:
    data = write("a.jsonl", [{**record, "section": "\x1b[31m" + record["section"]} for record in news() * 4])
    for options in (("-m", "metalda"), ("-m", "metalda", "--format", "json"), ("-m", "\x1b[31m")):
        assert "\x1b" not in compared(run, data, *options).output
