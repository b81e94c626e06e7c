"""Array files: how named arrays become bytes, in one safetensors file or in one ``.npy`` file each."""

import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

_CHUNK = 1 << 22


@dataclass(frozen=True)
class Streamed:
    """A one-dimensional array that comes in pieces, so that it need not be in memory; for ``.npy`` files only."""

    dtype: type
    length: int
    pieces: Callable[[], Iterable[np.ndarray]]


Contents = Mapping[str, np.ndarray | Streamed]


class ChecksumWriter:
    """A file that knows its size and CRC-32; a checksum rather than a digest, since it guards against damage only."""

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
        """The numbers of a `plain` array, without a copy of them."""
        self.write(array.reshape(-1).view(np.uint8).data)  # type: ignore[arg-type]


def checksum(path: Path) -> int:
    """CRC-32 of a file, read in pieces."""
    crc = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
    return crc


def plain(array: np.ndarray | Streamed) -> np.ndarray | Streamed:
    """The array in C order and little-endian, as both layouts hold it; refuses what would need pickle."""
    if isinstance(array, Streamed):
        return array
    array = np.asarray(array)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"arrays of type {array.dtype} cannot be saved")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def save_arrays(path: Path, arrays: Contents) -> tuple[int, int]:
    """Write a new file, down to the disk; returns its size and CRC-32."""
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
        raise ValueError(f"{n_written:,} numbers came where {array.length:,} were announced")


def _write_safetensors(writer: ChecksumWriter, arrays: dict[str, np.ndarray]) -> None:
    """The bytes of `safetensors.numpy.save`, which would need twice the memory of all arrays."""
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


def load_arrays(path: Path, names: list[str], *, mmap: bool) -> dict[str, np.ndarray]:
    """The arrays of one file; with ``mmap`` as maps of it."""
    if path.suffix == ".npy":
        (name,) = names
        array = np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)
        return {name: array.view(np.ndarray)}
    if mmap:
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
