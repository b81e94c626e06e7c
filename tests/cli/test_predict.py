"""``metalda predict``."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import NEW, Run, Write, error_line


@pytest.fixture
def new(write: Write) -> Path:
    return write("new.jsonl", NEW)


@pytest.mark.parametrize("kind", [("llda",), ("metalda", "-k", 2)])
def test_labels_are_predicted_by_models_that_learnt_from_labels(
    run: Run, data: Path, new: Path, tmp_path: Path, kind: tuple
) -> None:
    fitting = ("--text", "body", "--labels", "section", "--iterations", "50", "-q")
    assert run("fit", data, "-o", tmp_path / "m", "--model", *kind, *fitting).exit_code == 0
    fitted = metalda.load(tmp_path / "m")
    found = json.loads(run("predict", tmp_path / "m", new, "--format", "json").stdout)
    assert [set(row["probabilities"]) for row in found] == [set(fitted.label_names_)] * len(found)
    assert all(row["label"] == max(row["probabilities"], key=row["probabilities"].get) for row in found)
    rows = list(csv.DictReader(io.StringIO(run("predict", tmp_path / "m", new, "--format", "csv").stdout)))
    assert [row["label"] for row in rows] == [row["label"] for row in found]
    assert found[0]["label"] in run("predict", tmp_path / "m", new).stdout
    corpus = metalda.Corpus.read(new, text="body", stop_words="english")
    assert [row["label"] for row in found] == fitted.predict_labels(corpus).tolist()


def test_a_model_without_labels_does_not_predict_them(run: Run, data: Path, new: Path, tmp_path: Path) -> None:
    assert run("fit", data, "-o", tmp_path / "m", "--text", "body", "-k", 2, "--iterations", 4, "-q").exit_code == 0
    assert "train one with --labels" in error_line(run("predict", tmp_path / "m", new))


def test_with_a_threshold_all_probable_labels_are_printed(run: Run, write: Write, tmp_path: Path) -> None:
    records = [{"id": "a", "body": "cat dog cat dog", "tags": ["pets", "home"]}] * 6
    records += [{"id": "b", "body": "rain sun wind rain", "tags": ["sky"]}] * 6
    fitting = ("--text", "body", "--labels", "tags", "-k", 2, "--iterations", 60, "--seed", 1, "-q")
    assert run("fit", write("tagged.jsonl", records), "-o", tmp_path / "m", *fitting).exit_code == 0
    fitted = metalda.load(tmp_path / "m")
    new = write("new.jsonl", [{"id": "n0", "body": "dog cat dog"}, {"id": "n1", "body": "sun rain rain"}])
    arguments = ("predict", tmp_path / "m", new, "--threshold", "0.5")
    found = json.loads(run(*arguments, "--format", "json").stdout)
    expected = fitted.predict_labels(metalda.Corpus.read(new, text="body"), threshold=0.5)
    assert [tuple(row["labels"]) for row in found] == expected
    assert sorted(expected[0]) == ["home", "pets"]
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").stdout)))
    assert [tuple(row["labels"].split("|")) for row in rows] == expected
    table = run(*arguments).stdout.splitlines()
    assert table[0].split(maxsplit=1) == ["id", "labels (probability)"]
    assert f"{expected[0][0]} (" in table[1]
    none = json.loads(run(*arguments[:-1], "1", "--format", "json").stdout)
    assert none[0]["labels"] == []
    assert "threshold must lie between 0 and 1, not 5.0" in error_line(run(*arguments[:-1], "5"))


def test_with_several_label_columns_a_column_each_is_printed(run: Run, write: Write, tmp_path: Path) -> None:
    records = [{"id": "a", "body": "cat dog cat dog", "section": "pets", "author": "ann"}] * 6
    records += [{"id": "b", "body": "rain sun wind rain", "section": "sky", "author": "bob"}] * 6
    fitting = ("--text", "body", "--labels", "section", "--labels", "author", "-k", 2, "--iterations", 60, "-q")
    assert run("fit", write("news.jsonl", records), "-o", tmp_path / "m", *fitting).exit_code == 0
    new = write("new.jsonl", [{"id": "n0", "body": "dog cat dog"}, {"id": "n1", "body": "sun rain rain"}])
    found = json.loads(run("predict", tmp_path / "m", new, "--format", "json").stdout)
    expected = [{"section": "pets", "author": "ann"}, {"section": "sky", "author": "bob"}]
    assert [row["labels"] for row in found] == expected
    assert set(found[0]["probabilities"]) == {"section=pets", "section=sky", "author=ann", "author=bob"}
    rows = list(csv.DictReader(io.StringIO(run("predict", tmp_path / "m", new, "--format", "csv").stdout)))
    assert [{name: row[name] for name in ("section", "author")} for row in rows] == expected
    header, first, second = run("predict", tmp_path / "m", new).stdout.splitlines()
    assert "section (probability)" in header
    assert "author (probability)" in header
    assert "pets (0." in first or "pets (1." in first
    assert "bob (0." in second or "bob (1." in second
