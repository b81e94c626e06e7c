"""Expected topic proportions on a grid of labels and numbers: how prevalent a topic is at a year, for a genre."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.errors import InputError, warn
from metalda.meta.margins import find_margin
from metalda.meta.references import SAME
from metalda.meta.terms import ColumnValue
from metalda.models.curation import Parts
from metalda.models.effects import EffectTables
from metalda.models.estimator import available_if
from metalda.models.fitted import Fitted
from metalda.models.weights import Draws, Weights, add_parts, label_weights, table_of_draws

if TYPE_CHECKING:
    import pandas as pd

ColumnValues = Mapping[str, ColumnValue | Collection[ColumnValue]]  # values of columns

MOST_POINTS = 100_000  # of a grid
N_POINTS = 40  # of a number
MAX_LINES = 8  # labels that are shown side by side
_OTHER_COLUMNS = {"topic", "name", "mean", "low", "high", "reference", "chains"}  # of the table
_SPREAD = 2  # standard deviations around the average, for a number whose range the design does not show


class PrevalenceTables(EffectTables):
    """Methods that return topic proportions by labels and numbers."""

    @available_if(lambda model: model._has_label_effects)
    def prevalence_at(self, at: ColumnValues, interval: float = 0.9, *, contrast: str | None = None) -> pd.DataFrame:
        """Return the topic proportions expected of documents with given labels and numbers.

        Parameters
        ----------
        at : mapping
            Values of columns, in their own units: ``{"year": range(1920, 2021, 5), "genre": ["Drama", "Comedy"]}``.
            Every combination of them is a point of the grid. Proportions are averaged over the training documents (a
            sample of 1,000 or fewer if there are many), which keep their labels and numbers of other columns.
        interval : float
            Posterior probability of the intervals.
        contrast : str, optional
            A column of `at`: return differences from its first value instead of proportions.

        Returns
        -------
        DataFrame
            A row for each point and topic: the columns of `at`, `topic`, `mean`, and the interval `low` to `high`. With
            `contrast`, the column `reference` is the first value, and `mean` is the proportion at the point minus that
            at the reference. Intervals describe the expected proportion, not those of single documents. They are NaN
            for DMR, whose weights are point estimates, and if there are too few draws.

        Examples
        --------
        >>> import pandas as pd
        >>> from metalda import Corpus, MetaLDA
        >>> frame = pd.DataFrame({"text": ["cat dog cat", "rain sun rain"] * 20, "year": range(1980, 2020)})
        >>> corpus = Corpus.from_frame(frame, numbers="year")
        >>> model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(corpus)
        >>> model.prevalence_at({"year": [1985, 2015]})[["year", "topic"]].values.tolist()
        [[1985, 0], [1985, 1], [2015, 0], [2015, 1]]
        """
        return prevalence_table(self.fitted_, at, interval, contrast)


def require_columns(fitted: Fitted, *columns: str | None) -> None:
    """Raise InputError unless the model learned from columns of labels or numbers, with these among them."""
    label_weights(fitted)
    terms = fitted.labels.terms
    if terms is None:  # of a Mallet model
        raise InputError(
            "the labels of the model have no columns; read them from columns (--labels), or see label_proportions "
            "(metalda effects --proportions)"
        )
    for column in columns:
        if column is not None:
            terms.require_column(column)


def default_values(fitted: Fitted, column: str, n_points: int = N_POINTS) -> list[ColumnValue]:
    """Return the labels of a column by name, or points over the range of a number in the training documents."""
    terms = fitted.labels.terms
    assert terms is not None, "require_columns was called"
    if column in terms.labels:
        return list(terms.labels[column])
    low, high = _range(fitted, column)
    step = (high - low) / max(n_points - 1, 1)
    points = np.linspace(low, high, n_points) if n_points > 1 else np.array([(low + high) / 2])
    if step > 0:
        points = np.round(points, max(1 - math.floor(math.log10(step)), 0))
    whole = all(point.is_integer() for point in points.tolist())
    return list(dict.fromkeys(int(point) if whole else point for point in points.tolist()))


def frequent_values(fitted: Fitted, column: str) -> list[ColumnValue]:
    """Return the most frequent labels of a column, in its order, or the smallest, middle and largest number."""
    terms = fitted.labels.terms
    assert terms is not None, "require_columns was called"
    if column in terms.numbers:
        return default_values(fitted, column, 3)
    shares = terms.labels[column]
    frequent = sorted(shares, key=lambda name: -shares[name])[:MAX_LINES]
    return [name for name in shares if name in frequent]


def _range(fitted: Fitted, column: str) -> tuple[float, float]:
    """Return the smallest and the largest number in the training documents, in its own units."""
    design = fitted.labels
    assert design.terms is not None, "a model with numbers has terms"
    number, curve = design.terms.numbers[column], design.terms.curves.get(f"s({column})")
    if curve is not None:
        ends = curve.low, curve.high
    elif column in design.names:
        values = design.matrix[:, [design.names.index(column)]]
        ends = float(values.min()), float(values.max())
    else:  # in interactions only
        values = design.matrix[:, _with_labels(fitted, column)]
        ends = (float(values.min()), float(values.max())) if values.nnz else (-_SPREAD, _SPREAD)
    return number.center + ends[0] * number.scale, number.center + ends[1] * number.scale


def _with_labels(fitted: Fitted, column: str) -> list[int]:
    """Return the columns of the design that hold a number for documents with some labels, such as genre=War:year."""
    design = fitted.labels
    assert design.terms is not None, "a model with numbers has terms"
    wanted = {
        ":".join(factor.column for factor in term)
        for term in design.terms.terms
        if sum(factor.column in design.terms.numbers for factor in term) == 1
        and any(factor.column == column for factor in term)
    }
    groups = [design.group_names[group] for group in design.groups]
    return [j for j, group in enumerate(groups) if group in wanted]


def shown_value(column: str, value: ColumnValue) -> ColumnValue:
    """Return a value of a column as it is in the data: Drama for the label ``genre=Drama``."""
    return value.removeprefix(f"{column}=") if isinstance(value, str) else value


def prevalence_table(
    fitted: Fitted, at: ColumnValues, interval: float = 0.9, contrast: str | None = None
) -> pd.DataFrame:
    """Return expected topic proportions, or differences of them, on a grid."""
    weights, terms = label_weights(fitted), fitted.labels.terms
    if terms is None:
        raise InputError("the model has no columns of labels or numbers")
    if not isinstance(at, Mapping) or not at:
        raise InputError("at is a mapping from columns to values, such as {'year': [1950, 2000]}")
    values = {str(column): _values(column, own) for column, own in at.items()}
    shape = tuple(map(len, values.values()))
    if np.prod(shape, dtype=float) * weights.n_topics > MOST_POINTS * 100:
        raise InputError(f"the grid has {np.prod(shape, dtype=float):,.0f} points: give fewer values")
    if contrast is not None and (contrast not in values or len(values[contrast]) < 2):
        raise InputError(f"contrast={contrast!r}: name a column of at that has two values or more")
    columns = terms.grid(values, fitted.label_names)
    rows = NamedMatrix(sparse.csr_array(columns.matrix), columns.names).select(fitted.label_names).matrix
    rows = sparse.csr_array(sparse.hstack([rows, np.ones((rows.shape[0], 1))]))
    is_identified = bool(np.abs(rows @ weights.design.null_space).max(initial=0) <= SAME)
    if not is_identified:  # the training documents do not tell alpha of a point
        warn(
            "the training data do not identify the proportions at some points of the grid: the prior decides them. No "
            "combination of training documents has such labels"
        )
    axis = None if contrast is None else list(values).index(contrast)

    margin = find_margin(terms, fitted.labels, values)

    def proportions(draw: Draws, parts: Parts) -> NDArray[np.float64]:
        found = add_parts(margin.mean_proportions(np.asarray(draw, np.float64)), parts)
        if axis is None:
            return found
        grid = np.moveaxis(found.reshape(*shape, -1), axis, 0)
        return np.moveaxis(grid[1:] - grid[:1], 0, axis).reshape(-1, found.shape[1])

    drawn = weights.compute(proportions, margin.n_rows * weights.chains[0].shape[2])
    kept = {column: own[1:] if column == contrast else own for column, own in values.items()}
    table = table_of_draws(weights, _named(kept, values, contrast, weights), "mean", drawn, interval)
    table.attrs["is_identified"] = is_identified
    return table


def _named(
    kept: Mapping[str, Sequence[ColumnValue]],
    values: Mapping[str, Sequence[ColumnValue]],
    contrast: str | None,
    weights: Weights,
) -> Mapping[str, ArrayLike]:
    """Return the columns of the grid and the topic, a value for each row of the table."""
    points, n_topics = list(product(*kept.values())), weights.n_topics
    named: dict[str, ArrayLike] = {
        column: [point[i] for point in points for _ in range(n_topics)] for i, column in enumerate(kept)
    }
    if contrast is not None:
        named["reference"] = [values[contrast][0]] * (len(points) * n_topics)
    for column in _OTHER_COLUMNS.intersection(kept):
        if column != "name" or "name" in weights.columns:
            raise InputError(f"a column with the name {column!r} cannot be shown: rename it")
    return {**named, **{name: np.tile(column, len(points)) for name, column in weights.columns.items()}}


def _values(column: str, values: ColumnValue | Collection[ColumnValue]) -> list[ColumnValue]:
    """Return the distinct values of a column as a list; a single value is a list of one."""
    several: Iterable[Any] = (
        values if isinstance(values, Iterable) and not isinstance(values, str | bytes) else [values]
    )
    own = [value.item() if isinstance(value, np.generic) else value for value in several]
    if not own:
        raise InputError(f"at[{column!r}] has no values")
    if any(isinstance(value, list | tuple | set | dict | np.ndarray) for value in own):
        raise InputError(f"at[{column!r}] must be a value or a list of values, not a list of lists")
    return list(dict.fromkeys(own))
