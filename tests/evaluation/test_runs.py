"""A finished run stays finished, whatever happens to the process, and is never taken for another."""

import json
import logging
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from metalda.errors import StorageError
from metalda.evaluation.runs import InterruptedRuns, RunStore, run_jobs

DONE: list[str] = []


@dataclass(frozen=True)
class Letter:
    text: str

    @property
    def file(self) -> str:
        return "letters"

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, Any]:
        if self.text == "stop":
            raise KeyboardInterrupt
        DONE.append(self.text)
        return {"upper": self.text.upper()}


@dataclass(frozen=True)
class Number(Letter):
    """Another kind of run with the same fields."""


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "out")


@pytest.fixture
def file(store: RunStore) -> Path:
    return store.folder / "letters.jsonl"


def kept(store: RunStore) -> list[str]:
    return [run.text for run, _ in store.all(Letter)]


def test_only_missing_runs_are_run(store: RunStore) -> None:
    run_jobs([Letter("a"), Letter("b")], store, None)
    run_jobs([Letter("b"), Letter("c")], store, None)
    assert DONE == ["a", "b", "c"]
    assert [(run.text, result) for run, result in store.all(Letter)] == [(t, {"upper": t.upper()}) for t in "abc"]


def test_an_interrupt_keeps_finished_runs_and_says_how_to_continue(store: RunStore) -> None:
    with pytest.raises(InterruptedRuns, match=r"1 of 3 runs are finished and saved in .*out; repeat it to resume"):
        run_jobs([Letter("a"), Letter("stop"), Letter("b")], store, None)
    assert store.find(Letter("a")) == {"upper": "A"}
    assert store.find(Letter("b")) is None


def test_a_finished_run_has_no_checkpoint(store: RunStore) -> None:
    store.checkpoint(Letter("a")).mkdir(parents=True)
    store.checkpoint(Letter("b")).mkdir(parents=True)
    store.keep(Letter("a"), {})
    assert not store.checkpoint(Letter("a")).exists()
    assert store.checkpoint(Letter("b")).exists()


def test_kinds_with_equal_fields_are_kept_apart(store: RunStore) -> None:
    store.keep(Letter("7"), {"upper": "7"})
    assert store.find(Number("7")) is None
    store.keep(Number("7"), {"upper": "SEVEN"})
    assert [result for _, result in store.all(Number)] == [{"upper": "SEVEN"}]
    assert store.find(Letter("7")) == {"upper": "7"}


def test_a_line_says_when_and_with_what_it_was_made(store: RunStore, file: Path) -> None:
    run_jobs([Letter("a")], store, None)
    record = json.loads(file.read_text())
    assert (record["kind"], record["run"], record["result"]) == ("Letter", {"text": "a"}, {"upper": "A"})
    assert set(record["origin"]) == {"date", "machine", "metalda", "python"}


def test_the_order_is_that_of_the_runs_not_of_time(store: RunStore) -> None:
    run_jobs([Letter("c"), Letter("a"), Letter("b")], store, None)
    assert kept(store) == ["a", "b", "c"]


@pytest.mark.parametrize("length", [1, 10, 60, -3])
def test_a_last_line_that_was_cut_short_costs_only_its_run(
    store: RunStore, file: Path, caplog: pytest.LogCaptureFixture, length: int
) -> None:
    run_jobs([Letter("a"), Letter("b")], store, None)
    first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + second[:length])
    with caplog.at_level(logging.WARNING, "metalda"):
        run_jobs([Letter("a"), Letter("b"), Letter("c")], store, None)
    assert DONE == ["a", "b", "b", "c"]
    assert kept(store) == ["a", "b", "c"]
    assert f"{file} line 2: damaged" in caplog.text
    assert "will be repeated" in caplog.text


def test_a_last_line_without_its_newline_counts(store: RunStore, file: Path) -> None:
    run_jobs([Letter("a"), Letter("b")], store, None)
    file.write_bytes(file.read_bytes()[:-1])
    run_jobs([Letter("b"), Letter("c")], store, None)
    assert DONE == ["a", "b", "c"]
    assert kept(store) == ["a", "b", "c"]


@pytest.mark.parametrize("line", ["[]", "7", '{"kind": "Letter", "run": {"text": "b"}}', "\xff", '{"kind": 1, "x": [['])
def test_a_damaged_line_anywhere_costs_only_its_run(
    store: RunStore, file: Path, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    run_jobs([Letter("a"), Letter("b"), Letter("c")], store, None)
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join([lines[0], line.encode("latin-1"), lines[2]]) + b"\n")
    assert kept(store) == ["a", "c"]
    assert "line 2: damaged" in caplog.text


def test_a_run_of_another_version_is_an_error_that_names_the_file(store: RunStore, file: Path) -> None:
    store.keep(Letter("a"), {})
    file.write_text(file.read_text().replace('"text"', '"word"'))
    with pytest.raises(StorageError, match=r"letters\.jsonl: has a Letter of another version"):
        kept(store)


def test_a_line_that_cannot_be_written_leaves_the_file_as_it_was(
    store: RunStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.keep(Letter("a"), {"upper": "A"})
    before = file.read_bytes()

    def no_space(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(StorageError, match=r"letters\.jsonl: cannot be written: No space left"):
            store.keep(Letter("b"), {"upper": "B"})
    assert file.read_bytes() == before


def _append_many(folder: Path, start: int) -> None:
    for i in range(start, start + 50):
        RunStore(folder).keep(Letter(f"{i:04d}"), {"long": "x" * 20_000})


def test_two_processes_append_to_one_file(store: RunStore, caplog: pytest.LogCaptureFixture) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(store.folder, 50 * i)) for i in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert kept(store) == [f"{i:04d}" for i in range(100)]
    assert caplog.text == ""


def test_of_two_results_of_one_run_the_first_counts(store: RunStore) -> None:
    store.keep(Letter("a"), {"upper": "A"})
    store.keep(Letter("a"), {"upper": "other"})
    assert store.find(Letter("a")) == {"upper": "A"}
    assert kept(store) == ["a"]
