"""The section of a report on topics over numbers: curves of expected proportions, for all documents and by label."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metalda.meta.terms import ColumnValue
from metalda.models.prevalence import ColumnValues, default_values, frequent_values, shown_value
from metalda.report.values import Grid, Numbers, cut, grid

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_POINTS, _FEW_POINTS = 30, 12
_MAX_CELLS = 300_000  # numbers in the section
_FEW_CELLS = 100_000  # above which a curve has few points


@dataclass(frozen=True)
class CurveGroup:
    """A curve for all documents, or a curve for each label of a column."""

    column: str | None  # None for all documents
    lines: tuple[str, ...]  # the most frequent labels of the column
    n_labels: int  # of the column
    mean: tuple[Grid, ...]  # [line][topic][point]
    low: tuple[Grid, ...]  # empty without intervals
    high: tuple[Grid, ...]
    is_identified: bool  # whether training documents have such labels


@dataclass(frozen=True)
class NumberSection:
    """Expected proportions of topics over one number."""

    name: str
    points: Numbers
    groups: tuple[CurveGroup, ...]
    left_out: int  # label columns without curves, to keep the file small


def summarize_prevalence(model: TopicModel, interval: float) -> tuple[NumberSection, ...]:
    """Summarize the topics over each number of the model; empty without numbers."""
    terms = model.fitted_.labels.terms
    if terms is None or not terms.numbers or not hasattr(model, "prevalence_at"):
        return ()
    vectors = () if model.schema_ is None else model.schema_.vectors  # curves over single dimensions say nothing
    n_topics, room = len(model.components_), _MAX_CELLS
    found = []
    for number in (number for number in terms.numbers if number not in vectors):
        n_lines = 1 + sum(len(frequent_values(model.fitted_, column)) for column in terms.labels)
        many = 3 * n_topics * n_lines * _POINTS * len(terms.numbers) > _FEW_CELLS
        points = default_values(model.fitted_, number, _FEW_POINTS if many else _POINTS)
        groups = []
        for column in (None, *terms.labels):
            n_own = 1 if column is None else len(frequent_values(model.fitted_, column))
            room -= 3 * n_topics * n_own * len(points)
            if column is None or room >= 0:
                n_labels = 0 if column is None else len(terms.labels[column])
                groups.append(_group(model, number, points, column, n_labels, interval))
        left_out = 1 + len(terms.labels) - len(groups)
        found.append(NumberSection(cut(number), tuple(map(float, points)), tuple(groups), left_out))
    return tuple(found)


def _group(
    model: TopicModel, number: str, points: list[ColumnValue], column: str | None, n_labels: int, interval: float
) -> CurveGroup:
    lines = [] if column is None else frequent_values(model.fitted_, column)
    at: ColumnValues = {number: points} if column is None else {column: lines, number: points}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few draws, as for effects; others are fields
        table = model.prevalence_at(at, interval)
    shape = max(len(lines), 1), len(points), len(model.components_)

    def curves(name: str) -> Iterator[Grid]:
        for own in table[name].to_numpy().reshape(shape):
            yield grid(own.T, 3)

    has_intervals = bool(np.isfinite(table["low"]).any())
    return CurveGroup(
        column=None if column is None else cut(column),
        lines=tuple(cut(str(shown_value(column or "", line))) for line in lines),
        n_labels=n_labels,
        mean=tuple(curves("mean")),
        low=tuple(curves("low")) if has_intervals else (),
        high=tuple(curves("high")) if has_intervals else (),
        is_identified=table.attrs["is_identified"],
    )
