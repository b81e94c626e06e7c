"""Files of word vectors: GloVe text, word2vec text and binary, and ``.npy`` with a list of words.

Every reader is a generator of ``(word, vector, place)``, so that files of any size are streamed. Vectors of words
outside the vocabulary are not parsed. Errors name the ``place``, a line or a row number.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Literal

import numpy as np

from metalda.corpus.files import one_line, open_binary, reading, uncompressed_suffix
from metalda.corpus.stream import Location
from metalda.errors import InputError
from metalda.storage import Remote

VectorFormat = Literal["glove", "word2vec", "word2vec-binary", "npy"]
VECTOR_FORMATS: tuple[VectorFormat, ...] = ("glove", "word2vec", "word2vec-binary", "npy")
Row = tuple[str, np.ndarray, str]  # word, vector, place

_CHUNK = 1 << 20
_LONGEST_WORD = 1 << 16  # bytes; a longer word in a binary file means that it is not a word2vec file
_WIDEST = 1 << 16  # dimensions that a header may announce


class WantedWords:
    """The words to keep, as bytes; without a vocabulary, all words."""

    def __init__(self, vocabulary: Collection[str] | None) -> None:
        self.everything = vocabulary is None
        self._words = {word.encode("utf-8", "surrogatepass"): word for word in vocabulary or ()}
        self._heads = {word.split(b" ", 1)[0] for word in self._words}

    def may_begin(self, head: bytes) -> bool:
        """Return whether a kept word can begin with this; tokens of GloVe and n-grams may contain spaces."""
        return self.everything or head in self._heads

    def keeps(self, word: bytes) -> bool:
        return self.everything or word in self._words

    def has_word(self, word: bytes) -> bool:
        return word in self._words

    def decode(self, word: bytes, place: str) -> str:
        if not self.everything:
            return self._words[word]
        try:
            return word.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{place}: the word is not UTF-8; convert the file, or give a vocabulary") from None


def detect_format(path: Path | Remote) -> VectorFormat:
    """Detect the format from the suffix, then from the content: word2vec files begin with a line of two integers."""
    suffix = uncompressed_suffix(path)
    if suffix == ".npy":
        return "npy"
    if suffix == ".bin":
        return "word2vec-binary"
    with reading(path), open_binary(path) as stream:
        header = _header(stream.readline(_LONGEST_WORD))
        if header is None:
            return "glove"
        return "word2vec-binary" if _looks_binary(stream.readline(_CHUNK), header[1]) else "word2vec"


def read_rows(
    path: Path | Remote, form: VectorFormat, wanted: WantedWords, words: Path | Remote | None
) -> Iterator[Row]:
    """Yield the kept rows of a file in its order, including duplicates."""
    if form == "npy":
        if words is None:
            raise InputError(f"{path}: an .npy file holds no words; name the file with one word per line: words=PATH")
        yield from _npy_rows(path, words, wanted)
        return
    if words is not None:
        raise InputError(f"{path}: words= goes with .npy files only; this is {form}, which holds its own words")
    with reading(path), open_binary(path) as stream:
        if form == "word2vec-binary":
            yield from _binary_rows(stream, path, wanted)
        else:
            yield from _text_rows(stream, path, wanted, has_header=form == "word2vec")


def _header(line: bytes) -> tuple[int, int] | None:
    """Parse a word2vec header ``n d``; None for any other line."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 19 for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _looks_binary(line: bytes, dimension: int) -> bool:
    """Return whether the data after a header are packed floats; a text row in a wrong encoding is not."""
    if b"\0" in line:
        return True
    numbers = line.split()[-dimension:]
    if len(numbers) == dimension and _all_numbers(numbers):
        return False
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _all_numbers(fields: list[bytes]) -> bool:
    try:
        for field in fields:
            float(field)
    except ValueError:
        return False
    return True


def _text_rows(stream: IO[bytes], path: Path | Remote, wanted: WantedWords, *, has_header: bool) -> Iterator[Row]:
    dimension = 0
    for number, raw in enumerate(stream, 1):
        line = raw.rstrip(b" \t\r\n")
        if not line:
            continue
        place = f"{path} line {number}"
        if not dimension:
            line = line.removeprefix(codecs.BOM_UTF8)
            dimension = _header_dimension(line, place) if has_header else _dimension_of(line, place)
            source = "the header" if has_header else f"line {number}"
            if has_header:
                continue
        if line.count(b" ") < dimension:
            raise InputError(f"{place}: {line.count(b' ')} numbers, but {source} says {dimension}; is it cut off?")
        if not wanted.may_begin(line[: line.find(b" ")]):
            continue
        fields = line.split(b" ")
        word, numbers = b" ".join(fields[:-dimension]), fields[-dimension:]
        surplus = fields[1:-dimension]  # belong to a word with spaces, such as ". . .", unless they are numbers
        if surplus and not wanted.has_word(word) and _all_numbers(surplus):
            raise InputError(f"{place}: {len(fields) - 1} numbers, but {source} says {dimension}")
        if wanted.keeps(word):
            yield wanted.decode(word, place), _parse(numbers, place), place


def _header_dimension(line: bytes, place: str) -> int:
    header = _header(line)
    if header is None or not header[1]:
        raise InputError(f"{place}: expected word2vec's header, two integers 'words dimensions'")
    return header[1]


def _dimension_of(line: bytes, place: str) -> int:
    if b"\0" in line:
        raise InputError(f"{place}: not a UTF-8 text file; expected lines of 'word number number …'")
    if line.startswith(b"PK\x03\x04"):
        raise InputError(f"{place}: this is a zip archive; unpack it and give the file inside")
    dimension = line.count(b" ")
    if not dimension:
        raise InputError(f"{place}: no numbers; expected lines of 'word number number …', separated by single spaces")
    return dimension


def _parse(numbers: list[bytes], place: str) -> np.ndarray:
    try:
        values = list(map(float, numbers))
    except ValueError:
        wrong = next(number for number in numbers if not _all_numbers([number]))
        shown = wrong[:40].decode("utf-8", "replace")
        raise InputError(f"{place}: {shown!r} is not a number") from None
    with np.errstate(over="ignore"):  # a number outside float32 becomes infinite, which is reported
        return np.array(values, dtype=np.float32)


def _binary_rows(stream: IO[bytes], path: Path | Remote, wanted: WantedWords) -> Iterator[Row]:
    """Read a header, then for each word its bytes, a space, little-endian float32 and an optional newline."""
    header = _header(stream.readline(_LONGEST_WORD))
    if header is None or not 0 < header[1] <= _WIDEST:
        raise InputError(f"{path}: not a word2vec binary file, whose first line is 'words dimensions'; use format=")
    n_words, dimension = header
    width = 4 * dimension
    buffer, start = b"", 0
    for row in range(1, n_words + 1):
        place = f"{path} word {row}"
        while (space := buffer.find(b" ", start)) < 0 or len(buffer) < space + 1 + width:
            if space < 0 and len(buffer) - start > _LONGEST_WORD:
                raise InputError(f"{place}: no end of the word found; not a word2vec binary file")
            chunk = stream.read(max(_CHUNK, width))
            if not chunk:
                raise InputError(f"{place}: the file ends here but its header says {n_words} words; is it cut off?")
            buffer, start = buffer[start:] + chunk, 0
        word = buffer[start:space].lstrip(b"\n")
        if wanted.keeps(word):
            yield wanted.decode(word, place), np.frombuffer(buffer, "<f4", dimension, space + 1), place
        start = space + 1 + width


def _npy_rows(path: Path | Remote, words: Location, wanted: WantedWords) -> Iterator[Row]:
    """Read rows of a memory map; only those of the vocabulary are loaded from disk."""
    if isinstance(path, Remote):
        raise InputError(f"{path}: an .npy file must be on this machine: copy it")
    try:
        with reading(path):
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except InputError:
        raise
    except Exception as error:  # NumPy raises many types for a damaged header
        raise InputError(f"{path}: not a readable .npy file: {one_line(error)}") from None
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise InputError(f"{path}: expected one numeric array, words × dimensions; save it with numpy.save")
    with reading(words), open_binary(words) as stream:
        lines = [line.rstrip(b"\r\n") for line in stream]
    if len(lines) != len(vectors):
        raise InputError(f"{words}: {len(lines)} words for {len(vectors)} rows of {path}; the numbers must be equal")
    for row, word in enumerate(lines):
        if wanted.keeps(word):
            with np.errstate(over="ignore"):
                vector = np.asarray(vectors[row], dtype=np.float32)
            yield wanted.decode(word, f"{words} line {row + 1}"), vector, f"{path} row {row}"
