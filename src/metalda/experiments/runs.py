"""The small files that keep what was run, and the pool of processes that runs what is missing."""

from __future__ import annotations

import multiprocessing
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from metalda.errors import StorageError
from metalda.storage import read_document, write_document
from metalda.storage.manifest import package_version


class Question(Protocol):
    """A frozen dataclass that says all that decides the result."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """Its own among all questions, fit for a file."""


class Job(Question, Protocol):
    """Something to be run once."""

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, Any]:
        """The result, as JSON can hold it; Ctrl-C raises KeyboardInterrupt, and the checkpoint is there to go on."""


Q = TypeVar("Q", bound=Question)


@dataclass(frozen=True)
class RunStore:
    """A folder with a file for each job that is done: ``runs/<job>.json``, and checkpoints of those under way."""

    folder: Path

    def find(self, job: Question) -> dict[str, Any] | None:
        """The result of a job, if it is there."""
        file = self._file(job)
        if not file.exists():
            return None
        document = _read(file)
        if document["job"] != asdict(job):
            raise StorageError(f"{file}: damaged: not the run of its name; remove it, and it will be repeated")
        return document["result"]

    def keep(self, job: Question, result: Mapping[str, Any]) -> None:
        """Now, for good."""
        self._file(job).parent.mkdir(parents=True, exist_ok=True)
        origin = {"date": f"{datetime.now(timezone.utc):%Y-%m-%d}", "metalda": package_version()}
        origin |= {"machine": platform.machine(), "python": platform.python_version()}
        document = {"kind": type(job).__name__, "job": asdict(job), "origin": origin, "result": dict(result)}
        write_document(self._file(job), "experiment", document)
        shutil.rmtree(self.checkpoint(job), ignore_errors=True)

    def all(self, kind: type[Q]) -> Iterator[tuple[Q, dict[str, Any]]]:
        """The jobs of a kind that are done, in the order of their names, and their results."""
        for file in sorted((self.folder / "runs").glob("**/*.json")):
            document = _read(file)
            if document["kind"] == kind.__name__:
                yield kind(**document["job"]), document["result"]

    def checkpoint(self, job: Question) -> Path:
        return self.folder / "checkpoints" / job.name

    def _file(self, job: Question) -> Path:
        return self.folder / "runs" / f"{job.name}.json"


def _read(file: Path) -> dict[str, Any]:
    try:
        document = read_document(file, "experiment")
        if not all(isinstance(document.get(part), dict) for part in ("job", "result")) or "kind" not in document:
            raise StorageError(f"{file}: damaged: not a run")
    except StorageError as error:
        raise StorageError(f"{error}; remove the file, and the run will be repeated") from error
    return document


class Stopped(KeyboardInterrupt):
    """Ctrl-C: the runs that are done are kept, and those under way have checkpoints."""

    def __init__(self, n_done: int, n_jobs: int) -> None:
        super().__init__(f"{n_done:,} of {n_jobs:,} runs are done and kept; the same command goes on from here")


def run_jobs(jobs: Sequence[Job], store: RunStore, data: Path | None, *, n_processes: int = 1) -> None:
    """Run the jobs that have not been run, each in one thread."""
    missing = [job for job in jobs if store.find(job) is None]
    n_done = len(jobs) - len(missing)
    with _progress_bar(len(jobs), n_done) as bar:
        try:
            for job in _completed(missing, store, data, n_processes):
                n_done += 1
                bar.update()
                bar.set_postfix_str(job.name)
        except KeyboardInterrupt:
            raise Stopped(n_done, len(jobs)) from None


def _completed(jobs: Sequence[Job], store: RunStore, data: Path | None, n_processes: int) -> Iterator[Job]:
    """The jobs, each as soon as it is done."""
    if n_processes == 1 or len(jobs) < 2:
        for job in jobs:
            _run(job, store, data)
            yield job
        return
    # Not forked: threads of a parent do not survive that.
    with ProcessPoolExecutor(n_processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(_run, job, store, data): job for job in jobs}
        try:
            for future in as_completed(futures):
                future.result()
                yield futures[future]
        except BaseException:  # an error, or Ctrl-C, which the processes were sent too
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _run(job: Job, store: RunStore, data: Path | None) -> None:
    store.keep(job, job.run(store.checkpoint(job), data))


def _progress_bar(n_jobs: int, n_done: int) -> Any:
    from tqdm import tqdm

    shown = sys.stderr is not None and sys.stderr.isatty()
    return tqdm(total=n_jobs, initial=n_done, desc="runs", unit="run", disable=not shown, dynamic_ncols=True)
