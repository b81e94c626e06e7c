"""Batches of documents through the kernel that counts windows, in threads or on a cluster."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.evaluation.encoding import Encoded, Encoder, text_encoder
from metalda.kernels.border import frozen
from metalda.kernels.windows import count_windows
from metalda.training.distributed.cluster import Cluster

LOAD = 4  # batches that a worker of a cluster counts at a time


class Counter:
    """Windows counted so far, by one thread at a time."""

    def __init__(self, n_words: int, window: int, as_gensim: bool) -> None:
        self.together = np.zeros((n_words, n_words), np.int64)  # upper triangle; memory that is not touched is not used
        self.totals = np.zeros(2, np.int64)  # windows, short documents
        self.n_documents = self.n_tokens = 0
        self.window, self.as_gensim = window, as_gensim
        self._scratch = [np.zeros(n_words, np.int64) for _ in range(4)]

    def add(self, documents: Encoded) -> None:
        """Count the windows of these documents too."""
        words, offsets = frozen(documents.words, np.int32), frozen(documents.offsets, np.int64)
        count_windows(words, offsets, self.window, self.as_gensim, self.together, self.totals, *self._scratch)
        self.n_documents += len(offsets) - 1
        self.n_tokens += int(offsets[-1] - offsets[0])

    def fresh(self) -> Counter:
        """One that has counted nothing."""
        return Counter(len(self.together), self.window, self.as_gensim)

    def merge(self, other: Counter) -> None:
        """Add what another one counted; row by row, since half of the matrix is never touched."""
        for i in range(len(self.together)):
            self.together[i, i:] += other.together[i, i:]
        self.totals += other.totals
        self.n_documents += other.n_documents
        self.n_tokens += other.n_tokens


def count_batches(batches: Iterable[Any], encode: Encoder, counter: Counter, n_jobs: int) -> Counter:
    """Encode and count all batches; a few at a time are in memory. Sums of integers do not depend on who adds what."""
    if n_jobs == 1:
        for batch in batches:
            counter.add(encode(batch))
        return counter
    counters = [counter, *(counter.fresh() for _ in range(n_jobs - 1))]
    idle: queue.SimpleQueue[Counter] = queue.SimpleQueue()
    for each in counters:
        idle.put(each)

    def work(batch: Any) -> None:
        documents = encode(batch)
        own = idle.get()
        try:
            own.add(documents)
        finally:
            idle.put(own)

    pending: deque[Future[None]] = deque()
    with ThreadPoolExecutor(n_jobs) as pool:
        for batch in batches:
            pending.append(pool.submit(work, batch))
            if len(pending) > 2 * n_jobs:
                pending.popleft().result()
        for future in pending:
            future.result()
    for each in counters[1:]:
        counter.merge(each)
    return counter


class TextWords(NamedTuple):
    """What texts are searched for."""

    words: tuple[str, ...]
    lowercase: bool
    token_pattern: str


class Counted(NamedTuple):
    """What a worker counted: places in the matrix and what is added there."""

    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    n_documents: int
    n_tokens: int


def count_on(cluster: Cluster, batches: Iterable[Any], texts: TextWords | None, counter: Counter) -> Counter:
    """Count batches of texts, or of documents that are encoded already, on the workers of a cluster."""
    settings = len(counter.together), counter.window, counter.as_gensim
    for found in cluster.map(_count, _in_loads(batches), texts, settings, name="count-windows"):
        counter.together.ravel()[found.places] += found.counts
        counter.totals += found.totals
        counter.n_documents += found.n_documents
        counter.n_tokens += found.n_tokens
    return counter


def _in_loads(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Some batches at a time, so that sending them costs less than counting."""
    source = iter(batches)
    while load := list(islice(source, LOAD)):
        yield load


def _count(load: list[Any], texts: TextWords | None, settings: tuple[int, int, bool]) -> Counted:
    counter = Counter(*settings)
    for batch in load:
        counter.add(Encoded(*batch) if texts is None else _encoder(texts)(batch))
    places = np.flatnonzero(counter.together)
    counts = counter.together.ravel()[places]
    return Counted(places, counts, counter.totals, counter.n_documents, counter.n_tokens)


@lru_cache(maxsize=2)
def _encoder(texts: TextWords) -> Encoder:
    """A worker makes it once, not for every load."""
    return text_encoder(texts.words, lowercase=texts.lowercase, token_pattern=texts.token_pattern)
