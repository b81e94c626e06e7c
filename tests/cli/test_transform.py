"""``metalda transform``: new documents are read with the options of training."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metalda
from cli.helpers import NEW, Run, Write, error_line


@pytest.fixture
def new(write: Write) -> Path:
    return write("new.jsonl", NEW)


def expected(model: Path, new: Path) -> np.ndarray:
    corpus = metalda.Corpus.read(new, text="body", labels="section", stop_words="english")
    return metalda.load(model).transform(corpus)


def test_transform_writes_what_the_library_gives(run: Run, model: Path, new: Path, tmp_path: Path) -> None:
    theta = expected(model, new)
    for suffix in ("csv", "jsonl", "npy"):
        path = tmp_path / f"out.{suffix}"
        result = run("transform", model, new, "-o", path)
        assert (result.exit_code, result.output) == (0, f"Topic proportions of 2 documents saved to {path}.\n")
        assert (run("transform", model, new, "-o", path, "-q").output) == ""
    table = list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [row[0] for row in table] == ["id", "a", "b"]
    assert np.array([row[1:] for row in table[1:]], float) == pytest.approx(theta, rel=1e-5)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["a", "b"]
    assert np.array([line["topics"] for line in lines]) == pytest.approx(theta, rel=1e-5)
    assert (np.load(tmp_path / "out.npy") == theta).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.jsonl", "out.csv", "out.jsonl", "out.npy"]


def test_transform_prints_csv_for_a_dash(run: Run, model: Path, new: Path) -> None:
    rows = list(csv.reader(io.StringIO(run("transform", model, new, "-o", "-").stdout)))
    assert rows[0] == ["id", "topic0", "topic1"]
    assert np.array([row[1:] for row in rows[1:]], float) == pytest.approx(expected(model, new), rel=1e-5)


def test_stop_words_are_dropped_again_even_if_they_have_features(run: Run, model: Path, new: Path) -> None:
    as_trained = run("transform", model, new, "-o", "-").stdout
    with_them = run("transform", model, new, "-o", "-", "--stop-words", "none").stdout
    assert as_trained != with_them  # "the" has a feature, and was a stop word at training


def test_documents_without_ids_are_numbered(run: Run, model: Path, write: Write) -> None:
    new = write("new.txt", "cat dog\nrain\n")  # another format: the columns of training mean nothing here
    rows = list(csv.reader(io.StringIO(run("transform", model, new, "-o", "-").stdout)))
    assert [row[0] for row in rows[1:]] == ["0", "1"]


def test_options_override_those_of_training(run: Run, model: Path, write: Write, new: Path) -> None:
    moved = write("moved.csv", 'key,words,topic\na,the cat and the kitten,pets\nb,"Rain, rain and the wind",sky\n')
    options = ("--text", "words", "--labels", "topic", "--id", "key")
    assert run("transform", model, moved, "-o", "-", *options).stdout == run("transform", model, new, "-o", "-").stdout


def test_labels_may_be_left_unread(run: Run, model: Path, write: Write) -> None:
    bare = write("bare.jsonl", [{"body": record["body"]} for record in NEW])
    line = error_line(run("transform", model, bare, "-o", "-"))
    assert "no field 'section'" in line
    assert line.endswith("or read none with --no-labels")
    assert run("transform", model, bare, "-o", "-", "--no-labels").exit_code == 0


def test_unknown_labels_are_one_warning_line(run: Run, model: Path, write: Write) -> None:
    new = write("new.jsonl", [{"body": "cat", "section": "films"}])
    result = run("transform", model, new, "-o", "-")
    assert result.exit_code == 0
    assert result.stderr.startswith("metalda: warning: ")
    assert "'films'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_model_from_python_can_be_used_on_the_command_line(run: Run, write: Write, tmp_path: Path) -> None:
    texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    metalda.LDA(2, n_iter=5, random_state=0, verbose=False).fit(texts).save(tmp_path / "m")
    new = write("new.txt", "cat dog\n")
    assert run("transform", tmp_path / "m", new, "-o", "-").exit_code == 0
    assert run("evaluate", tmp_path / "m", new).exit_code == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [("out.txt", "must end in .csv, .jsonl, .npy"), ("none/out.csv", "no folder"), ("folder.csv", "is not a file")],
)
def test_an_output_that_cannot_be_is_refused_before_the_work(
    run: Run, model: Path, new: Path, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert message in error_line(run("transform", model, new, "-o", tmp_path / name))


def test_a_failed_transform_leaves_the_old_output(
    run: Run, model: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    output = tmp_path / "out.csv"
    output.write_text("old")
    monkeypatch.setattr("os.fsync", no_space)
    line = error_line(run("transform", model, new, "-o", output))
    assert line == f"metalda: {output}: cannot be written: No space left on device"
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.jsonl", "out.csv"]


def test_labels_and_no_labels_exclude_each_other(run: Run, model: Path, data: Path) -> None:
    line = error_line(run("transform", model, data, "-o", "-", "--no-labels", "--labels", "section"))
    assert "give --labels or --no-labels, not both" in line


def test_a_model_of_python_tokenises_as_it_did_there(run: Run, write: Write, tmp_path: Path) -> None:
    texts = ["The cat and the dog", "rain and sun", "Cat dog cat", "Sun rain wind"] * 3
    how = {"lowercase": False, "stop_words": ["and", "the"], "ngram_range": (1, 2)}
    model = metalda.LDA(2, n_iter=6, random_state=0, verbose=False).fit(metalda.Corpus.from_texts(texts, **how))
    model.save(tmp_path / "model")
    new = ["The cat and dog", "sun Sun rain"]
    result = run("transform", tmp_path / "model", write("new.txt", "\n".join(new) + "\n"), "-o", "-")
    rows = [[float(cell) for cell in row[1:]] for row in list(csv.reader(io.StringIO(result.stdout)))[1:]]
    assert rows == pytest.approx(model.transform(new), abs=1e-5)
    by_function = metalda.LDA(2, n_iter=6, verbose=False).fit(metalda.Corpus.from_texts(texts, analyzer=str.split))
    by_function.save(tmp_path / "own")
    assert "use the model in Python" in error_line(run("transform", tmp_path / "own", tmp_path / "new.txt", "-o", "-"))


def test_a_model_of_python_reads_columns_bins_and_numbers_as_it_did_there(run: Run, data: Path, tmp_path: Path) -> None:
    frame = pd.read_json(data, lines=True)
    how = {"text": "body", "labels": "section", "bins": {"year": 3}}
    for name, model, corpus in (
        ("bins", metalda.MetaLDA(2, n_iter=6, random_state=0, verbose=False), metalda.Corpus.from_frame(frame, **how)),
        (
            "numbers",
            metalda.DMR(2, n_iter=6, optimize_burn_in=2, optimize_interval=2, random_state=0, verbose=False),
            metalda.Corpus.from_frame(frame, text="body", labels="section", numbers="year"),
        ),
    ):
        model.fit(corpus).save(tmp_path / name)
        new = frame.assign(year=frame["year"] + 5)[:3]  # whose own quantiles and mean are others
        new.to_csv(tmp_path / "new.csv", index=False)
        result = run("transform", tmp_path / name, tmp_path / "new.csv", "-o", "-")
        assert "warning" not in result.output
        rows = [[float(cell) for cell in row[1:]] for row in list(csv.reader(io.StringIO(result.stdout)))[1:]]
        assert rows == pytest.approx(model.transform(new), abs=1e-5)
        assert rows == pytest.approx(model.transform(metalda.Corpus.from_frame(new, schema=model.schema_)), abs=1e-5)


def test_any_tokenizing_of_python_but_a_function_is_known_here(run: Run, write: Write, tmp_path: Path) -> None:
    how = {"analyzer": "char_wb", "ngram_range": (2, 3)}
    model = metalda.LDA(2, n_iter=6, random_state=0, verbose=False)
    model.fit(metalda.Corpus.from_texts(["cat dog", "sun rain"], **how)).save(tmp_path / "model")
    result = run("transform", tmp_path / "model", write("new.txt", "dog cat\nrain\n"), "-o", "-")
    rows = [[float(cell) for cell in row[1:]] for row in list(csv.reader(io.StringIO(result.stdout)))[1:]]
    assert rows == pytest.approx(model.transform(["dog cat", "rain"]), abs=1e-5)
