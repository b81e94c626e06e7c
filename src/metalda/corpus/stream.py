"""Streams in the place of files: standard input, pipes, devices and open binary files, which can be read only once."""

from __future__ import annotations

import io
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, TypeGuard

from metalda.errors import InputError

if TYPE_CHECKING:
    from metalda.storage import Remote

Data = str | os.PathLike[str] | BinaryIO
Location: TypeAlias = "Path | Remote | Stream"  # where data are read from

_BUFFER = 1 << 16


class Stream:
    """A stream, with the methods of `Path` that readers use.

    What is read while the format is recognized is kept in memory, and the reader of the format begins with it.

    Parameters
    ----------
    name : str
        For messages.
    read : callable
        ``read(n)`` returns at most n bytes, and none at the end.
    """

    suffix = stem = ""
    suffixes: tuple[str, ...] = ()

    def __init__(self, name: str, read: Callable[[int], bytes]) -> None:
        self.name = name
        self._read = read
        self._kept = bytearray()
        self._has_ended = False
        self._keeps = False
        self._was_read = False

    def __str__(self) -> str:
        return self.name

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what is read inside, so that it can be read again."""
        self._keeps = True
        try:
            yield
        finally:
            self._keeps = False

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the stream at its beginning: repeatedly inside `kept`, then once."""
        if self._was_read:
            raise InputError(f"{self}: a stream can be read only once: write it to a file first")
        self._was_read = not self._keeps
        return io.BufferedReader(_Reader(self), _BUFFER)

    def piece(self, position: int, size: int) -> bytes:
        """Return the bytes at a position; they are `size` bytes unless the stream, or what is kept of it, ends."""
        if position < len(self._kept):
            return bytes(self._kept[position : position + size])
        if not self._keeps:
            self._kept.clear()
        pieces, n_missing = [], size
        while n_missing and not self._has_ended:
            piece = self._read(n_missing)
            self._has_ended = not piece
            pieces.append(piece)
            n_missing -= len(piece)
        found = b"".join(pieces)
        if self._keeps:
            self._kept += found
        return found

    def exists(self) -> bool:
        return True

    def is_dir(self) -> bool:
        return False

    def is_file(self) -> bool:
        return False


class _Reader(io.RawIOBase):
    """The bytes of a stream from its beginning; closing it leaves the stream open."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._position = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.piece(self._position, len(buffer))
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


def locate_data(data: Data | Stream) -> Location:
    """Return where data are read from: a `Path`, a `Remote`, or a `Stream`.

    ``"-"`` is standard input. A pipe, a device and a binary file that is open are streams, too.
    """
    if isinstance(data, Stream):
        return data
    if isinstance(data, str) and data == "-":
        return Stream("standard input", lambda size: sys.stdin.buffer.read(size))
    read = getattr(getattr(data, "buffer", data), "read", None)
    if read is not None:
        if isinstance(data, io.TextIOBase) and not hasattr(data, "buffer"):
            raise InputError(f"{type(data).__name__} is a stream of characters: give a binary stream such as BytesIO")
        return Stream(str(getattr(data, "name", "stream")), read)
    from metalda.storage import locate  # loads NumPy

    path = locate(data)  # type: ignore[arg-type]
    return _PathStream(path) if is_special(path) else path


def is_special(path: Location) -> TypeGuard[Path]:
    """Return whether a path on this machine is a pipe, a socket or a device: neither a file nor a folder."""
    return isinstance(path, Path) and path.exists() and not path.is_file() and not path.is_dir()


class _PathStream(Stream):
    """A pipe or device, opened when it is first read."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), self._open_and_read)
        self._path = path

    def _open_and_read(self, size: int) -> bytes:
        file = self._path.open("rb", buffering=0)
        weakref.finalize(self, file.close)
        self._read = file.read
        return self._read(size)
