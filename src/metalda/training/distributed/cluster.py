"""A Dask cluster: which of its workers can be used, and waiting for them without waiting for ever."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib.metadata
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

from metalda.errors import ClusterError, missing_extra
from metalda.storage.manifest import package_version
from metalda.training.distributed.worker import OutOfStep

logger = logging.getLogger("metalda.cluster")

PATIENCE = 60.0  # seconds without a word, after which a worker counts as lost
LOOK_EVERY = 1.0  # seconds from one look at the workers to the next, while we wait for them
MOST_LOSSES = 5  # in a row, before we give up
LONGEST_WAIT = 3600.0  # for one piece of work, however alive its worker seems
_TIMEOUTS = (TimeoutError, asyncio.TimeoutError)  # one and the same from Python 3.11 on
SAME_EVERYWHERE = ("numba", "numpy")  # other versions may round otherwise


T = TypeVar("T")


class WorkersLost(Exception):
    """Workers that died, left, or fell silent in the midst of their work."""


class Cluster:
    """The workers behind a client of `dask.distributed`.

    A worker that has not been heard of for some time counts as lost, as does one that has gone.
    """

    def __init__(self, client: Any) -> None:
        try:
            import distributed
        except ImportError:
            raise missing_extra("distributed", "dask", "Training on a cluster") from None
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise ClusterError(f"client must be a (synchronous) dask.distributed.Client, not {client!r}")
        self._client = client
        self._heard: dict[str, tuple[float, float]] = {}  # its last word, by its clock; when we noticed, by ours
        self._fitness: dict[str, str | None] = {}  # why a worker cannot be used; None if it can
        self._threads: dict[str, int] = {}  # of the workers that `map` uses
        self._numbers = count()
        self._name = f"{time.time_ns():x}"

    def require_workers(self) -> None:
        """All workers must be able to do the work, so that nobody waits for machines that never will."""
        try:
            self._threads = self.wait_for_workers()
        except WorkersLost as loss:
            raise _too_early(loss) from loss
        for address, problem in self._fitness.items():
            if problem is not None:
                raise ClusterError(f"worker {address} {problem}")

    def wait_for_workers(self) -> dict[str, int]:
        """Threads by address of the workers that can be used, as soon as there is one."""
        deadline = time.monotonic() + PATIENCE
        while True:
            workers = self.workers()
            if workers:
                return workers
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"the cluster has had no worker that can be used for {PATIENCE:.0f} s; start some, or give them "
                    "more memory if Dask pauses or restarts them for want of it"
                )
            time.sleep(min(LOOK_EVERY, PATIENCE / 10))

    def workers(self) -> dict[str, int]:
        """Threads by address of the workers that are there, are heard of, and have this version of metalda."""
        alive = self._alive()
        self._examine([address for address in alive if address not in self._fitness])
        alive = {address: n for address, n in alive.items() if address in self._fitness}  # others left meanwhile
        unfit = {address for address in alive if self._fitness[address] is not None}
        if unfit and len(unfit) == len(alive):
            address = min(unfit)
            raise ClusterError(f"worker {address} {self._fitness[address]}")
        return {address: n for address, n in sorted(alive.items()) if address not in unfit}

    def submit(
        self, function: Callable[..., Any], *arguments: Any, on: str | list[str] | None = None, name: str
    ) -> Any:
        """A future for work on one worker, on one of some, or on any; the dashboard shows it under this name."""
        where = {} if on is None else {"workers": on, "allow_other_workers": False}
        key = f"{name}-{self._name}-{next(self._numbers)}"
        return self._asked(lambda: self._client.submit(function, *arguments, key=key, pure=False, **where))

    def send(self, data: Any, to: Sequence[str]) -> Any:
        """A future for data that these workers have; `WorkersLost` if one of them is lost meanwhile."""
        request = self._client.scatter([data], workers=list(to), hash=False, timeout=PATIENCE, asynchronous=True)
        try:
            sent = self._asked(lambda: self._watch(_to_its_end(request), to))[0]
        except KeyError as error:  # so says the scheduler of a worker that it does not know any more
            raise WorkersLost(str(error)) from error
        if len(to) > 1:  # Dask's broadcast would try a worker that is lost for ever, and keep out whoever else sends
            self.collect([self.submit(_receive, sent, on=each, name="receive") for each in to], to)
        return sent

    def collect(self, futures: Sequence[Any], workers: Sequence[str]) -> list[Any]:
        """The results of work on these workers; `WorkersLost` if one of them is lost meanwhile."""
        self._wait(futures, workers)
        self._raise_errors(futures)
        try:
            return list(self._asked(lambda: self._fetch(futures, workers)))
        except Exception:
            self._raise_errors(futures)  # of work that Dask did again, as its result had been lost
            raise

    def map(self, function: Callable[..., T], items: Iterable[Any], *common: Any, name: str) -> Iterator[T]:
        """function(item, *common) of every item, in order, by whichever workers are free; a few at a time.

        What is common is sent to all workers once; when workers are lost, it is sent anew, and what is not done yet is
        done by those that remain.
        """
        self.require_workers()
        copies: list[Any] = []  # of what is common
        pending: deque[tuple[Any, Any]] = deque()  # items and their futures: None before they are given out

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
                    return self.collect([pending[0][1]], list(self._threads))[0]
                except WorkersLost as loss:  # noqa: PERF203
                    logger.warning("Lost workers (%s); their work is done again.", str(loss))
                    copies.clear()  # Dask drops copies that it deems superfluous: the last may have been lost
                    for position, (item, _) in enumerate(pending):
                        pending[position] = item, None
            raise ClusterError(f"workers were lost {MOST_LOSSES} times in a row; perhaps they have too little memory")

        for item in items:
            pending.append((item, None))
            if len(pending) > 2 * sum(self._threads.values()):
                yield finish_first()
                pending.popleft()
        while pending:
            yield finish_first()
            pending.popleft()

    def _wait(self, futures: Sequence[Any], workers: Sequence[str]) -> None:
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            if self._asked(lambda: _is_done(self._client, futures)):
                return
            if any(future.status == "error" for future in futures):
                return  # others may wait for ever for what has failed
            self._require(workers, deadline)

    def _fetch(self, futures: Sequence[Any], workers: Sequence[str]) -> Any:
        return self._watch(self._client.gather(list(futures), asynchronous=True), workers)

    def _watch(self, request: Coroutine[Any, Any, T], workers: Sequence[str]) -> T:
        """What the client is asked for, unless a worker is lost meanwhile: Dask might wait for it for ever."""
        deadline = time.monotonic() + LONGEST_WAIT
        answer = asyncio.run_coroutine_threadsafe(request, self._client.loop.asyncio_loop)
        try:
            while not concurrent.futures.wait([answer], LOOK_EVERY).done:
                self._require(workers, deadline)
            return answer.result()
        finally:
            answer.cancel()
            del answer  # it and its error would keep each other alive, and with them the futures of all who wait

    def _require(self, workers: Sequence[str], deadline: float) -> None:
        """That none of the workers we wait for is lost, and that there is time left."""
        lost = sorted(set(workers) - set(self._alive()))
        if lost:
            raise WorkersLost(", ".join(lost))
        if time.monotonic() > deadline:
            raise ClusterError(f"the cluster has not finished one piece of work within {LONGEST_WAIT:.0f} s")

    def _raise_errors(self, futures: Sequence[Any]) -> None:
        for future in futures:
            if future.status == "error":
                self._raise(future)

    def _raise(self, future: Any) -> None:
        """What went wrong on a worker, as our own kind of error where it is no fault of ours."""
        from distributed import KilledWorker

        error = self._asked(lambda: future.exception(timeout=PATIENCE))
        if error is None or isinstance(error, OutOfStep | KilledWorker):  # none if it was cancelled meanwhile
            raise WorkersLost(str(error or "their work was cancelled"))
        if isinstance(error, MemoryError) or type(error).__name__ == "PickleError":  # no room: Dask tries the disk
            raise ClusterError("a worker has not enough memory for its share; use more workers, or larger ones")
        raise error

    def _alive(self) -> dict[str, int]:
        """Threads by address of the workers that were heard of lately.

        Dask pauses workers that run out of memory: they say so, but do nothing, and so count as silent. Workers that
        are about to leave take no more work, and wait until we have taken ours away from them.
        """
        client = self._client
        answer = self._asked(lambda: client.sync(client.scheduler.identity, callback_timeout=PATIENCE))["workers"]
        known = {each: about for each, about in answer.items() if about.get("status") != "closing_gracefully"}
        now = time.monotonic()
        for address, about in known.items():
            said = self._heard.get(address, (None, 0.0))[0] != about["last_seen"]
            if address not in self._heard or (said and about.get("status") != "paused"):
                self._heard[address] = about["last_seen"], now
        silent = {address for address in known if now - self._heard[address][1] > PATIENCE}
        return {address: about["nthreads"] for address, about in known.items() if address not in silent}

    def _examine(self, addresses: Sequence[str]) -> None:
        """Whether these workers have what it takes. The question needs nothing of ours on their side."""
        names = ("metalda", *SAME_EVERYWHERE)
        asked = {
            (address, name): self.submit(_version_of, name, on=address, name="ask-version")
            for address in addresses
            for name in names
        }
        try:
            self._wait(list(asked.values()), addresses)
            answered = {question: future for question, future in asked.items() if future.status != "error"}
            versions = self._asked(lambda: self._fetch(list(answered.values()), addresses))
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
                    logger.warning("Worker %s has %s %s, here it is %s: results may differ.", address, name, other, own)
        return None

    def _asked(self, question: Callable[[], Any]) -> Any:
        """What the scheduler answers; otherwise it is gone, or workers are."""
        try:
            return question()
        except (concurrent.futures.CancelledError, OSError, *_TIMEOUTS) as error:
            error.__traceback__ = None  # Dask keeps the error: with it, all who wait and their futures would stay alive
            self._require_scheduler(error)
            cancelled = isinstance(error, concurrent.futures.CancelledError)  # as all are when a connection is lost
            raise WorkersLost("their work was cancelled" if cancelled else str(error) or "no answer") from error
        except Exception as error:
            if self._client.status in ("closing", "closed"):  # by Dask; then any question may fail in any way
                raise _no_scheduler() from error
            raise

    def _require_scheduler(self, error: BaseException) -> None:
        client, deadline = self._client, time.monotonic() + PATIENCE
        while client.status == "connecting" and time.monotonic() < deadline:  # again, after a break in the network
            time.sleep(min(LOOK_EVERY, PATIENCE / 10))
        try:
            if client.status == "running":
                client.sync(client.scheduler.identity, callback_timeout=PATIENCE)
                return
        except (OSError, RuntimeError, *_TIMEOUTS):
            pass
        raise _no_scheduler() from error


def _is_done(client: Any, futures: Sequence[Any]) -> bool:
    from distributed import wait

    try:
        with client.as_current():
            wait(list(futures), timeout=LOOK_EVERY)
    except _TIMEOUTS as error:
        error.__traceback__ = None  # as in Cluster._asked
        return False
    return True


async def _to_its_end(request: Coroutine[Any, Any, T]) -> T:
    """A request that goes on when nobody waits for it any more: data on its way would stay with workers for ever."""
    return await asyncio.shield(request)


def _receive(data: Any) -> None:
    """Work that takes data to the worker that does it."""


_version_of = importlib.metadata.version  # of the standard library, so that any worker can be asked


def _too_early(loss: WorkersLost) -> ClusterError:
    return ClusterError(f"workers were lost before anything had begun ({loss}); try again")


def _no_scheduler() -> ClusterError:
    return ClusterError("the scheduler of the cluster is gone")
