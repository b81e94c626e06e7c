"""JSON files: the manifest of a saved folder, which names all its files, and single documents.

Files are replaced atomically, and every kind of damage is reported in one line that names the file.
"""

import importlib.metadata
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from metalda.errors import StorageError
from metalda.storage.locations import Remote
from metalda.utils.checks import JsonObject

VERSION = 1
_WAITS = (0.01, 0.03, 0.1, 0.3, 1.0) if os.name == "nt" else ()  # seconds


@dataclass(frozen=True)
class ArrayFile:
    """The entry of one array file in a manifest."""

    arrays: list[str]
    size: int
    crc32: int


@dataclass(frozen=True)
class Manifest:
    """The array files of a saved folder and its JSON document."""

    files: dict[str, ArrayFile]
    document: JsonObject


def package_version() -> str:
    """Return the installed version from the metadata, because this module must not import the top-level package."""
    try:
        return importlib.metadata.version("metalda")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def encode(kind: str, files: dict[str, ArrayFile], document: Mapping[str, object]) -> bytes:
    """Encode a manifest; raises ValueError for NaN, which JSON cannot represent."""
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
    """Read and validate a manifest."""
    content = _parse(path)
    if not isinstance(content, dict) or content.get("format") != f"metalda-{kind}":
        raise StorageError(f"{path}: not a metalda {kind} (its format is not 'metalda-{kind}')")
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


def is_manifest(path: Path | Remote, kind: str) -> bool:
    """Return whether the file is a manifest of this kind, of any version."""
    try:
        content = _parse(path)
    except StorageError:
        return False
    return isinstance(content, dict) and content.get("format") == f"metalda-{kind}"


def require_regular(path: Path | Remote) -> None:
    """Raise StorageError for a pipe or a device: opening it may wait forever."""
    if isinstance(path, Path) and path.exists() and not path.is_file():
        raise StorageError(f"{path}: cannot be read: not a regular file")


def _parse(path: Path | Remote) -> object:
    require_regular(path)
    try:
        content: object = json.loads(path.read_bytes(), parse_constant=_reject_constant)
        return content
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: damaged: not valid JSON ({error})") from error


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _array_file(path: Path | Remote, name: str, entry: object) -> ArrayFile:
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


def replace_file(new: Path, old: Path) -> None:
    """Put a new file in the place of an old one; on Windows that has to wait while somebody reads the old one."""
    for seconds in _WAITS:
        with suppress(PermissionError):
            os.replace(new, old)
            return
        time.sleep(seconds)
    os.replace(new, old)


@contextmanager
def replacing(path: Path, mode: str, **how: Any) -> Iterator[IO[Any]]:
    """Write a new file that replaces the old one once it is complete and synced to disk."""
    target = path.resolve()
    staged = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    try:
        with open(staged, mode, **how) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        replace_file(staged, target)
    except BaseException as error:
        with suppress(OSError):
            staged.unlink()
        if isinstance(error, OSError):
            raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from error
        raise


def write_document(path: Path, kind: str, document: Mapping[str, object]) -> None:
    """Write a JSON document as a file that names its kind."""
    data = encode(kind, {}, document)
    with replacing(path, "xb") as file:
        file.write(data)


def read_document(path: Path, kind: str) -> JsonObject:
    """Read the document that `write_document` wrote; StorageError if it is damaged or of another kind."""
    return decode(path, kind).document
