"""Counts of words and pairs of words in the windows of a reference corpus, which can be saved and reused."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus
from metalda.corpus.files import MAX_DOCUMENT_BYTES
from metalda.corpus.formats import is_saved
from metalda.corpus.schema import TOKEN_PATTERN
from metalda.corpus.settings import fixed_vocabulary
from metalda.corpus.source import in_blocks, read_blocks
from metalda.corpus.stream import Location, Stream, locate_data
from metalda.errors import InputError, StorageError
from metalda.evaluation.reference import (
    TextSearch,
    WindowCounter,
    corpus_batches,
    count_batches,
    count_on,
    text_encoder,
)
from metalda.storage import read_folder, write_folder
from metalda.training.distributed.cluster import Cluster
from metalda.utils.checks import (
    Array,
    check_array,
    check_ascending,
    check_flag,
    check_indices,
    check_integer,
    check_keys,
    check_names,
    check_object,
    check_range,
    reading_damage,
)
from metalda.utils.threads import count_jobs

if TYPE_CHECKING:
    from distributed import Client

Reference = str | os.PathLike[str] | Corpus | Iterable[str | Sequence[str]]

_KIND = "counts"
_FIELDS = ("words", "window", "n_windows", "n_documents", "n_short", "n_tokens", "as_gensim", "source")


@dataclass(frozen=True, eq=False, repr=False)
class WindowCounts:
    """Numbers of windows that contain words and pairs of words.

    Returned by `count_windows`; `save` and `load` use a folder.

    Parameters
    ----------
    words : tuple of str
        The counted words.
    together : array of int64
        ``together[i, j]`` with i < j is the number of windows that contain both words, ``together[i, i]`` that of
        windows that contain the word.
    window : int
        Words in a window; 0 if each document is one window.
    n_windows : int
        Number of windows in the reference.
    n_documents : int
        Number of documents in the reference.
    n_short : int
        Number of documents with fewer words than the window. Each of them is one window.
    n_tokens : int
        Number of tokens in the reference.
    as_gensim : bool
        Whether repeated words were counted as in gensim.
    source : dict
        The name of the reference and how it was read.

    Examples
    --------
    >>> from metalda import count_windows
    >>> counts = count_windows(["cat", "dog"], ["a cat and a dog", "one more dog"], window=10)
    >>> counts.n_windows, counts.together.tolist()
    (2, [[1, 1], [0, 2]])
    """

    words: tuple[str, ...]
    together: NDArray[np.int64]
    window: int
    n_windows: int
    n_documents: int
    n_short: int
    n_tokens: int
    as_gensim: bool = False
    source: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the words that the reference does not contain."""
        return tuple(word for word, count in zip(self.words, np.diagonal(self.together), strict=True) if not count)

    def covers(self, words: Iterable[str]) -> bool:
        """Return whether all these words are counted."""
        return all(word in self._id_of for word in words)

    def of(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the symmetric matrix of counts of some words, with the single words on the diagonal."""
        try:
            ids = np.array([self._id_of[word] for word in words], np.int64)
        except KeyError as error:
            raise InputError(f"the word {error.args[0]!r} was not counted: count again and include it") from None
        return self.together[np.minimum.outer(ids, ids), np.maximum.outer(ids, ids)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save as a folder, atomically; only pairs that occur take space."""
        places = np.flatnonzero(self.together)
        arrays = {"places": places, "counts": self.together.ravel()[places]}
        write_folder(path, _KIND, {name: getattr(self, name) for name in _FIELDS}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WindowCounts:
        """Load a saved folder."""
        document, arrays = read_folder(path, _KIND)
        with reading_damage(path, "folder of counts", "count again"):
            check_keys("the counts", document, _FIELDS)
            check_keys("the arrays", arrays, ("places", "counts"))
            words = check_names("words", document["words"])
            if not words:
                raise StorageError("words must not be empty")
            sizes = {name: check_integer(name, document[name], 0) for name in _FIELDS if name.startswith("n_")}
            return cls(
                words=words,
                together=_unpack_pairs(arrays["places"], arrays["counts"], len(words), sizes["n_windows"]),
                window=check_integer("window", document["window"], 0),
                as_gensim=check_flag("as_gensim", document["as_gensim"]),
                source=check_object("source", document["source"]),
                **sizes,
            )

    def __repr__(self) -> str:
        windows = f"windows of {self.window} words" if self.window else "whole documents"
        return f"WindowCounts: {len(self.words):,} words ({len(self.missing):,} missing), {self.n_windows:,} {windows}"


def _unpack_pairs(places: Array, counts: Array, n_words: int, n_windows: int) -> NDArray[np.int64]:
    """Return the matrix of counts, given those that are not 0 and their places in it."""
    check_array("places", places, np.int64, (None,))
    check_array("counts", counts, np.int64, places.shape)
    check_indices("places", places, n_words**2)
    check_ascending("places", places, np.array([0, len(places)]))
    check_range("counts", counts, 1, n_windows)
    rows, columns = np.divmod(places, n_words)
    if (rows > columns).any():
        raise StorageError("places must be above the diagonal, or on it")
    together = np.zeros((n_words, n_words), np.int64)
    together.ravel()[places] = counts
    single = np.diagonal(together)
    if (counts > np.minimum(single[rows], single[columns])).any():
        raise StorageError("counts of pairs exceed those of their words")
    return together


def count_windows(
    words: Iterable[str],
    reference: Reference,
    *,
    window: int = 10,
    text: str | int | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
    lowercase: bool = True,
    token_pattern: str = TOKEN_PATTERN,
    as_gensim: bool = False,
    n_jobs: int | None = 1,
    verbose: bool = False,
    client: Client | None = None,
) -> WindowCounts:
    """Count the windows of a reference corpus that contain words and pairs of words, in one pass.

    Parameters
    ----------
    words : iterable of str
        The words to count, such as the top words of all topics of several models. Memory is 8 bytes for each pair of
        words and thread (5,000 words: at most 200 MB), for a reference of any size.
    reference : path, Corpus, or iterable of documents
        A file: text with a document per line (blank lines are skipped), or any other format of `Corpus.read`, such as a
        Wikipedia dump, also as .gz, .bz2 or .xz. Or a `Corpus`, or texts, or lists of tokens.
    window : int
        Words in a sliding window. A document with fewer words is one window, as in gensim. With 0 every document is
        one window.
    text : str or int, optional
        The field of the file that contains the text; in a TSV file without header, the number of the column, from 1.
    format, encoding, max_document_bytes
        As in `Corpus.read`; by default the format is detected from the file name.
    lowercase, token_pattern
        How texts are tokenized: by default lower-cased, with every run of two or more letters or digits a word. Stop
        words are kept, so that windows contain running text.
    as_gensim : bool
        Count a word as outside the window when its first occurrence leaves, even if another one is still inside.
        gensim 4 does this; it counts fewer windows for repeated words.
    n_jobs : int
        Threads. Counts do not depend on it.
    verbose : bool
        Show a progress bar, on a terminal or in a notebook.
    client : dask.distributed.Client, optional
        Count on the workers of a cluster; the reference is read here.

    Returns
    -------
    WindowCounts

    Examples
    --------
    >>> counts = count_windows(["cat", "dog"], ["The cat saw a dog.", "No cat here"], window=3)
    >>> counts.of(["cat", "dog"]).tolist()  # windows "the cat saw", "cat saw dog", "no cat here"
    [[3, 1], [1, 1]]
    """
    if isinstance(window, bool) or not isinstance(window, int | np.integer) or window < 0:
        raise InputError(f"window={window!r}: give a number of words, or 0 for whole documents")
    if n_jobs == 0:
        raise InputError("n_jobs=0: give at least 1 thread, or -1 for all cores")
    chosen = fixed_vocabulary(words if isinstance(words, str) else list(dict.fromkeys(words)))
    source: dict[str, object] = {}
    texts = TextSearch(chosen, lowercase, token_pattern)
    path = locate_data(reference) if isinstance(reference, str | os.PathLike | Stream) else None
    if path is not None:
        how = {"text": text, "format": format, "encoding": encoding}
        source = describe_file(path, **how, lowercase=lowercase, token_pattern=token_pattern)
        if is_saved(path):
            if text is not None or format is not None:
                raise InputError(f"{path}: is a prepared corpus: remove text= (--text) and format=")
            reference = Corpus.load(path)
    counter = WindowCounter(len(chosen), int(window), as_gensim)
    if isinstance(reference, Corpus):
        ranges, encode = corpus_batches(reference, chosen)
        if client is None:
            count_batches(ranges, encode, counter, count_jobs(n_jobs))
        else:
            count_on(Cluster(client), map(encode, ranges), None, counter)
    else:
        if isinstance(reference, str | os.PathLike | Stream):
            assert path is not None
            blocks = read_blocks(
                path,
                text=text,
                format=format,
                encoding=encoding,
                max_document_bytes=max_document_bytes,
                verbose=verbose,
            )
        else:
            blocks = in_blocks(reference)
        encode_texts = text_encoder(chosen, lowercase=lowercase, token_pattern=token_pattern)
        if client is None:
            count_batches(blocks, encode_texts, counter, count_jobs(n_jobs))
        else:
            count_on(Cluster(client), blocks, texts, counter)
    if not counter.n_documents:
        raise InputError(f"{source.get('name', 'the reference')}: no documents")
    return WindowCounts(
        words=chosen,
        together=counter.together,
        window=int(window),
        n_windows=int(counter.totals[0]),
        n_documents=counter.n_documents,
        n_short=int(counter.totals[1]),
        n_tokens=counter.n_tokens,
        as_gensim=as_gensim,
        source=source,
    )


def describe_file(path: Location, **reading: object) -> dict[str, object]:
    """Describe a reference by its name, size and reading options, to recognize its counts."""
    file = path / "corpus.json" if is_saved(path) else path
    size = None if isinstance(file, Stream) or not file.is_file() else file.stat().st_size
    return {"name": path.name, "bytes": size, **reading}
