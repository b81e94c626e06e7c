"""``metalda prepare``: a corpus on the disk, which other commands take as they take the texts."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import metalda
from cli.helpers import Run, Write, error_line
from metalda.corpus import parts
from repository import repository_text

READING = ("--text", "body", "--labels", "section", "--bins", "year=2", "--min-df", 2)
FAST = ("-k", 2, "--iterations", 6, "--seed", 3)


@pytest.fixture
def corpus(run: Run, data: Path, tmp_path: Path) -> Path:
    result = run("prepare", data, "-o", tmp_path / "corpus", *READING, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    return tmp_path / "corpus"


def test_prepare_prints_the_corpus_and_what_to_type_next(run: Run, data: Path, tmp_path: Path) -> None:
    result = run("prepare", data, "-o", tmp_path / "corpus", *READING)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("news.jsonl: 16 documents, ")
    assert lines[0].endswith(" distinct words, 4 labels")
    assert lines[1:] == [f"Saved to {tmp_path / 'corpus'}. Next:", f"  metalda fit {tmp_path / 'corpus'} -o model"]


def test_a_model_of_the_corpus_is_that_of_the_texts(run: Run, data: Path, corpus: Path, tmp_path: Path) -> None:
    for source, name, reading in ((data, "a", READING), (corpus, "b", ())):
        result = run("fit", source, "-o", tmp_path / name, *reading, *FAST, "--quiet")
        assert (result.exit_code, result.output) == (0, "")
    one, other = (metalda.load(tmp_path / name) for name in "ab")
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.schema_ == other.schema_  # so that new documents are read alike
    result = run("transform", tmp_path / "b", data, "-o", "-")
    assert result.output == run("transform", tmp_path / "a", data, "-o", "-").output
    assert result.output.splitlines()[1].startswith("n0,")


def test_fit_names_a_file_like_those_of_the_corpus(run: Run, corpus: Path, tmp_path: Path) -> None:
    result = run("fit", corpus, "-o", tmp_path / "model", *FAST)
    assert f"metalda transform {tmp_path / 'model'} new.jsonl -o proportions.csv" in result.output
    assert result.output.startswith("corpus: 16 documents")


def test_every_command_takes_the_corpus_for_the_texts(run: Run, data: Path, corpus: Path, tmp_path: Path) -> None:
    assert run("fit", corpus, "-o", tmp_path / "m", *FAST, "-q").exit_code == 0
    for command in (("evaluate", tmp_path / "m"), ("predict", tmp_path / "m")):
        # not "--format json", whose digits may differ: words that min_df dropped are unknown to the model anyway
        result = run(*command, corpus)
        assert result.exit_code == 0, result.output
    transformed = [run("transform", tmp_path / "m", source, "-o", "-").output for source in (corpus, data)]
    assert transformed[0] == transformed[1]
    result = run("report", tmp_path / "m", "-o", tmp_path / "r.html", "--corpus", corpus)
    assert result.exit_code == 0, result.output
    options = ("--seeds", 1, "--iterations", 4, "--models", "lda", "-k", 2)
    result = run("compare", corpus, "-o", tmp_path / "cmp", *options, "--test", corpus)
    assert result.exit_code == 0, result.output
    assert "corpus (held out): 16 documents" in result.output
    result = run("coherence", tmp_path / "m", "--reference", corpus, "--counts", tmp_path / "counts", "-n", 3)
    assert result.exit_code == 0, result.output
    assert "corpus: 16 documents" in result.output


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--min-df", 2), "--min-df"),
        (("--text", "body"), "--text"),
        (("--id", "id"), "--id"),
        (("--no-lowercase",), "--no-lowercase"),
        (("--stop-words", "none"), "--stop-words"),
    ],
)
def test_options_that_say_how_to_read_have_no_effect_on_a_corpus(
    run: Run, corpus: Path, tmp_path: Path, options: tuple[object, ...], named: str
) -> None:
    line = error_line(run("fit", corpus, "-o", tmp_path / "model", *options))
    assert f"corpus: is a prepared corpus, on which {named} has no effect; use it with metalda prepare" in line
    assert not (tmp_path / "model").exists()


def test_new_documents_that_are_prepared_take_no_such_options_either(run: Run, model: Path, corpus: Path) -> None:
    assert "--text has no effect" in error_line(run("transform", model, corpus, "-o", "-", "--text", "body"))
    assert run("transform", model, corpus, "-o", "-", "--no-labels").exit_code == 0


def test_what_was_left_by_another_command_is_one_line_and_restart_throws_it_away(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MAX_DOCUMENTS", 3)
    command = ("prepare", data, "-o", tmp_path / "corpus", "--text", "body")
    assert "lower min_df" in error_line(run(*command, "--min-df", 17, "-q"))
    line = error_line(run(*command, "--stop-words", "none"))
    assert "left by another run (tokenizing differ): start again with resume=False (--restart)" in line
    assert run(*command, "--stop-words", "none", "--restart", "-q").exit_code == 0
    assert "the" in metalda.Corpus.load(tmp_path / "corpus").vocabulary


def test_ctrl_c_says_how_to_go_on(run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: parts.PartWriter, number: int, *documents: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parts.PartWriter, "__call__", interrupted)
    result = run("prepare", data, "-o", tmp_path / "corpus", "--text", "body")
    assert result.exit_code == 130
    assert result.output.startswith("metalda: interrupted: finished parts are kept in")
    assert result.output.endswith("give the same command again to resume\n")


def test_wrong_options_are_told_before_the_work(run: Run, data: Path, tmp_path: Path, write: Write) -> None:
    command = ("prepare", data, "-o", tmp_path / "corpus", "--text", "body")
    assert "--jobs 0" in error_line(run(*command, "--jobs", 0))
    assert "no field 'tags'" in error_line(run(*command, "--labels", "tags"))
    assert "there is no folder" in error_line(run("prepare", data, "-o", tmp_path / "a" / "b", "--text", "body"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").touch()
    assert "holds other files" in error_line(run("prepare", data, "-o", tmp_path / "full", "--text", "body"))
    assert not (tmp_path / "corpus").exists()


def test_data_corpora_and_models_can_lie_elsewhere(run: Run, data: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.pipe_file("/cli/news.jsonl", data.read_bytes())
    try:
        commands = [
            ("prepare", "memory://cli/news.jsonl", "-o", "memory://cli/corpus", *READING),
            ("fit", "memory://cli/corpus", "-o", "memory://cli/model", *FAST),
            ("topics", "memory://cli/model"),
            ("transform", "memory://cli/model", "memory://cli/news.jsonl", "-o", tmp_path / "p.jsonl"),
        ]
        for command in commands:
            result = run(*command)
            assert result.exit_code == 0, result.output
        assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 16
        assert json.loads(system.cat_file("/cli/corpus/corpus.json"))["format"] == "metalda-corpus"
        assert "memory://cli/absent.jsonl: no such file" in error_line(
            run("fit", "memory://cli/absent.jsonl", "-o", tmp_path / "m")
        )
    finally:
        system.rm("/cli", recursive=True)


def test_the_example_of_the_documents_runs(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = repository_text("docs/command-line.md")
    (block,) = re.findall(r"```sh\n(metalda prepare .*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for line in block.splitlines():
        command, *arguments = shlex.split(line)
        assert command == "metalda"
        if arguments[0] == "fit":
            arguments += ["--iterations", "4"]
        result = run(*arguments)
        assert result.exit_code == 0, result.output
    assert metalda.load(tmp_path / "model").label_names_ == ("pets", "sky")
