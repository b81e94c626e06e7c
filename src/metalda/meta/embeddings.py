"""Word vectors, the files that hold them, and the paper's rule that turns them into binary word features.

Files are GloVe text, word2vec text and binary, and ``.npy`` with a list of words. Every reader is a generator of
``(word, vector, place)``, so that files of any size are streamed. Vectors of words outside the vocabulary are not
parsed. Errors name the ``place``, a line or a row number.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.corpus.files import open_binary, reading, uncompressed_suffix
from metalda.corpus.matrix import first_duplicate
from metalda.errors import InputError, StorageError
from metalda.meta.word_features import WordFeatures, as_vocabulary, examples
from metalda.storage import Remote, locate
from metalda.utils.packed import pack_words, unpack_words

Format = Literal["glove", "word2vec", "word2vec-binary", "npy"]
FORMATS: tuple[Format, ...] = ("glove", "word2vec", "word2vec-binary", "npy")
Row = tuple[str, np.ndarray, str]  # word, vector, place

_BLOCK = 4096  # rows binarized at once, which bounds the memory of the comparison
_CHUNK = 1 << 20
_LONGEST_WORD = 1 << 16  # bytes; a longer word in a binary file means that it is not a word2vec file
_WIDEST = 1 << 16  # dimensions that a header may announce


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings:
    """Word vectors.

    Parameters
    ----------
    words : sequence of str
        Distinct words.
    vectors : array of shape (n_words, n_dimensions)
        Finite numbers, stored as read-only float32.

    Examples
    --------
    >>> from metalda import Embeddings
    >>> vectors = Embeddings(("cat", "dog", "rain"), [[0.9, 0.1, -1.0], [0.8, 0.2, -0.9], [-1.0, 0.3, 0.9]])
    >>> vectors.coverage(["cat", "rain", "storm", "sun"])
    0.5
    >>> vectors.binarize().features.names
    ('dim0+', 'dim0-', 'dim1+', 'dim1-', 'dim2+', 'dim2-')
    """

    words: tuple[str, ...]
    vectors: np.ndarray

    def __post_init__(self) -> None:
        words = as_vocabulary(self.words, "words")
        vectors = _as_vectors(self.vectors)
        if len(words) != len(vectors):
            raise InputError(f"{len(words)} words for {len(vectors)} vectors; the numbers must be equal")
        if (repeated := first_duplicate(words)) is not None:
            raise InputError(f"the word {repeated!r} has two vectors; words must be distinct")
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise InputError(f"the vector of {words[row]!r} (row {row}) holds NaN or infinity")
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "vectors", vectors)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        vocabulary: Iterable[str] | None = None,
        format: Format | None = None,
        words: str | PathLike[str] | None = None,
    ) -> Embeddings:
        """Read vectors from a file, line by line, keeping the words of a vocabulary.

        Parameters
        ----------
        path : path
            GloVe or word2vec text, word2vec binary (each also as ``.gz``, ``.bz2`` or ``.xz``), or ``.npy``.
        vocabulary : iterable of str, optional
            The words to keep, e.g. ``corpus.vocabulary``; all words by default. Case matters.
        format : {"glove", "word2vec", "word2vec-binary", "npy"}, optional
            Detected from the suffix and the first two lines by default.
        words : path, optional
            For ``.npy``: a file with one word per line, one line per row of the array.

        Returns
        -------
        Embeddings
            Words in the order of the file. If a word occurs twice, the first vector is kept.
        """
        place = locate(path)
        if format is not None and format not in FORMATS:
            raise InputError(f"format={format!r} is unknown; choose from: {', '.join(FORMATS)}")
        form = format or _detect_format(place)
        words_path = None if words is None else locate(words)
        wanted = None if vocabulary is None else as_vocabulary(vocabulary, "vocabulary")
        kept, data, dimension = _collect(_read_rows(place, form, _Wanted(wanted), words_path))
        if not kept:
            there = [word for word, _, _ in islice(_read_rows(place, form, _Wanted(None), words_path), 3)]
            if not there or wanted is None:
                raise InputError(f"{path}: the file holds no word vectors; check that it is the right file")
            raise InputError(
                f"{path}: none of the vocabulary's {len(wanted)} words has a vector; the file has {examples(there)}, "
                f"the vocabulary {examples(wanted)}. If the case differs, lower-case the texts; else check the language"
            )
        vectors = np.frombuffer(data, dtype=np.float32).reshape(len(kept), dimension)
        vectors.flags.writeable = False
        return cls(kept, vectors)

    @classmethod
    def from_gensim(cls, keyed_vectors: Any, vocabulary: Iterable[str] | None = None) -> Embeddings:
        """Convert the vectors of gensim's ``KeyedVectors``, or of a model that has them as ``.wv``.

        Accepts any object with ``index_to_key`` and ``vectors``, so gensim need not be installed.
        """
        source = getattr(keyed_vectors, "wv", keyed_vectors)
        words, vectors = getattr(source, "index_to_key", None), getattr(source, "vectors", None)
        if words is None or vectors is None:
            kind = type(keyed_vectors).__name__
            raise InputError(f"from_gensim takes gensim's KeyedVectors or a model with .wv, not {kind}")
        if vocabulary is None:
            return cls(tuple(words), np.asarray(vectors))
        wanted = as_vocabulary(vocabulary, "vocabulary")
        keep = set(wanted)
        rows = [row for row, word in enumerate(words) if word in keep]
        if not rows:
            raise InputError(
                f"none of the vocabulary's {len(wanted)} words has a vector; the vectors are of {examples(words)}, the "
                f"vocabulary has {examples(wanted)}. If the case differs, lower-case the texts"
            )
        return cls(tuple(words[row] for row in rows), np.asarray(vectors)[rows])

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Embeddings({len(self.words):,} words × {self.vectors.shape[1]} dimensions)"

    def __deepcopy__(self, memo: dict[int, Any]) -> Embeddings:
        return self  # immutable: clones of an estimator share it

    def look_up(self, vocabulary: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of words (zeros for words without a vector), and which words have one."""
        rows = np.array([self._index.get(word, -1) for word in vocabulary], np.int64)
        known = rows >= 0
        vectors = np.zeros((len(rows), self.vectors.shape[1]), np.float32)
        vectors[known] = self.vectors[rows[known]]
        return vectors, known

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return a small JSON document and plain arrays, from which ``from_arrays`` restores the vectors."""
        words, word_offsets = pack_words(self.words)
        document = {"n_words": len(self.words), "n_dimensions": self.vectors.shape[1]}
        return document, {"words": words, "word_offsets": word_offsets, "vectors": self.vectors}

    @classmethod
    def from_arrays(cls, document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Embeddings:
        """Invert ``to_arrays``."""
        try:
            words, vectors = unpack_words(arrays["words"], arrays["word_offsets"]), arrays["vectors"]
            if vectors.shape != (document["n_words"], document["n_dimensions"]):
                raise ValueError("sizes differ from those in its document")
            return cls(words, vectors)
        except (KeyError, ValueError, IndexError, TypeError) as error:
            raise StorageError(f"the saved embeddings are damaged ({error}); save the model again") from None

    def coverage(self, vocabulary: Iterable[str]) -> float:
        """Return the share of the vocabulary that has a vector; 0 for an empty vocabulary."""
        words = as_vocabulary(vocabulary, "vocabulary")
        return sum(word in self._index for word in words) / len(words) if words else 0.0

    def binarize(self) -> WordFeatures:
        """Return the paper's binary features, two for each dimension.

        A word with vector x has feature ``dim{j}+`` (column 2j) if x[j] exceeds the mean of the positive elements of x,
        and ``dim{j}-`` (column 2j + 1) if x[j] lies below the mean of its negative elements.
        """
        n_words, dimension = self.vectors.shape
        blocks = [_binary_block(self.vectors[start : start + _BLOCK]) for start in range(0, n_words, _BLOCK)]
        names = tuple(f"dim{j}{sign}" for j in range(dimension) for sign in "+-")
        return WordFeatures(self.words, NamedMatrix(sparse.csr_array(sparse.vstack(blocks, format="csr")), names))


def _binary_block(vectors: np.ndarray) -> sparse.csr_array:
    x = vectors.astype(np.float64)
    bits = np.zeros((len(x), 2 * x.shape[1]), dtype=bool)
    for column, values in ((0, x), (1, -x)):
        positive = values > 0
        total = np.where(positive, values, 0).sum(axis=1)
        mean = total / np.maximum(positive.sum(axis=1), 1)  # 0 without positive elements; then none exceeds it
        bits[:, column::2] = values > mean[:, None]
    return sparse.csr_array(bits, dtype=np.float64)


def _collect(rows: Iterable[Row]) -> tuple[tuple[str, ...], bytearray, int]:
    """Return words, the bytes of their vectors, and the dimension; the first vector of a word is kept."""
    first: dict[str, None] = {}
    data = bytearray()
    dimension = 0
    for word, vector, place in rows:
        if word in first:
            continue
        if not np.isfinite(vector).all():
            raise InputError(f"{place}: the vector of {word!r} holds NaN or infinity")
        first[word] = None
        dimension = len(vector)
        data += vector.astype(np.float32, copy=False).tobytes()
    return tuple(first), data, dimension


def _as_vectors(vectors: np.ndarray | Sequence[Sequence[float]]) -> np.ndarray:
    """Convert to a read-only two-dimensional float32 array, without a copy if it is one already."""
    try:
        array = np.asarray(vectors)
        with np.errstate(over="ignore"):
            result = np.ascontiguousarray(array, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError("vectors must be numbers, one row of equal length per word") from None
    if result.ndim != 2 or not result.shape[1]:
        raise InputError(f"vectors must have the shape words × dimensions, not {array.shape}")
    if result.flags.writeable:
        result = result.copy() if np.shares_memory(result, array) else result
        result.flags.writeable = False
    return result


class _Wanted:
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


def _detect_format(path: Path) -> Format:
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


def _read_rows(path: Path, form: Format, wanted: _Wanted, words: Path | None) -> Iterator[Row]:
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


def _text_rows(stream: IO[bytes], path: Path, wanted: _Wanted, *, has_header: bool) -> Iterator[Row]:
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


def _binary_rows(stream: IO[bytes], path: Path, wanted: _Wanted) -> Iterator[Row]:
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


def _npy_rows(path: Path, words: Path, wanted: _Wanted) -> Iterator[Row]:
    """Read rows of a memory map; only those of the vocabulary are loaded from disk."""
    if isinstance(path, Remote):
        raise InputError(f"{path}: an .npy file must be on this machine: copy it")
    try:
        with reading(path):
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path}: not a readable .npy file: {error}") from None
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
