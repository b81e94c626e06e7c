"""Large arrays that need not be in memory: in temporary files that have no name, and vanish with the process."""

import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from metalda.errors import StorageError

LARGE = 1 << 28  # bytes; below it, memory is simpler and faster


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array is the content of a file, which the system reads and forgets as it needs memory."""
    return isinstance(mapping(array), np.memmap | mmap.mmap)


def mapping(array: NDArray[Any]) -> Any:
    """What an array is a view of, in the end: of a file, if it is mapped."""
    base: Any = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return base


def empty_beside(array: NDArray[Any], shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """A new array: on the disk if it is large and so is the one that it is made of, otherwise in memory."""
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return empty_on_disk(shape, dtype) if n_bytes >= LARGE and is_mapped(array) else np.empty(shape, dtype)


def empty_on_disk(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """A new array in the folder for temporary files (the environment variable TMPDIR)."""
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    try:
        with tempfile.TemporaryFile() as file:
            if hasattr(os, "posix_fallocate"):  # a full disk must be an error now, not a crash at the first write
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.truncate(n_bytes)
            return np.memmap(file, dtype, "r+", shape=shape).view(np.ndarray)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(
            f"{tempfile.gettempdir()}: no room for a temporary file of {n_bytes / 1e9:.1f} GB ({reason}); "
            "name another folder with the environment variable TMPDIR"
        ) from error
