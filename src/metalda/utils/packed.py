"""Strings packed into two arrays, UTF-8 bytes and offsets: saved without pickle, and compact for millions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np

from metalda.errors import StorageError
from metalda.utils.checks import check_array, check_starts

_AT_ONCE = 10_000


def pack_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Encode words as one array of UTF-8 bytes and the offsets of the words in it."""
    if isinstance(words, PackedStrings):
        return words.data, words.offsets
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_words(data: np.ndarray, offsets: np.ndarray) -> tuple[str, ...]:
    """Invert ``pack_words``; StorageError if the arrays are damaged."""
    return tuple(PackedStrings(data, offsets))


class _Strings(Sequence[str]):
    """Strings that are equal to any sequence with the same strings, and of which the first are shown."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(map(repr, self[:3]))
        return f"{type(self).__name__}: {first}{', …' if len(self) > 3 else ''} ({len(self):,})"


@dataclass(frozen=True, eq=False, repr=False)
class PackedStrings(_Strings):
    """A sequence of strings over the arrays of `pack_words`; a string is decoded when it is accessed."""

    data: np.ndarray
    offsets: np.ndarray
    source: str = ""  # the file, for error messages
    kind: str = "words"  # what the strings are, for error messages

    def __post_init__(self) -> None:
        check_array(f"the bytes of its {self.kind}", self.data, np.uint8, (None,))
        check_array(f"the offsets of its {self.kind}", self.offsets, np.int64, (None,))
        check_starts(f"the offsets of its {self.kind}", self.offsets, len(self.data))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        i = range(len(self))[index]
        return self._decode(self.data[self.offsets[i] : self.offsets[i + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_ONCE):
            ends = self.offsets[first : first + _AT_ONCE + 1]
            text = self.data[ends[0] : ends[-1]].tobytes()
            for begin, end in pairwise((ends - ends[0]).tolist()):
                yield self._decode(text[begin:end])

    def _decode(self, text: bytes) -> str:
        try:
            return text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            place = f"{self.source}: " if self.source else ""
            raise StorageError(f"{place}damaged: the saved string {text[:40]!r} is not UTF-8") from error


@dataclass(frozen=True, eq=False, repr=False)
class SelectedStrings(_Strings):
    """Some strings of a sequence, which are decoded when they are accessed, such as those of a file."""

    strings: Sequence[str]
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self.strings[i] for i in self.rows[index].tolist())
        return self.strings[int(self.rows[range(len(self))[index]])]


def take_strings(strings: Sequence[str], rows: np.ndarray) -> Sequence[str]:
    """Return the strings in these rows, without reading them if they are packed."""
    if isinstance(strings, SelectedStrings):
        return SelectedStrings(strings.strings, strings.rows[rows])
    if isinstance(strings, PackedStrings):
        return SelectedStrings(strings, rows)
    return tuple(strings[i] for i in rows.tolist())
