"""Columns of records and frames: which hold the text, the labels and the id, and how numbers become labels."""

from __future__ import annotations

import logging
import math
import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from metalda.corpus.labels import label_names
from metalda.corpus.matrix import NamedMatrix
from metalda.corpus.readers import Document
from metalda.corpus.schema import Schema, SchemaFields
from metalda.corpus.vectors import VECTORS
from metalda.corpus.vocabulary import require_unicode
from metalda.errors import InputError, MissingLabelsError, hint
from metalda.utils.frames import is_missing

logger = logging.getLogger(__name__)

_TEXT_FIELDS = ("text", "body", "content", "abstract", "document")
_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
_ROUNDING = 0.01  # of the center of a number, in standard deviations
_DECIMAL_COMMA = re.compile(r"[-+]?[\d.]*,\d+")
_POINT_FOR_COMMA = {ord(","): ".", ord("."): "?"}  # a point between thousands is not a decimal mark


class Columns:
    """Converts records to documents according to a schema.

    Parameters
    ----------
    source, unit : str
        For messages: ``f"{source} {unit} 7"`` is the place of the seventh record.
    schema : Schema
    """

    def __init__(self, source: str, unit: str, schema: Schema) -> None:
        self.source = source
        self.unit = unit
        self._schema = schema
        self._text = list(schema.text)
        self._binned = [BinnedColumn(name, spec, schema.decimal) for name, spec in schema.bins.items()]
        self._scaled = [ScaledColumn(name, spec, schema.decimal) for name, spec in schema.numbers.items()]
        self._numeric: list[NumericColumn] = [*self._binned, *self._scaled]
        numeric = {column.name for column in self._numeric}
        names = dict.fromkeys((*schema.labels, *(column.name for column in self._numeric)))
        self._labels = [name for name in names if name not in numeric]
        self._prefixed = len(names) > 1  # as `columns_of_labels` assumes
        self._id = schema.id
        self._unseen = set(names)  # label fields that no record has had yet

    def resolve(self, fields: Sequence[str], *, complete: bool = True) -> list[str]:
        """Find text and id among the names of the fields; returns the fields that will be read.

        ``complete`` means that no record has further fields, so that a missing label field is an error.
        """
        if not self._text:
            self._text = [self._guess_text(fields)]
        if self._id is None and "id" in fields and "id" not in self._text:
            self._id = "id"
        label_fields = [*self._labels, *(column.name for column in self._numeric)]
        if complete:
            asked = [(name, "text= (--text)") for name in self._text]
            asked += [(self._id, "id= (--id)")] if self._id is not None else []
            for name, option in asked:
                if name not in fields:
                    raise InputError(f"{self.source}: {_no_field(name, fields, option)}")
            for name in label_fields:
                if name not in fields:
                    raise self._missing_labels(name, fields)
            self._unseen.clear()
        wanted = {*self._text, *label_fields, self._id}
        return [name for name in fields if name in wanted]

    def documents(self, records: Iterable[tuple[int, Mapping[str, object]]]) -> Iterator[Document]:
        """Yield the documents of the records, and collect the values of numeric columns for `labels`."""
        fields: Sequence[str] = ()
        # An error closes the file of the records at once, although its traceback still refers to the reader.
        with closing(records) if isinstance(records, Generator) else nullcontext():
            for number, record in records:
                try:
                    document = Document(self._content(record), self._label_names(record), self._id_of(record))
                except InputError as error:
                    raise InputError(f"{self.source} {self.unit} {number}: {error}") from None
                yield document
                fields = fields or list(record)
        for name in sorted(self._unseen):
            raise self._missing_labels(name, fields)

    def labels(self, named: NamedMatrix) -> NamedMatrix | None:
        """Return the labels of all documents, given those by name; numeric columns come after them."""
        if not self._labels and not self._numeric:
            return None
        parts = [named, *self.numeric_labels()]
        names = tuple(name for part in parts for name in part.names)
        return NamedMatrix(csr_array(hstack([part.matrix for part in parts])), names)

    def numeric_labels(self) -> list[NamedMatrix]:
        """Return the labels of numeric columns, once all documents have been read."""
        return [column.labels() for column in self._numeric]

    def fitted(self) -> SchemaFields:
        """Return the text columns, edges and scales that were found in the data, for `Schema.fitted`."""
        if not self._schema.text:
            logger.info("%s: the text is the field %r (text=, --text)", self.source, self._text[0])
        return {
            "text": tuple(self._text),
            "bins": {column.name: column.edges for column in self._binned},
            "numbers": {column.name: column.scale for column in self._scaled},
        }

    def _missing_labels(self, name: str, fields: Sequence[str]) -> MissingLabelsError:
        return MissingLabelsError(f"{self.source}: {_no_field(name, fields, 'labels= (--labels)')}")

    def _guess_text(self, fields: Sequence[str]) -> str:
        plausible = [name for name in fields if name.strip().lower() in _TEXT_FIELDS]
        if len(plausible) == 1:
            return plausible[0]
        shown = _shown_fields(fields)
        raise InputError(f"{self.source}: which field is the text? Fields are: {shown}; name one with text= (--text)")

    def _content(self, record: Mapping[str, object]) -> str | Sequence[str]:
        parts = [as_content(self._value(record, name, "text= (--text)"), name) for name in self._text]
        if len(parts) == 1:
            return parts[0]
        if all(isinstance(part, str) for part in parts):
            return "\n\n".join(parts)  # type: ignore[arg-type]
        if any(isinstance(part, str) and part for part in parts):
            raise InputError(f"the fields {_shown_fields(self._text)} are partly texts and partly lists of tokens")
        return [token for part in parts for token in part]

    def _label_names(self, record: Mapping[str, object]) -> list[str]:
        if self._unseen:
            self._unseen.difference_update(record)
        for column in self._numeric:
            column.add(record.get(column.name))
        names: list[str] = []
        for field in self._labels:
            try:
                values = label_names(record.get(field), self._schema.label_delimiter)
            except InputError as error:
                raise InputError(f"field {field!r}: {error}") from None
            names += [f"{field}={value}" for value in values] if self._prefixed else values
        return names

    def _id_of(self, record: Mapping[str, object]) -> str | None:
        if self._id is None or (self._schema.id is None and self._id not in record):
            return None
        return _id_name(self._value(record, self._id, "id= (--id)"))

    def _value(self, record: Mapping[str, object], name: str, option: str) -> object:
        try:
            return record[name]
        except KeyError:
            raise InputError(_no_field(name, list(record), option)) from None


class NumericColumn(ABC):
    """Collects the numbers of one column, document by document.

    Parameters
    ----------
    name : str
        The column; part of the names of its labels.
    decimal : str
        The decimal mark of numbers that are texts: a point or a comma.
    """

    def __init__(self, name: str, decimal: str = ".") -> None:
        self.name = name
        self._decimal = decimal
        self._values = array("d")

    def add(self, value: object) -> None:
        """Add the number of the next document; NaN for a missing or empty cell."""
        self._values.append(self._number(value))

    @abstractmethod
    def labels(self) -> NamedMatrix:
        """Return the labels of all documents, once all have been read."""

    def _number(self, value: Any) -> float:
        if is_missing(value) or (isinstance(value, str) and not value.strip()):
            return float("nan")
        try:
            if isinstance(value, bool):
                raise TypeError
            number = float(
                value.translate(_POINT_FOR_COMMA) if self._decimal == "," and isinstance(value, str) else value
            )
        except (TypeError, ValueError, OverflowError):
            problem = f"the field {self.name!r} holds {_short(value)}, not a number"
            if isinstance(value, bool):
                problem += "; read it as labels (labels=, --labels)"
            elif hasattr(value, "year") or (isinstance(value, str) and _DATE.match(value)):
                problem += "; convert dates to numbers, such as the year"
            if self._decimal == "." and isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value.strip()):
                problem += "; if the comma is the decimal mark, give decimal=',' (--decimal ,)"
            raise InputError(problem) from None
        if math.isinf(number):
            raise InputError(f"the field {self.name!r} holds {_short(value)}, which is not finite")
        return number

    def _require_two_values(self, known: NDArray[np.float64], purpose: str) -> None:
        if len(known) == 0 or known.min() == known.max():
            raise InputError(f"the field {self.name!r} has fewer than two different numbers: {purpose}")


class BinnedColumn(NumericColumn):
    """A numeric column cut into intervals, with a label for each; a missing number gives no label."""

    def __init__(self, name: str, bins: int | Sequence[float], decimal: str = ".") -> None:
        super().__init__(name, decimal)
        self._bins = bins

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Return the inner edges: those given, or quantiles of all numbers.

        Quantiles are values that occur in the data, so that their names are exact. Ties can give fewer bins.
        """
        if not isinstance(self._bins, int):
            return tuple(self._bins)
        values = np.array(self._values)
        known = values[~np.isnan(values)]
        self._require_two_values(known, f"it cannot be cut into {self._bins} bins")
        edges = np.unique(np.quantile(known, np.arange(1, self._bins) / self._bins, method="higher"))
        edges = edges[edges > known.min()]
        return tuple(edges.tolist()) or (float(known[known > known.min()].min()),)

    def labels(self) -> NamedMatrix:
        """Return a label per interval, in the order of the intervals."""
        values = np.array(self._values)
        known = ~np.isnan(values)
        names = interval_names(self.name, self.edges)
        columns = np.searchsorted(np.array(self.edges), values[known], side="right")
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(known)))
        return NamedMatrix(csr_array((np.ones(len(columns)), columns, offsets), shape=(len(values), len(names))), names)


class ScaledColumn(NumericColumn):
    """A numeric column as a standardized covariate; a missing number counts as the mean."""

    def __init__(self, name: str, scale: Sequence[float] | None = None, decimal: str = ".") -> None:
        super().__init__(name, decimal)
        self._given = scale

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Return center and scale: those given, or mean and standard deviation to six digits."""
        if self._given is not None:
            center, scale = self._given
            return center, scale
        values = np.array(self._values)
        known = values[~np.isnan(values)]
        self._require_two_values(known, "no effect can be learned from it")
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            mean, deviation = float(known.mean()), float(known.std())
        if not (math.isfinite(mean) and 1e-150 < deviation < math.inf):
            raise InputError(
                f"the field {self.name!r} has numbers from {known.min():g} to {known.max():g}, which cannot be "
                "standardized: use other units"
            )
        center = float(f"{mean:.6g}")
        is_near = abs(center - mean) < _ROUNDING * deviation  # unlike that of timestamps of a few minutes
        return center if is_near else mean, float(f"{deviation:.6g}")

    def labels(self) -> NamedMatrix:
        """Return the numbers as one column with the name of theirs."""
        center, scale = self.scale
        values = np.array(self._values)
        missing = np.isnan(values)
        if missing.any():
            hint(
                f"the field {self.name!r} has no number in {missing.sum():,} of {len(values):,} documents: there it "
                f"counts as {_shown_number(center)}, the average"
            )
        return NamedMatrix(csr_array(np.where(missing, 0.0, (values - center) / scale)[:, None]), (self.name,))


def interval_names(column: str, edges: Sequence[float]) -> tuple[str, ...]:
    """Return ``"year < 1990", "1990 ≤ year < 2000", "year ≥ 2000"`` for the edges 1990 and 2000."""
    texts = [_shown_number(edge) for edge in edges]
    inner = [f"{low} ≤ {column} < {high}" for low, high in pairwise(texts)]
    return (f"{column} < {texts[0]}", *inner, f"{column} ≥ {texts[-1]}")


def columns_of_labels(names: Iterable[str], schema: Schema) -> tuple[str, ...]:
    """Return the column that each label comes from, given the fitted schema that labels were read with."""
    fixed: dict[str, str] = {}
    for column, edges in schema.bins.items():
        assert not isinstance(edges, int), "a fitted schema has edges"
        fixed |= dict.fromkeys(interval_names(column, edges), column)
    fixed |= {column: column for column in schema.numbers}
    named = sorted(set(schema.labels).difference(schema.bins, schema.numbers), key=len, reverse=True)
    vectors = dict.fromkeys(schema.vectors, VECTORS)
    if not fixed and len(named) == 1:
        return tuple(vectors.get(name, named[0]) for name in names)
    fixed |= vectors
    of_prefix = {f"{column}=": column for column in named}
    return tuple(fixed.get(name) or next((of_prefix[p] for p in of_prefix if name.startswith(p)), "") for name in names)


def as_content(value: object, field: str) -> str | Sequence[str]:
    """Return the text or the list of tokens in a cell; a missing one is an empty document."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return ""
    if isinstance(value, list | tuple | np.ndarray):
        if all(isinstance(token, str) for token in value):
            require_unicode(value)
            return list(value)
        raise InputError(f"the field {field!r} holds a list whose elements are not all strings")
    raise InputError(f"the field {field!r} holds {type(value).__name__}, not text; name the text with text= (--text)")


def as_ids(ids: Iterable[object] | None) -> tuple[str, ...] | None:
    """Return the ids of documents as strings."""
    if ids is None:
        return None
    if isinstance(ids, str):
        raise InputError("ids must be a list with a name per document, not one string")
    return tuple(map(_id_name, ids))


def _id_name(value: object) -> str:
    """Return an id as a string; whole numbers have no decimal point, a missing id is empty."""
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _shown_fields(fields: Sequence[str]) -> str:
    shown = ", ".join(_shown_field(str(field)) for field in fields[:20]) or "(none)"
    return shown if len(fields) <= 20 else f"{shown}, and {len(fields) - 20} more"


def _shown_field(name: str) -> str:
    if not name.isprintable():  # a line break, say
        return repr(name)
    return f'"{name}"' if "," in name else name


def _no_field(name: str, fields: Sequence[str], option: str) -> str:
    return f"no field {name!r}; fields are: {_shown_fields(fields)}. Name it with {option}"


def _shown_number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
