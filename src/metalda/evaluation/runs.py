"""Runs: one fit with its measures each, the files that keep the results, and a pool that does missing runs."""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import Field, asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar, Protocol, TypeVar

from metalda.errors import StorageError
from metalda.storage.manifest import package_version
from metalda.training.checkpoint import Checkpoint
from metalda.utils.checks import JsonObject
from metalda.utils.processes import MOST_PROCESSES
from metalda.utils.progress import progress_bar

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

logger = logging.getLogger("metalda")

_SUFFIX = ".jsonl"


class Run(Protocol):
    """A frozen dataclass of plain data. Two runs with equal fields have equal results, apart from times."""

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]

    @property
    def file(self) -> str:
        """Return the name of the file that keeps the result, without its suffix."""


class Job(Run, Protocol):
    """A run with a method that computes its result."""

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, object]:
        """Return the result as plain data. Ctrl-C raises KeyboardInterrupt after saving the checkpoint."""


R = TypeVar("R", bound=Run)


class InterruptedRuns(KeyboardInterrupt):
    """Raised at Ctrl-C. Finished runs are kept if there is a folder, and the current one has a checkpoint there."""

    def __init__(self, n_done: int, n_runs: int, folder: Path | None) -> None:
        kept = "lost; give a folder to keep them" if folder is None else f"saved in {folder}; repeat it to resume"
        super().__init__(f"{n_done:,} of {n_runs:,} runs are finished and {kept}")


@dataclass(frozen=True)
class RunStore:
    """Results in JSON Lines files of one folder, a line per run.

    A result is appended as soon as the run is finished. Several processes may append to one file. A line that cannot be
    read, such as the last one after a crash, is reported, and only its run is repeated. The folder also has a
    ``checkpoint-<digest>`` for each unfinished run.
    """

    folder: Path

    def find(self, run: Run) -> JsonObject | None:
        """Return the result of a run, or None if it has not been run."""
        record = _read(self.folder / f"{run.file}{_SUFFIX}").get(_key(run))
        if record is None:
            return None
        self._drop_checkpoint(run)
        result: JsonObject = record["result"]
        return result

    def keep(self, run: Run, result: Mapping[str, object]) -> None:
        """Append a result, with its machine and time, and delete the run's checkpoint."""
        origin = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "metalda": package_version()}
        origin |= {"machine": platform.machine(), "python": platform.python_version()}
        record = {"kind": type(run).__name__, "run": asdict(run), "origin": origin, "result": dict(result)}
        _append(self.folder / f"{run.file}{_SUFFIX}", json.dumps(record, allow_nan=False).encode("ascii"))
        self._drop_checkpoint(run)

    def all(self, kind: type[R]) -> Iterator[tuple[R, JsonObject]]:
        """Yield all runs of a kind with their results, in an order that does not depend on when they were run."""
        for file in sorted(self.folder.glob(f"*{_SUFFIX}")):
            for _, record in sorted(_read(file).items()):
                if record["kind"] == kind.__name__:
                    yield _restore(kind, record["run"], file), record["result"]

    def checkpoint(self, run: Run) -> Path:
        """Return the folder for the state of an unfinished run."""
        digest = hashlib.blake2b(_key(run).encode("ascii"), digest_size=16).hexdigest()
        return self.folder / f"checkpoint-{digest}"

    def _drop_checkpoint(self, run: Run) -> None:
        shutil.rmtree(self.checkpoint(run), ignore_errors=True)


def _key(run: Run) -> str:
    return _canonical(type(run).__name__, asdict(run))


def _canonical(kind: str, fields: Mapping[str, object]) -> str:
    return json.dumps([kind, fields], sort_keys=True, allow_nan=False)


def _restore(kind: type[R], fields: JsonObject, file: Path) -> R:
    try:
        return kind(**fields)
    except TypeError as error:
        raise StorageError(f"{file}: has a {kind.__name__} of another version ({error}); use a new folder") from error


def _read(file: Path) -> dict[str, JsonObject]:
    """Return the records of a file by their keys. Of two records of one run the first counts."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return {}
    return _parse(file, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _parse(file: Path, size: int, modified: int) -> dict[str, JsonObject]:
    """Parse a file once for each of its states, so that a damaged line is reported once."""
    with _locked(file, "rb") as opened:
        lines = opened.read().splitlines()
    records: dict[str, JsonObject] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record["result"], dict):
                raise TypeError("the result is not an object")
            records.setdefault(_canonical(record["kind"], record["run"]), record)
        except (ValueError, TypeError, KeyError, RecursionError):
            logger.warning(
                "%s line %d: damaged and skipped; its run will be repeated. Delete the line to avoid this message",
                file,
                number,
            )
    return records


def _append(file: Path, line: bytes) -> None:
    """Append a complete line and sync it to disk, or leave the file unchanged."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _locked(file, "ab+") as opened:
            size = opened.seek(0, os.SEEK_END)
            opened.seek(max(size - 1, 0))
            start = b"" if opened.read(1) in (b"", b"\n") else b"\n"  # after a line that a crash cut short
            try:
                opened.write(start + line + b"\n")
                opened.flush()
                os.fsync(opened.fileno())
            except BaseException:
                opened.truncate(size)
                raise
    except OSError as error:
        raise StorageError(f"{file}: cannot be written: {error.strerror or error}") from error


@contextmanager
def _locked(file: Path, mode: str) -> Iterator[IO[bytes]]:
    """Open a file with a lock against appends of other processes; closing it releases the lock."""
    with file.open(mode) as opened:
        if sys.platform != "win32":
            fcntl.flock(opened, fcntl.LOCK_SH if mode == "rb" else fcntl.LOCK_EX)
        yield opened


def run_jobs(jobs: Sequence[Job], store: RunStore, data: Path | None, *, n_processes: int = 1) -> None:
    """Run the jobs that have no result yet, each on one thread."""
    missing = [job for job in jobs if store.find(job) is None]
    n_done = len(jobs) - len(missing)
    with progress_bar(total=len(jobs), initial=n_done, desc="runs", unit="run") as bar:
        try:
            for job in _completed(missing, store, data, n_processes):
                n_done += 1
                bar.update()
                bar.set_postfix_str(str(job))
        except KeyboardInterrupt:
            raise InterruptedRuns(n_done, len(jobs), store.folder) from None


def _completed(jobs: Sequence[Job], store: RunStore, data: Path | None, n_processes: int) -> Iterator[Job]:
    """Yield each job as soon as it is finished."""
    if n_processes == 1 or len(jobs) < 2:
        for job in jobs:
            _run(job, store, data)
            yield job
        return
    # Processes are spawned, because threads of the parent do not survive a fork.
    with ProcessPoolExecutor(min(n_processes, MOST_PROCESSES), mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(_run, job, store, data): job for job in jobs}
        try:
            for future in as_completed(futures):
                future.result()
                yield futures[future]
        except BaseException:  # an error, or Ctrl-C, which reaches the processes too
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _run(job: Job, store: RunStore, data: Path | None) -> None:
    store.keep(job, job.run(store.checkpoint(job), data))


def fit_whole(model: TopicModel, train: Corpus, checkpoint: Path | None, every: int) -> None:
    """Fit all iterations, from the checkpoint if there is one. Ctrl-C raises KeyboardInterrupt after an iteration."""
    resume = checkpoint is not None and Checkpoint(checkpoint, every, {}).exists
    with _without_early_stop_warning():
        model.fit(train, checkpoint=checkpoint, checkpoint_every=every, resume=resume)
    if model.was_stopped_:
        raise KeyboardInterrupt


@contextmanager
def _without_early_stop_warning() -> Iterator[None]:
    """Hide the warning that an interrupted fit keeps its state, because the run is repeated or resumed."""

    def passes(record: logging.LogRecord) -> bool:
        return not (record.module == "loop" and record.levelno == logging.WARNING)

    logger.addFilter(passes)
    try:
        yield
    finally:
        logger.removeFilter(passes)
