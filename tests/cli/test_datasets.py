"""``metalda datasets``."""

import csv
import io
import json
from pathlib import Path

import pytest

from cli.helpers import Run, error_line
from metalda.datasets import available, cache_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Web Snippets and Tag My News of a few words; a label that a terminal should not obey."""
    for name, text in {
        "WS/train_doc.txt": "1\tsport\tfootball goal\n2\thealth\tdoctor football\n",
        "WS/test_doc.txt": "1\tsport\tgoal keeper\n",
        "TMN/TMN_train.txt": "us\tsenate house\n",
        "TMN/TMN_val.txt": "wor\x1bld\tcafé\n",
        "TMN/TMN_test.txt": "us\t\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_without_a_name_all_are_listed_and_where_they_are_looked_for(run: Run) -> None:
    names = [entry.name for entry in available()]
    listed = json.loads(run("datasets", "--format", "json").stdout)
    assert [entry["name"] for entry in listed] == names
    assert listed[names.index("reuters")]["paper"]["vocabulary"] == 8817
    table = run("datasets").stdout
    assert all(f"\n{name} " in table for name in names)
    assert str(cache_folder()) in table
    rows = list(csv.DictReader(io.StringIO(run("datasets", "--format", "csv").stdout)))
    assert [row["name"] for row in rows] == names


def test_a_dataset_is_shown_beside_the_paper(run: Run, folder: Path) -> None:
    lines = [line.split() for line in run("datasets", "ws", "--folder", folder).stdout.splitlines()]
    assert lines == [
        ["ws", "loaded", "the", "paper", "difference"],
        ["documents", "3", "12,237", "-100.0%"],
        ["labels", "2", "8", "-75.0%"],
        ["vocabulary", "4", "10,052", "-100.0%"],
        ["mean", "length", "2.0", "15", "-86.7%"],
    ]


def test_the_same_as_json(run: Run, folder: Path) -> None:
    found = json.loads(run("datasets", "tmn", "--folder", folder, "--format", "json").stdout)
    assert found["name"] == "tmn"
    assert found["labels"] == {"ours": 2, "paper": 7, "difference": pytest.approx(2 / 7 - 1)}
    assert found["mean_length"]["ours"] == 1
    assert found["empty_documents"] == 1
    rows = list(csv.DictReader(io.StringIO(run("datasets", "tmn", "--folder", folder, "--format", "csv").stdout)))
    assert [row["ours"] for row in rows if row["measure"] == "labels"] == ["2"]


def test_empty_documents_are_told_of(run: Run, folder: Path) -> None:
    assert "1 document without words" in run("datasets", "tmn", "--folder", folder).stdout


def test_a_dataset_outside_the_paper_has_nothing_beside_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wikipedia-sample.tsv").write_text("1\ta\tword\n" * 5 + "2\tb\tother\n")
    result = run("datasets", "wikipedia", "--folder", tmp_path)
    assert result.stdout.splitlines()[1].split() == ["documents", "6", "–", "–"]
    found = json.loads(run("datasets", "wikipedia", "--folder", tmp_path, "--format", "json").stdout)
    assert found["documents"] == {"ours": 6, "paper": None, "difference": None}


def test_what_is_saved_can_be_fitted(run: Run, folder: Path) -> None:
    path = folder / "ws.jsonl"
    assert run("datasets", "ws", "--folder", folder, "-o", path).exit_code == 0
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"id": "1", "part": "train", "labels": ["sport"], "words": ["football", "goal"]},
        {"id": "2", "part": "train", "labels": ["health"], "words": ["doctor", "football"]},
        {"id": "1", "part": "test", "labels": ["sport"], "words": ["goal", "keeper"]},
    ]
    columns = ("--text", "words", "--labels", "labels", "--stop-words", "none")
    result = run("fit", path, "-o", folder / "model", *columns, "-k", 2, "--iterations", 2, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_words_without_vectors_can_be_dropped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wikipedia-sample.tsv").write_text("1\ta\tword other\n" * 5 + "2\tb\tthing\n")
    (tmp_path / "glove.txt").write_text("word 1 2\n")
    options = ("--folder", tmp_path, "--embeddings", tmp_path / "glove.txt", "--format", "json")
    found = json.loads(run("datasets", "wikipedia", *options).stdout)
    assert found["vocabulary"]["ours"] == 1
    assert found["empty_documents"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--download",), "need the name of a dataset"),
        (("bbc",), "no dataset 'bbc'; there are: python-docs"),
        (("ws", "--embeddings", "glove.txt"), "it is tokenized and filtered already"),
        (("tmn", "--download"), "--download) is not a setting of it"),
        (("tmn", "-o", "tmn.csv"), "must end in .jsonl"),
        (("tmn", "-o", "none/tmn.jsonl"), "there is no folder none"),
        (("reuters",), "expected reuters21578.tar.gz"),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Run, folder: Path, arguments: tuple, message: str) -> None:
    given = ("--folder", folder) if arguments[0] != "--download" else ()
    assert message in error_line(run("datasets", *arguments, *given))
