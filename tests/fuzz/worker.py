"""Child processes that run cases one after the other, so that a crash, a hang or a leak is seen and survived.

A child imports metalda once. It gets a case as JSON, answers "began" and then the outcome. If it dies or does not
answer in time, the case is the finding, and another child takes its place.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fuzz.cases import ROOT, Case, Kind, Violation, find_kind

PATIENCE = 30.0  # seconds for a case
STARTING = 900.0  # seconds for the preparation of a kind, which may compile kernels
LIFETIME = 300  # cases of a child
ADDRESS_SPACE = 12 << 30
GROWTH = 1 << 30  # bytes of memory that a case may take


FUZZER = "error of the fuzzer"  # outside of a check, such as in the making of a case


@dataclass(frozen=True)
class Outcome:
    """What became of a case: "accepted", "refused", or the category of a finding with its details."""

    result: str
    detail: str = ""
    place: str = ""  # where in metalda

    @property
    def is_finding(self) -> bool:
        return self.result not in ("accepted", "refused")

    @property
    def signature(self) -> tuple[str, str]:
        """Findings with equal signatures count as one defect."""
        return self.result, self.place


class Worker:
    """A child process, replaced whenever it dies or has run many cases."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._n_cases = 0
        self._folder = Path(tempfile.mkdtemp(prefix="metalda-fuzz-"))

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, case: Case) -> Outcome:
        """Run a case; without files and options it is made from its seed in the child."""
        if self._process is None or self._n_cases >= LIFETIME:
            self.stop()
            self._start()
        self._n_cases += 1
        try:
            self._connection.send_bytes(case.to_json().encode())
            if self._answer(STARTING) != {"began": True}:
                raise RuntimeError(f"{case}: the child could not prepare the case")
            answer = self._answer(self.patience)
        except (EOFError, OSError):
            return self._died()
        if answer is None:
            return self._hung()
        return Outcome(**answer)

    def stop(self) -> None:
        """End the child."""
        if self._process is not None:
            self._connection.close()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._log = self._folder / "log"
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
            "METALDA_DATA": str(self._folder / "data"),
            "COLUMNS": "100",
            "TMPDIR": str(self._folder),
        }
        with theirs, self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker", str(theirs.fileno())],
                cwd=self._folder,
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._connection = Connection(ours.detach())
        self._n_cases = 0

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        start, waited = time.monotonic(), self._waited()
        while not self._connection.poll(min(seconds, 1.0)):
            if time.monotonic() - start - (self._waited() - waited) > seconds:
                return None
        answer: dict[str, Any] = json.loads(self._connection.recv_bytes())
        return answer

    def _waited(self) -> float:
        """Return the seconds for which a thread of the child was ready, but other programs had the processors."""
        assert self._process is not None
        times = []
        for path in Path(f"/proc/{self._process.pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):  # a thread that has ended
                times.append(int(path.read_text().split()[1]))
        return max(times, default=0) / 1e9

    def _died(self) -> Outcome:
        assert self._process is not None
        code = self._process.wait()
        self._process = None
        log = self._log.read_text(errors="replace")
        if code > 0 and "Traceback" in log:
            return Outcome(FUZZER, log[-3000:])
        return Outcome("crash", f"{_signal_name(code)}: {log[-2000:]}", _place_in_log(log))

    def _hung(self) -> Outcome:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.send_signal(signal.SIGUSR1)  # the child writes where it is
            self._process.wait(1)
        self._process.kill()
        self._process.wait()
        self._process = None
        log = self._log.read_text(errors="replace")
        return Outcome("hang", f"no answer in {self.patience:.0f} s: {log[-2000:]}", _place_in_log(log))


def _signal_name(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _place_in_log(log: str) -> str:
    """Return the innermost line of metalda in what faulthandler wrote."""
    lines = [line.strip() for line in log.splitlines() if "/metalda/" in line and line.strip().startswith("File ")]
    return lines[0].split("/metalda/")[-1] if lines else ""


# The child.


def serve(connection: Connection) -> None:
    """Run the cases that arrive, until the parent closes the connection."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    os.fsync = lambda descriptor: None  # type: ignore[assignment, misc]
    warnings.simplefilter("ignore")
    prepared: dict[str, Kind] = {}
    while True:
        try:
            case = Case.from_json(connection.recv_bytes().decode())
        except EOFError:
            return
        if case.kind not in prepared:
            prepared[case.kind] = find_kind(case.kind)
            prepared[case.kind].prepare()
        kind = prepared[case.kind]
        if case.seed is not None and not case.options and not case.files:
            case = kind.case(case.seed)
        outer = Path(tempfile.mkdtemp(prefix="case-"))
        folder = outer / "case"  # so that ".." holds nothing else
        folder.mkdir()
        os.chdir(folder)
        case.write(folder)
        connection.send_bytes(json.dumps({"began": True}).encode())
        answer = _outcome(kind, case)
        os.chdir(outer.parent)
        shutil.rmtree(outer, ignore_errors=True)
        connection.send_bytes(json.dumps(answer).encode())


def _outcome(kind: Kind, case: Case) -> Mapping[str, str]:
    before = _peak(reset=True)
    try:
        result, detail, place = kind.check(case), "", ""
    except Violation as violation:
        result, detail, place = violation.category, violation.detail, ""
        if violation.__cause__ is not None:
            place = _place(violation.__cause__)
    except MemoryError as error:
        result, detail, place = "memory", f"{error}", _place(error)
    except Exception as error:
        result, detail, place = "traceback", "".join(traceback.format_exception(error))[-3000:], _place(error)
        place = f"{type(error).__name__} {place}"
    growth = _peak() - before
    if growth > GROWTH and result in ("accepted", "refused"):
        result, detail = "memory", f"{growth / 1e9:.1f} GB"
    return {"result": result, "detail": detail.encode("utf-8", "backslashreplace").decode(), "place": place}


def _place(error: BaseException) -> str:
    """Return the innermost line of metalda in a traceback."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/metalda/" in frame.filename]
    return f"{frames[-1].filename.rpartition('/metalda/')[2]}:{frames[-1].lineno}" if frames else ""


def _peak(*, reset: bool = False) -> int:
    """Return the largest resident memory in bytes, since the last reset where the system can do this."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
