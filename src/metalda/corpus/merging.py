"""From the parts of a corpus to the corpus: one vocabulary, one list of labels, and arrays that pass by in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import csr_array, hstack

from metalda.corpus.building import Settings
from metalda.corpus.labels import sort_names
from metalda.corpus.named import NamedMatrix
from metalda.corpus.parts import Part
from metalda.corpus.tokenising import fixed_vocabulary, no_words, renumber
from metalda.errors import EmptyVocabularyError
from metalda.storage import Streamed

Parts = Callable[[], Iterator[Part]]  # goes over all of them, again at every call


@dataclass(frozen=True)
class Words:
    """The words that stay, in their final order."""

    vocabulary: tuple[str, ...]
    n_tokens: int
    new_ids: np.ndarray | None  # of every word of any part; None if the vocabulary was given: parts are numbered by it

    def arrays(self, parts: Parts, numbers: BinaryIO, n_documents: int) -> dict[str, Any]:
        """The words and offsets of the corpus, given the file that `merge_words` wrote."""

        def renumbered() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            numbers.seek(0)
            for part in parts():
                if self.new_ids is None:
                    yield part.words, part.offsets
                else:
                    own = np.fromfile(numbers, np.int32, len(part.frequency))
                    yield renumber(part.words, part.offsets, self.new_ids[own])

        return {
            "words": Streamed(np.int32, self.n_tokens, lambda: (words for words, _ in renumbered())),
            "offsets": Streamed(np.int64, n_documents + 1, lambda: joined(offsets for _, offsets in renumbered())),
        }


def merge_words(parts: Parts, settings: Settings, numbers: BinaryIO, n_documents: int) -> Words:
    """One vocabulary of all parts, filtered and sorted as that of a corpus that is read at once.

    To the file `numbers` goes, part by part, which of all words each word of the part is: looking them up takes time.
    """
    if settings.vocabulary is not None:
        n_tokens = sum(len(part.words) for part in parts())
        return Words(fixed_vocabulary(settings.vocabulary), n_tokens, None)
    ids: dict[str, int] = {}
    frequency, totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for part in parts():
        own = part.vocabulary
        at = np.fromiter((ids.setdefault(word, len(ids)) for word in own), np.int32, len(own))
        at.tofile(numbers)
        if len(ids) > len(frequency):
            room = np.zeros(len(ids), np.int64)
            frequency, totals = np.concatenate([frequency, room]), np.concatenate([totals, room])
        frequency[at] += part.frequency
        totals[at] += part.totals
    words = sorted(ids)
    order = np.fromiter(map(ids.__getitem__, words), np.int64, len(words))
    frequency, totals = frequency[order], totals[order]
    kept = settings.filters.choose(n_documents, len(words), lambda: frequency, lambda: totals)
    if not kept.any():
        raise EmptyVocabularyError(no_words(len(words), n_documents, settings.filters))
    new_ids = np.full(len(words), -1, np.int32)
    new_ids[order[kept]] = np.arange(kept.sum())
    return Words(tuple(words[i] for i in np.flatnonzero(kept)), int(totals[kept].sum()), new_ids)


@dataclass(frozen=True)
class Labels:
    """The names of all labels; those of numbers come last, with their columns."""

    names: tuple[str, ...]  # of labels by name
    numeric: Sequence[NamedMatrix]
    n_entries: int

    @property
    def all_names(self) -> tuple[str, ...]:
        """In the order of the columns."""
        return (*self.names, *(name for each in self.numeric for name in each.names))

    def arrays(self, parts: Parts, n_documents: int) -> dict[str, Any]:
        """The label matrix of the corpus."""
        column_of = {name: j for j, name in enumerate(self.names)}

        def blocks() -> Iterator[csr_array]:
            first = 0
            for part in parts():
                names = np.array([column_of[name] for name in part.label_names], np.int32)
                cells = np.ones(len(part.label_columns)), names[part.label_columns], part.label_offsets
                named = csr_array(cells, shape=(len(part), len(self.names)))
                rows = slice(first, first + len(part))
                yield csr_array(hstack([named, *(each.matrix[rows] for each in self.numeric)]))
                first += len(part)

        return {
            "label_rows": Streamed(np.int64, n_documents + 1, lambda: joined(block.indptr for block in blocks())),
            "label_columns": Streamed(np.int32, self.n_entries, lambda: (block.indices for block in blocks())),
            "label_values": Streamed(np.float64, self.n_entries, lambda: (block.data for block in blocks())),
        }


def merge_labels(parts: Parts, numeric: Sequence[NamedMatrix]) -> Labels:
    """All labels of all parts."""
    names: dict[str, None] = {}
    n_entries = sum(each.matrix.nnz for each in numeric)
    for part in parts():
        names.update(dict.fromkeys(part.label_names))
        n_entries += len(part.label_columns)
    return Labels(tuple(sort_names(names)), numeric, n_entries)


def merge_ids(parts: Parts, n_documents: int) -> dict[str, Any]:
    """The ids of the corpus, if all documents have one."""
    n_ids, n_bytes = 0, 0
    for part in parts():
        n_ids += len(part.id_offsets) - 1
        n_bytes += len(part.id_bytes)
    if n_ids < n_documents:
        return {}
    return {
        "id_bytes": Streamed(np.uint8, n_bytes, lambda: (part.id_bytes for part in parts())),
        "id_offsets": Streamed(np.int64, n_documents + 1, lambda: joined(part.id_offsets for part in parts())),
    }


def joined(pieces: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """Offsets of one piece after the other as those of all."""
    end = 0
    yield np.zeros(1, np.int64)
    for offsets in pieces:
        yield end + np.asarray(offsets[1:], np.int64)
        end += int(offsets[-1])
