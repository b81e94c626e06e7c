"""``metalda coherence``."""

import csv
import io
import json
from pathlib import Path

import pytest

import metalda
from cli.helpers import PETS, SKY, Run, Write, error_line


@pytest.fixture
def reference(write: Write) -> Path:
    return write("wiki.txt", "\n".join((PETS + SKY) * 3))


def test_scores_are_those_of_python_in_every_format(run: Run, model: Path, reference: Path) -> None:
    expected = metalda.coherence(metalda.load(model), reference, top_n=4, window=3)
    options = ("--reference", reference, "--top-n", 4, "--window", 3)
    found = json.loads(run("coherence", model, *options, "--format", "json").stdout)
    (only,) = found["models"]
    assert [topic["score"] for topic in only["topics"]] == expected.scores.tolist()
    assert [tuple(topic["words"]) for topic in only["topics"]] == list(expected.topics)
    assert (only["mean"], only["mean_of_best_20"]) == (expected.mean, expected.best())
    assert found["reference"]["documents"] == 24
    assert found["reference"]["windows"] == expected.counts.n_windows
    rows = list(csv.DictReader(io.StringIO(run("coherence", model, *options, "--format", "csv").stdout)))
    assert [float(row["score"]) for row in rows] == pytest.approx(expected.scores, abs=1e-5)
    table = run("coherence", model, *options).stdout
    assert f"{expected.mean:.4f}" in table
    assert all(", ".join(topic) in table for topic in expected.topics)
    assert "24 documents" in table


@pytest.mark.parametrize("measure", ["npmi", "c_v", "uci", "umass", "c_p"])
def test_every_measure_has_a_name(run: Run, model: Path, reference: Path, measure: str) -> None:
    found = json.loads(
        run("coherence", model, "--reference", reference, "--measure", measure, "--format", "json").stdout
    )
    assert found["measure"] == measure
    expected = metalda.coherence(metalda.load(model), reference, measure)
    assert found["window"] == expected.counts.window
    assert found["models"][0]["mean"] == expected.mean


def test_smoothing_is_a_share_or_one_window(run: Run, model: Path, reference: Path) -> None:
    options = ("coherence", model, "--reference", reference, "--measure", "umass", "--format", "json")
    for text, value in (("count", "count"), ("0.001", 0.001)):
        found = json.loads(run(*options, "--smoothing", text).stdout)["models"][0]["mean"]
        assert found == metalda.coherence(metalda.load(model), reference, "umass", smoothing=value).mean
        assert found != json.loads(run(*options).stdout)["models"][0]["mean"]
    assert "smoothing='much': give a small number, or 'count'" in error_line(run(*options, "--smoothing", "much"))


def test_counts_that_were_kept_are_used_again(run: Run, model: Path, reference: Path, tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    command = ("coherence", model, "--reference", reference, "--counts", folder)
    few = run(*command, "--top-n", 3, "--format", "json")
    assert few.exit_code == 0
    all_words = run(*command, "--format", "json")  # more words than were counted: again, for all of them
    assert all_words.exit_code == 0
    size = reference.stat().st_size
    reference.write_text("x" * size, encoding="utf-8")  # nobody looks at it any more
    assert run(*command, "--format", "json").stdout == all_words.stdout
    again = json.loads(run(*command, "--top-n", 3, "--format", "json").stdout)
    assert again == json.loads(few.stdout)


def test_counts_of_another_kind_are_refused(run: Run, model: Path, reference: Path, tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    command = ("coherence", model, "--reference", reference, "--counts", folder)
    assert run(*command).exit_code == 0
    assert "window 10 instead of 110" in error_line(run(*command, "--measure", "c_v"))
    assert "lowercase" in error_line(run(*command, "--no-lowercase"))
    assert "with format None instead of 'text'" in error_line(run(*command, "--input-format", "text"))
    assert "with encoding 'utf-8' instead of 'latin-1'" in error_line(run(*command, "--encoding", "latin-1"))
    reference.write_text("more", encoding="utf-8")
    assert "bytes" in error_line(run(*command))
    assert "no saved counts" in error_line(run(*command[:-1], model))


def test_several_models_share_a_pass(run: Run, model: Path, reference: Path, tmp_path: Path, write: Write) -> None:
    data = write("a.txt", "cat dog\nsun rain\n")
    assert run("fit", data, "-o", tmp_path / "other", "-k", 2, "--iterations", 4, "--quiet").exit_code == 0
    result = run("coherence", model, tmp_path / "other", "--reference", reference)
    assert result.exit_code == 0
    found = json.loads(run("coherence", model, tmp_path / "other", "--reference", reference, "--format", "json").stdout)
    assert [each["model"] for each in found["models"]] == [str(model), str(tmp_path / "other")]
    for each, path in zip(found["models"], (model, tmp_path / "other"), strict=True):
        assert each["mean"] == metalda.coherence(metalda.load(path), reference).mean


def test_bad_input_is_one_line(run: Run, model: Path, reference: Path, write: Write) -> None:
    assert "no such file" in error_line(run("coherence", model, "--reference", "nowhere.txt"))
    assert "no column 3" in error_line(run("coherence", model, "--reference", reference, "--text", 3))
    assert "wikipedia" in error_line(run("coherence", model, "--reference", reference, "--input-format", "pdf"))
    assert "none of the" in error_line(run("coherence", model, "--reference", write("other.txt", "qqq www")))
    assert "not a Wikipedia dump" in error_line(run("coherence", model, "--reference", write("a.xml", "<a><b>")))


def test_what_the_reference_lacks_is_said(run: Run, model: Path, write: Write) -> None:
    reference = write("small.txt", "the cat and a dog\nthe dog\n")
    found = json.loads(run("coherence", model, "--reference", reference, "--format", "json").stdout)
    assert "rain" in found["models"][0]["missing_words"]
    assert sum(topic["missing"] for topic in found["models"][0]["topics"]) > 0
