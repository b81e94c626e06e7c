"""Tables of the paper: cells with our results and the paper's, and the definition of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from metalda.errors import InputError
from metalda.evaluation.runs import Job, RunStore
from metalda.experiments.paper import BY_LABEL, ITERATIONS, MODELS, Figure
from metalda.experiments.plots import Draw
from metalda.experiments.training import DATASETS, Key
from metalda.utils.checks import JsonObject

C = TypeVar("C")  # a column

BETTER, WITHIN, WORSE = "better", "within", "worse"


class CellRun(Protocol):
    """A run whose result belongs to a cell."""

    @property
    def key(self) -> Key:
        """Return the key of the cell."""

    @property
    def iterations(self) -> int | None:
        """Return the length of training, or None. Cells are made from the longest runs."""


@dataclass(frozen=True)
class PaperCell:
    """Mean and standard deviation over our runs, and the paper's result."""

    key: Key
    values: tuple[float, ...]
    iterations: int | None
    paper: Figure | None = None
    lower_is_better: bool = True

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float | None:
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Return the relative difference from the paper's result."""
        return None if self.paper is None else (self.mean - self.paper.mean) / abs(self.paper.mean)

    @property
    def verdict(self) -> str | None:
        """Return "better" or "worse", or that the difference is within the sum of both standard deviations."""
        if self.paper is None:
            return None
        difference = self.mean - self.paper.mean
        if abs(difference) <= (self.deviation or 0) + (self.paper.deviation or 0):
            return WITHIN
        return BETTER if (difference < 0) == self.lower_is_better else WORSE

    def show(self, form: str) -> str:
        """Format as ``727 ± 4 (774 ± 9: -6.1 %, better)``."""
        ours = _figure(self.mean, self.deviation, form)
        if self.iterations not in (None, ITERATIONS):
            ours += f", {self.iterations:,} iterations"
        if self.paper is None:
            return ours
        theirs = _figure(self.paper.mean, self.paper.deviation, form)
        # A share of a figure near 0, such as NPMI, has no meaning.
        change = f"{self.difference:+.1%}" if self.lower_is_better else f"{self.mean - self.paper.mean:+{form}}"
        return f"{ours} ({theirs}: {change}, {self.verdict})"

    def to_plain(self) -> JsonObject:
        """Return the cell as plain data."""
        paper = None if self.paper is None else self.paper._asdict()
        ours = {"mean": self.mean, "deviation": self.deviation, "runs": len(self.values), "iterations": self.iterations}
        return {**self.key._asdict(), **ours, "paper": paper, "difference": self.difference, "verdict": self.verdict}


def gather(
    results: Iterable[tuple[CellRun, JsonObject]],
    value: Callable[[JsonObject], float | None],
    paper: Mapping[tuple[str, str, int | None], Figure],
    *,
    lower_is_better: bool = True,
) -> list[PaperCell]:
    """Return a cell for every dataset, model and number of topics, from its longest runs."""
    found: dict[Key, dict[int | None, list[float]]] = {}
    for job, result in results:
        figure = value(result)
        if figure is not None:
            found.setdefault(job.key, {}).setdefault(job.iterations, []).append(figure)
    longest = {key: max(by_iterations.items(), key=lambda item: item[0] or 0) for key, by_iterations in found.items()}
    return [
        PaperCell(key, tuple(values), iterations, paper.get(key[:3]), lower_is_better)
        for key, (iterations, values) in sorted(longest.items(), key=_order)
    ]


def _order(item: tuple[Key, object]) -> tuple[str, int, int, float]:
    """Return a sort key: models in the order of the paper."""
    key = item[0]
    return key.dataset, list(MODELS).index(key.model), key.topics or 0, key.share or 0


def as_markdown(cells: Sequence[PaperCell], form: str) -> str:
    """Format a table per dataset, with a row per model and a column per number of topics, in total or per label."""
    lines: list[str] = []
    for dataset in dict.fromkeys(cell.key.dataset for cell in cells):
        for what, by_label in (("topics", False), ("topics per label", True)):
            own = [cell for cell in cells if cell.key.dataset == dataset and (cell.key.model in BY_LABEL) == by_label]
            if own:
                lines += [*_grid(f"{dataset}, {what}", own, form), ""]
    return "\n".join(lines)


def _grid(corner: str, cells: Sequence[PaperCell], form: str) -> list[str]:
    topics = sorted({cell.key.topics for cell in cells}, key=lambda k: k or 0)
    columns = {k: "–" if k is None else str(k) for k in topics}
    return grid(corner, columns, {(cell.key.model, cell.key.topics): cell.show(form) for cell in cells})


def grid(corner: str, columns: Mapping[C, str], texts: Mapping[tuple[str, C], str]) -> list[str]:
    """Return the lines of a Markdown table from texts by row and column; missing texts are empty cells."""
    lines = [f"| {' | '.join([corner, *columns.values()])} |", "|---" * (len(columns) + 1) + "|"]
    rows = dict.fromkeys(row for row, _ in texts)
    return lines + [f"| {' | '.join([row, *(texts.get((row, column), '') for column in columns)])} |" for row in rows]


def _figure(mean: float, deviation: float | None, form: str) -> str:
    return f"{mean:{form}}" + ("" if deviation is None else f" ± {deviation:{form}}")


@dataclass(frozen=True)
class Plan:
    """The part of an experiment to run and to show."""

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    topics: tuple[int, ...]  # empty: those of the paper
    seeds: tuple[int, ...]
    iterations: int
    data: Path | None = None  # folder of the corpora; None for the default of `metalda.datasets`

    def __post_init__(self) -> None:
        for kind, given, there in (("dataset", self.datasets, DATASETS), ("model", self.models, tuple(MODELS))):
            for name in given:
                if name not in there:
                    raise InputError(f"the experiments have no {kind} {name!r}; they have {', '.join(there)}")

    def with_topics(self, topics: tuple[int, ...]) -> Plan:
        """Return the same plan with these numbers of topics, unless it has its own."""
        return self if self.topics else replace(self, topics=topics)

    def includes(self, key: Key) -> bool:
        """Return whether a cell belongs to the plan."""
        return key.dataset in self.datasets and key.model in self.models


class PaperTable(NamedTuple):
    """A table of our results and the paper's: as Markdown, as cells, and as a plot."""

    text: str
    cells: Sequence[PaperCell]
    draw: Draw


class Experiment(NamedTuple):
    """A table or figure of the paper."""

    name: str  # on the command line
    title: str
    datasets: tuple[str, ...]  # by default
    models: tuple[str, ...]
    jobs: Callable[[Plan], Iterable[Job]]
    table: Callable[[Plan, RunStore], PaperTable]
    finish: Callable[[Plan, RunStore], None] | None = None  # called when all jobs are done
    shared: bool = True  # whether several jobs may run at a time
