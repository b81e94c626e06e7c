"""One process at a time in a folder; a lock ends with its process."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from metalda.errors import StorageError
from metalda.storage import lock, locked, write_folder
from metalda.storage.lock import LOCK, alone

HOLD = """
import sys
from pathlib import Path
from metalda.storage import locked
with locked(Path(sys.argv[1]), "checkpoint"):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(folder: Path) -> subprocess.Popen:
    """A process that holds the lock until it is killed or its input ends."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline().strip() == b"held"
    return process


def assert_in_use(folder: Path, holder: str) -> None:
    with pytest.raises(StorageError) as error, locked(folder, "checkpoint"):
        pass
    expected = f"{folder}: the checkpoint is in use by {holder}; wait until it ends, or give another folder"
    assert str(error.value) == expected


@pytest.mark.parametrize("existing", [False, True])
def test_another_process_is_named_and_its_lock_ends_when_it_is_killed(tmp_path, existing):
    folder = tmp_path / "c"
    if existing:
        folder.mkdir()
    with hold(folder) as process:
        assert_in_use(folder, f"process {process.pid}")
        process.kill()
    assert (folder / LOCK).exists()
    with locked(folder, "checkpoint"):
        assert_in_use(folder, f"process {os.getpid()}")  # in the same process too
    assert not (folder / LOCK).exists()


def test_a_lock_that_is_released_leaves_nothing(tmp_path):
    with hold(tmp_path / "c") as process:
        process.communicate(timeout=300)
    assert os.listdir(tmp_path) == []


def test_a_folder_with_a_save_stays(tmp_path):
    with locked(tmp_path / "c", "checkpoint"):
        write_folder(tmp_path / "c", "checkpoint", {}, {"a": np.arange(3)})
    assert len(os.listdir(tmp_path / "c")) == 2


def test_a_process_on_another_machine_is_named_with_it(tmp_path):
    with locked(tmp_path, "checkpoint"):
        (tmp_path / LOCK).write_text("17 node3")
        assert_in_use(tmp_path, "process 17 on node3")
        (tmp_path / LOCK).write_text("")
        assert_in_use(tmp_path, "another process")


@pytest.mark.skipif(os.name == "nt", reason="flock")
def test_a_file_system_without_locks_gives_a_warning(tmp_path, monkeypatch, caplog):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", refuse)
    with locked(tmp_path / "c", "checkpoint"), alone(tmp_path / "c"):
        assert f"{tmp_path / 'c'}: the file system has no locks (No locks available); make sure" in caplog.text
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/null", path)])
def test_something_else_in_the_place_of_the_lock_file_is_one_line(tmp_path, make):
    make(tmp_path / LOCK)
    with pytest.raises(StorageError) as error, locked(tmp_path, "checkpoint"):
        pass
    assert str(error.value).startswith(str(tmp_path))
    assert "\n" not in str(error.value)


def test_one_of_many_threads_has_the_lock_at_a_time(tmp_path):
    inside, most, n_entered = [], [], []

    def work():
        while len(n_entered) < 100:
            try:
                with locked(tmp_path / "c", "checkpoint"):
                    inside.append(1)
                    most.append(len(inside))
                    n_entered.append(1)
                    inside.pop()
            except StorageError as error:
                assert "in use" in str(error)  # noqa: PT017

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(n_entered) >= 100
    assert set(most) == {1}


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot lock folders")
def test_alone_waits_for_the_other(tmp_path):
    entered = threading.Event()

    def enter():
        with alone(tmp_path):
            entered.set()

    thread = threading.Thread(target=enter)
    with alone(tmp_path):
        thread.start()
        assert not entered.wait(0.2)
    thread.join(300)
    assert entered.is_set()
