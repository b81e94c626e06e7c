"""Planted answers give the known figures; files that are not right are one line."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metalda import score_intrusion
from metalda.errors import InputError, StorageError
from metalda.evaluation import IntrusionAnswers, IntrusionKey, IntrusionScores
from metalda.evaluation.agreement import wilson_interval
from metalda.evaluation.intrusion import TopicTask, WordTask

SHARES = (0.5, 0.3, 0.15, 0.05)
KEY = IntrusionKey(
    "page",
    tuple(WordTask(k, ("a", "b", "c", "d", "e", "f"), (2 * k + 1) % 6) for k in range(4)),
    tuple(TopicTask(d, None, d % 2, (("a",), ("b",), ("c",), ("d",)), (d % 2, 2, 3, 4), SHARES, 3) for d in range(3)),
)
RIGHT = tuple(task.intruder for task in KEY.tasks)


def answers(coder: str, *choices: int | None, tasks: str = "page") -> IntrusionAnswers:
    return IntrusionAnswers(tasks, coder, choices, f"{coder}.json")


def only(scores: IntrusionScores, kind: str) -> Any:
    return scores.overall.set_index("task").loc[kind]


def test_all_right_is_1() -> None:
    scores = score_intrusion(KEY, [answers(coder, *RIGHT) for coder in ("Ann", "Bo", "Cy")])
    for kind, n, chance in (("word intrusion", 4, 1 / 6), ("topic intrusion", 3, 1 / 4)):
        row = only(scores, kind)
        assert (row.tasks, row.coders, row.answers) == (n, 3, 3 * n)
        assert (row.accuracy, row.model_precision, row.high) == (1, 1, 1)
        assert row.low == pytest.approx(wilson_interval(1, 3 * n, 0.9)[0])
        assert row.chance == pytest.approx(chance)
    assert only(scores, "word intrusion").alpha == 1
    assert np.isnan(only(scores, "topic intrusion").alpha)  # all intruders stand in one place
    assert np.isnan(only(scores, "word intrusion").log_odds)
    assert only(scores, "topic intrusion").log_odds == 0
    assert (scores.topics["accuracy"] == 1).all()
    assert scores.coders["accuracy"].tolist() == [1, 1, 1]
    assert scores.notes == ()


def test_guessing_is_chance_and_its_agreement_0() -> None:
    rng = np.random.default_rng(0)
    key = IntrusionKey(
        "page", tuple(WordTask(k, tuple("abcdef"), int(i)) for k, i in enumerate(rng.integers(6, size=300))), ()
    )
    scores = score_intrusion(key, [answers(f"c{i}", *rng.integers(6, size=300).tolist()) for i in range(5)])
    row = only(scores, "word intrusion")
    assert row.accuracy == pytest.approx(1 / 6, abs=0.03)
    assert row.low < 1 / 6 < row.high
    assert row.alpha == pytest.approx(0, abs=0.03)


def test_figures_by_hand() -> None:
    scores = score_intrusion(KEY, [answers("Ann", *RIGHT), answers("Bo", 1, 3, 5, 0, 0, 3, 1)], interval=0.95)
    words, topics = only(scores, "word intrusion"), only(scores, "topic intrusion")
    assert words.accuracy == pytest.approx(7 / 8)  # Bo misses the last word and two documents
    assert topics.accuracy == pytest.approx(4 / 6)
    by_document = [(0 + np.log(0.05 / 0.5)) / 2, 0, (0 + np.log(0.05 / 0.3)) / 2]
    assert topics.log_odds == pytest.approx(np.mean(by_document))
    own = scores.topics.set_index(["task", "topic"])
    assert own.loc[("word intrusion", 3), "accuracy"] == 0.5
    assert own.loc[("topic intrusion", 0), ["tasks", "answers"]].tolist() == [2, 4]
    assert own.loc[("topic intrusion", 0), "log_odds"] == pytest.approx(np.mean([by_document[0], by_document[2]]))
    assert own.loc[("topic intrusion", 0), "words"] == ["a"]
    assert own.loc[("word intrusion", 0), "words"] == ["a", "c", "d", "e", "f"]
    assert scores.coders.to_dict("records")[1] == {"coder": "Bo", "answers": 7, "accuracy": pytest.approx(4 / 7)}
    assert "word intrusion 0.875" in repr(scores)
    assert "<table>" in scores._repr_html_()


def test_model_precision_is_the_mean_over_tasks_and_accuracy_that_over_answers() -> None:
    first = answers("Ann", 1, 3, 0, None, None, None, None)
    second = answers("Bo", 1, None, None, None, None, None, None)
    scores = score_intrusion(KEY, [first, second])
    row = only(scores, "word intrusion")
    assert row.accuracy == pytest.approx(3 / 4)
    assert row.model_precision == pytest.approx(2 / 3)
    assert (row.tasks, row.coders, row.answers) == (4, 2, 4)
    assert scores.overall["task"].tolist() == ["word intrusion"]
    assert scores.topics["topic"].tolist() == [0, 1, 2]
    assert [note.partition(": ")[2] for note in scores.notes] == [
        "4 of 7 tasks have no answer",
        "6 of 7 tasks have no answer",
    ]


def test_a_proportion_of_0_has_finite_log_odds() -> None:
    task = TopicTask(0, None, 0, (("a",), ("b",)), (0, 1), (1.0, 0.0), 1)
    scores = score_intrusion(IntrusionKey("page", (), (task,)), answers("Ann", 0))
    assert scores.overall["log_odds"][0] == pytest.approx(np.log(1e-6))


def test_the_same_coder_counts_once_and_with_other_answers_is_refused() -> None:
    again = IntrusionAnswers("page", "ann", RIGHT, "copy.json")
    scores = score_intrusion(KEY, [answers("Ann", *RIGHT), again])
    assert scores.coders["answers"].tolist() == [7]
    assert scores.notes == ("copy.json: the same coder and answers as in Ann.json; counted once",)
    with pytest.raises(InputError, match=r"copy\.json: the coder 'ann' has other answers in Ann\.json"):
        score_intrusion(KEY, [answers("Ann", *[0] * 7), again])


def test_a_coder_without_answers_is_not_counted() -> None:
    nothing = answers("Bo", *[None] * 7)
    scores = score_intrusion(KEY, [answers("Ann", *RIGHT), nothing])
    assert scores.coders["coder"].tolist() == ["Ann"]
    assert scores.notes == ("Bo.json: the coder 'Bo' has no answers; not counted",)
    for none in ([nothing], []):
        with pytest.raises(InputError, match="no answers"):
            score_intrusion(KEY, none)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (answers("Ann", *RIGHT, tasks="other"), "Ann.json: the answers belong to another page"),
        (answers("Ann", *RIGHT[1:]), "6 answers, but there are 7 tasks"),
        (answers("Ann", 6, *RIGHT[1:]), "task 1 has no option 6"),
        (answers("Ann", *RIGHT[:6], -1), "task 7 has no option -1"),
    ],
)
def test_answers_that_do_not_fit_the_key_are_one_line(wrong: IntrusionAnswers, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_intrusion(KEY, [wrong])


def test_an_interval_is_a_probability() -> None:
    with pytest.raises(InputError, match="interval"):
        score_intrusion(KEY, answers("Ann", *RIGHT), interval=1)


def written(path: Path, content: Any = None, **document: Any) -> Path:
    whole = {"tasks": "page", "coder": "Ann", "answers": list(RIGHT), **document}
    form = {"format": "metalda-intrusion-answers", "version": 1, "files": {}, "document": whole}
    form = form if content is None else content
    path.write_bytes(form if isinstance(form, bytes) else json.dumps(form).encode())
    return path


def test_files_are_read_and_names_are_trimmed(tmp_path: Path) -> None:
    KEY.save(tmp_path / "key.json")
    first = written(tmp_path / "a.json", coder="  Ann \n Lee ")
    second = written(tmp_path / "b.json", coder="\u202eBo\x1b[31m\ud800", answers=[None, *RIGHT[1:]])
    scores = score_intrusion(tmp_path / "key.json", [first, str(second)])
    assert scores.coders["coder"].tolist() == ["Ann Lee", "\u202eBo\x1b[31m?"]
    assert score_intrusion(KEY, first).coders["answers"].tolist() == [7]
    scores._repr_html_().encode()


@pytest.mark.parametrize(
    ("content", "document", "message"),
    [
        (b"", {}, "damaged: not valid JSON"),
        (b"\xff\xfe\x00", {}, "damaged: not valid JSON"),
        (b'{"format": "metalda-intrusion-answers", "version": NaN}', {}, "damaged: not valid JSON"),
        (b"[" * 200_000, {}, "damaged: not valid JSON"),
        (b"1" * 5000, {}, "damaged: not valid JSON"),
        (b" " * 10_000_001, {}, "too large for answers"),
        ([], {}, "not a metalda intrusion-answers"),
        ({"format": "metalda-intrusion-key", "version": 1}, {}, "not a metalda intrusion-answers"),
        ({"format": "metalda-intrusion-answers", "version": 99}, {}, "pip install --upgrade metalda"),
        (None, {"tasks": None}, "the id of the tasks is missing"),
        (None, {"coder": " \n"}, "type it on the page"),
        (None, {"coder": 7}, "type it on the page"),
        (None, {"coder": "x" * 201}, "type it on the page"),
        (None, {"answers": {"0": 1}}, "not a list of numbers"),
        (None, {"answers": [True] * 7}, "not a list of numbers"),
        (None, {"answers": [1.0] * 7}, "not a list of numbers"),
        (None, {"answers": ["1"] * 7}, "not a list of numbers"),
        (None, {"answers": [10**400] * 7}, "task 1 has no option"),
        (None, {"answers": [1] * 100_000}, "100,000 answers, but there are 7 tasks"),
        (None, {"tasks": "<script>" * 1000}, "belong to another page"),
    ],
)
def test_damaged_foreign_and_hostile_files_are_one_line(
    tmp_path: Path, content: Any, document: dict[str, Any], message: str
) -> None:
    path = written(tmp_path / "answers.json", content, **document)
    with pytest.raises(InputError, match=message) as caught:
        score_intrusion(KEY, [path])
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).removeprefix(str(path)).splitlines()) == 1
    assert len(str(caught.value)) < 1000


def test_missing_files_folders_and_pipes_are_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing.json", ".", "pipe"):
        with pytest.raises(StorageError, match="cannot be read"):
            IntrusionAnswers.load(tmp_path / name)
