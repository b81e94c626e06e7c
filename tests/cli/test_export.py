"""``metalda export``: documents, words and networks as files."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

import metalda
from cli.helpers import Run, Write, error_line, news


@pytest.fixture
def hostile(write: Write) -> Path:
    rows = [
        {"id": "=1+1", "body": "=cmd|' /C cat'!A0 \ud800", "section": "pets"},
        {"id": "-2", "body": "+rain\nand sun", "section": "sky"},
    ]
    return write("hostile.jsonl", rows)


def test_documents_are_exported_in_every_format(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    fitted = metalda.load(model)
    corpus = metalda.Corpus.read(data, schema=fitted.schema_)
    expected = fitted.to_frame(corpus, text=True)
    for suffix, read in (
        (".csv", pd.read_csv),
        (".parquet", pd.read_parquet),
        (".jsonl", lambda path: pd.read_json(path, lines=True)),
    ):
        path = tmp_path / f"documents{suffix}"
        result = run("export", model, data, "-o", path, "--with-text")
        assert result.output == f"16 documents saved to {path}.\n"
        found = read(path)
        assert found.columns.tolist() == ["id", "section", "text", "top_topic", "topic0", "topic1"]
        assert found["text"].tolist() == [record["body"] for record in news()]
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-4)
        assert run("export", model, data, "-o", path, "-q").output == ""
        assert "text" not in read(path)


def test_cells_are_safe_in_a_spreadsheet_unless_raw(run: Run, model: Path, hostile: Path, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    assert run("export", model, hostile, "-o", path, "--with-text").exit_code == 0
    with path.open(newline="") as file:
        guarded = list(csv.DictReader(file))
    assert [row["id"] for row in guarded] == ["'=1+1", "-2"]  # a number is no formula
    assert [row["text"] for row in guarded] == ["'=cmd|' /C cat'!A0 \\ud800", "'+rain\nand sun"]
    assert run("export", model, hostile, "-o", path, "--with-text", "--raw").exit_code == 0
    with path.open(newline="") as file:
        assert next(csv.DictReader(file))["id"] == "=1+1"
    for suffix in (".parquet", ".jsonl"):
        assert run("export", model, hostile, "-o", tmp_path / f"d{suffix}", "--with-text").exit_code == 0
    assert pd.read_parquet(tmp_path / "d.parquet")["text"][0] == "=cmd|' /C cat'!A0 \\ud800"


def test_several_labels_share_a_cell(run: Run, model: Path, write: Write, tmp_path: Path) -> None:
    data = write("two.jsonl", [{"body": "cat", "section": ["pets", "sky"]}, {"body": "rain", "section": []}])
    assert run("export", model, data, "-o", tmp_path / "d.csv", "-q").exit_code == 0
    assert pd.read_csv(tmp_path / "d.csv")["section"].fillna("").tolist() == ["pets|sky", ""]
    assert run("export", model, data, "-o", tmp_path / "d.jsonl", "-q").exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    assert [row["section"] for row in rows] == [["pets", "sky"], []]


def test_words_are_exported_without_data(run: Run, model: Path, tmp_path: Path) -> None:
    assert run("export", model, "--what", "words", "-n", 3, "-o", tmp_path / "w.csv").exit_code == 0
    found = pd.read_csv(tmp_path / "w.csv")
    assert found.columns.tolist() == ["topic", "word", "probability", "relevance", "frex", "lift"]
    assert found["word"].tolist() == [word for words in metalda.load(model).top_words(3) for word in words]
    assert run("export", model, "-o", tmp_path / "d.csv", "-q").exit_code == 0
    assert pd.read_csv(tmp_path / "d.csv").columns.tolist() == ["document", "top_topic", "topic0", "topic1"]


@pytest.mark.filterwarnings("ignore:an interval of")
def test_networks_are_exported(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    for arguments in ((), (data,)):
        result = run("export", model, *arguments, "-o", tmp_path / "n.gexf", "-n", 4)
        assert result.exit_code == 0, result.output
        assert "<gexf" in (tmp_path / "n.gexf").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "x.txt"), "the name must end in .csv, .parquet, .jsonl, .gexf"),
        (("-o", "s3://b/x.csv"), "s3://b/x.csv: the file must be on this machine"),
        (("-o", "missing/x.csv"), "there is no folder missing"),
        (("-o", "x.csv", "--with-text"), "--with-text adds the texts of DATA"),
        (("DATA", "-o", "x.csv", "--what", "words"), "--what words needs no DATA"),
        (("DATA", "-o", "DATA"), "is DATA itself"),
    ],
)
def test_wrong_requests_are_one_line(
    run: Run, model: Path, data: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    given = [data if argument == "DATA" else argument for argument in arguments]
    if message == "is DATA itself":
        given = [data.rename(data.with_suffix(".csv")), "-o", data.with_suffix(".csv")]
    assert message in error_line(run("export", model, *given))
    assert not Path("x.csv").exists()
