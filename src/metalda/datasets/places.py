"""Where data lies, and what an archive or a folder of files holds."""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from metalda.corpus.files import one_line, reading
from metalda.errors import InputError

PathLike = str | os.PathLike[str]


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


def find_files(name: str, folder: PathLike | None, files: tuple[str, ...]) -> list[Path]:
    """All these files, from the first place that has them all."""
    for place in places(folder):
        paths = [place / file for file in files]
        if all(path.is_file() for path in paths):
            return paths
    raise missing(name, folder, " and ".join(files))


def find_collection(name: str, folder: PathLike | None, archives: tuple[str, ...], inside: str) -> Path | None:
    """The archive, or the folder in which it was unpacked: that of its name, or the place itself.

    Parameters
    ----------
    archives : tuple of str
        The names that the archive may have.
    inside : str
        A pattern of what must be in the folder.
    """
    for place in places(folder):
        folders = [place / archive.partition(".")[0] for archive in archives] + [place]
        for path in [*(place / archive for archive in archives), *folders]:
            if path.is_file() or (path.is_dir() and next(path.glob(inside), None) is not None):
                return path
    return None


def missing(name: str, folder: PathLike | None, files: str, remedy: str = "") -> InputError:
    """The error for absent data: what is expected where."""
    where = " or ".join(map(str, places(folder)))
    advice = remedy or f"see `metalda datasets {name}` in docs/datasets.md for how to get it"
    hint = "" if folder is not None or os.environ.get("METALDA_DATA") else "; or set METALDA_DATA, or give folder="
    return InputError(f"dataset {name!r}: {files} expected in {where}, not found{hint}; {advice}")


def members(path: Path, inside: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Name and content of the files in an archive, in its order, or in a folder, sorted; nothing is unpacked."""
    if path.is_dir():
        for file in sorted(path.glob(inside)):
            if file.is_file():
                with reading(file):
                    content = file.read_bytes()
                yield PurePosixPath(file.relative_to(path).as_posix()), content
        return
    try:
        with reading(path), tarfile.open(path) as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if member.isfile() and name.match(inside):
                    stream = archive.extractfile(member)
                    assert stream is not None  # a file has content
                    yield name, stream.read()
    except tarfile.TarError as error:
        raise InputError(f"{path}: damaged, or not a tar archive: {one_line(error)}; get it again") from error
