"""Array files: how named arrays become bytes, in one safetensors file or in one ``.npy`` file each."""

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

_CHUNK = 1 << 22


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


def checksum(path: Path) -> int:
    """CRC-32 of a file, read in pieces."""
    crc = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
    return crc


def plain(array: np.ndarray) -> np.ndarray:
    """The array in C order and little-endian, as both layouts hold it; refuses what would need pickle."""
    array = np.asarray(array)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"arrays of type {array.dtype} cannot be saved")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> tuple[int, int]:
    """Write a new file, down to the disk; returns its size and CRC-32."""
    with path.open("xb") as file:
        writer = ChecksumWriter(file)
        if path.suffix == ".npy":
            (array,) = arrays.values()
            np.lib.format.write_array(writer, array, allow_pickle=False)
        else:
            from safetensors.numpy import save

            writer.write(save(dict(arrays)))
        file.flush()
        os.fsync(file.fileno())
    return writer.size, writer.crc


def load_arrays(path: Path, names: list[str], *, mmap: bool) -> dict[str, np.ndarray]:
    """The arrays of one file; ``mmap`` concerns ``.npy`` files only."""
    if path.suffix == ".npy":
        (name,) = names
        array = np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)
        return {name: array.view(np.ndarray)}
    from safetensors.numpy import load_file

    arrays = load_file(path)
    return {name: arrays[name] for name in names}
