"""Arrays in files that other processes, and other machines with the same file system, can open for themselves."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metalda.storage.scratch import mapping


@dataclass(frozen=True)
class MappedFile:
    """Where an array lies: in which file, and from which byte on."""

    path: str
    offset: int
    dtype: str
    size: int  # of the file, and when it was last written: a file that differs is another one
    changed: int

    @classmethod
    def of(cls, array: NDArray[Any] | None) -> MappedFile | None:
        """The file of an array that is a contiguous part of one; None for any other."""
        base = None if array is None else mapping(array)
        if array is None or not isinstance(base, np.memmap) or not base.filename or not array.flags.c_contiguous:
            return None
        try:
            about = os.stat(base.filename)
        except OSError:  # it had no name, or has lost it
            return None
        skipped = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        path = str(Path(base.filename).resolve())
        return cls(path, base.offset + skipped, array.dtype.str, about.st_size, about.st_mtime_ns)

    @property
    def is_here(self) -> bool:
        """Whether this process sees the same file."""
        try:
            about = os.stat(self.path)
        except OSError:
            return False
        return (about.st_size, about.st_mtime_ns) == (self.size, self.changed)

    def open(self, first: int, last: int) -> NDArray[Any]:
        """Entries first … last - 1, read when they are needed."""
        if first == last:
            return np.empty(0, self.dtype)
        offset = self.offset + first * np.dtype(self.dtype).itemsize
        return np.memmap(self.path, self.dtype, "r", offset, (last - first,)).view(np.ndarray)


def is_here(file: MappedFile) -> bool:
    """As a function, to be called elsewhere."""
    return file.is_here
