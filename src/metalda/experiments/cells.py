"""Cells of a table: our runs, gathered, beside what the paper printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from metalda.experiments.paper import BY_LABEL, MODELS, SWEEPS, Figure

BETTER, WITHIN, WORSE = "better", "within", "worse"


class Key(NamedTuple):
    """Which cell of a table."""

    dataset: str
    model: str
    topics: int | None
    share: float | None = None  # of the documents that were trained on, where that is what varies


class Counted(Protocol):
    """A job whose results belong to a cell."""

    @property
    def key(self) -> Key:
        """The cell."""

    @property
    def sweeps(self) -> int | None:
        """How long it was trained: the longer, the better; None where that does not matter."""


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation over runs, beside the paper's."""

    key: Key
    values: tuple[float, ...]
    sweeps: int | None
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
        """From the paper's figure, as a share of it."""
        return None if self.paper is None else (self.mean - self.paper.mean) / abs(self.paper.mean)

    @property
    def verdict(self) -> str | None:
        """Within: no further from the paper's mean than its standard deviation and ours together."""
        if self.paper is None:
            return None
        difference = self.mean - self.paper.mean
        if abs(difference) <= (self.deviation or 0) + (self.paper.deviation or 0):
            return WITHIN
        return BETTER if (difference < 0) == self.lower_is_better else WORSE

    def show(self, form: str) -> str:
        """``727 ± 4 (774 ± 9: -6.1 %, better)``."""
        ours = _figure(self.mean, self.deviation, form)
        if self.sweeps not in (None, SWEEPS):
            ours += f", {self.sweeps:,} sweeps"
        if self.paper is None:
            return ours
        theirs = _figure(self.paper.mean, self.paper.deviation, form)
        # A share of a figure near 0, as NPMI is, would say nothing.
        change = f"{self.difference:+.1%}" if self.lower_is_better else f"{self.mean - self.paper.mean:+{form}}"
        return f"{ours} ({theirs}: {change}, {self.verdict})"

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        paper = None if self.paper is None else self.paper._asdict()
        ours = {"mean": self.mean, "deviation": self.deviation, "runs": len(self.values), "sweeps": self.sweeps}
        return {**self.key._asdict(), **ours, "paper": paper, "difference": self.difference, "verdict": self.verdict}


def gather(
    results: Iterable[tuple[Counted, dict[str, Any]]],
    value: Callable[[dict[str, Any]], float | None],
    paper: Mapping[tuple[str, str, int | None], Figure],
    *,
    lower_is_better: bool = True,
) -> list[Cell]:
    """A cell for every dataset, model and number of topics, from its longest runs."""
    found: dict[Key, dict[int | None, list[float]]] = {}
    for job, result in results:
        figure = value(result)
        if figure is not None:
            found.setdefault(job.key, {}).setdefault(job.sweeps, []).append(figure)
    longest = {key: max(by_sweeps.items(), key=lambda item: item[0] or 0) for key, by_sweeps in found.items()}
    return [
        Cell(key, tuple(values), sweeps, paper.get(key[:3]), lower_is_better)
        for key, (sweeps, values) in sorted(longest.items(), key=_order)
    ]


def _order(item: tuple[Key, Any]) -> tuple[Any, ...]:
    """Models as in the paper."""
    key = item[0]
    return key.dataset, list(MODELS).index(key.model), key.topics or 0, key.share or 0


def as_markdown(cells: Sequence[Cell], form: str) -> str:
    """A table for each dataset, a row for each model, a column for each number of topics, of all or by label."""
    lines: list[str] = []
    for dataset in dict.fromkeys(cell.key.dataset for cell in cells):
        for what, by_label in (("topics", False), ("topics per label", True)):
            own = [cell for cell in cells if cell.key.dataset == dataset and (cell.key.model in BY_LABEL) == by_label]
            if own:
                lines += [*_grid(f"{dataset}, {what}", own, form), ""]
    return "\n".join(lines)


def _grid(corner: str, cells: Sequence[Cell], form: str) -> list[str]:
    topics = sorted({cell.key.topics for cell in cells}, key=lambda k: k or 0)
    columns = {k: "–" if k is None else str(k) for k in topics}
    return grid(corner, columns, {(cell.key.model, cell.key.topics): cell.show(form) for cell in cells})


def grid(corner: str, columns: Mapping[Any, str], texts: Mapping[tuple[str, Any], str]) -> list[str]:
    """The lines of a Markdown table; texts are by row and column, and may be missing."""
    lines = [f"| {' | '.join([corner, *columns.values()])} |", "|---" * (len(columns) + 1) + "|"]
    rows = dict.fromkeys(row for row, _ in texts)
    return lines + [f"| {' | '.join([row, *(texts.get((row, column), '') for column in columns)])} |" for row in rows]


def _figure(mean: float, deviation: float | None, form: str) -> str:
    return f"{mean:{form}}" + ("" if deviation is None else f" ± {deviation:{form}}")
