"""``metalda documents`` and ``metalda correlations``: quotations, and topics that occur together."""

import csv
import io
import json
from pathlib import Path

import pytest

from cli.helpers import Run, Write, error_line, news


def test_typical_documents_are_printed_as_written(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    assert run("prepare", data, "-o", corpus, "--text", "body", "--labels", "section", "-q").exit_code == 0
    texts = {record["id"]: record["body"] for record in news()}
    for source in (data, corpus):
        result = run("documents", model, source, "-n", 2, "--format", "json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.output)
        assert [row["topic"] for row in found] == [0, 0, 1, 1]
        assert all(texts[row["id"]] == row["text"] for row in found)
        assert all(row["labels"][0] in ("pets", "sky") for row in found)
    table = run("documents", model, data, "--topic", 1, "-n", 1).output.splitlines()
    assert table[0].split() == ["topic", "proportion", "id", "text"]
    assert table[1].split()[2] in texts


def test_labels_choose_and_texts_are_cut(run: Run, model: Path, data: Path) -> None:
    found = json.loads(run("documents", model, data, "--label", "sky", "--format", "json").output)
    assert {tuple(row["labels"]) for row in found} == {("sky",)}
    cut = run("documents", model, data, "--topic", 0, "-n", 1, "--characters", 5).output.splitlines()[1]
    assert cut.endswith("…")
    assert len(cut.split(maxsplit=3)[3]) == 5
    assert "the corpus has no label 'skyy'; did you mean 'sky'" in error_line(
        run("documents", model, data, "--label", "skyy")
    )
    unread = run("documents", model, data, "--no-labels", "--label", "sky")
    assert "the corpus has none; read them with labels= (--labels)" in error_line(unread)
    assert "no topic 7" in error_line(run("documents", model, "missing.jsonl", "--topic", 7))


def test_words_are_printed_if_the_corpus_keeps_no_texts(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    assert run("prepare", data, "-o", corpus, "--text", "body", "--no-keep-text", "-q").exit_code == 0
    result = run("documents", model, corpus, "--topic", 0, "-n", 1, "--format", "json")
    assert json.loads(result.output)[0]["text"].islower()


def test_csv_is_guarded_unless_raw(run: Run, model: Path, write: Write) -> None:
    formula = "=HYPERLINK(cat dog)"
    data = write("new.jsonl", [{"id": "@x", "body": formula, "section": "pets"}])
    for options, expected in (((), "'=HYPERLINK(cat dog)"), (("--raw",), formula)):
        result = run("documents", model, data, "--topic", 0, "--format", "csv", *options)
        (row,) = csv.DictReader(io.StringIO(result.output))
        assert row["text"] == expected


@pytest.mark.filterwarnings("ignore:an interval of")
def test_correlations_are_printed(run: Run, model: Path, data: Path, write: Write) -> None:
    (pair,) = json.loads(run("correlations", model, "--format", "json").output)
    assert (pair["topic"], pair["other_topic"], pair["low"]) == (0, 1, None)
    assert pair["correlation"] == pytest.approx(-1, abs=1e-4)
    (with_data,) = json.loads(run("correlations", model, data, "--interval", 0.2, "--format", "json").output)
    assert with_data["low"] <= with_data["correlation"] <= with_data["high"]
    one = run("correlations", model, write("one.jsonl", news()[:1])).output.splitlines()
    assert one[1].split()[2:4] == ["–", "–"]
    table = run("correlations", model).output.splitlines()
    assert table[0].split()[:4] == ["topic", "other", "topic", "correlation"]
    assert table[1].split()[:3] == ["0", "1", "-1.00"]


def test_words_are_ordered_by_the_score_asked_for(run: Run, model: Path) -> None:
    import metalda

    fitted = metalda.load(model)
    for by in ("relevance", "frex", "lift"):
        found = json.loads(run("topics", model, "--words-by", by, "-n", 3, "--format", "json").output)
        assert [row["words"] for row in found] == fitted.topics(3, words_by=by)["words"].tolist()
        own = json.loads(run("topics", model, "--topic", 1, "--words-by", by, "-n", 2, "--format", "json").output)
        assert list(own["words"][0]) == ["word", "probability", by]
        assert by in run("topics", model, "--topic", 1, "--words-by", by).output.splitlines()[0]
    assert "--words-by" in run("topics", model, "--words-by", "x").output


def test_similar_topics_are_named_below_the_topics(run: Run, write: Write, tmp_path: Path) -> None:
    rows = [{"text": text} for text in ["cat dog cat dog cow"] * 20 + ["rain sun fog rain sun"] * 20]
    data = write("two.jsonl", rows)
    fit = ("fit", data, "-o", tmp_path / "m", "-k", 3, "--model", "lda", "--iterations", 40, "-q")
    assert run(*fit, "--max-df", "1.0").exit_code == 0
    assert "Topics with nearly the same words: " in run("topics", tmp_path / "m").output
    assert "Topics with nearly the same words: " in run("correlations", tmp_path / "m").output
