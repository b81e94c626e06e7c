"""New documents in the numbers of a fitted model: rows of phi for words, columns of its design for labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import Corpus, NamedMatrix
from metalda.corpus.vocabulary import renumber
from metalda.errors import warn
from metalda.meta.design import Design
from metalda.meta.label_index import LabelIndex
from metalda.samplers.folding import Documents, key_documents
from metalda.utils.chunks import spans

LEFT_OUT = -1
MOST_TOKENS, MOST_DOCUMENTS = 1 << 20, 1 << 14  # whose proportions are inferred at a time


@dataclass(frozen=True, eq=False)
class EncodedDocuments:
    """Documents whose words are rows of phi: the model's vocabulary, then known out-of-vocabulary words."""

    corpus: Corpus
    numbers: NDArray[np.int32]  # row of phi of each word in the corpus vocabulary; LEFT_OUT if it is ignored
    columns: NamedMatrix  # of the model's design
    are_real: bool  # whether labels may have values other than 0 and 1
    have_numbers: bool  # whether they do in the model
    word_keys: NDArray[np.uint64]
    seed: int

    @cached_property
    def labels(self) -> Design:
        """Return the design of the labels."""
        return Design.build(self.columns, len(self.corpus), real=self.are_real, numbers=self.have_numbers)

    def parts(self) -> Iterator[tuple[slice, EncodedDocuments]]:
        """Yield slices of the documents, each with a moderate number of tokens and documents.

        The results of a document do not depend on its neighbors, so those of all documents can be computed in parts.
        """
        offsets, n_documents, first = self.corpus.offsets, len(self.corpus), 0
        if n_documents <= MOST_DOCUMENTS and offsets[-1] - offsets[0] <= MOST_TOKENS:
            yield slice(0, n_documents), self
            return
        while first < n_documents:
            fitting = int(np.searchsorted(offsets, offsets[first] + MOST_TOKENS, side="right")) - 1
            last = max(first + 1, min(fitting, first + MOST_DOCUMENTS, n_documents))
            chosen = slice(first, last)
            columns = NamedMatrix(self.columns.matrix[chosen], self.columns.names)
            yield chosen, replace(self, corpus=self.corpus[chosen], columns=columns)
            first = last

    def count_unknown(self) -> int:
        """Return how many documents have words, but no word that the model does not ignore."""
        n_unknown, all_words, all_offsets = 0, self.corpus.words, self.corpus.offsets
        for first, last in spans(all_offsets):
            offsets = all_offsets[first : last + 1]
            known = np.concatenate([[0], np.cumsum(self.numbers[all_words[offsets[0] : offsets[-1]]] != LEFT_OUT)])
            n_unknown += int(((np.diff(offsets) > 0) & (np.diff(known[offsets - offsets[0]]) == 0)).sum())
        return n_unknown

    def halves(self) -> tuple[Documents, Documents]:
        """Return the observed words, at positions 0, 2, 4 …, and the scored words, at positions 1, 3, 5 ….

        Positions are counted before words that the model ignores are dropped.
        """
        return self.select(lambda offsets: ~every_second(offsets)), self.select(every_second)

    def select(self, choose: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None) -> Documents:
        """Return the words that the model does not ignore; of these, those that `choose` selects by their offsets."""
        words, offsets = renumber(self.corpus.words, self.corpus.offsets, self.numbers, choose)
        keys = key_documents(words, offsets, self.word_keys, self.labels, self.seed)
        return Documents(words, offsets, self.labels.row_of, keys)


def word_key(word: str) -> int:
    """Return a number for an out-of-vocabulary word that is the same in every batch."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def every_second(offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the words that document completion scores: positions 1, 3, 5 … of each document."""
    position = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    is_scored: NDArray[np.bool_] = position % 2 == 1
    return is_scored


def with_model_names(labels: NamedMatrix, names: Sequence[str], known: Set[str]) -> NamedMatrix:
    """Give labels that were typed, such as ``year=1950``, the names that they have in the model."""
    unknown = [j for j in np.unique(labels.matrix.indices) if labels.names[j] not in known]
    if not unknown:
        return labels
    index = LabelIndex(names)
    typed = {int(j): found for j in unknown if (found := index.find(labels.names[j])) is not None}
    if not typed:
        return labels
    renamed = [typed.get(j, name) for j, name in enumerate(labels.names)]
    position = {name: j for j, name in enumerate(dict.fromkeys(renamed))}
    columns = [position[name] for name in renamed]
    parts = np.ones(len(renamed)), (np.arange(len(renamed)), columns)
    matrix = labels.matrix @ sparse.csr_array(parts, shape=(len(renamed), len(position)))
    if labels.is_binary:
        matrix.data[:] = 1  # a document may have two years of one bin
    return NamedMatrix(matrix, tuple(position))


def warn_of_unknown_labels(labels: NamedMatrix, known: Set[str]) -> None:
    """Warn of labels that the model was not trained on, with the number of documents that have them."""
    matrix = labels.matrix
    is_unknown = np.array([name not in known for name in labels.names], bool)
    found = np.flatnonzero(is_unknown[matrix.indices] & (matrix.data != 0)) if is_unknown.any() else np.empty(0, int)
    if len(found):
        n_affected = len(np.unique(np.searchsorted(matrix.indptr, found, side="right")))
        present = [labels.names[j] for j in np.unique(matrix.indices[found])]
        examples = ", ".join(repr(name) for name in present[:3])
        kinds = f"{len(present):,} distinct label{'' if len(present) == 1 else 's'}"
        places = f"{n_affected:,} document{'' if n_affected == 1 else 's'}"
        warn(f"labels that the model was not trained on are ignored: {kinds} in {places}, such as {examples}")
