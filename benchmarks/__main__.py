"""All figures with their targets: ``python -m benchmarks [--only lda,threads] [--json FILE]``.

Needs the extra `bench`, the real corpora, half an hour, and an idle machine. `--quick` only checks that it runs.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from benchmarks.cases import CASES, Row


def print_rows(rows: Iterable[Row], file: Path | None) -> None:
    """Print rows as they are measured, and write them to a file if there is one."""
    done = []
    print(f"{'work':<50} {'figure':>8} {'':<22} {'floor':>6} {'goal':>6}  verdict", flush=True)
    for row in rows:
        done.append(asdict(row))
        bars = f"{row.floor:>6g} {row.goal:>6g}"
        print(f"{row.work:<50} {row.figure:>8.2f} {row.unit:<22} {bars}  {row.verdict:<7} {row.detail}", flush=True)
        if file:
            content = {"machine": platform.processor() or platform.machine(), "rows": done}
            file.write_text(json.dumps(content, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", help="some of: " + ", ".join(CASES))
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--quick", action="store_true", help="few sweeps, to check that the benchmarks run")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(CASES)
    print_rows((row for name in chosen for row in CASES[name](options.quick)), options.json)


if __name__ == "__main__":
    main()
