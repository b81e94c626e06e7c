"""Saved folders: round trips, failures at every step, several writers, and damage."""

import errno
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from metalda.errors import InputError, StorageError
from metalda.storage import check_writable, read_folder, write_folder

DTYPES = [np.bool_, *(np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)), *(np.dtype(f"f{n}") for n in (2, 4, 8))]
LAYOUTS = ["safetensors", "npy"]
DOCUMENT = {"name": "Größe → 大 \ud800", "list": [1, 2.5, None, True], "nested": {"a": {}}}


def save(path, value=1.0, layout="safetensors", kind="model"):
    write_folder(path, kind, {"value": value}, {"a": np.full(100, value), "b": np.arange(6)}, layout=layout)


def leave_behind(path):
    """An array file of a save that was interrupted two days ago."""
    stray = path / "arrays-0123456789abcdef.safetensors"
    stray.write_text("left by a crash")
    os.utime(stray, (time.time() - 2 * 86_400,) * 2)


def assert_holds(path, value, kind="model"):
    document, arrays = read_folder(path, kind)
    assert document == {"value": value}
    np.testing.assert_array_equal(arrays["a"], np.full(100, value))


def one_line(error) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (5,), (2, 3, 4)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_shape_comes_back(tmp_path, layout, mmap, shape, dtype):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    write_folder(tmp_path / "m", "model", {}, {"x": array}, layout=layout)
    back = read_folder(tmp_path / "m", "model", mmap=mmap)[1]["x"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_orders_and_byte_orders_are_normalised(tmp_path, layout):
    base = np.arange(12.0).reshape(3, 4)
    arrays = {"fortran": np.asfortranarray(base), "strided": base[:, ::2], "big": base.astype(">f8"), "t": base.T}
    write_folder(tmp_path / "m", "model", {}, arrays, layout=layout)
    back = read_folder(tmp_path / "m", "model")[1]
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].dtype == np.float64
        assert back[name].flags.c_contiguous


@given(
    arrays=st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True),
        hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
        max_size=4,
    ),
    layout=st.sampled_from(LAYOUTS),
    mmap=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_round_trip(arrays, layout, mmap):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "thing")
        write_folder(path, "thing", DOCUMENT, arrays, layout=layout)
        document, back = read_folder(path, "thing", mmap=mmap)
        assert document == DOCUMENT
        assert back.keys() == arrays.keys()
        for name in arrays:
            assert back[name].dtype == arrays[name].dtype
            np.testing.assert_array_equal(back[name], arrays[name])
        del back


def test_memory_maps_are_read_only_and_on_the_file(tmp_path):
    save(tmp_path / "m", layout="npy")
    array = read_folder(tmp_path / "m", "model", mmap=True)[1]["a"]
    assert type(array) is np.ndarray
    assert not array.flags.writeable
    assert isinstance(array.base, np.memmap)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_saving_again_replaces_and_leaves_no_old_files(tmp_path, layout):
    save(tmp_path / "m", 1.0, "npy")
    (tmp_path / "m" / "notes.txt").write_text("mine")
    leave_behind(tmp_path / "m")
    save(tmp_path / "m", 2.0, layout)
    assert_holds(tmp_path / "m", 2.0)
    named = json.loads((tmp_path / "m" / "model.json").read_text())["files"]
    assert set(os.listdir(tmp_path / "m")) == {"model.json", "notes.txt", *named}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_old_files_of_the_user_stay_whatever_their_names(tmp_path, layout):
    save(tmp_path / "m", 1.0, layout)
    mine = tmp_path / "m" / "embedding-0123456789abcdef.npy"
    mine.write_text("mine")
    os.utime(mine, (time.time() - 2 * 86_400,) * 2)
    save(tmp_path / "m", 2.0, layout)
    assert mine.read_text() == "mine"


def test_what_a_crash_left_in_a_new_folder_does_not_block_the_next_save(tmp_path):
    (tmp_path / "m").mkdir()
    leave_behind(tmp_path / "m")
    check_writable(tmp_path / "m")
    save(tmp_path / "m")
    assert_holds(tmp_path / "m", 1.0)
    assert len(os.listdir(tmp_path / "m")) == 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_save_during_another_leaves_both_complete(tmp_path, monkeypatch, layout):
    """The second save begins when the arrays of the first are written, but not yet named."""
    from metalda.storage import folder

    path, encode, saves = tmp_path / "m", folder.encode, []
    save(path, 1.0, layout)

    def encode_after_another(kind, files, document):
        if files and not saves:
            saves.append(3.0)
            save(path, 3.0, layout)
            assert_holds(path, 3.0)
        return encode(kind, files, document)

    monkeypatch.setattr(folder, "encode", encode_after_another)
    save(path, 2.0, layout)
    assert saves
    assert_holds(path, 2.0)
    named = json.loads((path / "model.json").read_text())["files"]
    assert set(os.listdir(path)) == {"model.json", *named}


def test_a_reader_whose_files_are_replaced_reads_the_newer_save(tmp_path, monkeypatch):
    from metalda.storage import folder

    read, saves = folder._read_file, []
    save(tmp_path / "m", 1.0)

    def read_after_a_save(*arguments, **options):
        if not saves:
            saves.append(2.0)
            save(tmp_path / "m", 2.0)
        return read(*arguments, **options)

    monkeypatch.setattr(folder, "_read_file", read_after_a_save)
    assert_holds(tmp_path / "m", 2.0)
    assert saves


FAILURES = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("failure", FAILURES, ids=["disk-full", "interrupt"])
@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("existing", [False, True])
def test_failure_at_any_step_keeps_the_old_save_and_nothing_else(
    tmp_path, monkeypatch, layout, failure, step, existing
):
    """Steps are calls to fsync (one per file) and, last, the switch itself."""
    path = tmp_path / "m"
    if existing:
        save(path, 1.0, layout)
    before = sorted(os.listdir(path)) if existing else None
    calls = []
    n_syncs = 2 if layout == "safetensors" else 3

    def failing(real):
        def call(*args):
            calls.append(args)
            if len(calls) == step + 1:
                raise failure
            return real(*args)

        return call

    if step < n_syncs:
        monkeypatch.setattr(os, "fsync", failing(os.fsync))
    else:
        calls = [None] * step
        monkeypatch.setattr(os, "replace", failing(os.replace))
    with pytest.raises(StorageError if isinstance(failure, OSError) else KeyboardInterrupt) as error:
        save(path, 2.0, layout)
    monkeypatch.undo()
    if isinstance(failure, OSError):
        assert one_line(error) == f"{path}: cannot save the model: No space left on device"
    if existing:
        assert sorted(os.listdir(path)) == before
        assert_holds(path, 1.0)
    else:
        assert not path.exists()


def test_disk_full_in_the_middle_of_an_array_leaves_nothing(tmp_path, monkeypatch):
    from metalda.storage import arrays

    def full(self, data):
        self._file.write(data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    save(tmp_path / "old", 1.0)
    monkeypatch.setattr(arrays.ChecksumWriter, "write", full)
    for name in ("new", "old"):
        with pytest.raises(StorageError, match="No space left on device"):
            save(tmp_path / name, 2.0)
    assert not (tmp_path / "new").exists()
    assert_holds(tmp_path / "old", 1.0)
    assert len(os.listdir(tmp_path / "old")) == 2


def test_an_interrupt_just_after_the_switch_keeps_the_new_save(tmp_path, monkeypatch):
    real = os.replace

    def replace_then_interrupt(*args):
        real(*args)
        raise KeyboardInterrupt

    save(tmp_path / "m", 1.0)
    monkeypatch.setattr(os, "replace", replace_then_interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "m", 2.0)
    assert_holds(tmp_path / "m", 2.0)


def test_a_document_with_nan_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(StorageError, match="cannot save the model"):
        write_folder(tmp_path / "m", "model", {"x": float("nan")}, {})
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.array([1j])])
def test_arrays_that_would_need_pickle_are_refused(tmp_path, array):
    with pytest.raises(TypeError, match="cannot be saved"):
        write_folder(tmp_path / "m", "model", {}, {"x": array})
    assert not (tmp_path / "m").exists()


def folder_of_the_user(path):
    path.mkdir()
    (path / "thesis.tex").write_text("mine")


def foreign_manifest(path):
    path.mkdir()
    (path / "model.json").write_text('{"format": "something else"}')


TARGETS = {
    "file": (lambda path: path.write_text("x"), "is a file, but a model is saved as a folder"),
    "user": (folder_of_the_user, "holds other files and no saved model"),
    "foreign": (foreign_manifest, "holds other files and no saved model"),
    "other kind": (lambda path: save(path, kind="corpus"), "holds other files and no saved model"),
}


@pytest.mark.parametrize("case", TARGETS)
@pytest.mark.parametrize("attempt", [save, check_writable])
def test_a_target_that_is_not_ours_is_refused_and_untouched(tmp_path, case, attempt):
    path = tmp_path / "m"
    make, message = TARGETS[case]
    make(path)
    before = sorted(os.listdir(path)) if path.is_dir() else path.read_text()
    with pytest.raises(StorageError) as error:
        attempt(path)
    assert one_line(error).startswith(f"{path}: ")
    assert message in one_line(error)
    assert (sorted(os.listdir(path)) if path.is_dir() else path.read_text()) == before


@pytest.mark.parametrize("attempt", [save, check_writable])
def test_a_missing_parent_is_named(tmp_path, attempt):
    with pytest.raises(StorageError, match="there is no folder") as error:
        attempt(tmp_path / "no" / "m")
    assert str(tmp_path / "no") in one_line(error)


@pytest.mark.parametrize("attempt", [save, check_writable])
def test_a_file_in_the_place_of_the_parent_is_named(tmp_path, attempt):
    (tmp_path / "f").write_text("x")
    with pytest.raises(StorageError) as error:
        attempt(tmp_path / "f" / "m")
    one_line(error)


@pytest.mark.parametrize("target", ["nowhere", "link"], ids=["broken", "loop"])
@pytest.mark.parametrize("attempt", [save, check_writable])
def test_a_link_that_leads_nowhere_is_refused_before_training(tmp_path, attempt, target):
    (tmp_path / "link").symlink_to(tmp_path / target)
    with pytest.raises(StorageError, match="link to a folder that does not exist") as error:
        attempt(tmp_path / "link")
    assert one_line(error).startswith(f"{tmp_path / 'link'}: ")


def test_check_writable_tries_to_write(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    check_writable(tmp_path / "m")
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(StorageError) as error:
        check_writable(tmp_path / "m")
    assert one_line(error) == f"{tmp_path / 'm'}: cannot be written: Permission denied"


def test_check_writable_accepts_an_older_save_and_an_empty_folder(tmp_path):
    save(tmp_path / "m")
    (tmp_path / "empty").mkdir()
    check_writable(tmp_path / "m")
    check_writable(tmp_path / "empty")
    assert_holds(tmp_path / "m", 1.0)


def edit(path, change):
    content = json.loads((path / "model.json").read_text())
    change(content)
    (path / "model.json").write_text(json.dumps(content))


def array_file(path) -> Path:
    return next(p for p in path.iterdir() if p.name != "model.json")


def rename_entry(name):
    def change(content):
        content["files"] = dict.fromkeys([name], next(iter(content["files"].values())))

    return change


def flip(path):
    data = bytearray(array_file(path).read_bytes())
    data[-1] ^= 1
    array_file(path).write_bytes(bytes(data))


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


DAMAGE = {
    "json truncated": (lambda p: truncate(p / "model.json"), "not valid JSON"),
    "json empty": (lambda p: (p / "model.json").write_bytes(b""), "not valid JSON"),
    "json not utf-8": (lambda p: (p / "model.json").write_bytes(b"\xff\xfe\xff"), "not valid JSON"),
    "json with nan": (lambda p: (p / "model.json").write_text('{"format": NaN}'), "NaN is not JSON"),
    "json too deep": (lambda p: (p / "model.json").write_text("[" * 100_000), "not valid JSON"),
    "json a list": (lambda p: (p / "model.json").write_text("[]"), "not a metalda model"),
    "json a folder": (lambda p: ((p / "model.json").unlink(), (p / "model.json").mkdir()), "cannot be read"),
    "foreign": (lambda p: edit(p, lambda c: c.update(format="pytorch")), "not a metalda model"),
    "newer": (
        lambda p: edit(p, lambda c: c.update(version=2, metalda="9.9")),
        "written by metalda 9.9 in format version 2",
    ),
    "no version": (lambda p: edit(p, lambda c: c.pop("version")), "no valid format version"),
    "no files": (lambda p: edit(p, lambda c: c.pop("files")), "'files' or 'document' is missing"),
    "no document": (lambda p: edit(p, lambda c: c.update(document=[])), "'files' or 'document' is missing"),
    "path in name": (lambda p: edit(p, rename_entry("../a.npy")), "is not the name of an array file"),
    "backslash": (lambda p: edit(p, rename_entry("..\\a.npy")), "is not the name of an array file"),
    "other suffix": (lambda p: edit(p, rename_entry("model.json")), "is not the name of an array file"),
    "entry": (lambda p: edit(p, lambda c: c.update(files=dict.fromkeys(c["files"], 3))), "is not complete"),
    "array missing": (lambda p: array_file(p).unlink(), "missing"),
    "array truncated": (lambda p: truncate(array_file(p)), "bytes instead of"),
    "array changed": (flip, "checksum"),
    "no manifest": (lambda p: (p / "model.json").unlink(), "there is no model.json"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_one_line_that_names_the_path(tmp_path, case, layout):
    path = tmp_path / "m"
    save(path, layout=layout)
    damage, message = DAMAGE[case]
    damage(path)
    with pytest.raises(StorageError) as error:
        read_folder(path, "model")
    assert one_line(error).startswith(str(path))
    assert message in one_line(error)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mmap", [False, True])
def test_an_array_file_of_the_right_size_but_not_an_array_is_damage(tmp_path, layout, mmap):
    import zlib

    path = tmp_path / "m"
    save(path, layout=layout)
    file = array_file(path)
    junk = b"\x00" * file.stat().st_size
    file.write_bytes(junk)
    edit(path, lambda c: c["files"][file.name].update(crc32=zlib.crc32(junk)))
    with pytest.raises(StorageError, match="damaged: not an array file") as error:
        read_folder(path, "model", mmap=mmap)
    one_line(error)


def test_a_pickled_array_is_not_loaded(tmp_path):
    import zlib

    path = tmp_path / "m"
    save(path, layout="npy")
    file = array_file(path)
    with file.open("wb") as out:
        np.save(out, np.array([{"evil": 1}], dtype=object), allow_pickle=True)
    data = file.read_bytes()
    edit(path, lambda c: c["files"][file.name].update(bytes=len(data), crc32=zlib.crc32(data)))
    for mmap in (False, True):
        with pytest.raises(StorageError, match="not an array file"):
            read_folder(path, "model", mmap=mmap)


def test_reading_what_is_not_there_or_not_a_folder(tmp_path):
    (tmp_path / "f").write_text("x")
    save(tmp_path / "c", kind="corpus")
    for name, message in (("none", "no such folder"), ("f", "is a file"), ("c", "holds a saved corpus, not a model")):
        with pytest.raises(StorageError, match=message) as error:
            read_folder(tmp_path / name, "model")
        assert one_line(error).startswith(str(tmp_path / name))
    assert issubclass(StorageError, InputError)


def test_files_that_the_manifest_does_not_name_are_not_read(tmp_path):
    save(tmp_path / "m")
    (tmp_path / "m" / "arrays-ffffffffffffffff.safetensors").write_bytes(b"junk")
    assert_holds(tmp_path / "m", 1.0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("size", [None, 0])
def test_a_pipe_in_the_place_of_a_file_is_refused(tmp_path, size):
    folder = tmp_path / "m"
    write_folder(folder, "model", {}, {"a": np.arange(3)})
    replaced = folder / "model.json"
    if size is not None:  # a manifest that hides the pipe
        (replaced,) = folder.glob("*.safetensors")
        content = json.loads((folder / "model.json").read_text())
        content["files"][replaced.name]["bytes"] = size
        (folder / "model.json").write_text(json.dumps(content))
    replaced.unlink()
    os.mkfifo(replaced)
    with pytest.raises(StorageError, match=f"{replaced.name}: cannot be read: not a regular file"):
        read_folder(folder, "model")
