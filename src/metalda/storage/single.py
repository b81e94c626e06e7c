"""Single files that are written whole or not at all, and small JSON documents among them."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from metalda.errors import StorageError
from metalda.storage.manifest import decode, encode


@contextmanager
def replacing(path: Path, mode: str, **how: Any) -> Iterator[IO[Any]]:
    """A new file that takes the place of the old one once it is complete and on the disk."""
    target = path.resolve()
    staged = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    try:
        with open(staged, mode, **how) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(staged, target)
    except BaseException as error:
        with suppress(OSError):
            staged.unlink()
        if isinstance(error, OSError):
            raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from error
        raise


def write_document(path: Path, kind: str, document: dict[str, Any]) -> None:
    """Whatever JSON can hold, as a file that says what it is."""
    data = encode(kind, {}, document)
    with replacing(path, "xb") as file:
        file.write(data)


def read_document(path: Path, kind: str) -> dict[str, Any]:
    """What `write_document` wrote; a StorageError that names the file if it is damaged or another's."""
    return decode(path, kind).document
