"""``metalda validate``: tasks for coders, and their scores."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.helpers import HOSTILE, Run, Write, error_line
from metalda import LDA, Corpus
from metalda.evaluation import IntrusionKey
from metalda.storage import write_document
from themes import themed_model, themed_texts


@pytest.fixture(scope="module")
def themed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts as JSON Lines and a model of them; tests must not change it."""
    folder = tmp_path_factory.mktemp("themed")
    records = [{"id": f"d{i}", "body": f"{text}\n«{i}»"} for i, text in enumerate(themed_texts())]
    (folder / "texts.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    corpus = Corpus.read(folder / "texts.jsonl", text="body")
    LDA(6, n_iter=60, n_draws=5, random_state=0, verbose=False).fit(corpus).save(folder / "model")
    corpus.save(folder / "corpus")
    return folder


def shown(path: Path) -> dict[str, Any]:
    page = path.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="tasks">(.*?)</script>', page, re.DOTALL)
    return json.loads(data)


def answer(path: Path, key: IntrusionKey, coder: str, choices: list[int | None] | None = None) -> Path:
    right = [task.intruder for task in key.tasks]
    document = {"tasks": key.id, "coder": coder, "answers": right if choices is None else choices}
    write_document(path, "intrusion-answers", document)
    return path


def test_the_page_has_the_texts_as_written_and_the_key_is_apart(run: Run, themed: Path, tmp_path: Path) -> None:
    page = tmp_path / "tasks.html"
    result = run("validate", "make", themed / "model", themed / "texts.jsonl", "-o", page, "--documents", 3)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        f"Tasks: {page} (6 topics, 3 documents); send it to the coders.",
        f"Key: {tmp_path / 'tasks.key.json'}; it has the solutions: keep it for metalda validate score.",
    ]
    key, found = IntrusionKey.load(tmp_path / "tasks.key.json"), shown(page)
    for task, topic in zip(key.topic_tasks, found["topics"], strict=True):
        assert topic["text"] == f"{themed_texts()[task.document]}\n«{task.document}»"
        assert task.id == f"d{task.document}"
    assert found["words"] == [list(task.options) for task in key.word_tasks]
    assert list(found) == ["words", "topics", "blank"]


@pytest.mark.parametrize("source", ["corpus", "pipe"])
def test_prepared_folders_and_pipes_are_shown_as_written(run: Run, themed: Path, tmp_path: Path, source: str) -> None:
    data, texts = {"corpus": themed / "corpus", "pipe": "-"}[source], (themed / "texts.jsonl").read_bytes()
    options = ("-o", tmp_path / "t.html", "--documents", 2, "-q")
    result = run("validate", "make", themed / "model", data, *options, stdin=texts)
    assert result.exit_code == 0, result.output
    key = IntrusionKey.load(tmp_path / "t.key.json")
    for task, topic in zip(key.topic_tasks, shown(tmp_path / "t.html")["topics"], strict=True):
        assert topic["text"] == f"{themed_texts()[task.document]}\n«{task.document}»"


def test_documents_whose_text_is_not_there_are_shown_as_words(
    run: Run, themed: Path, write: Write, tmp_path: Path
) -> None:
    rows = [{"body": text.lower().replace(".", "").split()} for text in themed_texts()]
    options = ("-o", tmp_path / "t.html", "--documents", 2, "-q")
    result = run("validate", "make", themed / "model", write("tokens.jsonl", rows), *options)
    assert result.exit_code == 0, result.output
    key = IntrusionKey.load(tmp_path / "t.key.json")
    for task, topic in zip(key.topic_tasks, shown(tmp_path / "t.html")["topics"], strict=True):
        assert not re.search(r"[.\n«A-Z]", topic["text"])
        assert topic["text"].split()[5] in themed_texts()[task.document].lower().split()


def test_options_reach_the_tasks(run: Run, themed: Path, tmp_path: Path) -> None:
    options = ("--words", 3, "--topics", 2, "--documents", 1, "--title", "Words & topics", "--seed", 7, "--quiet")
    for name in ("a", "b"):
        arguments = (themed / "model", themed / "texts.jsonl", "-o", tmp_path / f"{name}.html", *options)
        assert run("validate", "make", *arguments).output == ""
    found = shown(tmp_path / "a.html")
    assert [len(words) for words in found["words"]] == [4, 4]
    assert len(found["topics"]) == 1
    assert "<title>Words &amp; topics</title>" in (tmp_path / "a.html").read_text()
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert run("validate", "make", themed / "model", "-o", tmp_path / "w.html").exit_code == 0
    assert shown(tmp_path / "w.html")["topics"] == []


@pytest.fixture
def key(tmp_path: Path) -> IntrusionKey:
    from metalda.evaluation import make_intrusion_tasks

    key = make_intrusion_tasks(themed_model(), themed_texts(), n_documents=4).key
    key.save(tmp_path / "tasks.key.json")
    return key


def test_scores_are_printed_as_a_table_json_and_csv(run: Run, key: IntrusionKey, tmp_path: Path) -> None:
    right = [task.intruder for task in key.tasks]
    wrong = [(right[0] + 1) % 6, *right[1:-1], None]
    first = answer(tmp_path / "answers-ann.json", key, "Ann")
    second = answer(tmp_path / "answers-bo.json", key, f"{HOSTILE} =Bo", wrong)
    command = ("validate", "score", tmp_path / "tasks.key.json", first, second)
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert result.stderr == f"metalda: warning: {second}: 1 of 10 tasks have no answer\n"
    lines = result.stdout.splitlines()
    assert "\x1b" not in result.output
    assert [line.split()[:5] for line in lines if line.startswith(("word intrusion", "topic intrusion"))] == [
        ["word", "intrusion", "6", "2", "12"],
        ["topic", "intrusion", "4", "2", "7"],
    ]
    assert re.search(
        r"^word intrusion .* 0\.17 +0\.917 +0\.\d+ to 0\.\d+ +0\.917 +– +0\.\d+$", result.stdout, re.MULTILINE
    )
    found = json.loads(run(*command, "--format", "json").stdout)
    assert found["overall"][0]["accuracy"] == pytest.approx(11 / 12)
    assert found["overall"][1] == {**found["overall"][1], "accuracy": 1.0, "coders": 2, "log_odds": 0.0}
    assert found["coders"][0] == {"coder": "Ann", "answers": 10, "accuracy": 1.0}
    assert (found["interval"], len(found["notes"])) == (0.9, 1)
    rows = list(csv.DictReader(io.StringIO(run(*command, "--format", "csv").stdout)))
    own = {int(row["topic"]): row for row in rows if row["task"] == "word intrusion" and row["topic"]}
    assert sorted(own) == list(range(6))
    assert own[key.word_tasks[0].topic]["accuracy"] == "0.5"
    assert [row["accuracy"] for row in rows if not row["topic"]] == ["0.916667", "1"]
    narrow = json.loads(run(*command, "--format", "json", "--interval", 0.5).stdout)
    assert narrow["overall"][0]["low"] > found["overall"][0]["low"]


def test_the_same_coder_twice_counts_once_or_is_refused(run: Run, key: IntrusionKey, tmp_path: Path) -> None:
    first, again = (answer(tmp_path / f"{name}.json", key, "Ann") for name in ("a", "b"))
    result = run("validate", "score", tmp_path / "tasks.key.json", first, again)
    assert result.exit_code == 0, result.output
    assert result.stderr == f"metalda: warning: {again}: the same coder and answers as in {first}; counted once\n"
    answer(again, key, "Ann", [0] * 10)
    line = error_line(run("validate", "score", tmp_path / "tasks.key.json", first, again))
    assert f"{again}: the coder 'Ann' has other answers in {first}" in line


def test_bad_input_is_one_line_and_writes_nothing(run: Run, themed: Path, model: Path, tmp_path: Path) -> None:
    make = ("validate", "make", themed / "model", themed / "texts.jsonl", "-o")
    assert "ends in .html" in error_line(run(*make, tmp_path / "tasks.json"))
    assert "there is no folder" in error_line(run(*make, tmp_path / "none" / "tasks.html"))
    small = ("validate", "make", model, themed / "texts.jsonl", "--no-labels", "-o", tmp_path / "t.html")
    assert "--documents 0" in error_line(run(*small))
    assert list(tmp_path.iterdir()) == []
    score = ("validate", "score")
    assert "missing.key.json: cannot be read" in error_line(run(*score, "missing.key.json", "a.json"))
    (tmp_path / "a.json").write_text("{}")
    assert "not a metalda intrusion-key" in error_line(run(*score, tmp_path / "a.json", tmp_path / "a.json"))
    assert "Missing argument" in error_line(run(*score, tmp_path / "a.json"))


def test_damaged_answers_are_one_line(run: Run, key: IntrusionKey, tmp_path: Path) -> None:
    for content in (b"", b"{", b"[" * 100_000, b"\x1b[31m", b'{"format": "\\u001b"}'):
        (tmp_path / "answers.json").write_bytes(content)
        line = error_line(run("validate", "score", tmp_path / "tasks.key.json", tmp_path / "answers.json"))
        assert "answers.json: " in line
        assert "\x1b" not in line
    answer(tmp_path / "answers.json", key, HOSTILE, [99] * 10)
    line = error_line(run("validate", "score", tmp_path / "tasks.key.json", tmp_path / "answers.json"))
    assert "task 1 has no option 99" in line
