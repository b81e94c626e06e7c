"""A corpus in parts: documents are tokenized part by part, each part is kept in a folder, and the parts are merged.

The merged arrays are streamed, so that memory holds the vocabulary and one part at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from metalda.corpus.labels import LabelCollector, sort_names
from metalda.corpus.matrix import NamedMatrix
from metalda.corpus.phrases import Pair, TokenArrays, as_pairs, find_pairs, join_pairs
from metalda.corpus.readers import Document
from metalda.corpus.schema import Schema
from metalda.corpus.vocabulary import TokenCollector, choose_words, document_frequency, no_words_left, renumber
from metalda.errors import InputError
from metalda.storage import Streamed, read_folder, write_folder
from metalda.utils.checks import (
    check_array,
    check_indices,
    check_names,
    check_range,
    check_starts,
    reading_damage,
)
from metalda.utils.packed import PackedStrings, pack_words

MAX_DOCUMENTS, MAX_CHARACTERS = 50_000, 8_000_000  # of a part; a single document may have more


@dataclass(frozen=True, eq=False)
class CorpusPart:
    """The saved arrays of a part, memory-mapped."""

    words: NDArray[np.int32]  # as indices into the vocabulary
    offsets: NDArray[np.int64]
    word_bytes: NDArray[np.uint8]  # the vocabulary, packed; empty if the schema has one
    word_offsets: NDArray[np.int64]
    frequency: NDArray[np.int64]  # number of documents with each word
    totals: NDArray[np.int64]  # number of tokens of each word
    label_columns: NDArray[np.int32]  # as indices into the names
    label_offsets: NDArray[np.int64]
    label_names: list[str]
    id_bytes: NDArray[np.uint8]
    id_offsets: NDArray[np.int64]  # fewer than the documents if some have no id
    text_bytes: NDArray[np.uint8]  # as written; empty if they are not kept
    text_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def vocabulary(self) -> PackedStrings:
        """Return the words in order of first occurrence."""
        return PackedStrings(self.word_bytes, self.word_offsets)

    def check(self) -> None:
        """Raise StorageError unless the arrays fit each other."""
        n_words = len(self.vocabulary)  # 0 if the schema has the vocabulary
        check_array("words", self.words, np.int32, (None,))
        check_array("offsets", self.offsets, np.int64, (None,))
        check_starts("offsets", self.offsets, len(self.words))
        check_indices("words", self.words, n_words or np.iinfo(np.int32).max)
        for name, array in (("frequency", self.frequency), ("totals", self.totals)):
            check_array(name, array, np.int64, (n_words,))
            check_range(name, array, 0, len(self.words))
        check_array("label_columns", self.label_columns, np.int32, (None,))
        check_array("label_offsets", self.label_offsets, np.int64, self.offsets.shape)
        check_starts("label_offsets", self.label_offsets, len(self.label_columns))
        check_indices("label_columns", self.label_columns, len(self.label_names))
        PackedStrings(self.id_bytes, self.id_offsets, kind="ids")
        PackedStrings(self.text_bytes, self.text_offsets, kind="texts")


Parts = Callable[[], Iterator[CorpusPart]]  # each call yields all parts from the first


@dataclass(frozen=True)
class PartWriter:
    """Tokenizes documents and writes them as a part, in this or another process."""

    folder: Path
    schema: Schema
    texts: bool
    source: str  # the name of the data, for messages

    def has(self, number: int) -> bool:
        """Return whether a part was written completely."""
        return (_place(self.folder, number) / "part.json").exists()

    def __call__(self, number: int, documents: Sequence[Document], keeps_text: bool) -> None:
        """Tokenize the documents and write the part, with their texts if they are to be kept."""
        tokens, labels, ids = TokenCollector(self.schema, texts=self.texts), LabelCollector(), []
        try:
            for document in documents:
                tokens.add(document.content)
                labels.add(document.labels)
                if document.id is not None:
                    ids.append(document.id)
            words, offsets, vocabulary = tokens.numbered()
        except InputError as error:
            raise type(error)(f"{self.source}: {error}") from None
        label_columns, label_offsets, label_names = labels.numbered()
        id_bytes, id_offsets = pack_words(ids)
        text_bytes, text_offsets = pack_words([str(each.content) for each in documents] if keeps_text else [])
        if self.schema.vocabulary is not None:
            described = _describe_words(words[:0], np.zeros(1, np.int64), ())
        else:
            described = _describe_words(words, offsets, vocabulary)
        arrays: dict[str, NDArray[np.generic]] = {
            "words": words,
            "offsets": offsets,
            **described,
            "label_columns": label_columns,
            "label_offsets": label_offsets,
            "id_bytes": id_bytes,
            "id_offsets": id_offsets,
            "text_bytes": text_bytes,
            "text_offsets": text_offsets,
        }
        write_folder(_place(self.folder, number), "part", {"label_names": label_names}, arrays)


def read_parts(folder: Path, n_parts: int) -> Iterator[CorpusPart]:
    """Yield all parts in order."""
    for number in range(n_parts):
        place = _place(folder, number)
        document, arrays = read_folder(place, "part", mmap=True)
        with reading_damage(place, "part", "start anew with resume=False (--restart)"):
            label_names = list(check_names("label_names", document["label_names"]))
            part = CorpusPart(label_names=label_names, **arrays)
            part.check()
        yield part


def join_phrases(parts: Parts, schema: Schema, folder: Path) -> tuple[Pair, ...]:
    """Find the phrases of all parts, and write the parts with phrases to a folder, for `read_parts`."""
    ids: dict[str, int] = {}
    totals = np.zeros(0, np.int64)
    numbers: list[NDArray[np.int32]] = []  # the ids over all parts of the words of each part
    for part in parts():
        own = part.vocabulary
        numbers.append(np.fromiter((ids.setdefault(word, len(ids)) for word in own), np.int32, len(own)))
        totals = np.concatenate([totals, np.zeros(len(ids) - len(totals), np.int64)])
        totals[numbers[-1]] += part.totals
    pieces = (TokenArrays(at[part.words], part.offsets) for at, part in zip(numbers, parts(), strict=True))
    pairs = find_pairs(pieces, totals, *schema.phrase_limits)
    for number, part in enumerate(parts()):
        places = np.full(len(ids), -1, np.int64)
        places[numbers[number]] = np.arange(len(part.frequency))
        own_pairs = places[pairs]
        _write_joined(_place(folder, number), part, own_pairs[(own_pairs >= 0).all(axis=1)])
    return as_pairs(list(ids), pairs)


def _write_joined(place: Path, part: CorpusPart, pairs: NDArray[np.int64]) -> None:
    words, offsets, vocabulary = join_pairs(part.words, part.offsets, list(part.vocabulary), pairs)
    arrays = {each.name: getattr(part, each.name) for each in fields(part) if each.name != "label_names"}
    arrays |= {"words": words, "offsets": offsets, **_describe_words(words, offsets, vocabulary)}
    arrays["text_bytes"], arrays["text_offsets"] = pack_words([])  # they are read from the part without phrases
    write_folder(place, "part", {"label_names": part.label_names}, arrays)


def _describe_words(
    words: NDArray[np.int32], offsets: NDArray[np.int64], vocabulary: Sequence[str]
) -> dict[str, NDArray[np.generic]]:
    """Return the vocabulary of a part, and how often each word occurs."""
    word_bytes, word_offsets = pack_words(vocabulary)
    return {
        "word_bytes": word_bytes,
        "word_offsets": word_offsets,
        "frequency": document_frequency(words, offsets, len(vocabulary)),
        "totals": np.bincount(words, minlength=len(vocabulary)),
    }


def in_parts(documents: Iterable[Document]) -> Iterator[tuple[int, list[Document]]]:
    """Yield the number and the documents of each part; the division depends only on the documents."""
    number, n_characters = 0, 0
    part: list[Document] = []
    for document in documents:
        part.append(document)
        n_characters += _size(document.content)
        if len(part) >= MAX_DOCUMENTS or n_characters >= MAX_CHARACTERS:
            yield number, part
            part, n_characters, number = [], 0, number + 1
    if part:
        yield number, part


def largest_part() -> tuple[int, int]:
    """Return the limits of a part, on which the division depends."""
    return MAX_DOCUMENTS, MAX_CHARACTERS


def _size(content: str | Sequence[str]) -> int:
    return len(content) if isinstance(content, str) else 8 * len(content)


def _place(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}"


@dataclass(frozen=True)
class MergedWords:
    """The vocabulary of the corpus, and the new ids of the words of all parts."""

    vocabulary: tuple[str, ...]
    n_tokens: int
    new_ids: NDArray[np.int32] | None  # by id over all parts; None if a given vocabulary numbers the words of all parts

    def arrays(self, parts: Parts, numbers: BinaryIO, n_documents: int) -> dict[str, Streamed]:
        """Return words and offsets of the corpus, given the file that `merge_words` wrote."""

        def renumbered() -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
            numbers.seek(0)
            for part in parts():
                if self.new_ids is None:
                    yield part.words, part.offsets
                else:
                    own = np.fromfile(numbers, np.int32, len(part.frequency))
                    yield renumber(part.words, part.offsets, self.new_ids[own])

        return {
            "words": Streamed(np.int32, self.n_tokens, lambda: (words for words, _ in renumbered())),
            "offsets": Streamed(np.int64, n_documents + 1, lambda: _joined(offsets for _, offsets in renumbered())),
        }


def merge_words(parts: Parts, schema: Schema, numbers: BinaryIO, n_documents: int) -> MergedWords:
    """Merge the vocabularies of all parts; the result is filtered and sorted as in a corpus that is read at once.

    The file `numbers` receives, part by part, the id over all parts of each word of the part, so that words are looked
    up once.
    """
    if schema.vocabulary is not None:
        n_tokens = sum(len(part.words) for part in parts())
        return MergedWords(tuple(schema.vocabulary), n_tokens, None)
    ids: dict[str, int] = {}
    frequency, totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for part in parts():
        own = part.vocabulary
        at = np.fromiter((ids.setdefault(word, len(ids)) for word in own), np.int32, len(own))
        numbers.write(np.ascontiguousarray(at).data)  # tofile would not notice a full disk
        if len(ids) > len(frequency):
            room = np.zeros(len(ids), np.int64)
            frequency, totals = np.concatenate([frequency, room]), np.concatenate([totals, room])
        frequency[at] += part.frequency
        totals[at] += part.totals
    words = sorted(ids)
    order = np.fromiter(map(ids.__getitem__, words), np.int64, len(words))
    frequency, totals = frequency[order], totals[order]
    kept = choose_words(schema, n_documents, len(words), lambda: frequency, lambda: totals)
    if not kept.any():
        raise no_words_left(len(words), n_documents, schema)
    new_ids = np.full(len(words), -1, np.int32)
    new_ids[order[kept]] = np.arange(kept.sum())
    return MergedWords(tuple(words[i] for i in np.flatnonzero(kept)), int(totals[kept].sum()), new_ids)


@dataclass(frozen=True)
class MergedLabels:
    """The names of all labels; numeric columns come last, with their values."""

    names: tuple[str, ...]  # without those of numeric columns
    numeric: Sequence[NamedMatrix]
    n_entries: int

    @property
    def all_names(self) -> tuple[str, ...]:
        """Return all names, in the order of the columns."""
        return (*self.names, *(name for each in self.numeric for name in each.names))

    def arrays(self, parts: Parts, n_documents: int) -> dict[str, Streamed]:
        """Return the label matrix of the corpus."""
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
            "label_rows": Streamed(np.int64, n_documents + 1, lambda: _joined(block.indptr for block in blocks())),
            "label_columns": Streamed(np.int32, self.n_entries, lambda: (block.indices for block in blocks())),
            "label_values": Streamed(np.float64, self.n_entries, lambda: (block.data for block in blocks())),
        }


def merge_labels(parts: Parts, numeric: Sequence[NamedMatrix]) -> MergedLabels:
    """Merge the labels of all parts."""
    names: dict[str, None] = {}
    n_entries = sum(each.matrix.nnz for each in numeric)
    for part in parts():
        names.update(dict.fromkeys(part.label_names))
        n_entries += len(part.label_columns)
    return MergedLabels(tuple(sort_names(names)), numeric, n_entries)


def merge_ids(parts: Parts, n_documents: int) -> dict[str, Streamed]:
    """Return the ids of the corpus, if all documents have one."""
    return _merge_strings(parts, n_documents, "id")


def merge_texts(parts: Parts, n_documents: int) -> dict[str, Streamed]:
    """Return the texts of the corpus, if all parts have kept them."""
    return _merge_strings(parts, n_documents, "text")


def _merge_strings(parts: Parts, n_documents: int, name: str) -> dict[str, Streamed]:
    of_bytes, of_offsets = f"{name}_bytes", f"{name}_offsets"
    n_strings, n_bytes = 0, 0
    for part in parts():
        n_strings += len(getattr(part, of_offsets)) - 1
        n_bytes += len(getattr(part, of_bytes))
    if n_strings < n_documents:
        return {}
    return {
        of_bytes: Streamed(np.uint8, n_bytes, lambda: (getattr(part, of_bytes) for part in parts())),
        of_offsets: Streamed(np.int64, n_documents + 1, lambda: _joined(getattr(part, of_offsets) for part in parts())),
    }


def _joined(pieces: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """Convert the offsets of consecutive pieces to the offsets of all."""
    end = 0
    yield np.zeros(1, np.int64)
    for offsets in pieces:
        yield end + np.asarray(offsets[1:], np.int64)
        end += int(offsets[-1])
