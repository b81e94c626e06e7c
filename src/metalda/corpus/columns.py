"""Records to documents: which fields hold the text, the labels and the id."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from metalda.corpus.bins import Binning, Scaling
from metalda.corpus.labels import is_missing, label_names
from metalda.corpus.named import NamedMatrix
from metalda.errors import InputError, MissingLabelsError

Records = Iterable[tuple[int, Mapping[str, Any]]]

_TEXT_FIELDS = ("text", "body", "content", "abstract", "document")


class Document(NamedTuple):
    """One document on its way into a corpus: a text or tokens, its labels, its id."""

    content: str | Sequence[str]
    labels: Sequence[str] = ()
    id: str | None = None


class Columns:
    """The fields of records, and how they are read.

    Parameters
    ----------
    source, unit : str
        For messages: ``f"{source} {unit} 7"`` is where the seventh record stands.
    text, labels, id, delimiter, bins, numbers
        As in `Corpus.read`.
    """

    def __init__(
        self,
        source: str,
        unit: str,
        *,
        text: str | Sequence[str] | None = None,
        labels: str | Sequence[str] = (),
        id: str | None = None,
        delimiter: str | None = None,
        bins: Mapping[str, int | Sequence[float]] | None = None,
        numbers: str | Sequence[str] | Mapping[str, Sequence[float] | None] = (),
    ) -> None:
        if delimiter == "":
            raise InputError("label_delimiter is empty: give the character between labels (--label-delimiter)")
        self.source = source
        self.unit = unit
        self._text = _listed(text)
        scales = numbers if isinstance(numbers, Mapping) else dict.fromkeys(_listed(numbers))
        if twice := set(scales).intersection(bins or {}):
            raise InputError(f"the field {min(twice)!r} is to be cut into bins and taken as numbers: choose one")
        self._numeric: list[Binning | Scaling] = [Binning(field, spec) for field, spec in (bins or {}).items()]
        self._numeric += [Scaling(field, spec) for field, spec in scales.items()]
        numeric = {each.field: None for each in self._numeric}
        names = dict.fromkeys((*_listed(labels), *numeric))
        self._labels = [name for name in names if name not in numeric]
        self._prefixed = len(names) > 1
        self._id = id
        self._id_is_guess = id is None
        self._delimiter = delimiter
        self._unseen = set(names)

    @property
    def has_labels(self) -> bool:
        """Whether any field gives labels."""
        return bool(self._labels or self._numeric)

    def resolve(self, fields: Sequence[str], *, complete: bool = True) -> list[str]:
        """Settle which fields are meant, knowing their names; returns those that will be read.

        ``complete`` says that no record has further fields, so that a missing label field is an error at once.
        """
        if not self._text:
            self._text = [self._guess_text(fields)]
        if self._id is None and "id" in fields and "id" not in self._text:
            self._id = "id"
        label_fields = [*self._labels, *(each.field for each in self._numeric)]
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

    def documents(self, records: Records) -> Iterator[Document]:
        """The documents of the records; the numbers of numeric fields are kept for `labels`."""
        fields: Sequence[str] = ()
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
        """The labels of all documents, given those by name: numeric fields come after them."""
        if not self.has_labels:
            return None
        parts = [named, *self.numeric_labels()]
        names = tuple(name for part in parts for name in part.names)
        return NamedMatrix(csr_array(hstack([part.matrix for part in parts])), names)

    def numeric_labels(self) -> list[NamedMatrix]:
        """Those of numeric fields, once all documents have been read."""
        return [each.finish() for each in self._numeric]

    def _missing_labels(self, name: str, fields: Sequence[str]) -> MissingLabelsError:
        return MissingLabelsError(f"{self.source}: {_no_field(name, fields, 'labels= (--labels)')}")

    def _guess_text(self, fields: Sequence[str]) -> str:
        plausible = [name for name in fields if name.strip().lower() in _TEXT_FIELDS]
        if len(plausible) == 1:
            return plausible[0]
        raise InputError(
            f"{self.source}: which field is the text? Fields are: {_shown(fields)}; name one with text= (--text)"
        )

    def _content(self, record: Mapping[str, Any]) -> str | Sequence[str]:
        parts = [as_content(self._value(record, name, "text= (--text)"), name) for name in self._text]
        if len(parts) == 1:
            return parts[0]
        if all(isinstance(part, str) for part in parts):
            return "\n\n".join(parts)  # type: ignore[arg-type]
        if any(isinstance(part, str) and part for part in parts):
            raise InputError(f"the fields {_shown(self._text)} are partly texts and partly lists of tokens")
        return [token for part in parts for token in part]

    def _label_names(self, record: Mapping[str, Any]) -> list[str]:
        if self._unseen:
            self._unseen.difference_update(record)
        for each in self._numeric:
            each.add(record.get(each.field))
        names: list[str] = []
        for field in self._labels:
            try:
                values = label_names(record.get(field), self._delimiter)
            except InputError as error:
                raise InputError(f"field {field!r}: {error}") from None
            names += [f"{field}={value}" for value in values] if self._prefixed else values
        return names

    def _id_of(self, record: Mapping[str, Any]) -> str | None:
        if self._id is None or (self._id_is_guess and self._id not in record):
            return None
        return id_name(self._value(record, self._id, "id= (--id)"))

    def _value(self, record: Mapping[str, Any], name: str, option: str) -> Any:
        try:
            return record[name]
        except KeyError:
            raise InputError(_no_field(name, list(record), option)) from None


def as_content(value: Any, field: str) -> str | Sequence[str]:
    """A cell that holds a text, a list of tokens, or nothing (an empty document)."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return ""
    if isinstance(value, list | tuple | np.ndarray):
        if all(isinstance(token, str) for token in value):
            return list(value)
        raise InputError(f"the field {field!r} holds a list whose elements are not all strings")
    raise InputError(f"the field {field!r} holds {type(value).__name__}, not text; name the text with text= (--text)")


def id_name(value: Any) -> str:
    """An id as a string; whole numbers without a decimal point, a missing one empty."""
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _listed(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def _shown(fields: Sequence[str]) -> str:
    names = (f'"{field}"' if "," in str(field) else str(field) for field in fields[:20])
    shown = ", ".join(names) or "(none)"
    return shown if len(fields) <= 20 else f"{shown}, and {len(fields) - 20} more"


def _no_field(name: str, fields: Sequence[str], option: str) -> str:
    return f"no field {name!r}; fields are: {_shown(fields)}. Name it with {option}"
