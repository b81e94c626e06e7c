"""Sources of word features: files, data frames, the morphology of words, and nearest neighbors of word vectors.

Each returns a `Table`: words, a sparse matrix words × features, and the names of the features; `morphological_classes`
returns the names of the features of each word.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from metalda.corpus.files import open_binary, reading, uncompressed_suffix
from metalda.errors import InputError
from metalda.storage import Remote
from metalda.utils.blas import one_blas_thread
from metalda.utils.frames import Frame, collect_frame, column_names, column_values

if TYPE_CHECKING:
    import pandas as pd

Table = tuple[tuple[str, ...], sparse.csr_array, tuple[str, ...]]  # words, words × features, names of features

_BITS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
_FREQUENT = 5  # an ending needs at least this many words to become a feature
_PARTS = re.compile(r"[^\W\d_]+")
_BLOCK_ENTRIES = 1 << 24  # similarities in memory at once: 64 MB


def read_features(path: Path | Remote) -> Table:
    """Read a file of word features.

    ``.csv`` and ``.tsv`` are tables of 0 and 1 with a header. Any other file has the format of the Java original,
    ``word<TAB>active indices``.
    """
    separator = {".csv": ",", ".tsv": "\t"}.get(uncompressed_suffix(path))
    return _read_indices(path) if separator is None else _read_table(path, separator)


def _read_indices(path: Path | Remote) -> Table:
    """Read ``word<TAB>active indices``. Only indices that occur become features, so large indices need no memory."""
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


def _read_table(path: Path | Remote, separator: str) -> Table:
    """Read a table of 0 and 1 with a header ``word,feature,…``."""
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
                raise InputError(f"{path} line {number}: {len(cells)} columns, but the header has {len(names)}")
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

    def __init__(self, path: Path | Remote) -> None:
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
            raise InputError(f"{self.path}: the file holds no words; check that it is the right file")
        parts = (np.ones(len(columns)), columns, np.array(self.ends))
        return tuple(self.line_of), sparse.csr_array(parts, shape=(len(self.line_of), len(names))), names


def _text_lines(path: Path | Remote) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, from 1."""
    with reading(path), open_binary(path) as stream:
        for number, line in enumerate(stream, 1):
            yield number, _decode(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, f"{path} line {number}")


def _decode(line: bytes, place: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{place}: not UTF-8; convert the file") from None


def frame_features(frame: Frame) -> Table:
    """Convert a DataFrame whose index holds the words, or whose first column does if it has no index.

    Columns of 0 and 1 are features; columns of categories have one feature for each value.
    """
    frame = frame if hasattr(frame, "index") else _indexed(collect_frame(frame))
    words = tuple(frame.index)
    if wrong := [word for word in words if not isinstance(word, str)]:
        raise InputError(f"the frame's index must hold the words, not {wrong[0]!r}: use frame.set_index(COLUMN)")
    if not words or not len(frame.columns):
        raise InputError("the frame of word features is empty; it needs a row per word and a column per feature")
    active: dict[str, np.ndarray] = {}
    for position, column in enumerate(frame.columns):
        for name, rows in _column_features(str(column), frame.iloc[:, position], words):
            if name in active:
                raise InputError(f"two columns of the frame give the feature {name!r}; rename one")
            active[name] = rows
    columns = np.repeat(np.arange(len(active)), [len(rows) for rows in active.values()])
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *active.values()])
    matrix = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(words), len(active)))
    return words, sparse.csr_array(matrix), tuple(active)


def _indexed(frame: Frame) -> pd.DataFrame:
    import pandas as pd

    words, *columns = [column_values(frame, j) for j in range(len(frame.columns))] or [[]]
    names = column_names(frame)[1:]
    return pd.DataFrame(dict(zip(names, columns, strict=True)), index=words)


def _column_features(name: str, column: pd.Series, words: tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """Return the features of a column, each with the rows that have it."""
    import pandas as pd

    missing = column.isna().to_numpy(dtype=bool)
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        if missing.any():
            word = words[int(missing.argmax())]
            raise InputError(f"column {name!r} has no value for the word {word!r}; use 0 or 1")
        values = np.asarray(column, dtype=np.float64)
        if (wrong := (values != 0) & (values != 1)).any():
            row = int(wrong.argmax())
            raise InputError(
                f"column {name!r} has {values[row]:g} for the word {words[row]!r}; features are 0 or 1: "
                "cut numbers into classes with pandas.cut"
            )
        return [(name, np.flatnonzero(values))]
    rows_of: dict[str, list[int]] = {}
    for row, value in enumerate(column.tolist()):
        if not missing[row]:
            rows_of.setdefault(f"{name}={_shown(value, name)}", []).append(row)
    return [(feature, np.array(rows)) for feature, rows in sorted(rows_of.items())]


def _shown(value: object, column: str) -> str:
    if isinstance(value, (list, tuple, set, dict, np.ndarray)):
        raise InputError(
            f"column {column!r} holds {type(value).__name__}s; use WordFeatures.from_mapping for lists of names"
        )
    return str(value)


def morphological_classes(words: Sequence[str], language: str) -> dict[str, list[str]]:
    """Return features from the morphology of each word.

    ``stem:connect`` for each part of a word (``connect_timeout`` has two), ``suffix:-ing`` for the ending that the
    stemmer removes, ``shape:…`` for identifiers, numbers and abbreviations. Stems and shapes of fewer than two words
    and endings of fewer than five are left out.
    """
    stem_of = _stems({part for word in words for part in _parts(word)}, language)
    found = {word: list(dict.fromkeys(_classes(word, stem_of))) for word in words}
    sizes = Counter(name for names in found.values() for name in names)
    return {word: [name for name in names if sizes[name] >= _min_words(name)] for word, names in found.items()}


def _min_words(name: str) -> int:
    return _FREQUENT if name.startswith("suffix:") else 2


def _parts(word: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(word)]


def _stems(parts: Iterable[str], language: str) -> dict[str, str]:
    import snowballstemmer

    if language not in snowballstemmer.algorithms():
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise InputError(f"no stemmer for language {language!r}; choose from: {known}")
    stemmer = snowballstemmer.stemmer(language)
    return {part: stemmer.stemWord(part) for part in sorted(parts)}


def _classes(word: str, stem_of: dict[str, str]) -> Iterator[str]:
    parts = _parts(word)
    for part in parts:
        yield f"stem:{stem_of[part]}"
    if parts and (suffix := _ending(parts[-1], stem_of[parts[-1]])):
        yield f"suffix:-{suffix}"
    yield from _shapes(word, parts)


def _ending(word: str, stem: str) -> str:
    """Return the ending of a word after its stem; a stemmer may also change a letter (``happiness``, ``happi``)."""
    shared = next((i for i, (a, b) in enumerate(zip(word, stem, strict=False)) if a != b), min(len(word), len(stem)))
    return word[shared:]


def _shapes(word: str, parts: list[str]) -> Iterator[str]:
    if "_" in word:
        yield "shape:underscore"
    if "." in word:
        yield "shape:dotted"
    if any(character.isdigit() for character in word):
        yield "shape:digit"
    if len(word) <= 3:
        yield "shape:short"
    if len(parts) == 1 and len(word) > 12:
        yield "shape:long"


def nearest_neighbors(
    vectors: np.ndarray, n_neighbors: int, min_similarity: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find nearest rows by cosine, exactly and in blocks, without a matrix of all pairs.

    Returns (row, neighbor, cosine), rows ascending and each row's nearest first; ties go to the lower index. A vector
    of zeros has no neighbors. Uses one BLAS thread, so that rounding does not depend on the number of threads.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    block = max(1, _BLOCK_ENTRIES // max(len(unit), 1))
    with one_blas_thread():
        parts = [
            _block_neighbors(unit, start, min(start + block, len(unit)), n_neighbors, min_similarity)
            for start in range(0, len(unit), block)
        ]
    rows, columns, similarities = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, columns, similarities


def _block_neighbors(
    unit: np.ndarray, start: int, stop: int, n_neighbors: int, min_similarity: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    similarity = unit[start:stop] @ unit.T
    empty = np.logical_not(np.any(unit, axis=1))
    similarity[:, empty] = -np.inf
    similarity[empty[start:stop]] = -np.inf
    similarity[np.arange(stop - start), np.arange(start, stop)] = -np.inf
    threshold = np.full(stop - start, max(min_similarity, -1.0), dtype=np.float32)
    crowded = np.flatnonzero((similarity >= threshold[:, None]).sum(axis=1) > n_neighbors)
    if len(crowded):  # only these rows need their n-th largest similarity
        last = similarity.shape[1] - n_neighbors
        threshold[crowded] = np.partition(similarity[crowded], last, axis=1)[:, last]
    rows, columns = np.nonzero(similarity >= threshold[:, None])
    values = similarity[rows, columns]
    order = np.lexsort((columns, -values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    keep = rank < n_neighbors
    return rows[keep] + start, columns[keep], values[keep]


def neighbor_features(
    vectors: np.ndarray, n_neighbors: int, min_similarity: float
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return words × features, and the word that each feature stands for.

    A word has its own feature and those of its neighbors. Features that only one word has are left out.
    """
    if n_neighbors < 1:
        raise InputError(f"n_neighbors must be at least 1, not {n_neighbors}")
    if not -1 <= min_similarity <= 1:
        raise InputError(f"min_similarity is a cosine, between -1 and 1, not {min_similarity}")
    n_words = len(vectors)
    rows, columns, _ = nearest_neighbors(vectors, n_neighbors, min_similarity)
    everyone = np.arange(n_words)
    rows, columns = np.concatenate([everyone, rows]), np.concatenate([everyone, columns])
    matrix = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_words, n_words)).tocsr()
    shared = np.flatnonzero(np.bincount(columns, minlength=n_words) > 1)
    return sparse.csr_array(matrix[:, shared]), shared


def neighbor_lists(vectors: np.ndarray, max_neighbors: int, similarity: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the words whose cosine with each word exceeds `similarity`, as starts and indices.

    A word with more than `max_neighbors` of them gets none.
    """
    rows, columns, similarities = nearest_neighbors(vectors, max_neighbors + 1, similarity)
    near = similarities > similarity
    sizes = np.bincount(rows[near], minlength=len(vectors))
    near &= sizes[rows] <= max_neighbors
    sizes[sizes > max_neighbors] = 0
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), columns[near].astype(np.int32)
