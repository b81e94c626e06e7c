"""Batches of documents through the kernel that counts windows, in threads."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from metalda.evaluation.encoding import Encoded, Encoder
from metalda.kernels.border import frozen
from metalda.kernels.windows import count_windows


class Counter:
    """Windows counted so far, by one thread at a time."""

    def __init__(self, n_words: int, window: int, as_gensim: bool) -> None:
        self.together = np.zeros((n_words, n_words), np.int64)  # upper triangle; memory that is not touched is not used
        self.totals = np.zeros(2, np.int64)  # windows, short documents
        self.n_documents = self.n_tokens = 0
        self._window, self._as_gensim = window, as_gensim
        self._scratch = [np.zeros(n_words, np.int64) for _ in range(4)]

    def add(self, documents: Encoded) -> None:
        """Count the windows of these documents too."""
        words, offsets = frozen(documents.words, np.int32), frozen(documents.offsets, np.int64)
        count_windows(words, offsets, self._window, self._as_gensim, self.together, self.totals, *self._scratch)
        self.n_documents += len(offsets) - 1
        self.n_tokens += int(offsets[-1] - offsets[0])

    def fresh(self) -> Counter:
        """One that has counted nothing."""
        return Counter(len(self.together), self._window, self._as_gensim)

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
