"""Write and read a saved folder so that a crash at any moment leaves either the old state or the new one.

Array files have fresh, unique names and are on the disk before ``<kind>.json``, which names them, is moved into
place. Whatever the JSON file does not name does not exist for the reader.
"""

import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from metalda.errors import StorageError
from metalda.storage.arrays import Contents, checksum, load_arrays, plain, save_arrays
from metalda.storage.locations import PathLike, Remote, locate
from metalda.storage.manifest import ArrayFile, decode, encode, says_format

Layout = Literal["safetensors", "npy"]

SCRATCH = ".parts"  # a folder in a saved folder that belongs to it, for work that is not done yet
_ARRAY_FILE = re.compile(r"[\w-]+-[0-9a-f]{16}\.(npy|safetensors|json)")


def write_folder(
    path: PathLike,
    kind: str,
    document: dict[str, Any],
    arrays: Contents,
    *,
    layout: Layout = "safetensors",
) -> None:
    """Save a JSON document and named arrays as one folder, atomically.

    Parameters
    ----------
    path : path-like
        The folder: new, empty, or an earlier save of the same kind, which then is replaced. ``scheme://…`` is
        written here first, then copied there, the JSON file last.
    kind : str
        What is saved, e.g. ``"model"``; gives the name of the JSON file.
    document : dict
        Whatever JSON can hold.
    arrays : mapping of str to array
        Booleans, integers and floats of any shape; in the layout "npy" also `Streamed` ones.
    layout : {"safetensors", "npy"}
        All arrays in one file, or one file each, which may be streamed.

    Raises
    ------
    StorageError
        If the folder holds something else or cannot be written. Nothing half-written is left, and an earlier save
        stays as it was.
    """
    folder = locate(path)
    _check_target(folder, kind)
    if isinstance(folder, Remote):
        with tempfile.TemporaryDirectory(prefix="metalda-") as here:
            write_folder(here, kind, document, arrays, layout=layout)
            _upload(Path(here), folder, kind)
        return
    contents = {name: plain(array) for name, array in arrays.items()}
    try:
        encode(kind, {}, document)
    except ValueError as error:
        raise StorageError(f"{folder}: cannot save the {kind}: {error}") from error
    try:
        created = _make_folder(folder)
        try:
            _replace(folder, kind, document, contents, layout)
        except BaseException:
            if created:
                with suppress(OSError):
                    folder.rmdir()  # only succeeds if nothing was saved
            raise
    except OSError as error:
        raise StorageError(f"{folder}: cannot save the {kind}: {error.strerror or error}") from error


def read_folder(path: PathLike, kind: str, *, mmap: bool = False) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_folder` saved: the document and the arrays.

    With ``mmap`` the arrays are read-only maps of their files: only sizes are checked, not checksums, so that opening
    does not read them. What lies at ``scheme://…`` is copied here first.
    """
    folder = locate(path)
    _check_source(folder, kind)
    manifest = decode(folder / f"{kind}.json", kind)
    arrays: dict[str, np.ndarray] = {}
    with _here(folder, manifest.files) as here:
        # a map outlives the name of its file, so that copies can go at once, but not on Windows
        mmap = mmap and (here is folder or os.name != "nt")
        for name, file in manifest.files.items():
            arrays.update(_read_file(here / name, folder / name, file, mmap=mmap))
    return manifest.document, arrays


def check_writable(path: PathLike, kind: str = "model") -> None:
    """Raise StorageError if `write_folder` could not save there: better now than after an hour of training."""
    folder = locate(path)
    _check_target(folder, kind)
    try:
        if isinstance(folder, Remote):
            probe = folder / f"{kind}-{secrets.token_hex(8)}.json"
            probe.write_bytes(b"")
            probe.unlink()
            return
        with tempfile.TemporaryFile(dir=folder if folder.exists() else folder.parent):
            pass
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from error


def _check_target(folder: Any, kind: str) -> None:
    """The folder is absent (in a folder that exists), empty, or holds a save of this kind."""
    try:
        if not folder.exists():
            if isinstance(folder, Path) and not folder.parent.is_dir():
                raise StorageError(f"{folder}: cannot be written: there is no folder {folder.parent}")
            return
        if not folder.is_dir():
            raise StorageError(f"{folder}: is a file, but a {kind} is saved as a folder: choose another name")
        names = [each.name for each in folder.iterdir()]
        others = [name for name in names if name != SCRATCH and not _ARRAY_FILE.fullmatch(name)]
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    if others and not says_format(folder / f"{kind}.json", kind):
        raise StorageError(f"{folder}: holds other files and no saved {kind}: choose a new or empty folder")


def _check_source(folder: Any, kind: str) -> None:
    try:
        if not folder.exists():
            raise StorageError(f"{folder}: no such folder, so no saved {kind}")
        if not folder.is_dir():
            raise StorageError(f"{folder}: is a file, but a saved {kind} is a folder")
        names = [each.name for each in folder.iterdir()]
    except OSError as error:
        raise StorageError(f"{folder}: cannot be read: {error.strerror or error}") from error
    if f"{kind}.json" not in names:
        other = next((name[:-5] for name in sorted(names) if name.endswith(".json")), None)
        if other is not None and says_format(folder / f"{other}.json", other):
            raise StorageError(f"{folder}: holds a saved {other}, not a {kind}")
        raise StorageError(f"{folder}: not a saved {kind}: there is no {kind}.json")


def _make_folder(folder: Path) -> bool:
    """Make the folder unless it is there; says whether it was made."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


def _replace(folder: Path, kind: str, document: dict[str, Any], arrays: Contents, layout: Layout) -> None:
    """Write the new files beside the old ones, switch over, then remove the old ones."""
    token = secrets.token_hex(8)
    manifest_path, staged = folder / f"{kind}.json", folder / f"{kind}-{token}.json"
    plan = _plan(arrays, layout, token)
    try:
        files = {}
        for name, members in plan.items():
            size, crc = save_arrays(folder / name, members)
            files[name] = ArrayFile(list(members), size, crc)
        _write_bytes(staged, encode(kind, files, document))
        os.replace(staged, manifest_path)
    except BaseException:
        # an interrupt may arrive just after the switch: then the new files are the save
        if not _is_current(manifest_path, token):
            _remove(folder / name for name in (*plan, staged.name))
        raise
    _sync_folder(folder)
    names = set(plan)
    _remove(folder / name for name in os.listdir(folder) if _ARRAY_FILE.fullmatch(name) and name not in names)


def _plan(arrays: Contents, layout: Layout, token: str) -> dict[str, Contents]:
    """The array files to write: name of the file -> its arrays."""
    if layout == "safetensors":
        return {f"arrays-{token}.safetensors": arrays} if arrays else {}
    plan: dict[str, Contents] = {
        f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}-{token}.npy": {name: array} for name, array in arrays.items()
    }
    if len(plan) < len(arrays):
        raise ValueError(f"the names of the arrays are too alike for file names: {sorted(arrays)}")
    return plan


def _is_current(manifest_path: Path, token: str) -> bool:
    try:
        return token.encode() in manifest_path.read_bytes()
    except OSError:
        return False


def _write_bytes(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the new name durable; Windows has no way to ask for it, nor the need."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(paths: Any) -> None:
    for path in paths:
        with suppress(OSError):  # a stray file is harmless: no reader looks at it, and the next save removes it
            path.unlink()


def _upload(here: Path, folder: Remote, kind: str) -> None:
    """New array files beside the old ones, then the JSON file that names them; the old ones go at last."""
    new = [path.name for path in here.iterdir() if path.suffix != ".json"]
    try:
        old = [each for each in folder.iterdir() if _ARRAY_FILE.fullmatch(each.name)] if folder.exists() else []
        folder.system.makedirs(folder.path, exist_ok=True)
        try:
            for name in new:
                (folder / name).upload(here / name)
        except BaseException:
            _remove(folder / name for name in new)
            raise
        (folder / f"{kind}.json").upload(here / f"{kind}.json")
    except OSError as error:
        raise StorageError(f"{folder}: cannot save the {kind}: {error.strerror or error}") from error
    _remove(old)


@contextmanager
def _here(folder: Any, names: Iterable[str]) -> Iterator[Any]:
    """The folder itself, or one on this machine with copies of these files of it."""
    if not isinstance(folder, Remote):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="metalda-") as here:
        try:
            for name in names:
                with suppress(FileNotFoundError):  # the reader will say so
                    (folder / name).download(Path(here, name))
        except OSError as error:
            raise StorageError(f"{folder}: cannot be read: {error.strerror or error}") from error
        yield Path(here)


def _read_file(path: Path, shown: Any, file: ArrayFile, *, mmap: bool) -> dict[str, np.ndarray]:
    """The arrays of one file; `shown` is what the user calls it."""
    try:
        size = path.stat().st_size
        if size != file.size:
            raise StorageError(f"{shown}: damaged: {size:,} bytes instead of {file.size:,}")
        if not mmap and checksum(path) != file.crc32:
            raise StorageError(f"{shown}: damaged: the checksum does not match")
        return load_arrays(path, file.arrays, mmap=mmap)
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise StorageError(f"{shown}: missing, though the saved folder needs it") from error
    except OSError as error:
        raise StorageError(f"{shown}: cannot be read: {error.strerror or error}") from error
    except Exception as error:  # safetensors and NumPy raise many kinds for a file that is not theirs
        raise StorageError(f"{shown}: damaged: not an array file ({_one_line(error)})") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
