"""Some documents of a corpus that is being prepared: tokenised, numbered by themselves, and kept in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metalda.corpus.building import Settings
from metalda.corpus.columns import Document
from metalda.corpus.labels import LabelCollector
from metalda.corpus.tokenising import document_frequency
from metalda.storage import read_folder, write_folder
from metalda.utils.packed import PackedStrings, pack_words

MOST_DOCUMENTS, MOST_CHARACTERS = 50_000, 8_000_000  # in a part, or a single long document


@dataclass(frozen=True, eq=False)
class Part:
    """What is kept of a part; the arrays are maps of files."""

    words: np.ndarray  # as indices into the vocabulary
    offsets: np.ndarray
    word_bytes: np.ndarray  # the vocabulary, packed; nothing if it was given
    word_offsets: np.ndarray
    frequency: np.ndarray  # documents that each word is in
    totals: np.ndarray  # how often it occurs
    label_columns: np.ndarray  # as indices into the names
    label_offsets: np.ndarray
    label_names: list[str]
    id_bytes: np.ndarray
    id_offsets: np.ndarray  # fewer than documents, if some have no id

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def vocabulary(self) -> PackedStrings:
        """The words in the order in which they came."""
        return PackedStrings(self.word_bytes, self.word_offsets)


@dataclass(frozen=True)
class PartWriter:
    """Makes parts of documents, here or in another process."""

    folder: Path
    settings: Settings
    texts: bool

    def has(self, number: int) -> bool:
        """Whether a part is there, and complete."""
        return (_place(self.folder, number) / "part.json").exists()

    def __call__(self, number: int, documents: Iterable[Document]) -> None:
        """Tokenise the documents, and write the part."""
        tokens, labels, ids = self.settings.collector(texts=self.texts), LabelCollector(), []
        for document in documents:
            tokens.add(document.content)
            labels.add(document.labels)
            if document.id is not None:
                ids.append(document.id)
        words, offsets, vocabulary = tokens.numbered()
        label_columns, label_offsets, label_names = labels.numbered()
        id_bytes, id_offsets = pack_words(ids)
        fixed = self.settings.vocabulary is not None
        word_bytes, word_offsets = pack_words(() if fixed else vocabulary)
        arrays = {
            "words": words,
            "offsets": offsets,
            "word_bytes": word_bytes,
            "word_offsets": word_offsets,
            "frequency": np.empty(0, np.int64) if fixed else document_frequency(words, offsets, len(vocabulary)),
            "totals": np.empty(0, np.int64) if fixed else np.bincount(words, minlength=len(vocabulary)),
            "label_columns": label_columns,
            "label_offsets": label_offsets,
            "id_bytes": id_bytes,
            "id_offsets": id_offsets,
        }
        write_folder(_place(self.folder, number), "part", {"label_names": label_names}, arrays)


def read_parts(folder: Path, n_parts: int) -> Iterator[Part]:
    """All parts in order, one at a time."""
    for number in range(n_parts):
        names, arrays = read_folder(_place(folder, number), "part", mmap=True)
        fields: dict[str, Any] = {**names, **arrays}
        yield Part(**fields)


def in_parts(documents: Iterable[Document]) -> Iterator[tuple[int, list[Document]]]:
    """The documents of each part, with its number; the same ones whenever they are read."""
    number, n_characters = 0, 0
    part: list[Document] = []
    for document in documents:
        part.append(document)
        n_characters += _size(document.content)
        if len(part) >= MOST_DOCUMENTS or n_characters >= MOST_CHARACTERS:
            yield number, part
            part, n_characters, number = [], 0, number + 1
    if part:
        yield number, part


def largest_part() -> tuple[int, int]:
    """How many documents and characters a part has at most, which decides where parts begin."""
    return MOST_DOCUMENTS, MOST_CHARACTERS


def _size(content: str | Sequence[str]) -> int:
    return len(content) if isinstance(content, str) else 8 * len(content)


def _place(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}"
