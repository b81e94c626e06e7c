"""Where data lies, and what an archive or a folder of files holds."""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from metalda.corpus.files import one_line, reading
from metalda.datasets.catalogue import DATASETS
from metalda.errors import InputError

PathLike = str | os.PathLike[str]

COMPRESSIONS = ("", ".gz", ".bz2", ".xz")


def cache_folder() -> Path:
    """The user's own place for data: ``~/.cache/metalda/datasets``, or where the system keeps such things."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "metalda" / "datasets"


def places(folder: PathLike | None) -> list[Path]:
    """The folders to look into: the one given, or else that of ``METALDA_DATA``, then the cache."""
    if folder is not None:
        return [Path(folder)]
    named = os.environ.get("METALDA_DATA")
    return [*([Path(named)] if named else []), cache_folder()]


def missing(name: str, folder: PathLike | None) -> InputError:
    """The error for absent data: what is expected where, and how to get it."""
    entry = DATASETS[name]
    where = " or ".join(map(str, places(folder)))
    choose = "" if folder is not None else "; or name another folder: folder= (--folder), METALDA_DATA"
    return InputError(f"dataset {name!r}: expected {entry.files} in {where}; to get it, {entry.how}{choose}")


def find_all(name: str, folder: PathLike | None, files: Sequence[str]) -> list[Path]:
    """All these files, from the first place that has them all."""
    for place in places(folder):
        paths = [place / file for file in files]
        if all(path.is_file() for path in paths):
            return paths
    raise missing(name, folder)


def find_compressed(name: str, folder: PathLike | None, file: str) -> Path:
    """This file, compressed in one way or another or not at all."""
    for place in places(folder):
        for suffix in COMPRESSIONS:
            if (path := place / (file + suffix)).is_file():
                return path
    raise missing(name, folder)


def find_collection(folder: PathLike | None, archive: str, inside: str) -> Path | None:
    """An archive, compressed or not, or the folder in which it was unpacked: that of its name, or the place itself.

    Parameters
    ----------
    folder : path, optional
    archive : str
        Its name, ending in ``.tar``.
    inside : str
        A pattern of what must be in the folder.
    """
    name = archive.removesuffix(".tar")
    for place in places(folder):
        for file in (*(archive + suffix for suffix in COMPRESSIONS), f"{name}.tgz"):
            if (place / file).is_file():
                return place / file
        for unpacked in (place / name, place):
            if next(unpacked.glob(inside), None) is not None:
                return unpacked
    return None


def members(path: Path, inside: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Name and content of the files in an archive, in its order, or in a folder, sorted; nothing is unpacked."""
    if path.is_dir():
        for file in sorted(path.glob(inside)):
            if file.is_file() and not file.name.startswith("."):
                with reading(file):
                    content = file.read_bytes()
                yield PurePosixPath(file.relative_to(path).as_posix()), content
        return
    try:
        with reading(path), tarfile.open(path) as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if member.isfile() and name.match(inside) and not name.name.startswith("."):
                    stream = archive.extractfile(member)
                    assert stream is not None  # a file has content
                    yield name, stream.read()
            _check_end(archive, path)
    except tarfile.TarError as error:
        raise InputError(f"{path}: damaged, or not a tar archive: {one_line(error)}; get it again") from error


def _check_end(archive: tarfile.TarFile, path: Path) -> None:
    """A damaged header is the end for tarfile, but the end is zeros; reading it also checks gzip's checksum."""
    assert archive.fileobj is not None
    while rest := archive.fileobj.read(1 << 20):
        if rest.strip(b"\0"):
            raise InputError(f"{path}: damaged after {archive.offset:,} bytes; get it again")
