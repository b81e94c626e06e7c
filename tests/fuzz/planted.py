"""Kinds with planted defects: the tests of the fuzzer check that it finds them."""

from __future__ import annotations

import ctypes
import random
import time
from pathlib import Path

from tests.fuzz.cases import Case, Kind, Violation


def kinds() -> list[Kind]:
    return [
        Kind("planted-nothing", _make, lambda case: "accepted"),
        Kind("planted-crash", _make, lambda case: str(ctypes.string_at(0))),
        Kind("planted-hang", _make, lambda case: str(time.sleep(3600))),
        Kind("planted-memory", _make, _fill_memory),
        Kind("planted-traceback", _make, lambda case: str(1 // 0)),
        Kind("planted-loss", _make, _lose),
    ]


def _make(rng: random.Random) -> tuple[dict[str, bytes], dict[str, object]]:
    lines = [rng.choice((b"cat", b"dog")) for _ in range(20)]
    lines.insert(rng.randrange(20), b"lost")
    return {"data": b"\n".join(lines)}, {}


def _fill_memory(case: Case) -> str:
    return "accepted" if len(b"x" * (5 << 28)) else "refused"


def _lose(case: Case) -> str:
    if b"lost" in Path("data").read_bytes():
        raise Violation("documents lost", "one")
    return "accepted"
