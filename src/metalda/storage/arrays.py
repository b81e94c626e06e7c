"""Arrays in files: saved as safetensors or ``.npy``, memory-mapped, or in temporary files."""

from __future__ import annotations

import json
import mmap
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.errors import StorageError
from metalda.utils.checks import Array

S = TypeVar("S", bound=np.generic)

LARGE = 1 << 28  # bytes; smaller temporary arrays stay in memory
_CHUNK = 1 << 22


@dataclass(frozen=True)
class Streamed:
    """A one-dimensional array that is written in pieces, without holding it in memory; for ``.npy`` files only."""

    dtype: type
    length: int
    pieces: Callable[[], Iterable[np.ndarray]]


Contents = Mapping[str, "np.ndarray | Streamed"]


class ChecksumWriter:
    """A file that tracks its size and CRC-32. The checksum detects damage, but not tampering."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.crc = 0

    def write(self, data: bytes) -> int:
        self._file.write(data)
        self.size += len(data)
        self.crc = zlib.crc32(data, self.crc)
        return len(data)

    def write_array(self, array: np.ndarray) -> None:
        """Write the numbers of a `plain` array without a copy."""
        self.write(array.reshape(-1).view(np.uint8).data)  # type: ignore[arg-type]


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    crc = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
    return crc


def plain(array: np.ndarray | Streamed) -> np.ndarray | Streamed:
    """Convert to C order and little-endian, as both layouts require; raise TypeError for types that need pickle."""
    if isinstance(array, Streamed):
        return array
    array = np.asarray(array)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"arrays of type {array.dtype} cannot be saved")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def save_arrays(path: Path, arrays: Contents) -> tuple[int, int]:
    """Write a new file and sync it to disk; return its size and CRC-32."""
    with path.open("xb") as file:
        writer = ChecksumWriter(file)
        if path.suffix == ".npy":
            (array,) = arrays.values()
            _write_npy(writer, array)
        else:
            _write_safetensors(writer, {name: np.asarray(array) for name, array in arrays.items()})
        file.flush()
        os.fsync(file.fileno())
    return writer.size, writer.crc


def _write_npy(writer: ChecksumWriter, array: np.ndarray | Streamed) -> None:
    if isinstance(array, np.ndarray):
        np.lib.format.write_array(writer, array, allow_pickle=False)
        return
    dtype = np.dtype(array.dtype).newbyteorder("<")
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (array.length,)}
    np.lib.format.write_array_header_1_0(writer, header)
    n_written = 0
    for piece in array.pieces():
        writer.write_array(np.ascontiguousarray(piece, dtype))
        n_written += len(piece)
    if n_written != array.length:
        raise ValueError(f"{n_written:,} numbers written, but {array.length:,} expected")


def _write_safetensors(writer: ChecksumWriter, arrays: dict[str, np.ndarray]) -> None:
    """Write the same bytes as `safetensors.numpy.save`, which would need twice the memory of all arrays."""
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))  # so that all are aligned
    header, end = {}, 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        kind = "BOOL" if array.dtype.kind == "b" else f"{array.dtype.kind.upper()}{8 * array.dtype.itemsize}"
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    writer.write(len(text).to_bytes(8, "little") + text)
    for name in names:
        writer.write_array(arrays[name])


def load_arrays(path: Path, names: list[str], *, mapped: bool) -> dict[str, np.ndarray]:
    """Return the arrays of one file, as memory maps if `mapped`; in any case aligned, as kernels expect."""
    arrays = _load_arrays(path, names, mapped=mapped)
    return {name: np.require(array, requirements="A") for name, array in arrays.items()}


def _load_arrays(path: Path, names: list[str], *, mapped: bool) -> dict[str, np.ndarray]:
    if path.suffix == ".npy":
        (name,) = names
        array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
        return {name: array.view(np.ndarray)}
    if mapped:
        return _map_safetensors(path, names)
    from safetensors.numpy import load_file

    arrays = load_file(path)
    return {name: arrays[name] for name in names}


def _map_safetensors(path: Path, names: list[str]) -> dict[str, np.ndarray]:
    data = np.memmap(path, np.uint8, "r").view(np.ndarray)
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:start].tobytes())
    arrays = {}
    for name in names:
        kind, shape, (begin, end) = (header[name][key] for key in ("dtype", "shape", "data_offsets"))
        dtype = np.dtype(np.bool_ if kind == "BOOL" else f"<{kind[0].lower()}{int(kind[1:]) // 8}")
        arrays[name] = data[start + begin : start + end].view(dtype).reshape(shape)
    return arrays


@dataclass(frozen=True, eq=False)
class Unread:
    """An array of a saved folder that is read when it is needed. Until then its file is mapped, and may be replaced."""

    mapped: Array
    file: str  # in error messages
    crc32: int

    def read(self) -> Array:
        """Return the array; StorageError if the checksum of its file does not match."""
        file = mapping(self.mapped)
        if isinstance(file, np.memmap) and zlib.crc32(file.data) != self.crc32:
            raise StorageError(f"{self.file}: damaged: the checksum does not match")
        return np.array(self.mapped)


def is_mapped(array: NDArray[np.generic]) -> bool:
    """Return whether an array is a view of a memory-mapped file."""
    return isinstance(mapping(array), np.memmap | mmap.mmap)


def mapping(array: NDArray[np.generic]) -> object:
    """Return the object that an array is ultimately a view of: the map of a file for mapped arrays."""
    base: object = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return base


def empty_like_source(source: NDArray[np.generic], shape: tuple[int, ...], dtype: type[S]) -> NDArray[S]:
    """Allocate an array: on disk if it is large and `source`, from which it is computed, is mapped; else in memory."""
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return empty_on_disk(shape, dtype) if n_bytes >= LARGE and is_mapped(source) else np.empty(shape, dtype)


def empty_on_disk(shape: tuple[int, ...], dtype: type[S]) -> NDArray[S]:
    """Allocate an array in an unnamed file of the temporary folder (TMPDIR), which is deleted with the process."""
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    try:
        with tempfile.TemporaryFile() as file:
            if hasattr(os, "posix_fallocate"):  # so that a full disk is an error now, not a crash at the first write
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.truncate(n_bytes)
            return np.memmap(file, dtype, "r+", shape=shape).view(np.ndarray)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(
            f"{tempfile.gettempdir()}: no room for a temporary file of {n_bytes / 1e9:.1f} GB ({reason}); "
            "set the environment variable TMPDIR to another folder"
        ) from error


@dataclass(frozen=True)
class MappedFile:
    """The position of an array in a file, for other processes and for machines that share the file system."""

    path: str
    offset: int
    dtype: str
    size: int  # of the file
    changed: int  # time of the last change, to detect another file with the same name

    @classmethod
    def of(cls, array: NDArray[np.generic] | None) -> MappedFile | None:
        """Return the position of an array that is a contiguous part of a mapped file; None for any other array."""
        base = None if array is None else mapping(array)
        if array is None or not isinstance(base, np.memmap) or not base.filename or not array.flags.c_contiguous:
            return None
        try:
            about = os.stat(base.filename)
        except OSError:  # the file has no name, or was deleted or renamed
            return None
        skipped = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        path = str(Path(base.filename).resolve())
        return cls(path, base.offset + skipped, array.dtype.str, about.st_size, about.st_mtime_ns)

    @property
    def is_here(self) -> bool:
        """Return whether this process sees the same file."""
        try:
            about = os.stat(self.path)
        except OSError:
            return False
        return (about.st_size, about.st_mtime_ns) == (self.size, self.changed)

    def open(self, first: int, last: int) -> Array:
        """Map entries first … last - 1 into memory."""
        if first == last:
            return np.empty(0, self.dtype)
        offset = self.offset + first * np.dtype(self.dtype).itemsize
        return np.memmap(self.path, self.dtype, "r", offset, (last - first,)).view(np.ndarray)


def is_here(file: MappedFile) -> bool:
    """Return `MappedFile.is_here`, as a function that a worker can run."""
    return file.is_here
