"""Cases and their kinds: a case is files and options, a pure function of the kind and a seed."""

from __future__ import annotations

import base64
import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = ("inputs", "words", "datasets", "saved", "commands")
ROOT = Path(__file__).parents[2]
REGRESSIONS = Path(__file__).parent / "regressions"


@dataclass(frozen=True)
class Case:
    """One input: files that are written to an empty folder, and plain options for the check of its kind."""

    kind: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{'-' if self.seed is None else self.seed}"

    def changed(self, **changes: Any) -> Case:
        """Return a case with other files or options, which no longer follows from a seed."""
        return replace(self, seed=None, **changes)

    def to_json(self) -> str:
        files = {name: _encode(data) for name, data in self.files.items()}
        return json.dumps({"kind": self.kind, "seed": self.seed, "options": self.options, "files": files}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Case:
        saved = json.loads(text)
        files = {name: _decode(data) for name, data in saved["files"].items()}
        return cls(saved["kind"], files, saved["options"], saved["seed"])

    def write(self, folder: Path) -> None:
        """Write the files; the options "pipes" and "links" name files that are no regular files."""
        pipes, links = self.options.get("pipes", ()), self.options.get("links", {})
        for name in (*self.files, *pipes, *links):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        for name in pipes:
            os.mkfifo(folder / name)
        for name, target in links.items():
            os.symlink(target, folder / name)


def _encode(data: bytes) -> dict[str, str]:
    """Text stays readable in a regression file."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
    return {"text": text}


def _decode(saved: Mapping[str, str]) -> bytes:
    return saved["text"].encode() if "text" in saved else base64.b64decode(saved["base64"])


@dataclass(frozen=True)
class Kind:
    """A kind of case.

    Parameters
    ----------
    make : callable
        ``make(rng)`` returns files and options.
    check : callable
        ``check(case)`` runs in the folder of the case. It returns "accepted" or "refused", or raises `Violation`.
    prepare : callable
        Called once in a worker, outside of the time limit.
    every : int
        A slow kind runs in one of this number of rounds.
    """

    name: str
    make: Callable[[random.Random], tuple[dict[str, bytes], dict[str, Any]]]
    check: Callable[[Case], str]
    prepare: Callable[[], None] = lambda: None
    every: int = 1

    def case(self, seed: int) -> Case:
        files, options = self.make(random.Random(f"{self.name}:{seed}"))
        return Case(self.name, files, json.loads(json.dumps(options)), seed)


class Violation(Exception):
    """A promise that the program broke: its category, and what happened."""

    def __init__(self, category: str, detail: str) -> None:
        super().__init__(f"{category}: {detail}")
        self.category = category
        self.detail = detail


def all_kinds() -> dict[str, Kind]:
    """Return every kind by its name."""
    modules = [import_module(f"tests.fuzz.{name}") for name in MODULES]
    return {kind.name: kind for module in modules for kind in module.kinds()}


def find_kind(name: str) -> Kind:
    """Return a kind; the kinds with planted defects, for the tests of the fuzzer, are found by name only."""
    if name.startswith("planted-"):
        return next(kind for kind in import_module("tests.fuzz.planted").kinds() if kind.name == name)
    return all_kinds()[name]


def refusing(function: Callable[[], Any]) -> tuple[str, Any]:
    """Call a function: ("accepted", its result), or ("refused", the message), which has to be one line."""
    from sklearn.utils._param_validation import InvalidParameterError

    from metalda.errors import InputError, MissingExtraError

    try:
        return "accepted", function()
    except (InputError, MissingExtraError, InvalidParameterError) as error:
        message = str(error)
        if len(message.splitlines()) != 1:
            raise Violation("message", f"{len(message.splitlines())} lines instead of one: {message!r}") from error
        return "refused", message
