"""``metalda fit`` while it trains: Ctrl-C, its ports, and a second command with the same checkpoint."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

import metalda
from cli.helpers import Run, error_line, news
from metalda.training.checkpoint import Checkpoint

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="process groups and terminals of POSIX"),
]

WHERE = {"here": (), "cluster": ("--cluster", "local", "--jobs", "2", "--n-shards", "3")}
LIMIT = 300  # seconds; a busy machine may take long to start processes

# A program that makes its standard input the terminal that controls it, as a shell does, and then becomes the command.
# Tests that run under nohup ignore SIGHUP, and the command would inherit that.
ON_TERMINAL = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Command:
    """A ``metalda fit`` that would train for days, as the leader of its own group of processes."""

    def __init__(self, folder: Path, where: tuple[str, ...], *, terminal: bool) -> None:
        data, self.model, self.checkpoint = folder / "news.jsonl", folder / "model", folder / "progress"
        data.write_text("".join(json.dumps(record) + "\n" for record in news()), encoding="utf-8")
        columns = ("--text", "body", "--labels", "section", "-k", "2", "--iterations", "10000000")
        saving = ("-o", self.model, "--checkpoint", self.checkpoint, "--checkpoint-every", "1")
        arguments = [sys.executable, "-m", "metalda", "fit", str(data), *columns, *map(str, saving), *where]
        self.arguments = arguments[3:]
        self._master = self._log = None
        self.shown = b""
        if terminal:
            self._master, slave = os.openpty()
            streams = {"stdin": slave, "stdout": slave, "stderr": slave}
            arguments = [sys.executable, "-c", ON_TERMINAL, *arguments]
        else:
            self._log = folder / "output"
            slave = os.open(self._log, os.O_WRONLY | os.O_CREAT)
            streams = {"stdin": subprocess.DEVNULL, "stdout": slave, "stderr": slave}
        self.process = subprocess.Popen(arguments, start_new_session=True, **streams)  # type: ignore[call-overload]
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Read the terminal, which otherwise blocks the command."""
        while self._master is not None:
            with suppress(OSError):  # the last process has closed it
                self.shown += os.read(self._master, 4096)
                continue
            return

    def wait_until(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT
        while not is_true():
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.05)

    def press_ctrl_c(self) -> None:
        if self._master is None:
            os.killpg(self.process.pid, signal.SIGINT)
        else:
            os.write(self._master, b"\x03")

    def close_terminal(self) -> None:
        """Hang up: all processes get SIGHUP, and can no longer write."""
        assert self._master is not None
        master, self._master = self._master, None
        os.write(master, b"x")  # echoed, which wakes the reader
        self._reader.join(LIMIT)
        os.close(master)

    @property
    def output(self) -> str:
        return (self.shown if self._log is None else self._log.read_bytes()).decode()

    def end(self) -> int:
        code = self.process.wait(LIMIT)
        if self._master is not None:
            self._reader.join(LIMIT)
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(LIMIT)
        if self._master is not None:
            self._reader.join(LIMIT)
            os.close(self._master)


@contextmanager
def fitting(folder: Path, where: str, *, terminal: bool = False) -> Iterator[Command]:
    """A command that has finished some iterations."""
    if where == "cluster":
        pytest.importorskip("distributed", reason="no dask.distributed")
    command = Command(folder, WHERE[where], terminal=terminal)
    try:
        command.wait_until((command.checkpoint / "checkpoint.json").exists)
        yield command
    finally:
        command.close()


@pytest.mark.parametrize("terminal", [False, True], ids=["group", "terminal"])
@pytest.mark.parametrize("where", WHERE)
def test_ctrl_c_keeps_what_was_learnt(tmp_path: Path, where: str, terminal: bool) -> None:
    with fitting(tmp_path, where, terminal=terminal) as command:
        command.press_ctrl_c()
        code = command.end()
        output = command.output
    assert "Traceback" not in output, output
    assert code == 0, output
    assert "of 10000000 iterations; the model has the state of the last one" in output
    assert "Lost workers" not in output
    assert f"Saved to {tmp_path}" in output
    model = metalda.load(command.model)
    assert 0 < model.n_iter_ < 10_000_000
    saved: Any = json.loads((command.checkpoint / "checkpoint.json").read_text())
    assert saved["document"]["identity"]["parameters"]["n_iter"] == 10_000_000


def test_sigterm_keeps_what_was_learnt(tmp_path: Path) -> None:
    with fitting(tmp_path, "here") as command:
        command.process.terminate()
        assert command.end() == 0, command.output
    assert f"Saved to {tmp_path}" in command.output
    assert 0 < metalda.load(command.model).n_iter_ < 10_000_000


@pytest.mark.parametrize("where", WHERE)
def test_a_closed_terminal_keeps_what_was_learnt(tmp_path: Path, where: str) -> None:
    with fitting(tmp_path, where, terminal=True) as command:
        command.close_terminal()
        command.end()  # with an error, because nothing can be printed
    assert 0 < metalda.load(command.model).n_iter_ < 10_000_000


def test_a_local_cluster_listens_on_this_machine_only(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil", reason="no psutil")
    with fitting(tmp_path, "cluster") as command:
        first = psutil.Process(command.process.pid)
        addresses = {
            connection.laddr.ip
            for process in (first, *first.children(recursive=True))
            for connection in getattr(process, "net_connections", process.connections)("inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert addresses
    assert all(ip_address(address).is_loopback for address in addresses), addresses


def test_two_commands_cannot_use_one_checkpoint(run: Run, tmp_path: Path) -> None:
    with fitting(tmp_path, "here") as command:
        pid = command.process.pid
        before = (command.checkpoint / "checkpoint.json").stat().st_ino
        for options in ((), ("--resume",)):
            line = error_line(run(*command.arguments, "--quiet", *options))
            assert line.startswith(f"metalda: {command.checkpoint}: the checkpoint is in use by process {pid};")

        command.wait_until(lambda: (command.checkpoint / "checkpoint.json").stat().st_ino != before)  # it goes on
        command.process.kill()
        command.process.wait(LIMIT)
        assert (command.checkpoint / ".lock").exists()
        with Checkpoint(command.checkpoint, 1, {}).hold(resume=True):
            pass
    assert not (command.checkpoint / ".lock").exists()
