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
