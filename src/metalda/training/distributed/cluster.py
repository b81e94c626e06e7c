"""A Dask cluster: its usable workers, and tasks on them with bounded waiting times."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib.metadata
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from metalda.errors import ClusterError, missing_extra
from metalda.storage.manifest import package_version
from metalda.training.distributed.worker import OutOfStep

if TYPE_CHECKING:
    from distributed import Client, Future

logger = logging.getLogger("metalda.cluster")

PATIENCE = 60.0  # seconds of silence after which a worker counts as lost
LOOK_EVERY = 1.0  # seconds between checks of the workers while waiting for them
MOST_LOSSES = 5  # in a row, before training fails
LONGEST_WAIT = 3600.0  # seconds for one task, even if its worker is alive
_TIMEOUTS = (TimeoutError, asyncio.TimeoutError)  # the same class from Python 3.11 on
SAME_EVERYWHERE = ("numba", "numpy")  # other versions may round differently


T = TypeVar("T")


class WorkersLost(Exception):
    """Raised when workers die, leave or fall silent while they work."""


class Cluster:
    """The workers behind a client of `dask.distributed`.

    A worker counts as lost when it has left, or when it has been silent for `PATIENCE` seconds.
    """

    def __init__(self, client: Client) -> None:
        try:
            import distributed
        except ImportError:
            raise missing_extra("distributed", "dask", "Training on a cluster") from None
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise ClusterError(f"client must be a (synchronous) dask.distributed.Client, not {client!r}")
        self._client = client
        self._heard: dict[str, tuple[float, float]] = {}  # last message by its clock, and when we saw it by ours
        self._fitness: dict[str, str | None] = {}  # the reason why a worker cannot be used; None for usable workers
        self._threads: dict[str, int] = {}  # of the workers that `map` uses
        self._numbers = count()
        self._name = f"{time.time_ns():x}"
        self.is_interrupted: Callable[[], bool] = lambda: False  # whether to stop waiting for workers

    def require_workers(self) -> None:
        """Raise an error if a worker cannot be used, before any work is sent."""
        try:
            self._threads = self.wait_for_workers()
        except WorkersLost as loss:
            raise _lost_before_training(loss) from loss
        for address, problem in self._fitness.items():
            if problem is not None:
                raise ClusterError(f"worker {address} {problem}")

    def wait_for_workers(self) -> dict[str, int]:
        """Wait for a usable worker, and return the threads of all usable workers by address."""
        deadline = time.monotonic() + PATIENCE
        while True:
            workers = self.workers()
            if workers:
                return workers
            if self.is_interrupted():
                raise WorkersLost("none is left")
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"the cluster has had no usable worker for {PATIENCE:.0f} s; start some, or give them more memory "
                    "if Dask pauses or restarts them for lack of it"
                )
            time.sleep(min(LOOK_EVERY, PATIENCE / 10))

    def workers(self) -> dict[str, int]:
        """Return the threads by address of the workers that respond and have this version of metalda."""
        alive = self._alive()
        self._examine([address for address in alive if address not in self._fitness])
        alive = {address: n for address, n in alive.items() if address in self._fitness}  # others have left since
        unfit = {address for address in alive if self._fitness[address] is not None}
        if unfit and len(unfit) == len(alive):
            address = min(unfit)
            raise ClusterError(f"worker {address} {self._fitness[address]}")
        return {address: n for address, n in sorted(alive.items()) if address not in unfit}

    def submit(
        self, function: Callable[..., object], *arguments: object, on: str | list[str] | None = None, name: str
    ) -> Future:
        """Return a future for a task on one worker, on one of several, or on any; the dashboard shows `name`."""
        where = {} if on is None else {"workers": on, "allow_other_workers": False}
        key = f"{name}-{self._name}-{next(self._numbers)}"
        return self._ask(lambda: self._client.submit(function, *arguments, key=key, pure=False, **where))

    def send(self, data: object, to: Sequence[str]) -> Future:
        """Send data to these workers and return its future. Raises `WorkersLost` if one of them is lost."""
        request = self._client.scatter([data], workers=list(to), hash=False, timeout=PATIENCE, asynchronous=True)
        try:
            sent = self._ask(lambda: self._watch(_to_its_end(request), to))[0]
        except KeyError as error:  # the scheduler does not know the worker any more
            raise WorkersLost(str(error)) from error
        if len(to) > 1:  # Dask's broadcast would retry a lost worker forever and block all other sends
            self.collect([self.submit(_receive, sent, on=each, name="receive") for each in to], to)
        return sent

    def collect(self, futures: Sequence[Future], workers: Sequence[str]) -> list[Any]:
        """Return the results of tasks on these workers. Raises `WorkersLost` if one of them is lost."""
        self._wait(futures, workers)
        self._raise_errors(futures)
        try:
            return list(self._ask(lambda: self._fetch(futures, workers)))
        except Exception:
            self._raise_errors(futures)  # of work that Dask repeated because its result was lost
            raise

    def map(self, function: Callable[..., T], items: Iterable[object], *common: object, name: str) -> Iterator[T]:
        """Yield ``function(item, *common)`` for every item, in order, on any free worker, a few items at a time.

        The common arguments are sent to all workers once. When workers are lost, they are sent again, and the remaining
        workers do the unfinished items.
        """
        self.require_workers()
        copies: list[Future] = []  # of the common arguments
        pending: deque[tuple[object, Future | None]] = (
            deque()
        )  # items and their futures; None before they are submitted

        def start() -> None:
            if not copies:
                self._threads = self.wait_for_workers()
                copies.extend([self.send(each, list(self._threads)) for each in common])
            for position, (item, future) in enumerate(pending):
                if future is None:
                    work = self.submit(function, item, *copies, on=list(self._threads), name=name)
                    pending[position] = item, work

        def finish_first() -> T:
            for _attempt in range(MOST_LOSSES):
                try:
                    start()
                    result: T = self.collect([pending[0][1]], list(self._threads))[0]
                    return result
                except WorkersLost as loss:
                    logger.warning("Lost workers (%s); their work is repeated.", str(loss))
                    copies.clear()  # Dask drops superfluous copies, so the last one may have been lost
                    for position, (item, _) in enumerate(pending):
                        pending[position] = item, None
            raise ClusterError(f"workers were lost {MOST_LOSSES} times in a row; they may have too little memory")

        for item in items:
            pending.append((item, None))
            if len(pending) > 2 * sum(self._threads.values()):
                yield finish_first()
                pending.popleft()
        while pending:
            yield finish_first()
            pending.popleft()

    def _wait(self, futures: Sequence[Future], workers: Sequence[str]) -> None:
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            if self._ask(lambda: _is_done(self._client, futures)):
                return
            if any(future.status == "error" for future in futures):
                return  # others may wait forever for the failed one
            self._require(workers, deadline)

    def _fetch(self, futures: Sequence[Future], workers: Sequence[str]) -> list[Any]:
        return self._watch(self._client.gather(list(futures), asynchronous=True), workers)

    def _watch(self, request: Coroutine[Any, Any, T], workers: Sequence[str]) -> T:
        """Return the result of a request. Raises `WorkersLost` if a worker is lost, since Dask might wait forever."""
        deadline = time.monotonic() + LONGEST_WAIT
        answer = asyncio.run_coroutine_threadsafe(request, self._client.loop.asyncio_loop)
        try:
            while not concurrent.futures.wait([answer], LOOK_EVERY).done:
                self._require(workers, deadline)
            return answer.result()
        finally:
            answer.cancel()
            del answer  # a reference cycle with its error would keep all futures alive

    def _require(self, workers: Sequence[str], deadline: float) -> None:
        """Raise an error if one of these workers is lost, or if the deadline has passed."""
        lost = sorted(set(workers) - set(self._alive()))
        if lost:
            raise WorkersLost(", ".join(lost))
        if time.monotonic() > deadline:
            raise ClusterError(f"the cluster has not finished one task within {LONGEST_WAIT:.0f} s")

    def _raise_errors(self, futures: Sequence[Future]) -> None:
        for future in futures:
            if future.status == "error":
                self._raise(future)

    def _raise(self, future: Future) -> None:
        """Raise the error of a worker; as `WorkersLost` or `ClusterError` if the cluster is the cause."""
        from distributed import KilledWorker

        error = self._ask(lambda: future.exception(timeout=PATIENCE))
        if error is None or isinstance(error, OutOfStep | KilledWorker):  # None if it was canceled
            raise WorkersLost(str(error or "their work was canceled"))
        if isinstance(error, MemoryError) or type(error).__name__ == "PickleError":  # Dask tries the disk
            raise ClusterError("a worker has too little memory for its shards; use more or larger workers")
        raise error

    def _alive(self) -> dict[str, int]:
        """Return the threads by address of the workers that responded within `PATIENCE` seconds.

        Dask pauses workers that run out of memory. They respond but do no work, and count as silent. Workers that are
        closing accept no work and wait until our tasks have been released; they count as lost.
        """
        client = self._client
        answer = self._ask(lambda: client.sync(client.scheduler.identity, callback_timeout=PATIENCE))["workers"]
        known = {each: about for each, about in answer.items() if about.get("status") != "closing_gracefully"}
        now = time.monotonic()
        for address, about in known.items():
            has_reported = self._heard.get(address, (None, 0.0))[0] != about["last_seen"]
            if address not in self._heard or (has_reported and about.get("status") != "paused"):
                self._heard[address] = about["last_seen"], now
        silent = {address for address in known if now - self._heard[address][1] > PATIENCE}
        return {address: about["nthreads"] for address, about in known.items() if address not in silent}

    def _examine(self, addresses: Sequence[str]) -> None:
        """Compare the package versions of these workers with ours. The check runs on workers without metalda too."""
        names = ("metalda", *SAME_EVERYWHERE)
        asked = {
            (address, name): self.submit(_version_of, name, on=address, name="ask-version")
            for address in addresses
            for name in names
        }
        try:
            self._wait(list(asked.values()), addresses)
            answered = {question: future for question, future in asked.items() if future.status != "error"}
            versions = self._ask(lambda: self._fetch(list(answered.values()), addresses))
        except WorkersLost:
            return self._examine([address for address in addresses if address in self._alive()])
        answers = dict(zip(answered, versions, strict=True))
        for address in addresses:
            here, there = package_version(), answers.get((address, "metalda"))
            self._fitness[address] = None
            if there is None:
                self._fitness[address] = f"has no metalda: pip install 'metalda=={here}' there"
            elif there != here:
                self._fitness[address] = f"has metalda {there}, but this is {here}: install the same on both"
            for name in SAME_EVERYWHERE:
                own, other = importlib.metadata.version(name), answers.get((address, name))
                if other != own:
                    logger.warning(
                        "Worker %s has %s %s, the client has %s: results may differ.", address, name, other, own
                    )
        return None

    def _ask(self, question: Callable[[], T]) -> T:
        """Return the answer of the scheduler. The error distinguishes a lost scheduler from lost workers."""
        try:
            return question()
        except (concurrent.futures.CancelledError, OSError, *_TIMEOUTS) as error:
            error.__traceback__ = None  # Dask keeps the error, and its traceback would keep all futures alive
            self._require_scheduler(error)
            canceled = isinstance(error, concurrent.futures.CancelledError)  # for example when a connection is lost
            raise WorkersLost("their work was canceled" if canceled else str(error) or "no answer") from error
        except Exception as error:
            if self._client.status in ("closing", "closed"):  # by Dask; then any request may fail in any way
                raise _no_scheduler() from error
            raise

    def _require_scheduler(self, error: BaseException) -> None:
        client, deadline = self._client, time.monotonic() + PATIENCE
        while client.status == "connecting" and time.monotonic() < deadline:  # reconnecting after a network failure
            time.sleep(min(LOOK_EVERY, PATIENCE / 10))
        try:
            if client.status == "running":
                client.sync(client.scheduler.identity, callback_timeout=PATIENCE)
                return
        except (OSError, RuntimeError, *_TIMEOUTS):
            pass
        raise _no_scheduler() from error


def _is_done(client: Client, futures: Sequence[Future]) -> bool:
    from distributed import wait

    try:
        with client.as_current():
            wait(list(futures), timeout=LOOK_EVERY)
    except _TIMEOUTS as error:
        error.__traceback__ = None  # as in Cluster._ask
        return False
    return True


async def _to_its_end(request: Coroutine[Any, Any, T]) -> T:
    """Finish a request even without a waiting caller; otherwise interrupted data would stay on the workers."""
    return await asyncio.shield(request)


def _receive(data: object) -> None:
    """Do nothing: a task that only moves its data to a worker."""


_version_of = importlib.metadata.version  # of the standard library, so that it runs on any worker


def _lost_before_training(loss: WorkersLost) -> ClusterError:
    return ClusterError(f"workers were lost before training started ({loss}); try again")


def _no_scheduler() -> ClusterError:
    return ClusterError("the scheduler of the cluster is gone")
