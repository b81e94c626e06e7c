"""Terms of a formula: which columns of documents inform their topics, and in which form.

``section + s(year) + section:year`` has a weight for each section, a smooth curve over the years, and a slope over the
years for each section. A term becomes columns of the design: labels stay 0 or 1, a number is standardized, and a curve
is a number plus a few columns for its curvature.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cached_property, reduce
from itertools import compress, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import NamedMatrix, Schema
from metalda.corpus.columns import columns_of_labels
from metalda.errors import InputError
from metalda.meta.curves import Curve, are_finite
from metalda.meta.formulas import Factor, Term, parse
from metalda.meta.label_index import LabelIndex

MOST_COLUMNS = 200_000  # of a term
LEVELS = "/"  # between the levels of a nested label
ColumnValue = str | float  # a label, or a number

NO_COLUMN = "label"  # the name of the column of labels that come from none


@dataclass(frozen=True)
class Number:
    """How a numeric column is standardized: as in the training documents."""

    center: float
    scale: float

    def standardize(self, values: NDArray[np.float64], given: Sequence[float] | None) -> NDArray[np.float64]:
        """Return standardized numbers, from values that a corpus has standardized with a `given` scale or not."""
        if given is not None and tuple(given) == (self.center, self.scale):
            return values
        own = values if given is None else given[0] + values * given[1]
        return (own - self.center) / self.scale


class DesignColumns(NamedTuple):
    """Columns of the design [document, column], with their names and the groups that share a variance."""

    matrix: sparse.csc_array
    names: tuple[str, ...]
    groups: tuple[str, ...]

    def interact(self, other: DesignColumns, wanted: Iterable[str] | None) -> DesignColumns:
        """Return the products of columns of this with columns of the other.

        Without names that are `wanted`, they are the products that some document has.
        """
        pairs = self._common(other) if wanted is None else self._named(other, wanted)
        if len(pairs) > MOST_COLUMNS:
            raise InputError(
                f"{self.groups[0]}:{other.groups[0]} has {len(pairs):,} columns in these documents, and at most "
                f"{MOST_COLUMNS:,} are possible; leave rare labels out"
            )
        left, right = np.array(pairs, np.int64).reshape(-1, 2).T
        return DesignColumns(
            self.matrix[:, left].multiply(other.matrix[:, right]).tocsc(),
            tuple(f"{self.names[i]}:{other.names[j]}" for i, j in pairs),
            tuple(f"{self.groups[i]}:{other.groups[j]}" for i, j in pairs),
        )

    def _common(self, other: DesignColumns) -> list[tuple[int, int]]:
        """Return the pairs of columns that are not 0 in the same document, in their order."""
        counts = sparse.csr_array((self.matrix != 0).astype(np.int64).T @ (other.matrix != 0).astype(np.int64))
        counts.sort_indices()
        left = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        return list(zip(left.tolist(), counts.indices.tolist(), strict=True))

    def _named(self, other: DesignColumns, wanted: Iterable[str]) -> list[tuple[int, int]]:
        """Return the pairs of columns whose products are wanted, or are parts of wanted products, in their order."""
        left, right = ({name: j for j, name in enumerate(own.names)} for own in (self, other))
        pairs = set()
        for name in wanted:
            colons = [i for i, character in enumerate(name) if character == ":"]
            for i, first in enumerate(colons):
                if (own := left.get(name[:first])) is None:
                    continue
                ends = *colons[i + 1 :], len(name)
                pairs |= {(own, right[part]) for end in ends if (part := name[first + 1 : end]) in right}
        return sorted(pairs)

    @classmethod
    def join(cls, parts: Sequence[DesignColumns]) -> DesignColumns:
        """Return the columns of all parts, each name once: a number and its curve share a column."""
        names = [name for part in parts for name in part.names]
        groups = [group for part in parts for group in part.groups]
        first = {name: j for j, name in reversed(list(enumerate(names)))}
        kept = sorted(first.values())
        matrix = sparse.hstack([part.matrix for part in parts], format="csc")[:, kept]
        return cls(matrix, tuple(names[j] for j in kept), tuple(groups[j] for j in kept))


class Values(NamedTuple):
    """The labels [document, label] and the standardized numbers of documents, by column."""

    labels: Mapping[str, sparse.csc_array]
    numbers: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a formula, fitted to the labels of the training documents.

    Without a formula, every label and number is a term, unchanged.

    Parameters
    ----------
    formula : str, optional
    labels : mapping
        Names of the labels of each column, and the share of the documents that have them.
    numbers : mapping
    curves : mapping
        By ``s(column)``.
    """

    formula: str | None
    labels: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)

    @classmethod
    def fit(cls, formula: str | None, labels: NamedMatrix, schema: Schema | None) -> Terms:
        """Find the columns that a formula names, the scale of numbers, and the knots of curves."""
        n_names, scales, matrix = len(labels.names), _scales(schema), labels.matrix
        from_columns = schema is not None and schema.has_labels
        owners = ("",) * n_names if schema is None or not from_columns else columns_of_labels(labels.names, schema)
        shares = np.bincount(matrix.indices, minlength=n_names) / max(len(labels), 1)
        is_number = np.bincount(matrix.indices[matrix.data != 1], minlength=n_names) > 0
        known: dict[str, dict[str, float]] = {}
        numbers: dict[str, Number] = {}
        for j, (name, owner) in enumerate(zip(labels.names, owners, strict=True)):
            if is_number[j] or name in scales:
                numbers[name] = cls._number(formula, labels, j, scales.get(name))
            elif formula is not None and not from_columns:
                known[name] = {name: float(shares[j])}
            else:
                known.setdefault(owner or NO_COLUMN, {})[name] = float(shares[j])
        if formula is None:
            return cls(None, known, numbers)
        used = [factor for term in parse(formula) for factor in term]
        for factor in used:
            _require_column(factor, known, numbers, formula)
        columns = {factor.column for factor in used}
        known = {column: own for column, own in known.items() if column in columns}
        numbers = {column: own for column, own in numbers.items() if column in columns}
        fitted = cls(formula, known, numbers)
        curves = {
            factor.name: Curve.fit(factor.df, fitted._standardized(labels, scales, factor.column), factor.name)
            for factor in used
            if factor.df is not None
        }
        return cls(formula, known, numbers, curves)

    @staticmethod
    def _number(formula: str | None, labels: NamedMatrix, column: int, scale: Sequence[float] | None) -> Number:
        if scale is not None:
            return Number(float(scale[0]), float(scale[1]))
        if formula is None:  # the numbers of y are used as they are
            return Number(0.0, 1.0)
        values = labels.matrix[:, [column]].toarray()[:, 0]
        return Number(float(values.mean()), float(values.std()) or 1.0)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        if self.formula is not None:
            return parse(self.formula)
        return tuple((Factor(column),) for column in (*self.labels, *self.numbers))

    @cached_property
    def label_names(self) -> frozenset[str]:
        """Return the names of the labels and numbers that the terms are made of."""
        return frozenset(name for own in self.labels.values() for name in own) | frozenset(self.numbers)

    def fit_columns(self, labels: NamedMatrix, schema: Schema | None, resolution: int | None) -> NamedMatrix:
        """Return the columns of the design for the training documents, without those that no document has.

        Of a number with more than `resolution` distinct values, documents get the averages of as many quantiles.
        """
        if self.formula is None and not self.numbers:
            return labels
        products = self.products(*self._read(labels, schema, resolution))
        for term, own in zip(self.terms, products, strict=True):
            if own.matrix.nnz == 0:
                name = ":".join(factor.name for factor in term)
                raise InputError(
                    f"prevalence={self.formula!r}: no document has {name}, so nothing can be learned of it"
                )
        found = DesignColumns.join(products)
        has = np.diff(found.matrix.indptr) > 0
        columns = NamedMatrix(sparse.csr_array(found.matrix), found.names)
        return columns.select(labels.names if self.formula is None else compress(found.names, has))

    def drop_unused(self, labels: NamedMatrix, schema: Schema | None) -> NamedMatrix:
        """Drop labels of columns that the formula does not name."""
        if self.formula is None or schema is None or not schema.has_labels:
            return labels
        owners = columns_of_labels(labels.names, schema)
        used = {"", NO_COLUMN, *self.labels, *self.numbers}
        return labels.select([name for name, own in zip(labels.names, owners, strict=True) if used & {name, own}])

    def design_columns(self, labels: NamedMatrix, schema: Schema | None, names: Sequence[str]) -> NamedMatrix:
        """Return the columns of the design with these names for new documents."""
        if self.formula is None and not self.numbers:
            return labels.select(names)
        found = DesignColumns.join(self.products(*self._read(labels, schema), names))
        return NamedMatrix(sparse.csr_array(found.matrix), found.names).select(names)

    def groups_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the groups of columns of the design: those of one group share a variance.

        KeyError for a name that no column can have.
        """
        group_of: dict[str, str] = {}
        labels = {column: sparse.csc_array((1, len(own))) for column, own in self.labels.items()}
        numbers = {column: np.zeros(1) for column in self.numbers}
        for found in self.products(labels, numbers, names):
            group_of |= dict(zip(found.names, found.groups, strict=True))
        return tuple(group_of[name] for name in names)

    def is_curve(self, name: str) -> bool:
        """Return whether a column of the design is a part of a curve, whose weight alone says nothing."""
        return any(part.rpartition(" ")[0] in self.curves for part in name.split(":"))

    def factors_of(self, name: str) -> list[str]:
        """Return the columns whose product a column of the design is; labels may contain colons."""
        parts, factors = name.split(":"), []
        while parts:
            sizes = range(len(parts), 0, -1)
            size = next((n for n in sizes if ":".join(parts[:n]) in self.label_names), 1)
            factors.append(":".join(parts[:size]))
            parts = parts[size:]
        return factors

    def require_column(self, column: str) -> None:
        """Raise InputError if the terms have no column with this name."""
        if column not in self.labels and column not in self.numbers:
            known = *self.labels, *self.numbers
            found = _suggestion(column, known)
            raise InputError(f"the model has no column {column!r}; it has {_listed(known)}{found and '. ' + found}")

    def grid(self, at: Mapping[str, Sequence[ColumnValue]], names: Sequence[str] | None = None) -> DesignColumns:
        """Return the columns at every combination of values, the last column of `at` fastest.

        Interactions are those among `names`, or all that are not 0.

        Labels that are not given have their shares in the training documents, and numbers are average.
        """
        return DesignColumns.join(self.products(*self.grid_values(at), names))

    def grid_values(self, at: Mapping[str, Sequence[ColumnValue]]) -> Values:
        """Return the labels and the standardized numbers at every combination of values."""
        for column in at:
            self.require_column(column)
        points = list(product(*at.values()))
        position = {column: i for i, column in enumerate(at)}
        pieces, numbers = {}, {}
        for column, own in self.labels.items():
            rows = np.tile(np.array(list(own.values())), (len(points), 1))
            if column in position:
                found = {value: _find_label(column, value, own) for value in at[column]}
                number_of = {name: j for j, name in enumerate(own)}
                rows = np.zeros_like(rows)
                for i, point in enumerate(points):
                    rows[i, number_of[found[point[position[column]]]]] = 1
            pieces[column] = sparse.csc_array(rows)
        for column, number in self.numbers.items():
            numbers[column] = np.zeros(len(points))
            if column in position:
                values = [_as_number(column, point[position[column]]) for point in points]
                numbers[column] = (np.array(values) - number.center) / number.scale
        return Values(pieces, numbers)

    def _read(self, labels: NamedMatrix, schema: Schema | None, resolution: int | None = None) -> Values:
        """Return the labels and the standardized numbers of documents, by column."""
        pieces = {column: labels.select(own).matrix.tocsc() for column, own in self.labels.items()}
        numbers = {column: self._standardized(labels, _scales(schema), column) for column in self.numbers}
        return Values(pieces, {column: _quantize(own, resolution) for column, own in numbers.items()})

    def _standardized(
        self, labels: NamedMatrix, scales: Mapping[str, Sequence[float]], column: str
    ) -> NDArray[np.float64]:
        if column not in labels.names:  # documents without this number are average
            return np.zeros(len(labels))
        return self.numbers[column].standardize(labels.select([column]).matrix.toarray()[:, 0], scales.get(column))

    def products(
        self,
        labels: Mapping[str, sparse.csc_array],
        numbers: Mapping[str, NDArray[np.float64]],
        names: Sequence[str] | None = None,
    ) -> list[DesignColumns]:
        """Return the columns of each term, given the labels and the standardized numbers of documents.

        Interactions are those among `names`, or those that some document has.
        """
        return [
            reduce(lambda own, other: own.interact(other, names), factors)
            for factors in ([self._columns(factor, labels, numbers) for factor in term] for term in self.terms)
        ]

    def _columns(
        self, factor: Factor, pieces: Mapping[str, sparse.csc_array], numbers: Mapping[str, NDArray[np.float64]]
    ) -> DesignColumns:
        column = factor.column
        if column in numbers:
            own = [numbers[column][:, None]]
            names, groups = [column], [column]
            if factor.df is not None:
                own.append(self.curves[factor.name].columns(numbers[column]))
                names += [f"{factor.name} {i}" for i in range(1, factor.df)]
                groups += [factor.name] * (factor.df - 1)
            return DesignColumns(sparse.csc_array(np.hstack(own)), tuple(names), tuple(groups))
        names = list(self.labels[column])
        if not factor.levels:
            return DesignColumns(pieces[column], tuple(names), (column,) * len(names))
        return _with_levels(column, pieces[column], names)

    def to_json(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, saved: object) -> Terms:
        """Return the terms that `to_json` wrote; ValueError, KeyError or TypeError if the data are damaged."""
        if not isinstance(saved, dict) or set(saved) != {"formula", "labels", "numbers", "curves"}:
            raise ValueError("the terms do not have the fields of terms")
        labels = {
            str(column): {str(name): _share(share) for name, share in own.items()}
            for column, own in saved["labels"].items()
        }
        numbers = {str(column): Number(**own) for column, own in saved["numbers"].items()}
        curves = {str(name): Curve(**own) for name, own in saved["curves"].items()}
        for number in numbers.values():
            if not (are_finite(number.center, number.scale) and number.scale > 0):
                raise ValueError("a number of the terms is not valid")
        for curve in curves.values():
            curve.check()
        terms = cls(saved["formula"], labels, numbers, curves)
        for factor in (factor for term in terms.terms for factor in term):
            _require_column(factor, labels, numbers, str(terms.formula))
            if factor.df is not None and getattr(curves.get(factor.name), "df", None) != factor.df:
                raise ValueError(f"the terms have no curve for {factor.name}")
        return terms


def _require_column(factor: Factor, labels: Mapping[str, object], numbers: Mapping[str, object], formula: str) -> None:
    column = factor.column
    if column not in labels and column not in numbers:
        known = *labels, *numbers
        read = "read it with labels= (--labels), numbers= (--numbers) or bins= (--bins)"
        raise InputError(
            f"prevalence={formula!r}: the corpus has no column {column!r}; it has {_listed(known)}. "
            f"{_suggestion(column, known) or 'R' + read[1:]}"
        )
    if factor.df is not None and column not in numbers:
        raise InputError(
            f"prevalence={formula!r}: {column!r} has labels, and s() needs numbers: read it with numbers= (--numbers)"
        )
    if factor.levels and column not in labels:
        raise InputError(
            f"prevalence={formula!r}: {column!r} has numbers, and levels() needs labels (labels, --labels)"
        )


def _with_levels(column: str, matrix: sparse.csc_array, names: Sequence[str]) -> DesignColumns:
    """Add the upper levels of nested labels: a document with ``sport/football`` also has ``sport``."""
    prefix = f"{column}=" if all(name.startswith(f"{column}=") for name in names) else ""
    paths = [tuple(name.removeprefix(prefix).split(LEVELS)) for name in names]
    levels = sorted({path[: i + 1] for path in paths for i in range(len(path))}, key=lambda path: (len(path), path))
    position = {path: j for j, path in enumerate(levels)}
    cells = [(i, position[path[: n + 1]]) for i, path in enumerate(paths) for n in range(len(path))]
    owners = sparse.csc_array((np.ones(len(cells)), tuple(zip(*cells, strict=True))), shape=(len(names), len(levels)))
    found = (matrix @ owners).tocsc()
    found.data = np.minimum(found.data, 1.0)  # two labels may have one upper level
    return DesignColumns(
        found,
        tuple(prefix + LEVELS.join(path) for path in levels),
        tuple(column if len(path) == 1 else f"{column} (level {len(path)})" for path in levels),
    )


def _quantize(numbers: NDArray[np.float64], resolution: int | None) -> NDArray[np.float64]:
    """Replace numbers by averages of quantiles, if there are more distinct numbers than `resolution`."""
    distinct, position, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    if resolution is None or len(distinct) <= resolution:
        return numbers
    middle = np.cumsum(counts) - counts / 2
    bins = np.minimum((middle * resolution / len(numbers)).astype(np.int64), resolution - 1)
    sums, sizes = np.bincount(bins, distinct * counts), np.bincount(bins, counts)
    means = sums / np.maximum(sizes, 1)
    quantized: NDArray[np.float64] = means[bins[position]]
    return quantized


def _find_label(column: str, value: ColumnValue, own: Mapping[str, float]) -> str:
    """Return the label of a column with this value: ``genre=Drama`` for Drama, or the bin of a number."""
    if str(value) in own:
        return str(value)
    return LabelIndex(tuple(own)).require(f"{column}={value}")


def _as_number(column: str, value: ColumnValue) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{column!r} is a number, and {value!r} is not") from None
    if not np.isfinite(number):
        raise InputError(f"{column!r} must be finite, not {value!r}")
    return number


def _suggestion(name: str, known: Sequence[str]) -> str:
    written = {each.casefold(): each for each in known}
    close = get_close_matches(name.casefold(), written, n=1)
    return f"Did you mean {written[close[0]]!r}?" if close else ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:20])) + (" …" if len(names) > 20 else "") if names else "no columns"


def _scales(schema: Schema | None) -> dict[str, Sequence[float]]:
    """Return center and scale of the columns that a corpus has standardized."""
    return {} if schema is None else schema.scales


def _share(value: Any) -> float:
    if not are_finite(value) or not 0 <= value <= 1:
        raise ValueError("a share of the terms is not between 0 and 1")
    return float(value)
