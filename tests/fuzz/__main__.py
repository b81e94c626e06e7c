"""Run the fuzzer: ``python -m tests.fuzz --minutes 60 --seed 1``, in the root of the repository."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.cases import ROOT, Case, Kind, all_kinds, find_kind
from tests.fuzz.minimize import minimize
from tests.fuzz.worker import FUZZER, PATIENCE, Outcome, Worker
from tqdm import tqdm


def main() -> int:
    """Return 1 if there are findings."""
    arguments = _arguments()
    if arguments.case is not None:
        return _repeat(_find_case(arguments.case), arguments.patience)
    kinds = all_kinds()
    if unknown := [name for name in arguments.only if not _chosen(kinds, [name])]:
        sys.exit(f"no kind {unknown[0]!r}; kinds are: {', '.join(kinds)}")
    run = Run(_chosen(kinds, arguments.only), arguments)
    run.fuzz()
    run.print_counts()
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(run.to_plain(), indent=1) + "\n", encoding="utf-8")
    return 1 if run.findings else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz metalda.")
    parser.add_argument("--minutes", type=float, default=2, help="how long to run (default: 2)")
    parser.add_argument("--rounds", type=int, help="run this number of cases of each kind instead")
    parser.add_argument("--seed", type=int, default=1, help="other seeds give other cases (default: 1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes (default: number of cores)")
    parser.add_argument("--only", metavar="KIND", action="append", default=[], help="a kind, or the start of its name")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds after which a case hangs")
    parser.add_argument("--case", metavar="KIND:SEED|FILE", help="repeat one case, or a file of a finding")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the counts")
    parser.add_argument("--findings", metavar="FOLDER", type=Path, default=ROOT / "build" / "fuzz")
    return parser.parse_args()


def _chosen(kinds: dict[str, Kind], names: list[str]) -> list[Kind]:
    exact = [kinds[name] for name in names if name in kinds]
    begun = [kind for name in names if name not in kinds for kind in kinds.values() if kind.name.startswith(name)]
    return list(kinds.values()) if not names else exact + begun


def _find_case(text: str) -> Case:
    if Path(text).is_file():
        return Case.from_json(Path(text).read_text(encoding="utf-8"))
    kind, _, seed = text.rpartition(":")
    return find_kind(kind).case(int(seed))


def _repeat(case: Case, patience: float) -> int:
    """Run one case and print all about it."""
    print(case.to_json())
    with Worker(patience) as worker:
        outcome = worker.run(case)
    print(f"\n{case}: {outcome.result} {outcome.place}\n{outcome.detail}")
    return int(outcome.is_finding)


class Run:
    """One run of the fuzzer: what was run, and what was found."""

    def __init__(self, kinds: list[Kind], arguments: argparse.Namespace) -> None:
        self.kinds = kinds
        self.arguments = arguments
        self.counts: dict[str, Counter[str]] = {kind.name: Counter() for kind in kinds}
        self.findings: dict[tuple[str, ...], dict[str, str]] = {}
        self.seconds: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._cases = self._all_cases()
        self._start = time.monotonic()
        self._errors: list[BaseException] = []

    def fuzz(self) -> None:
        """Run cases in all workers until the time is over."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self.arguments.workers)]
        with tqdm(unit=" cases", smoothing=0.05) as self._bar:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if self._errors:
            raise self._errors[0]

    def _all_cases(self) -> Iterator[Case]:
        """All kinds in turn, so that a run of any length has cases of each."""
        number = 0
        while self.arguments.rounds is None or number < self.arguments.rounds:
            for kind in self.kinds:
                if number % kind.every == 0:
                    yield Case(kind.name, seed=self.arguments.seed * 1_000_000 + number)
            number += 1

    def _next(self) -> Case | None:
        over = time.monotonic() - self._start > 60 * self.arguments.minutes
        with self._lock:
            return None if self._errors or (over and self.arguments.rounds is None) else next(self._cases, None)

    def _work(self) -> None:
        try:
            with Worker(self.arguments.patience) as worker:
                while (case := self._next()) is not None:
                    start = time.monotonic()
                    outcome = worker.run(case)
                    self._keep(case, outcome, worker, time.monotonic() - start)
        except BaseException as error:  # raised in the main thread
            self._errors.append(error)

    def _keep(self, case: Case, outcome: Outcome, worker: Worker, seconds: float) -> None:
        signature = (case.kind, *outcome.signature)
        with self._lock:
            self.counts[case.kind][outcome.result] += 1
            self.seconds[case.kind] += seconds
            is_new = outcome.is_finding and signature not in self.findings
            if is_new:
                self.findings[signature] = {"case": str(case), "finding": outcome.result, "detail": outcome.detail}
            self._bar.set_postfix(findings=len(self.findings), refresh=False)
            self._bar.update()
        if is_new and outcome.result == FUZZER:
            self._bar.write(f"{case}: {outcome.result}\n{outcome.detail}")
        elif is_new:
            file = self._write(find_kind(case.kind).case(case.seed or 0), outcome, worker)
            self.findings[signature]["file"] = str(file)
            last = outcome.detail.strip().splitlines()[-1:] or [""]
            shown = f"{outcome.result} {outcome.place} {last[0][:300]}"
            self._bar.write(f"{case}: {shown}\n  repeat with: python -m tests.fuzz --case {case}  (smaller: {file})")

    def _write(self, case: Case, outcome: Outcome, worker: Worker) -> Path:
        """Write the smallest case with this finding."""
        seconds = 0 if outcome.result == "hang" else 20
        smallest = minimize(case, lambda other: worker.run(other).signature == outcome.signature, seconds)
        folder: Path = self.arguments.findings
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"\W+", "-", f"{case.kind}-{outcome.result}-{case.seed}")
        file = folder / f"{name}.json"
        file.write_text(smallest.to_json() + "\n", encoding="utf-8")
        return file

    def print_counts(self) -> None:
        """Print the number of cases by kind and outcome."""
        print(f"{'kind':28}{'cases':>9}{'accepted':>10}{'refused':>9}{'findings':>10}{'ms/case':>9}")
        for name, counts in (*self.counts.items(), ("all", sum(self.counts.values(), Counter()))):
            n_cases, fine = counts.total(), counts["accepted"] + counts["refused"]
            seconds = self.seconds.total() if name == "all" else self.seconds[name]
            print(
                f"{name:28}{n_cases:9,}{counts['accepted']:10,}{counts['refused']:9,}{n_cases - fine:10,}"
                f"{1000 * seconds / max(n_cases, 1):9.0f}"
            )
        print(f"{len(self.findings)} different findings" if self.findings else "no findings")

    def to_plain(self) -> dict[str, object]:
        """Return the counts and findings for JSON."""
        return {
            "seed": self.arguments.seed,
            "minutes": (time.monotonic() - self._start) / 60,
            "cases": {name: dict(counts) for name, counts in self.counts.items()},
            "findings": list(self.findings.values()),
        }


if __name__ == "__main__":
    sys.exit(main())
