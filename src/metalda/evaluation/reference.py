"""Encode the documents of a reference corpus in batches, and count their windows in threads or on a cluster."""

from __future__ import annotations

import queue
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import islice, repeat
from typing import Any, NamedTuple, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus, Schema
from metalda.corpus.schema import TOKEN_PATTERN
from metalda.corpus.unicode import normalize, word_marks
from metalda.corpus.vocabulary import make_analyzer
from metalda.errors import InputError
from metalda.kernels.border import frozen
from metalda.kernels.windows import build_table, count_windows, find_words
from metalda.training.distributed.cluster import Cluster

B = TypeVar("B")  # a batch
_BATCH_TOKENS = 1 << 20
_TASK_BATCHES = 4  # batches that a worker of a cluster counts at a time


class ReferenceDocuments(NamedTuple):
    """Documents as indices of the counted words, -1 for all other words."""

    words: NDArray[np.integer]
    offsets: NDArray[np.integer]


Encoder: TypeAlias = Callable[[B], ReferenceDocuments]
TextBatch = Sequence[str | Sequence[str]]  # texts, or lists of tokens


def text_encoder(words: Sequence[str], *, lowercase: bool, token_pattern: str) -> Encoder[TextBatch]:
    """Return an encoder of lists of texts or token lists. Texts with the default token pattern use compiled code."""
    analyze = make_analyzer(Schema(lowercase=lowercase, token_pattern=token_pattern, stop_words=None))
    id_of = {word: i for i, word in enumerate(words)}
    fast = _fast_encoder(words, lowercase=lowercase) if token_pattern == TOKEN_PATTERN else None

    def encode(documents: TextBatch) -> ReferenceDocuments:
        if fast is not None and _are_texts(documents):
            return fast(documents)
        found, offsets = array("i"), array("q", [0])
        try:
            for document in documents:
                tokens = analyze(document) if isinstance(document, str) else document
                found.extend(map(id_of.get, tokens, repeat(-1)))
                offsets.append(len(found))
        except TypeError as error:
            raise InputError(f"a reference consists of texts or lists of words ({error})") from error
        return ReferenceDocuments(np.frombuffer(found, np.int32), np.frombuffer(offsets, np.int64))

    return encode


def _are_texts(documents: TextBatch) -> TypeGuard[Sequence[str]]:
    return all(isinstance(document, str) for document in documents)


def _fast_encoder(words: Sequence[str], *, lowercase: bool) -> Encoder[Sequence[str]]:
    """Return an encoder of texts with `TOKEN_PATTERN`."""
    word_characters, word_ends = _characters(words)
    word_offsets = frozen(np.concatenate(([0], word_ends)), np.int64)
    table = np.full(1 << (2 * len(words)).bit_length(), -1, np.int64)
    build_table(word_characters, word_offsets, table)
    table, is_word = frozen(table, np.int64), _word_characters()

    def encode(texts: Sequence[str]) -> ReferenceDocuments:
        normal = [normalize(text) for text in texts]
        characters, ends = _characters([text.lower() for text in normal] if lowercase else normal)
        found = np.empty(len(characters) // 2 + 1, np.int32)
        offsets = np.zeros(len(ends) + 1, np.int64)
        find_words(characters, ends, is_word, table, word_characters, word_offsets, found, offsets)
        return ReferenceDocuments(found[: offsets[-1]], offsets)

    return encode


def _characters(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the code points of all texts in sequence, and the end of each text."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    return frozen(np.frombuffer(joined, "<u4"), np.uint32), frozen(ends, np.int64)


@lru_cache
def _word_characters() -> NDArray[np.bool_]:
    r"""Return a table of the code points that are part of words: ``\w`` in regular expressions, and marks."""
    letters = (character.isalnum() for character in map(chr, range(0x110000)))
    table = np.fromiter(letters, np.bool_, 0x110000)
    table[[ord("_"), *word_marks()]] = True
    return frozen(table, np.bool_)


def corpus_batches(corpus: Corpus, words: Sequence[str]) -> tuple[Iterable[range], Encoder[range]]:
    """Return batches of a corpus, about a million tokens each, and their encoder."""
    id_of: Mapping[str, int] = {word: i for i, word in enumerate(words)}
    ids = np.array([id_of.get(word, -1) for word in corpus.vocabulary], np.int32)

    def encode(documents: range) -> ReferenceDocuments:
        offsets = corpus.offsets[documents.start : documents.stop + 1]
        return ReferenceDocuments(ids[corpus.words[offsets[0] : offsets[-1]]], offsets - offsets[0])

    return _ranges(corpus.offsets), encode


def _ranges(offsets: NDArray[np.integer]) -> Iterator[range]:
    start, n_documents = 0, len(offsets) - 1
    while start < n_documents:
        stop = int(np.searchsorted(offsets, offsets[start] + _BATCH_TOKENS, side="right")) - 1
        stop = max(stop, start + 1)
        yield range(start, stop)
        start = stop


class WindowCounter:
    """Counts of windows so far; used by one thread at a time."""

    def __init__(self, n_words: int, window: int, as_gensim: bool) -> None:
        self.together = np.zeros((n_words, n_words), np.int64)  # upper triangle; untouched pages take no memory
        self.totals = np.zeros(2, np.int64)  # windows, short documents
        self.n_documents = self.n_tokens = 0
        self.window, self.as_gensim = window, as_gensim
        self._scratch = [np.zeros(n_words, np.int64) for _ in range(4)]

    def add(self, documents: ReferenceDocuments) -> None:
        """Add the windows of these documents."""
        words, offsets = frozen(documents.words, np.int32), frozen(documents.offsets, np.int64)
        count_windows(words, offsets, self.window, self.as_gensim, self.together, self.totals, *self._scratch)
        self.n_documents += len(offsets) - 1
        self.n_tokens += int(offsets[-1] - offsets[0])

    def fresh(self) -> WindowCounter:
        """Return an empty counter with the same settings."""
        return WindowCounter(len(self.together), self.window, self.as_gensim)

    def merge(self, other: WindowCounter) -> None:
        """Add the counts of another counter, row by row, and only in the upper triangle."""
        for i in range(len(self.together)):
            self.together[i, i:] += other.together[i, i:]
        self.totals += other.totals
        self.n_documents += other.n_documents
        self.n_tokens += other.n_tokens


def count_batches(batches: Iterable[B], encode: Encoder[B], counter: WindowCounter, n_jobs: int) -> WindowCounter:
    """Encode and count all batches, with a few in memory at a time. The counts do not depend on `n_jobs`."""
    if n_jobs == 1:
        for batch in batches:
            counter.add(encode(batch))
        return counter
    counters = [counter, *(counter.fresh() for _ in range(n_jobs - 1))]
    idle: queue.SimpleQueue[WindowCounter] = queue.SimpleQueue()
    for each in counters:
        idle.put(each)

    def work(batch: B) -> None:
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


class TextSearch(NamedTuple):
    """The words to find in texts, and how texts are tokenized."""

    words: tuple[str, ...]
    lowercase: bool
    token_pattern: str


class TaskCounts(NamedTuple):
    """Counts of a worker: positions in the matrix, and the numbers to add there."""

    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    n_documents: int
    n_tokens: int


def count_on(
    cluster: Cluster,
    batches: Iterable[ReferenceDocuments] | Iterable[TextBatch],
    texts: TextSearch | None,
    counter: WindowCounter,
) -> WindowCounter:
    """Count batches of texts, or of encoded documents, on the workers of a cluster."""
    settings = len(counter.together), counter.window, counter.as_gensim
    for found in cluster.map(_count, _in_tasks(batches), texts, settings, name="count-windows"):
        counter.together.ravel()[found.places] += found.counts
        counter.totals += found.totals
        counter.n_documents += found.n_documents
        counter.n_tokens += found.n_tokens
    return counter


def _in_tasks(batches: Iterable[B]) -> Iterator[list[B]]:
    """Group batches, so that sending a task costs less than counting it."""
    source = iter(batches)
    while task := list(islice(source, _TASK_BATCHES)):
        yield task


def _count(batches: list[Any], texts: TextSearch | None, settings: tuple[int, int, bool]) -> TaskCounts:
    counter = WindowCounter(*settings)
    for batch in batches:
        counter.add(ReferenceDocuments(*batch) if texts is None else _encoder(texts)(batch))
    places = np.flatnonzero(counter.together)
    counts = counter.together.ravel()[places]
    return TaskCounts(places, counts, counter.totals, counter.n_documents, counter.n_tokens)


@lru_cache(maxsize=2)
def _encoder(texts: TextSearch) -> Encoder[TextBatch]:
    """Return the encoder; a worker makes it once for all its tasks."""
    return text_encoder(texts.words, lowercase=texts.lowercase, token_pattern=texts.token_pattern)
