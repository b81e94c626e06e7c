"""Word vectors, and how they become word features: binary by the paper's rule, or numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os import PathLike

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import Corpus, NamedMatrix
from metalda.corpus.matrix import first_duplicate
from metalda.errors import InputError, StorageError
from metalda.meta.cooccurrence import count_pairs, factorize, positive_information
from metalda.meta.vector_files import VECTOR_FORMATS, Row, VectorFormat, WantedWords, detect_format, read_rows
from metalda.meta.word_features import WordFeatures, as_vocabulary, examples
from metalda.storage import locate
from metalda.utils.checks import Arrays, check_array
from metalda.utils.packed import pack_words, unpack_words

SMALLEST_SCALE = 1e-6  # of a dimension, relative to its largest value; one that varies less is rounding errors
_BLOCK = 4096  # rows binarized at once, which bounds the memory of the comparison


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
        format: VectorFormat | None = None,
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
        if format is not None and format not in VECTOR_FORMATS:
            raise InputError(f"format={format!r} is unknown; choose from: {', '.join(VECTOR_FORMATS)}")
        form = format or detect_format(place)
        words_path = None if words is None else locate(words)
        wanted = None if vocabulary is None else as_vocabulary(vocabulary, "vocabulary")
        kept, data, dimension = _collect(read_rows(place, form, WantedWords(wanted), words_path))
        if not kept:
            there = [word for word, _, _ in islice(read_rows(place, form, WantedWords(None), words_path), 3)]
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
    def from_gensim(cls, keyed_vectors: object, vocabulary: Iterable[str] | None = None) -> Embeddings:
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
        return _subset(words, np.asarray(vectors), vocabulary)

    @classmethod
    def learn(cls, corpus: Corpus, dimension: int = 50, *, window: int = 10) -> Embeddings:
        """Learn vectors from the words of a corpus, so that no file of vectors is needed, in any language.

        Words that occur near the same words get similar vectors: the truncated singular value decomposition of the
        positive pointwise mutual information of words that are at most `window` tokens apart. The corpus may be the
        one that the model learns from, or a larger one in the same language. The result has no randomness.

        Parameters
        ----------
        corpus : Corpus
            Its vocabulary gets vectors, except for words that occur only alone.
        dimension : int
            The length of the vectors, at most the number of words. `binarize` gives two features for each.
        window : int
            The largest distance between two words that occur together, without the words that are not in the
            vocabulary, such as stop words.

        Examples
        --------
        >>> from metalda import Corpus, Embeddings
        >>> corpus = Corpus.from_texts(["cat dog bone", "dog cat milk", "rain sun storm", "sun rain wind"])
        >>> Embeddings.learn(corpus, dimension=3)
        Embeddings(8 words × 3 dimensions)
        """
        n_words = len(corpus.vocabulary)
        for name, value in (("dimension", dimension), ("window", window)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name}={value!r}: an integer of at least 1 is needed")
        if dimension > n_words:
            raise InputError(f"dimension={dimension}, but the corpus has {n_words:,} words: lower it")
        information = positive_information(count_pairs(corpus.words, corpus.offsets, n_words, int(window)))
        known = np.diff(information.indptr) > 0
        if not known.any():
            raise InputError("no two words of the corpus occur together more often than by chance: give more documents")
        vectors = factorize(information, int(dimension))[known]
        return cls(tuple(corpus.vocabulary[v] for v in np.flatnonzero(known)), vectors)

    def subset(self, vocabulary: Iterable[str]) -> Embeddings:
        """Return the vectors of the words that are in the vocabulary."""
        return _subset(self.words, self.vectors, vocabulary)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Embeddings({len(self.words):,} words × {self.vectors.shape[1]} dimensions)"

    def __deepcopy__(self, memo: dict[int, object]) -> Embeddings:
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

    def to_arrays(self) -> tuple[dict[str, int], dict[str, NDArray[np.generic]]]:
        """Return a small JSON document and plain arrays, from which ``from_arrays`` restores the vectors."""
        words, word_offsets = pack_words(self.words)
        document = {"n_words": len(self.words), "n_dimensions": self.vectors.shape[1]}
        return document, {"words": words, "word_offsets": word_offsets, "vectors": self.vectors}

    @classmethod
    def from_arrays(cls, document: Mapping[str, object], arrays: Arrays) -> Embeddings:
        """Invert ``to_arrays``."""
        try:
            words, vectors = unpack_words(arrays["words"], arrays["word_offsets"]), arrays["vectors"]
            check_array("vectors", vectors, np.float32, (len(words), None))
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

    @cached_property
    def as_word_features(self) -> WordFeatures:
        """Return the numbers that a model with ``word_features=`` this object learns from."""
        return self.standardize()

    def standardize(self, vocabulary: Iterable[str] | None = None) -> WordFeatures:
        """Return a feature with real values for each dimension: ``dim0``, ``dim1``, ….

        The values of a dimension have mean 0 and standard deviation 1. A word without a vector is an average word.

        Parameters
        ----------
        vocabulary : iterable of str, optional
            The words that mean and standard deviation are taken over, e.g. ``corpus.vocabulary``; all by default.
        """
        chosen = self.vectors if vocabulary is None else self._vectors_of(as_vocabulary(vocabulary, "vocabulary"))
        center, scale = chosen.mean(axis=0, dtype=np.float64), chosen.std(axis=0, dtype=np.float64)
        varies = scale > SMALLEST_SCALE * np.abs(chosen).max(axis=0)
        if not varies.any():
            raise InputError("all of these word vectors are equal, so they tell nothing of words; check the file")
        values = (self.vectors[:, varies] - center[varies]) / scale[varies]
        names = tuple(f"dim{j}" for j in np.flatnonzero(varies))
        return WordFeatures(self.words, NamedMatrix(sparse.csr_array(values), names))

    def _vectors_of(self, vocabulary: tuple[str, ...]) -> np.ndarray:
        vectors, known = self.look_up(vocabulary)
        if not known.any():
            raise InputError(
                f"no word of the vocabulary has a vector; vectors are of {examples(self.words)}, the vocabulary has "
                f"{examples(vocabulary)}. If the case differs, lower-case the texts"
            )
        return np.asarray(vectors[known])


def _subset(words: Sequence[str], vectors: np.ndarray, vocabulary: Iterable[str]) -> Embeddings:
    wanted = as_vocabulary(vocabulary, "vocabulary")
    keep = set(wanted)
    rows = [row for row, word in enumerate(words) if word in keep]
    if not rows:
        raise InputError(
            f"none of the vocabulary's {len(wanted)} words has a vector; the vectors are of {examples(words)}, the "
            f"vocabulary has {examples(wanted)}. If the case differs, lower-case the texts"
        )
    return Embeddings(tuple(words[row] for row in rows), vectors[rows])


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
