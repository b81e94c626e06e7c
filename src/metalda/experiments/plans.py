"""What an experiment is asked for, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from metalda.errors import InputError
from metalda.experiments.cells import Cell, Key
from metalda.experiments.materials import DATASETS
from metalda.experiments.paper import MODELS
from metalda.experiments.runs import Job, RunStore


@dataclass(frozen=True)
class Plan:
    """Which part of an experiment."""

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    topics: tuple[int, ...]  # none: those of the paper
    seeds: tuple[int, ...]
    sweeps: int
    data: Path | None = None  # the folder with the corpora; None: wherever `metalda.datasets` looks

    def __post_init__(self) -> None:
        for kind, given, there in (("dataset", self.datasets, DATASETS), ("model", self.models, tuple(MODELS))):
            for name in given:
                if name not in there:
                    raise InputError(f"the experiments have no {kind} {name!r}; they have {', '.join(there)}")

    def with_topics(self, topics: tuple[int, ...]) -> Plan:
        """The same with these numbers of topics, unless others were asked for."""
        return self if self.topics else replace(self, topics=topics)

    def includes(self, key: Key) -> bool:
        """Whether a cell belongs to it."""
        return key.dataset in self.datasets and key.model in self.models


class Table(NamedTuple):
    """A table of the paper, ours: as Markdown, as cells, and as a picture."""

    text: str
    cells: Sequence[Cell]
    draw: Callable[[Any, Sequence[Cell]], None]  # on a matplotlib figure


class Experiment(NamedTuple):
    """A table or figure of the paper."""

    name: str  # on the command line
    title: str
    datasets: tuple[str, ...]  # by default
    models: tuple[str, ...]
    jobs: Callable[[Plan], Iterable[Job]]
    table: Callable[[Plan, RunStore], Table]
    finish: Callable[[Plan, RunStore], None] | None = None  # what is to be done once all jobs are
    shared: bool = True  # whether several jobs at a time do it no harm
