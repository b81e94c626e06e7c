"""What is done stays done, and is never taken for something else."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from metalda.errors import StorageError
from metalda.experiments.runs import RunStore, Stopped, run_jobs

DONE: list[str] = []


@dataclass(frozen=True)
class Letter:
    text: str

    @property
    def name(self) -> str:
        return f"letters/{self.text}"

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, Any]:
        if self.text == "stop":
            raise KeyboardInterrupt
        DONE.append(self.text)
        return {"shouted": self.text.upper()}


@dataclass(frozen=True)
class Number(Letter):
    """Another kind."""


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "out")


def test_only_what_is_missing_is_run(store: RunStore) -> None:
    run_jobs([Letter("a"), Letter("b")], store, None)
    run_jobs([Letter("b"), Letter("c")], store, None)
    assert DONE == ["a", "b", "c"]
    assert [(job.text, result) for job, result in store.all(Letter)] == [(t, {"shouted": t.upper()}) for t in "abc"]


def test_an_interrupt_keeps_what_was_done_and_says_how_to_go_on(store: RunStore) -> None:
    with pytest.raises(Stopped, match=r"1 of 3 runs are done and kept; the same command goes on from here"):
        run_jobs([Letter("a"), Letter("stop"), Letter("b")], store, None)
    assert store.find(Letter("a")) == {"shouted": "A"}
    assert store.find(Letter("b")) is None


def test_kinds_are_kept_apart(store: RunStore) -> None:
    run_jobs([Letter("a")], store, None)
    store.keep(Number("7"), {"shouted": "SEVEN"})
    assert [job for job, _ in store.all(Number)] == [Number("7")]


def test_files_say_when_and_with_what_they_were_made(store: RunStore) -> None:
    run_jobs([Letter("a")], store, None)
    document = json.loads((store.folder / "runs" / "letters" / "a.json").read_text())["document"]
    assert document["job"] == {"text": "a"}
    assert set(document["origin"]) == {"date", "machine", "metalda", "python"}


@pytest.mark.parametrize(
    "content", ["{", '{"format": "metalda-experiment", "version": 1, "files": {}, "document": {}}']
)
def test_a_damaged_file_is_named(store: RunStore, content: str) -> None:
    run_jobs([Letter("a")], store, None)
    file = store.folder / "runs" / "letters" / "a.json"
    file.write_text(content)
    for look in (lambda: store.find(Letter("a")), lambda: list(store.all(Letter))):
        with pytest.raises(StorageError, match=r"a\.json: damaged.*; remove the file, and the run will be repeated"):
            look()


def test_a_file_under_another_name_is_not_believed(store: RunStore) -> None:
    run_jobs([Letter("a")], store, None)
    runs = store.folder / "runs" / "letters"
    (runs / "a.json").rename(runs / "b.json")
    with pytest.raises(StorageError, match="not the run of its name"):
        store.find(Letter("b"))
