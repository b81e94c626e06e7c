"""Write and read a saved folder: after a crash at any time, either the old or the new save is complete.

Array files have unique names and are synced to disk before ``<kind>.json``, the manifest that names them, is moved into
place. Readers ignore files that the manifest does not name.

Several processes may write and read one folder at once. A save deletes only the files of the save that it replaces, and
files that an interrupted save left long ago; a reader whose files disappear reads the newer save.
"""

import os
import re
import secrets
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import numpy as np

from metalda.errors import StorageError
from metalda.storage.arrays import Contents, Unread, checksum, load_arrays, plain, save_arrays
from metalda.storage.locations import PathLike, Remote, locate
from metalda.storage.lock import LOCK, alone
from metalda.storage.manifest import ArrayFile, decode, encode, is_manifest, replace_file, require_regular
from metalda.utils.checks import Array, JsonObject

Layout = Literal["safetensors", "npy"]

SCRATCH = ".parts"  # a subfolder of a saved folder for unfinished work
ABANDONED = 86_400  # seconds after which an array file outside the manifest counts as left by an interrupted save
_ARRAY_FILE = re.compile(r"[\w-]+-[0-9a-f]{16}\.(npy|safetensors|json)")


def write_folder(
    path: PathLike,
    kind: str,
    document: Mapping[str, object],
    arrays: Contents,
    *,
    layout: Layout = "safetensors",
    apart: Collection[str] = (),
) -> None:
    """Save a JSON document and named arrays as one folder, atomically.

    Parameters
    ----------
    path : path-like
        The folder: new, empty, or an earlier save of the same kind, which is replaced. For ``scheme://…`` it is
        written on this machine first, then copied, the manifest last.
    kind : str
        The kind of save, e.g. ``"model"``; the manifest is ``<kind>.json``.
    document : dict
        Any JSON object.
    arrays : mapping of str to array
        Booleans, integers and floats of any shape; with the layout "npy" also `Streamed` arrays.
    layout : {"safetensors", "npy"}
        One file for all arrays, or one file for each.
    apart : collection of str
        Arrays that have files of their own in any layout, so that `read_parts` can leave them unread: ``name`` is also
        the array ``chain1.name``.

    Raises
    ------
    StorageError
        If the folder holds other files or cannot be written. No partial files remain, and an earlier save is
        unchanged.
    """
    folder = locate(path)
    _check_target(folder, kind)
    if isinstance(folder, Remote):
        with tempfile.TemporaryDirectory(prefix="metalda-") as here:
            write_folder(here, kind, document, arrays, layout=layout, apart=apart)
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
            _replace(folder, kind, document, contents, layout, apart)
        except BaseException:
            if created:
                with suppress(OSError):
                    folder.rmdir()  # only succeeds if nothing was saved
            raise
    except OSError as error:
        raise StorageError(f"{folder}: cannot save the {kind}: {error.strerror or error}") from error


def read_folder(path: PathLike, kind: str, *, mmap: bool = False) -> tuple[JsonObject, dict[str, Array]]:
    """Read the document and the arrays that `write_folder` saved.

    With ``mmap`` the arrays are read-only maps of their files. Then sizes are checked but checksums are not, so that
    opening does not read the files. A folder at ``scheme://…`` is copied to this machine first.
    """
    document, arrays, _ = _read(path, kind, mmap=mmap)
    return document, arrays


def read_parts(
    path: PathLike, kind: str, later: Collection[str]
) -> tuple[JsonObject, dict[str, Array], dict[str, Unread]]:
    """Do the same, but leave arrays unread that were written apart and are named in `later`."""
    return _read(path, kind, later=later)


def _read(
    path: PathLike, kind: str, *, mmap: bool = False, later: Collection[str] = ()
) -> tuple[JsonObject, dict[str, Array], dict[str, Unread]]:
    folder = locate(path)
    _check_source(folder, kind)
    manifest_path = folder / f"{kind}.json"
    manifest = decode(manifest_path, kind)
    try:
        return manifest.document, *_read_files(folder, manifest.files, mmap=mmap, later=later)
    except StorageError:
        if decode(manifest_path, kind) == manifest:
            raise
    return _read(path, kind, mmap=mmap, later=later)  # another process has saved since, and deleted the older files


def check_writable(path: PathLike, kind: str = "model") -> None:
    """Raise StorageError if `write_folder` cannot save there; called before training, which may take hours."""
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


def _check_target(folder: Path | Remote, kind: str) -> None:
    """Require a folder that is absent (with an existing parent), empty, or holds a save of this kind."""
    try:
        if not folder.exists():
            if isinstance(folder, Path) and folder.is_symlink():
                raise StorageError(f"{folder}: cannot be written: it is a link to a folder that does not exist")
            if isinstance(folder, Path) and not folder.parent.is_dir():
                raise StorageError(f"{folder}: cannot be written: there is no folder {folder.parent}")
            return
        if not folder.is_dir():
            raise StorageError(f"{folder}: is a file, but a {kind} is saved as a folder: choose another name")
        names = [each.name for each in folder.iterdir()]
        others = [name for name in names if name not in (SCRATCH, LOCK) and not _ARRAY_FILE.fullmatch(name)]
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    if others and not is_manifest(folder / f"{kind}.json", kind):
        raise StorageError(f"{folder}: holds other files and no saved {kind}: choose a new or empty folder")


def _check_source(folder: Path | Remote, kind: str) -> None:
    """Require a folder that holds a save of this kind."""
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
        if other is not None and is_manifest(folder / f"{other}.json", other):
            raise StorageError(f"{folder}: holds a saved {other}, not a {kind}")
        raise StorageError(f"{folder}: not a saved {kind}: there is no {kind}.json")


def _make_folder(folder: Path) -> bool:
    """Make the folder unless it exists; return whether it was made."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


def _replace(
    folder: Path,
    kind: str,
    document: Mapping[str, object],
    arrays: Contents,
    layout: Layout,
    apart: Collection[str],
) -> None:
    """Write new files next to the old ones, replace the manifest, then remove the old files."""
    token = secrets.token_hex(8)
    manifest_path, staged = folder / f"{kind}.json", folder / f"{kind}-{token}.json"
    plan = _plan(arrays, layout, apart, token)
    try:
        files = {}
        for name, members in plan.items():
            size, crc = save_arrays(folder / name, members)
            files[name] = ArrayFile(list(members), size, crc)
        _write_bytes(staged, encode(kind, files, document))
        with alone(folder):  # of two saves, the later one replaces the earlier one and deletes its files
            old = _named_files(manifest_path, kind)
            replace_file(staged, manifest_path)
    except BaseException:
        # an interrupt may arrive just after the manifest was replaced: then the new files are the save
        if not _is_current(manifest_path, token):
            _remove(folder / name for name in (*plan, staged.name))
        raise
    _sync_folder(folder)
    _remove(folder / name for name in old)
    names = {"arrays.safetensors", f"{kind}.json", *map(_without_token, plan)}
    strays = [name for name in os.listdir(folder) if name not in plan and _without_token(name) in names]
    _remove(folder / name for name in strays if _is_old(folder / name))


def _plan(arrays: Contents, layout: Layout, apart: Collection[str], token: str) -> dict[str, Contents]:
    """Return the array files to write: file name -> arrays."""
    together = {name: array for name, array in arrays.items() if layout == "safetensors" and not _is_in(apart, name)}
    alone = {name: array for name, array in arrays.items() if name not in together}
    plan: dict[str, Contents] = {f"arrays-{token}.safetensors": together} if together else {}
    plan |= {f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}-{token}.{layout}": {name: array} for name, array in alone.items()}
    if len(plan) < len(alone) + bool(together):
        raise ValueError(f"the names of the arrays give equal file names: {sorted(arrays)}")
    return plan


def _is_in(names: Collection[str], array: str) -> bool:
    return array.rpartition(".")[2] in names


def _named_files(manifest_path: Path | Remote, kind: str) -> list[str]:
    """Return the array files of the current save; none if there is no save or its manifest is damaged."""
    try:
        return list(decode(manifest_path, kind).files)
    except StorageError:
        return []


def remove_unfinished(folder: Path | Remote, kind: str) -> None:
    """Delete the files of interrupted saves, in a folder that no other process writes to."""
    if isinstance(folder, Remote):
        return
    manifest_path = folder / f"{kind}.json"
    named = _named_files(manifest_path, kind)
    if not named and manifest_path.exists():  # damaged: its files may be of use
        return
    names = {"arrays.safetensors", manifest_path.name}
    strays = [name for name in os.listdir(folder) if name not in (*named, manifest_path.name)]
    _remove(folder / name for name in strays if _without_token(name) in names)


def _without_token(name: str) -> str:
    """Return ``arrays.safetensors`` for ``arrays-0123456789abcdef.safetensors``."""
    return re.sub(r"-[0-9a-f]{16}(?=\.\w+$)", "", name)


def _is_old(path: Path) -> bool:
    """Return whether a file outside the manifest belongs to an interrupted save, not to one in progress."""
    try:
        return time.time() - path.stat().st_mtime > ABANDONED
    except OSError:  # deleted in the meantime
        return False


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
    """Sync the directory entry of the manifest to disk; not possible or needed on Windows."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(paths: Iterable[Path | Remote]) -> None:
    for path in paths:
        with suppress(OSError):  # a stray file is harmless: readers ignore it
            path.unlink()


def _upload(here: Path, folder: Remote, kind: str) -> None:
    """Upload new array files, then the manifest that names them, then remove the old files."""
    new = [path.name for path in here.iterdir() if path.suffix != ".json"]
    try:
        folder.system.makedirs(folder.path, exist_ok=True)
        try:
            for name in new:
                (folder / name).upload(here / name)
        except BaseException:
            _remove(folder / name for name in new)
            raise
        old = _named_files(folder / f"{kind}.json", kind)
        (folder / f"{kind}.json").upload(here / f"{kind}.json")
    except OSError as error:
        raise StorageError(f"{folder}: cannot save the {kind}: {error.strerror or error}") from error
    _remove(folder / name for name in old)


def _read_files(
    folder: Path | Remote, files: dict[str, ArrayFile], *, mmap: bool, later: Collection[str]
) -> tuple[dict[str, np.ndarray], dict[str, Unread]]:
    """Read the array files of a save; files with nothing but arrays of `later` are only mapped."""
    arrays: dict[str, np.ndarray] = {}
    unread: dict[str, Unread] = {}
    with _here(folder, files) as here:
        # except on Windows, a map outlives its file, so temporary copies can be deleted at once
        can_map = here is folder or os.name != "nt"
        for name, file in files.items():
            is_later = can_map and all(_is_in(later, own) for own in file.arrays)
            found = _read_file(here / name, folder / name, file, mmap=can_map and (mmap or is_later))
            if is_later:
                unread |= {own: Unread(array, str(folder / name), file.crc32) for own, array in found.items()}
            else:
                arrays |= found
    return arrays, unread


@contextmanager
def _here(folder: Path | Remote, names: Iterable[str]) -> Iterator[Path]:
    """Yield the folder itself if it is on this machine, else a temporary folder with copies of these files."""
    if not isinstance(folder, Remote):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="metalda-") as here:
        try:
            for name in names:
                with suppress(FileNotFoundError):  # `_read_file` reports the missing file
                    (folder / name).download(Path(here, name))
        except OSError as error:
            raise StorageError(f"{folder}: cannot be read: {error.strerror or error}") from error
        yield Path(here)


def _read_file(path: Path, shown: Path | Remote, file: ArrayFile, *, mmap: bool) -> dict[str, np.ndarray]:
    """Check and read one array file; `shown` is its name in error messages."""
    try:
        require_regular(path)
        size = path.stat().st_size
        if size != file.size:
            raise StorageError(f"{shown}: damaged: {size:,} bytes instead of {file.size:,}")
        if not mmap and checksum(path) != file.crc32:
            raise StorageError(f"{shown}: damaged: the checksum does not match")
        return load_arrays(path, file.arrays, mapped=mmap)
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise StorageError(f"{shown}: missing, though the saved folder needs it") from error
    except OSError as error:
        raise StorageError(f"{shown}: cannot be read: {error.strerror or error}") from error
    except Exception as error:  # safetensors and NumPy raise many types for a file in another format
        raise StorageError(f"{shown}: damaged: not an array file ({_one_line(error)})") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
