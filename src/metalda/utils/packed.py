"""Strings packed into two arrays, UTF-8 bytes and offsets: saved without pickle, and compact for millions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np

_AT_ONCE = 10_000


def pack_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Encode words as one array of UTF-8 bytes and the offsets of the words in it."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_words(data: np.ndarray, offsets: np.ndarray) -> tuple[str, ...]:
    """Invert ``pack_words``; ValueError if the offsets do not fit."""
    return tuple(PackedStrings(data, offsets))


@dataclass(frozen=True, eq=False)
class PackedStrings(Sequence[str]):
    """A sequence of strings over the arrays of `pack_words`; a string is decoded when it is accessed."""

    data: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:
        offsets = self.offsets
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(self.data) or (np.diff(offsets) < 0).any():
            raise ValueError("the offsets do not fit the bytes of the words")

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
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_ONCE):
            ends = self.offsets[first : first + _AT_ONCE + 1]
            text = self.data[ends[0] : ends[-1]].tobytes()
            for begin, end in pairwise((ends - ends[0]).tolist()):
                yield text[begin:end].decode("utf-8", "surrogatepass")

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(map(repr, self[:3]))
        return f"PackedStrings: {first}{', …' if len(self) > 3 else ''} ({len(self):,})"
