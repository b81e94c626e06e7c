"""Arrays in temporary files: they hold what is written, and leave nothing behind."""

import errno
import os
import tempfile

import numpy as np
import pytest

from metalda.errors import StorageError
from metalda.storage import scratch


def test_an_array_on_disk_holds_what_is_written_and_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = scratch.empty_on_disk((3, 4), np.float32)
    array[:] = np.arange(12).reshape(3, 4)
    assert scratch.is_mapped(array[1:])
    assert array.sum() == 66
    assert os.listdir(tmp_path) == []


def test_a_disk_without_room_is_one_line(monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(StorageError, match=r"no room for a .* file of 0.4 GB \(No space left on device\).*TMPDIR"):
        scratch.empty_on_disk((100_000_000,), np.int32)
