"""The fuzzer finds planted defects; defects that it found stay mended; a slice of its cases has no findings."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fuzz.cases import REGRESSIONS, Case, all_kinds, find_kind
from tests.fuzz.minimize import minimize
from tests.fuzz.worker import Worker

from metalda.corpus.formats import FORMATS

PATIENCE = 600  # seconds: a loaded machine is slow, and a hang has no end


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(PATIENCE) as worker:
        yield worker


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("nothing", "accepted"),
        ("crash", "crash"),
        ("memory", "memory"),
        ("traceback", "traceback"),
        ("loss", "documents lost"),
    ],
)
def test_planted_defects_are_found(kind: str, result: str, worker: Worker) -> None:
    assert worker.run(Case(f"planted-{kind}", seed=1)).result == result


@pytest.mark.slow
def test_a_hang_is_found_and_the_next_case_runs() -> None:
    with Worker(patience=2) as worker:
        assert worker.run(Case("planted-hang", seed=1)).result == "hang"
        worker.patience = PATIENCE
        assert worker.run(Case("planted-nothing", seed=1)).result == "accepted"


def test_a_finding_is_made_small(worker: Worker) -> None:
    case = find_kind("planted-loss").case(1)
    small = minimize(case, lambda other: worker.run(other).result == "documents lost", seconds=PATIENCE)
    assert small.files == {"data": b"lost"}


def test_a_case_follows_from_its_kind_and_seed_and_survives_a_file() -> None:
    for name in ("jsonl", "parquet", "folder", "vectors", "mallet", "command-fit"):
        kind = find_kind(name)
        assert kind.case(3).to_json() == kind.case(3).to_json() != kind.case(4).to_json()
        assert Case.from_json(kind.case(3).to_json()) == kind.case(3)


def test_every_format_of_the_registry_is_fuzzed() -> None:
    assert set(FORMATS) <= set(all_kinds())


@pytest.mark.parametrize("file", sorted(REGRESSIONS.glob("*.json")), ids=lambda file: file.stem)
def test_what_was_found_is_mended(file: Path, worker: Worker) -> None:
    outcome = worker.run(Case.from_json(file.read_text(encoding="utf-8")))
    assert not outcome.is_finding, f"{outcome.result} {outcome.place}\n{outcome.detail}"


@pytest.mark.slow
@pytest.mark.parametrize("part", ["inputs", "saves", "commands"])
def test_a_slice_of_the_cases_has_no_findings(part: str, worker: Worker) -> None:
    """Fixed cases, so that what was green stays green."""
    n_cases = {"inputs": 60, "saves": 60, "commands": 10}[part]
    found, counts = [], Counter()
    for kind in all_kinds().values():
        own = {"saved": "saves", "command": "commands"}.get(kind.name.partition("-")[0], "inputs")
        if own != part or kind.every >= 100:
            continue
        for seed in range(0, n_cases, kind.every):
            case = Case(kind.name, seed=seed)
            outcome = worker.run(case)
            counts[outcome.result] += 1
            if outcome.is_finding:
                found.append(f"python -m tests.fuzz --case {case}: {outcome.result} {outcome.place} {outcome.detail}")
    assert not found
    assert counts["accepted"] > 10
    assert counts["refused"] > 10
