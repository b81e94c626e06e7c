"""Locks on folders. The operating system releases a lock when its process ends, however it ends."""

import errno
import logging
import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from metalda.errors import StorageError
from metalda.storage.locations import Remote

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

logger = logging.getLogger("metalda")

LOCK = ".lock"  # the file in a folder that is locked; it names the process
_ATTEMPTS = 1000  # each loses a race with a process that has just released the lock
_IN_USE = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
_BEYOND = 1 << 30  # Windows: nobody can read a locked byte, so the byte is far behind the text


@contextmanager
def locked(folder: Path | Remote, kind: str) -> Iterator[bool]:
    """Keep other processes and threads out of a folder, which is made if it does not exist.

    Yields whether the folder is locked: a file system without locks gives a warning, and a remote folder has no lock.
    Raises StorageError if another process or thread has the lock. The lock file is deleted at the end, and the folder
    too if it was made here and is empty. The lock file of a killed process does not lock the folder.
    """
    if isinstance(folder, Remote):
        yield False
        return
    made = not folder.exists()
    try:
        descriptor, is_locked = _acquire(folder, kind)
    except OSError as error:
        raise StorageError(f"{folder}: the {kind} cannot be locked: {error.strerror or error}") from error
    try:
        yield is_locked
    finally:
        _release(folder / LOCK, descriptor)
        if made:
            with suppress(OSError):
                folder.rmdir()  # only succeeds if nothing was saved


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process is inside this block with the same folder.

    The lock is on the folder itself, so it leaves no file. Windows and some network file systems cannot do it; there it
    has no effect.
    """
    descriptor = None
    if sys.platform != "win32":
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _acquire(folder: Path, kind: str) -> tuple[int, bool]:
    """Return the descriptor of the lock file, with the name of this process in it, and whether it is locked."""
    for _attempt in range(_ATTEMPTS):
        with suppress(FileExistsError):
            folder.mkdir()
        try:
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except FileNotFoundError:  # the folder was deleted in the meantime
            continue
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StorageError(f"{folder / LOCK}: not a regular file; delete it, or give another folder")
            is_locked = _lock(descriptor, folder, kind)
            if _is_current(folder / LOCK, descriptor):
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)
                os.write(descriptor, f"{os.getpid()} {socket.gethostname()}".encode())
                return descriptor, is_locked
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # of a file that another process has released and deleted in the meantime
    raise OSError(errno.EAGAIN, "it changes all the time")


def _lock(descriptor: int, folder: Path, kind: str) -> bool:
    """Lock the file; return False if the file system has no locks."""
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _BEYOND, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError as error:
        if error.errno in _IN_USE:
            holder = _holder(descriptor)
            raise StorageError(
                f"{folder}: the {kind} is in use by {holder}; wait until it ends, or give another folder"
            ) from error
        logger.warning(
            "%s: the file system has no locks (%s); make sure that no other process uses this %s",
            folder,
            error.strerror or error,
            kind,
        )
        return False


def _holder(descriptor: int) -> str:
    """Return the process that holds the lock: its number, and its machine if that is another one."""
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        number, _, machine = os.read(descriptor, 300).decode().partition(" ")
        where = "" if machine == socket.gethostname() else f" on {machine}"
        return f"process {int(number)}{where}"
    except (OSError, ValueError):  # it has not written its number yet
        return "another process"


def _is_current(path: Path, descriptor: int) -> bool:
    """Return whether the path still leads to the open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def _release(path: Path, descriptor: int) -> None:
    """Delete the lock file and release the lock."""
    ours = _is_current(path, descriptor)
    if sys.platform == "win32":  # an open file cannot be deleted
        os.close(descriptor)
    if ours:
        with suppress(OSError):
            path.unlink()
    if sys.platform != "win32":
        os.close(descriptor)
