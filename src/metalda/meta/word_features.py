"""Features of words, binary or numbers: the meta information g[v, l] of the word prior."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.corpus.matrix import first_duplicate
from metalda.errors import InputError, StorageError
from metalda.meta.feature_sources import frame_features, morphological_classes, neighbor_features, read_features
from metalda.storage import locate
from metalda.utils.checks import (
    Arrays,
    check_array,
    check_ascending,
    check_finite,
    check_indices,
    check_range,
    check_starts,
)
from metalda.utils.frames import Frame
from metalda.utils.packed import pack_words, unpack_words

if TYPE_CHECKING:
    from metalda.meta.embeddings import Embeddings


def as_vocabulary(words: Iterable[str], argument: str) -> tuple[str, ...]:
    """Convert to a tuple of strings; raise InputError for a single string, which would be split into letters."""
    if isinstance(words, str):
        raise InputError(f"{argument} must be a list of words, not the string {words[:40]!r}")
    result = words if isinstance(words, tuple) else tuple(words)
    for word in result:
        if not isinstance(word, str):
            raise InputError(f"{argument} must be strings, not {type(word).__name__}: {str(word)[:40]!r}")
    return result


def examples(words: Iterable[str], n: int = 3) -> str:
    """Format the first words for an error message: ``'the', 'of', 'and'``."""
    return ", ".join(repr(word[:40]) for word in islice(words, n)) or "nothing"


@dataclass(frozen=True, eq=False, repr=False)
class WordFeatures:
    """Features of words: properties that words have or lack, or numbers.

    A model looks words up by name, so the table may hold more words than the training corpus. Include words of new
    documents: an out-of-vocabulary word gets its topics from its features, if the table has them.

    Parameters
    ----------
    words : sequence of str
        Distinct words.
    features : NamedMatrix
        Words × features: 0 and 1, or numbers in single precision. Numbers should be standardized, because a word
        without a value has 0 and should be an average word. `Embeddings.standardize` does so.
    sources : sequence of int, optional
        The number of the source of each feature, from 1; by default all have one source. `combine` numbers its
        sources. MetaLDA learns the strength of each source.

    Examples
    --------
    >>> from metalda import WordFeatures
    >>> kinds = WordFeatures.from_mapping({"cat": ["animal", "pet"], "horse": "animal", "rain": "weather"})
    >>> kinds.features.names
    ('animal', 'pet', 'weather')
    >>> len(kinds | WordFeatures.from_mapping({"sun": "weather"}))
    4
    """

    words: tuple[str, ...]
    features: NamedMatrix
    sources: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        words = as_vocabulary(self.words, "words")
        if len(words) != len(self.features):
            raise InputError(f"{len(words)} words for {len(self.features)} rows of features; the numbers must be equal")
        if (repeated := first_duplicate(words)) is not None:
            raise InputError(f"the word {repeated!r} occurs twice; words must be distinct")
        if not self.features.is_binary:
            object.__setattr__(self, "features", _single_precision(self.features))
        sources = tuple(map(int, self.sources)) or (1,) * len(self.features.names)
        if len(sources) != len(self.features.names) or min(sources, default=1) < 1:
            raise InputError("sources must hold a number from 1 for each feature")
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "sources", sources)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> WordFeatures:
        """Read a file of word features, also as ``.gz``, ``.bz2`` or ``.xz``.

        ``.csv`` and ``.tsv`` have a header ``word,feature,…`` and rows of 0 and 1. Any other file has the format of the
        Java original, ``word<TAB>active indices``; its features are named by their index.
        """
        words, matrix, names = read_features(locate(path))
        return cls(words, NamedMatrix(matrix, names))

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, str | Iterable[str]]) -> WordFeatures:
        """Build features from ``{word: feature}`` or ``{word: [feature, …]}``, for instance WordNet classes."""
        words = as_vocabulary(mapping, "the keys of the mapping")
        if not words:
            raise InputError("no words: the mapping of word features is empty")
        column_of: dict[str, int] = {}
        indptr, indices = [0], []
        for word, value in mapping.items():
            names = [value] if isinstance(value, str) else _names(value, word)
            indices += sorted({column_of.setdefault(name, len(column_of)) for name in names})
            indptr.append(len(indices))
        return cls(words, NamedMatrix(_binary_csr(indices, indptr, len(column_of)), tuple(column_of)))

    @classmethod
    def from_frame(cls, frame: Frame) -> WordFeatures:
        """Build features from a pandas frame whose index holds the words, or a polars frame whose first column does.

        A column of 0/1 or booleans is one feature. A column of strings or categories has one feature ``column=value``
        for each value; missing values have none.
        """
        words, matrix, names = frame_features(frame)
        return cls(words, NamedMatrix(matrix, names))

    @classmethod
    def from_neighbors(
        cls,
        embeddings: Embeddings,
        n_neighbors: int = 10,
        min_similarity: float = 0.5,
        vocabulary: Iterable[str] | None = None,
    ) -> WordFeatures:
        """Build the paper's "semantic similarity" features from nearest neighbors.

        A word has feature ``near:w`` for itself and for each of its nearest words w.

        Parameters
        ----------
        embeddings : Embeddings
        n_neighbors : int
            The largest number of neighbors of a word.
        min_similarity : float
            The smallest cosine of a neighbor.
        vocabulary : iterable of str, optional
            Only these words get features and are neighbors; by default all words with a vector.

        Notes
        -----
        A feature that only one word has is left out, since it connects no words.
        """
        wanted = None if vocabulary is None else set(as_vocabulary(vocabulary, "vocabulary"))
        rows = [row for row, word in enumerate(embeddings.words) if wanted is None or word in wanted]
        if not rows:
            raise InputError(
                f"no word of the vocabulary has a vector; vectors are of {examples(embeddings.words)}. If the case "
                "differs, lower-case the texts"
            )
        words = tuple(embeddings.words[row] for row in rows)
        matrix, kept = neighbor_features(embeddings.vectors[rows], n_neighbors, min_similarity)
        return cls(words, NamedMatrix(matrix, tuple(f"near:{words[row]}" for row in kept)))

    @classmethod
    def morphology(cls, words: Iterable[str], language: str = "english") -> WordFeatures:
        """Build features from the morphology of words: stems, endings and shapes.

        Parameters
        ----------
        words : iterable of str
            The words of training and of new documents. Only these get features, and a stem is a feature only if at
            least two of them share it.
        language : str
            A language of the Snowball stemmers.
        """
        distinct = tuple(dict.fromkeys(as_vocabulary(words, "words")))
        return cls.from_mapping(morphological_classes(distinct, language))

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        kind = "features" if self.is_binary else "features with numbers"
        return f"WordFeatures({len(self.words):,} words × {len(self.features.names):,} {kind})"

    def __deepcopy__(self, memo: dict[int, object]) -> WordFeatures:
        return self  # immutable: clones of an estimator share it

    def __or__(self, other: WordFeatures) -> WordFeatures:
        return self.combine(other) if isinstance(other, WordFeatures) else NotImplemented

    @cached_property
    def is_binary(self) -> bool:
        """Return whether every value is 0 or 1."""
        return self.features.is_binary

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def combine(self, *others: WordFeatures) -> WordFeatures:
        """Combine the features of several sources, for all words that occur in any of them.

        A name that two sources use becomes two features: ``1:name`` and ``2:name``.
        """
        sources = (self, *others)
        numbered = [(i, number) for i, source in enumerate(sources) for number in source.sources]
        number_of = {pair: number for number, pair in enumerate(dict.fromkeys(numbered), start=1)}
        words = tuple(dict.fromkeys(word for source in sources for word in source.words))
        matrix = sparse.hstack([source.rows(words).matrix for source in sources], format="csr")
        features = NamedMatrix(sparse.csr_array(matrix), _distinct_names(sources))
        return WordFeatures(words, features, tuple(number_of[pair] for pair in numbered))

    def rows(self, vocabulary: Iterable[str]) -> NamedMatrix:
        """Return one row for each word of the vocabulary, empty for unknown words; all features are kept."""
        row_of = self._row_of
        rows = np.array([row_of.get(word, -1) for word in as_vocabulary(vocabulary, "vocabulary")], dtype=np.int64)
        known = rows >= 0
        picked = self.features.matrix[rows[known]]
        lengths = np.zeros(len(rows) + 1, dtype=picked.indptr.dtype)
        lengths[1:][known] = np.diff(picked.indptr)
        shape = (len(rows), len(self.features.names))
        matrix = sparse.csr_array((picked.data, picked.indices, np.cumsum(lengths, dtype=lengths.dtype)), shape=shape)
        return NamedMatrix(matrix, self.features.names)

    def sources_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the sources of features as text, such as ``source 1``."""
        number_of = dict(zip(self.features.names, self.sources, strict=True))
        return tuple(f"source {number_of.get(name, 1)}" for name in names)

    def coverage(self, vocabulary: Iterable[str]) -> float:
        """Return the share of the vocabulary that has at least one feature."""
        matrix = self.rows(vocabulary).matrix
        return float((np.diff(matrix.indptr) > 0).mean()) if matrix.shape[0] else 0.0

    def require_overlap(self, vocabulary: Iterable[str]) -> None:
        """Raise an InputError if no word of the vocabulary has a feature."""
        vocabulary = as_vocabulary(vocabulary, "vocabulary")
        if self.coverage(vocabulary) == 0:
            raise InputError(
                f"no word of the vocabulary has features: the table has {examples(self.words)}, "
                f"the vocabulary has {examples(vocabulary)}. If the case differs, lower-case the texts; else check the "
                "language"
            )

    def to_arrays(self) -> tuple[dict[str, int], dict[str, NDArray[np.generic]]]:
        """Return a small JSON document and plain arrays, from which ``from_arrays`` restores the features."""
        words, word_offsets = pack_words(self.words)
        names, name_offsets = pack_words(self.features.names)
        matrix = self.features.matrix
        arrays = {
            "words": words,
            "word_offsets": word_offsets,
            "names": names,
            "name_offsets": name_offsets,
            "indptr": np.asarray(matrix.indptr, dtype=np.int64),
            "indices": np.asarray(matrix.indices, dtype=np.int32),
            "sources": np.array(self.sources, dtype=np.int32),
        }
        if not self.is_binary:
            arrays["values"] = matrix.data.astype(np.float32)
        return {"n_words": len(self.words), "n_features": len(self.features.names)}, arrays

    @classmethod
    def from_arrays(cls, document: Mapping[str, object], arrays: Arrays) -> WordFeatures:
        """Invert ``to_arrays``."""
        try:
            words = unpack_words(arrays["words"], arrays["word_offsets"])
            names = unpack_words(arrays["names"], arrays["name_offsets"])
            if (len(words), len(names)) != (document["n_words"], document["n_features"]):
                raise ValueError("sizes differ from those in its document")
            indptr, indices = arrays["indptr"], arrays["indices"]
            check_array("indptr", indptr, np.int64, (len(words) + 1,))
            check_array("indices", indices, np.int32, (None,))
            check_starts("indptr", indptr, len(indices))
            check_indices("indices", indices, len(names))
            check_ascending("indices", indices, indptr)
            check_array("sources", arrays["sources"], np.int32, (len(names),))
            check_range("sources", arrays["sources"], 1, max(len(names), 1))
            matrix = _binary_csr(indices, indptr, len(names))
            if "values" in arrays:
                check_array("values", arrays["values"], np.float32, (len(indices),))
                check_finite("values", arrays["values"])
                matrix.data[:] = arrays["values"]
            return cls(words, NamedMatrix(matrix, names), tuple(arrays["sources"].tolist()))
        except (KeyError, ValueError, IndexError, TypeError) as error:
            raise StorageError(f"the saved word features are damaged ({error}); save the model again") from None


def as_word_features(obj: object) -> WordFeatures | None:
    """Convert the argument ``word_features=``: WordFeatures, Embeddings (as numbers), a mapping, a frame, or None."""
    if obj is None or isinstance(obj, WordFeatures):
        return obj
    if isinstance(obj, Mapping):
        return WordFeatures.from_mapping(obj)
    if hasattr(obj, "as_word_features"):
        return cast(WordFeatures, obj.as_word_features)
    if hasattr(obj, "columns"):
        return WordFeatures.from_frame(obj)
    kind = type(obj).__name__
    raise InputError(
        f"word_features must be WordFeatures, Embeddings, a mapping from word to features or a DataFrame, not {kind}"
    )


def _names(value: object, word: str) -> tuple[str, ...]:
    if not isinstance(value, Iterable):
        raise InputError(f"the features of {word!r} must be a name or a list of names, not {value!r}")
    return as_vocabulary(value, f"the features of {word!r}")


def _single_precision(features: NamedMatrix) -> NamedMatrix:
    """Round values to float32, in which they are saved."""
    matrix = features.matrix
    with np.errstate(over="ignore"):
        values = matrix.data.astype(np.float32).astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError("word features must be below 3e38; standardize them")
    return NamedMatrix(sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape), features.names)


def _binary_csr(
    indices: Sequence[int] | NDArray[np.integer], indptr: Sequence[int] | NDArray[np.integer], n_columns: int
) -> sparse.csr_array:
    data = np.ones(len(indices), dtype=np.float64)
    parts = (data, np.asarray(indices, dtype=np.int32), np.asarray(indptr, dtype=np.int64))
    return sparse.csr_array(parts, shape=(len(indptr) - 1, n_columns))


def _distinct_names(sources: Iterable[WordFeatures]) -> tuple[str, ...]:
    numbered = [(number, name) for number, source in enumerate(sources, 1) for name in source.features.names]
    uses = Counter(name for _, name in numbered)
    taken: dict[str, None] = {}
    for number, name in numbered:
        candidate = name if uses[name] == 1 else f"{number}:{name}"
        while candidate in taken:
            candidate += "'"
        taken[candidate] = None
    return tuple(taken)
