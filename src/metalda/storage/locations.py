"""Locations: a path on this machine, or a URL ``scheme://…`` that fsspec opens (S3, Google Cloud, HDFS, …)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import TYPE_CHECKING, BinaryIO

from metalda.errors import InputError, missing_extra

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PathLike = str | os.PathLike[str]

_SCHEMES = re.compile(r"(?:[A-Za-z][\w+.-]+::)*([A-Za-z][\w+.-]+)://")  # C:// is a drive, not a scheme
_SHORTENED = re.compile(r"([A-Za-z][\w+.-]+):/(?!/)")  # `Path` collapses the two slashes of a URL


@dataclass(frozen=True)
class Remote:
    """A remote file or folder, with the methods of `Path` that this package uses."""

    url: str

    @cached_property
    def _opened(self) -> tuple[AbstractFileSystem, str]:
        """Return the file system of fsspec and the path in it."""
        try:
            import fsspec
        except ImportError:
            raise missing_extra("fsspec", "dask", f"Reading and writing {self.url}") from None
        try:
            system, path = fsspec.core.url_to_fs(self.url)
        except (ValueError, ImportError) as error:  # an unknown scheme, or a missing package for it
            raise InputError(f"{self.url}: {' '.join(str(error).split())}") from error
        return system, path

    @property
    def system(self) -> AbstractFileSystem:
        """Return the file system of fsspec."""
        return self._opened[0]

    @property
    def path(self) -> str:
        """Return the path within the file system."""
        return self._opened[1]

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(self.url.rstrip("/"))

    @property
    def name(self) -> str:
        return self._pure.name

    @property
    def stem(self) -> str:
        return self._pure.stem

    @property
    def suffix(self) -> str:
        return self._pure.suffix

    @property
    def suffixes(self) -> list[str]:
        return self._pure.suffixes

    def __truediv__(self, name: str) -> Remote:
        return Remote(f"{self.url.rstrip('/')}/{name}")

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    def resolve(self) -> Remote:
        return self

    def exists(self) -> bool:
        return bool(self.system.exists(self.path))

    def is_dir(self) -> bool:
        return bool(self.system.isdir(self.path))

    def is_file(self) -> bool:
        return bool(self.system.isfile(self.path))

    def iterdir(self) -> Iterator[Remote]:
        """Yield the entries of a folder."""
        self.system.invalidate_cache(self.path)
        for path in self.system.ls(self.path, detail=False):
            yield self / PurePosixPath(path).name

    def files(self) -> Iterator[tuple[str, Remote]]:
        """Yield all files below a folder with their relative names."""
        for path in self.system.find(self.path):
            name = path.removeprefix(self.path.rstrip("/")).lstrip("/")
            yield name, self / name

    def open(self, mode: str = "rb") -> BinaryIO:
        file: BinaryIO = self.system.open(self.path, mode)
        return file

    def read_bytes(self) -> bytes:
        with self.open("rb") as file:
            return file.read()

    def write_bytes(self, data: bytes) -> None:
        with self.open("wb") as file:
            file.write(data)

    def unlink(self) -> None:
        self.system.rm_file(self.path)

    def stat(self) -> SimpleNamespace:
        """Return an object that has only ``st_size``."""
        return SimpleNamespace(st_size=int(self.system.size(self.path) or 0))

    def download(self, target: Path) -> None:
        """Copy the file to this machine."""
        self.system.get_file(self.path, str(target))

    def upload(self, source: Path) -> None:
        """Copy a file of this machine to this location; object stores do so atomically."""
        self.system.put_file(str(source), self.path)


def locate(path: PathLike) -> Path | Remote:
    """Return a `Path`, or a `Remote` for ``scheme://…``; restore the slash that a URL loses in a `Path`."""
    if isinstance(path, Remote):
        return path
    text = os.fspath(path)
    if not text:  # as a `Path` it would be the current folder
        raise InputError("a path is empty: name a file or a folder (. is the current one)")
    if isinstance(path, Path):
        text = _SHORTENED.sub(r"\1://", text, count=1) if _SHORTENED.match(text) else text
    scheme = _SCHEMES.match(text)
    if scheme is None:
        return Path(path)
    return Path(text.removeprefix(scheme[0])) if scheme[0] in ("file://", "local://") else Remote(text)
