"""``metalda topics`` and ``metalda effects``."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, Write, error_line


def test_topics_are_the_models_in_every_format(run: Run, model: Path) -> None:
    expected = metalda.load(model).topics(top_n=3)["words"].tolist()
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


def test_effects_show_the_labels_that_raise_a_topic_most(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--top", 1, "--format", "json").stdout)
    table = metalda.load(model).label_effects()
    best = table.loc[table.groupby("topic")["low"].idxmax()]
    assert [(row["topic"], row["label"]) for row in rows] == list(zip(best["topic"], best["label"], strict=True))
    shown = run("effects", model, "--top", 1).stdout
    assert "90% interval" in shown
    assert all(row["label"] in shown for row in rows)


def test_effects_of_one_label_cover_its_topics(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--label", "pets", "--top", 0, "--format", "json").stdout)
    assert {row["label"] for row in rows} == {"pets"}
    assert sorted(row["topic"] for row in rows) == [0, 1]
    csv_rows = list(csv.DictReader(io.StringIO(run("effects", model, "--label", "pets", "--format", "csv").stdout)))
    assert [int(row["topic"]) for row in csv_rows] == [row["topic"] for row in rows]


def test_effects_of_features(run: Run, model: Path) -> None:
    rows = json.loads(run("effects", model, "--features", "--top", 0, "--format", "json").stdout)
    assert {row["feature"] for row in rows} == {"0", "1"}
    assert run("effects", model, "--features").exit_code == 0


def test_an_unknown_label_is_answered_with_the_nearest(run: Run, model: Path) -> None:
    assert "no label 'pet'; did you mean 'pets'?" in error_line(run("effects", model, "--label", "pet"))
    assert "it has 'pets', 'sky'" in error_line(run("effects", model, "--label", "zzz"))


def test_effects_without_labels_are_an_error(run: Run, write: Write, tmp_path: Path) -> None:
    data = write("a.txt", "cat dog\nsun rain\n")
    run("fit", data, "-o", tmp_path / "m", "-k", 2, "--iterations", 4)
    assert "learnt from no labels" in error_line(run("effects", tmp_path / "m"))


@pytest.mark.parametrize(
    ("options", "message"), [(("effects", "--interval", "1.5"), "interval"), (("topics", "--topic", "9"), "no topic 9")]
)
def test_values_out_of_range_are_one_line(run: Run, model: Path, options: tuple, message: str) -> None:
    command, *rest = options
    assert message in error_line(run(command, model, *rest))
