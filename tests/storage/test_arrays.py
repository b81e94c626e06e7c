"""Arrays in temporary files, and arrays in mapped files that other processes can open."""

import errno
import os
import tempfile

import numpy as np
import pytest

from metalda.errors import StorageError
from metalda.storage import arrays
from metalda.storage.arrays import MappedFile, empty_on_disk


def test_an_array_on_disk_holds_what_is_written_and_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = arrays.empty_on_disk((3, 4), np.float32)
    array[:] = np.arange(12).reshape(3, 4)
    assert arrays.is_mapped(array[1:])
    assert array.sum() == 66
    assert os.listdir(tmp_path) == []


def test_a_disk_without_room_is_one_line(monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(StorageError, match=r"no room for a .* file of 0.4 GB \(No space left on device\).*TMPDIR"):
        arrays.empty_on_disk((100_000_000,), np.int32)


def test_a_mapped_array_is_found_again_in_its_file(tmp_path):
    values = np.arange(1000, dtype=np.int32)
    np.save(tmp_path / "words.npy", values)
    mapped = np.load(tmp_path / "words.npy", mmap_mode="r").view(np.ndarray)
    file = MappedFile.of(mapped[100:900])
    assert file is not None
    assert file.is_here
    np.testing.assert_array_equal(file.open(3, 7), values[103:107])
    assert len(file.open(5, 5)) == 0


def test_a_file_that_has_changed_or_gone_is_not_the_same(tmp_path):
    path = tmp_path / "words.npy"
    np.save(path, np.arange(10, dtype=np.int32))
    file = MappedFile.of(np.load(path, mmap_mode="r"))
    os.utime(path, ns=(0, 0))
    assert not file.is_here
    path.unlink()
    assert not file.is_here


def test_arrays_without_a_file_of_their_own_have_none(tmp_path):
    path = tmp_path / "matrix.npy"
    np.save(path, np.ones((4, 4)))
    assert MappedFile.of(None) is None
    assert MappedFile.of(np.arange(3)) is None
    assert MappedFile.of(empty_on_disk((5,), np.int32)) is None
    assert MappedFile.of(np.load(path, mmap_mode="r").T[1:]) is None
