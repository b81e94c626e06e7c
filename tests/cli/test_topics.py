"""``metalda topics``."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, error_line


def test_topics_are_the_models_in_every_format(run: Run, model: Path) -> None:
    expected = [", ".join(words) for words in metalda.load(model).top_words(3)]
    table = run("topics", model, "--top-n", 3).stdout
    assert all(words in table for words in expected)
    as_json = json.loads(run("topics", model, "--top-n", 3, "--format", "json").stdout)
    assert [", ".join(topic["words"]) for topic in as_json] == expected
    assert sum(topic["share"] for topic in as_json) == pytest.approx(1)
    as_csv = list(csv.DictReader(io.StringIO(run("topics", model, "--top-n", 3, "--format", "csv").stdout)))
    assert [row["words"].replace(" ", ", ") for row in as_csv] == expected


@pytest.mark.parametrize("format", ["table", "json", "csv"])
def test_one_topic_comes_with_probabilities(run: Run, model: Path, format: str) -> None:
    result = run("topics", model, "--topic", 1, "--top-n", 2, "--format", format)
    words = metalda.load(model).topic_words(1, 2)
    assert result.exit_code == 0
    assert all(word in result.stdout for word in words["word"])
    if format == "json":
        probabilities = [word["probability"] for word in json.loads(result.stdout)["words"]]
        assert probabilities == pytest.approx(words["probability"].tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("topics", "--topic", "9"), "no topic 9"),
        (("topics", "--topic", "9" * 5000), "no topic is named '9999"),
        (("topics", "--topic", "\N{SUPERSCRIPT ONE}"), "no topic is named"),
        (("topics", "--topic", "\N{ARABIC-INDIC DIGIT ONE}"), "no topic is named"),
    ],
)
def test_values_out_of_range_are_one_line(run: Run, model: Path, options: tuple, message: str) -> None:
    command, *rest = options
    assert message in error_line(run(command, model, *rest))


def test_topics_that_belong_to_labels_are_listed_with_them(run: Run, data: Path, tmp_path: Path) -> None:
    fitting = ("--text", "body", "--labels", "section", "--iterations", "9", "-q", "--topics-per-label", "2")
    assert run("fit", data, "-o", tmp_path / "m", "--model", "pllda", *fitting).exit_code == 0
    labels = metalda.load(tmp_path / "m").topic_labels_
    as_json = json.loads(run("topics", tmp_path / "m", "--format", "json").stdout)
    assert tuple(row["label"] for row in as_json) == labels
    as_csv = csv.DictReader(io.StringIO(run("topics", tmp_path / "m", "--format", "csv").stdout))
    assert tuple(row["label"] for row in as_csv) == labels
    assert run("topics", tmp_path / "m").stdout.splitlines()[0].split() == ["topic", "share", "label", "words"]
