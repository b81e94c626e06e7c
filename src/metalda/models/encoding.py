"""New documents in the terms of a fitted model: its word and label numbers, and a key for their randomness."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import Corpus, NamedMatrix
from metalda.corpus.vocabulary import renumber
from metalda.meta.design import Design
from metalda.samplers.folding import Documents, key_documents

LEFT_OUT = -1


@dataclass(frozen=True, eq=False)
class Encoded:
    """Documents whose words are rows of phi: the model's vocabulary, then unseen words; others are left out."""

    corpus: Corpus
    numbers: NDArray[np.int32]  # of the words of its vocabulary; LEFT_OUT where the model ignores one
    design: Design  # of the documents' labels
    word_keys: NDArray[np.uint64]
    seed: int

    def all(self) -> Documents:
        """Every word that the model does not ignore."""
        return self._select(None)

    def halves(self) -> tuple[Documents, Documents]:
        """Every other word: positions 0, 2, 4 … are observed, 1, 3, 5 … are scored.

        Positions are counted before words that the model ignores are dropped.
        """
        return self._select(lambda offsets: ~every_second(offsets)), self._select(every_second)

    def _select(self, choose: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None) -> Documents:
        words, offsets = renumber(self.corpus.words, self.corpus.offsets, self.numbers, choose)
        keys = key_documents(words, offsets, self.word_keys, self.design, self.seed)
        return Documents(words, offsets, self.design.row_of, keys)


def every_second(offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which words are scored by document completion: positions 1, 3, 5 … of each document."""
    position = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return position % 2 == 1


def encode(
    corpus: Corpus, word_index: Mapping[str, int], unseen: tuple[str, ...], documents: Design, seed: int
) -> Encoded:
    """Number the words of a corpus: seen ones by `word_index`, then those of `unseen`."""
    n_seen = len(word_index)
    new_index = {word: n_seen + u for u, word in enumerate(unseen)}
    numbers = np.array([word_index.get(w, new_index.get(w, LEFT_OUT)) for w in corpus.vocabulary], np.int32)
    keys = np.concatenate([np.arange(n_seen, dtype=np.uint64), np.array([_key(w) for w in unseen], np.uint64)])
    return Encoded(corpus, numbers, documents, keys, seed)


def _key(word: str) -> int:
    """A number for an unseen word that is the same in every batch."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def known_labels(labels: NamedMatrix | None, names: tuple[str, ...], n_documents: int) -> NamedMatrix:
    """The labels that a model knows, in its order; others are ignored, and counted in a warning."""
    if labels is None:
        return NamedMatrix(sparse.csr_array((n_documents, len(names))), names)
    known, matrix = set(names), labels.matrix
    is_unknown = np.array([name not in known for name in labels.names], bool)
    found = np.flatnonzero(is_unknown[matrix.indices] & (matrix.data != 0)) if is_unknown.any() else np.empty(0, int)
    if len(found):
        n_affected = len(np.unique(np.searchsorted(matrix.indptr, found, side="right")))
        present = [labels.names[j] for j in np.unique(matrix.indices[found])]
        examples = ", ".join(repr(name) for name in present[:3])
        warnings.warn(
            f"labels that the model was not trained on are ignored: {len(present):,} different ones in "
            f"{n_affected:,} documents, such as {examples}",
            stacklevel=4,
        )
    return labels.select(names)
