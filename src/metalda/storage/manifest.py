"""The JSON file at the heart of a saved folder: it is written last, and names every file that belongs to it."""

import importlib.metadata
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metalda.errors import StorageError
from metalda.storage.locations import Remote

VERSION = 1


@dataclass(frozen=True)
class ArrayFile:
    """What the manifest says of one array file."""

    arrays: list[str]
    size: int
    crc32: int


@dataclass(frozen=True)
class Manifest:
    """The parsed JSON file."""

    files: dict[str, ArrayFile]
    document: dict[str, Any]


def package_version() -> str:
    """The installed version; asked of the installation, since the package itself stands above this module."""
    try:
        return importlib.metadata.version("metalda")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def encode(kind: str, files: dict[str, ArrayFile], document: dict[str, Any]) -> bytes:
    """The manifest as bytes; raises ValueError for a NaN, which JSON cannot hold."""
    content = {
        "format": f"metalda-{kind}",
        "version": VERSION,
        "metalda": package_version(),
        "files": {
            name: {"arrays": file.arrays, "bytes": file.size, "crc32": file.crc32} for name, file in files.items()
        },
        "document": document,
    }
    return json.dumps(content, allow_nan=False).encode("ascii")


def decode(path: Path | Remote, kind: str) -> Manifest:
    """Read and check a manifest; every kind of damage is one line that names the file."""
    content = _parse(path)
    if not isinstance(content, dict) or content.get("format") != f"metalda-{kind}":
        raise StorageError(f"{path}: not a metalda {kind} (the file does not say format 'metalda-{kind}')")
    version = content.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise StorageError(f"{path}: damaged: no valid format version")
    if version > VERSION:
        raise StorageError(
            f"{path}: written by metalda {content.get('metalda', '(unknown)')} in format version {version}, "
            f"but this is metalda {package_version()}, which reads up to version {VERSION}: "
            "pip install --upgrade metalda"
        )
    files, document = content.get("files"), content.get("document")
    if not isinstance(files, dict) or not isinstance(document, dict):
        raise StorageError(f"{path}: damaged: 'files' or 'document' is missing")
    return Manifest({name: _array_file(path, name, entry) for name, entry in files.items()}, document)


def says_format(path: Path | Remote, kind: str) -> bool:
    """Whether the file is a manifest of this kind, of whatever version."""
    try:
        content = _parse(path)
    except StorageError:
        return False
    return isinstance(content, dict) and content.get("format") == f"metalda-{kind}"


def _parse(path: Path | Remote) -> Any:
    try:
        return json.loads(path.read_bytes(), parse_constant=_reject_constant)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: damaged: not valid JSON ({error})") from error


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _array_file(path: Path | Remote, name: str, entry: Any) -> ArrayFile:
    if name in {"", ".", ".."} or any(c in name for c in "/\\:\0") or not name.endswith((".npy", ".safetensors")):
        raise StorageError(f"{path}: damaged: {name!r} is not the name of an array file in this folder")
    arrays, size, crc32 = (entry.get(key) if isinstance(entry, dict) else None for key in ("arrays", "bytes", "crc32"))
    if (
        not isinstance(arrays, list)
        or not all(isinstance(array, str) for array in arrays)
        or (name.endswith(".npy") and len(arrays) != 1)
        or not isinstance(size, int)
        or not isinstance(crc32, int)
    ):
        raise StorageError(f"{path}: damaged: the entry of {name!r} is not complete")
    return ArrayFile(arrays, size, crc32)
