"""Files of word features: the Java original's ``word<TAB>active indices``, and tables of 0 and 1."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from metalda.corpus.files import open_binary, reading, uncompressed_suffix
from metalda.errors import InputError

Table = tuple[tuple[str, ...], sparse.csr_array, tuple[str, ...]]  # words, words × features, names

_BITS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


def read_features(path: Path) -> Table:
    """Words, their binary features and the features' names."""
    separator = {".csv": ",", ".tsv": "\t"}.get(uncompressed_suffix(path))
    return _read_indices(path) if separator is None else _read_table(path, separator)


def _read_indices(path: Path) -> Table:
    """An index that no word has gets no feature, so that a slip like 10**9 costs nothing."""
    rows = _Rows(path)
    for number, line in _text_lines(path):
        if not line.strip():
            continue
        word, tab, rest = line.rstrip("\r\n").partition("\t")
        if not tab:
            raise InputError(f"{path} line {number}: no TAB; expected 'word<TAB>indices of its features'")
        fields = rest.split()
        if wrong := [field for field in fields if not (field.isascii() and field.isdigit() and len(field) < 10)]:
            raise InputError(f"{path} line {number}: {wrong[0][:40]!r} is not the index of a feature")
        rows.add(number, word, [int(field) for field in fields])
    indices, columns = np.unique(np.array(rows.active, dtype=np.int64), return_inverse=True)
    return rows.table(columns, tuple(str(index) for index in indices))


def _read_table(path: Path, separator: str) -> Table:
    rows = _Rows(path)
    reader = csv.reader((line for _, line in _text_lines(path)), delimiter=separator)
    try:
        names = next(reader, None)
        if not names or len(names) < 2:
            raise InputError(f"{path} line 1: expected a header 'word{separator}feature{separator}…'")
        if len(set(names[1:])) < len(names) - 1:
            raise InputError(f"{path} line 1: two features have the same name")
        for cells in reader:
            number = reader.line_num
            if not cells:
                continue
            if len(cells) != len(names):
                raise InputError(f"{path} line {number}: {len(cells)} columns where the header has {len(names)}")
            bits = [_BITS.get(cell.strip().lower()) for cell in cells[1:]]
            if None in bits:
                column = bits.index(None) + 1
                raise InputError(
                    f"{path} line {number}, column {names[column]!r}: {cells[column][:40]!r} is not 0 or 1"
                )
            rows.add(number, cells[0], [column for column, bit in enumerate(bits) if bit])
    except csv.Error as error:
        raise InputError(f"{path} line {reader.line_num}: {error}") from None
    return rows.table(np.array(rows.active, dtype=np.int64), tuple(names[1:]))


class _Rows:
    """Words and their active features, collected line by line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line_of: dict[str, int] = {}
        self.active: list[int] = []
        self.ends = [0]

    def add(self, line: int, word: str, active: list[int]) -> None:
        if word in self.line_of:
            raise InputError(f"{self.path} line {line}: the word {word!r} again, first in line {self.line_of[word]}")
        self.line_of[word] = line
        self.active += sorted(set(active))
        self.ends.append(len(self.active))

    def table(self, columns: np.ndarray, names: tuple[str, ...]) -> Table:
        if not self.line_of:
            raise InputError(f"{self.path}: no words in it")
        parts = (np.ones(len(columns)), columns, np.array(self.ends))
        return tuple(self.line_of), sparse.csr_array(parts, shape=(len(self.line_of), len(names))), names


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines, from 1."""
    with reading(path), open_binary(path) as stream:
        for number, line in enumerate(stream, 1):
            yield number, _decode(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, f"{path} line {number}")


def _decode(line: bytes, place: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{place}: not UTF-8; convert the file") from None
