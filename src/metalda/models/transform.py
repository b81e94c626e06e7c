"""New documents under a fitted model: their encoding, their topics on a cluster, and their labels."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import Corpus, NamedMatrix
from metalda.corpus.tokenising import renumber
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.meta.shards import shard_bounds
from metalda.models.fitted import Fitted
from metalda.samplers import Draw
from metalda.samplers.folding import Documents, infer_labels, key_documents
from metalda.training.distributed.cluster import Cluster

LEFT_OUT = -1
TOKENS_PER_TASK = 1 << 18  # of a worker of a cluster
MAX_LABEL_SETS = 2000  # the time of a prediction grows with their number

# theta of documents, given the design of their labels and phi.
Infer = Callable[[Documents, Design, NDArray[np.float32]], NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Documents whose words are rows of phi: the model's vocabulary, then known out-of-vocabulary words."""

    corpus: Corpus
    numbers: NDArray[np.int32]  # row of phi of each word in the corpus vocabulary; LEFT_OUT where it is ignored
    labels: Design
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
        keys = key_documents(words, offsets, self.word_keys, self.labels, self.seed)
        return Documents(words, offsets, self.labels.row_of, keys)


def encode(fitted: Fitted, corpus: Corpus, unseen: tuple[str, ...], labels: Design) -> Encoded:
    """Number the words of a corpus: the model's vocabulary first, then the out-of-vocabulary words of `unseen`."""
    n_seen = len(fitted.vocabulary)
    seen, new = fitted.word_index, {word: n_seen + u for u, word in enumerate(unseen)}
    numbers = np.array([seen.get(word, new.get(word, LEFT_OUT)) for word in corpus.vocabulary], np.int32)
    keys = np.concatenate([np.arange(n_seen, dtype=np.uint64), np.array([_key(word) for word in unseen], np.uint64)])
    return Encoded(corpus, numbers, labels, keys, fitted.seed)


def _key(word: str) -> int:
    """A number for an out-of-vocabulary word that is the same in every batch."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def every_second(offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which words document completion scores: positions 1, 3, 5 … of each document."""
    position = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return position % 2 == 1


def encode_labels(fitted: Fitted, labels: NamedMatrix | None, n_documents: int, *, real: bool) -> Design:
    """The labels of new documents in the order of the model; others are ignored, and counted in a warning."""
    names = fitted.label_names
    if labels is None:
        nothing = NamedMatrix(sparse.csr_array((n_documents, len(names))), names)
        return Design.build(nothing, n_documents, real=real, numbers=False)
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
    return Design.build(labels.select(names), n_documents, real=real, numbers=fitted.labels.has_numbers)


def warn_of_unknown_documents(before: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Warn of documents whose words are all out of vocabulary, given offsets before and after these were dropped."""
    n_unknown = int(((np.diff(before) > 0) & (np.diff(after) == 0)).sum())
    if n_unknown:
        warnings.warn(
            f"{n_unknown:,} of {len(before) - 1:,} documents have no word that the model knows; "
            "they get the proportions expected of a document with their labels",
            stacklevel=4,
        )


def infer_on_cluster(
    cluster: Cluster, infer: Infer, documents: Documents, labels: Design, phi: NDArray[np.float32]
) -> NDArray[np.float32]:
    """theta of new documents by the workers of a cluster: the result of `infer`, since rows are independent."""
    bounds = shard_bounds(documents.offsets, 1 + len(documents.words) // TOKENS_PER_TASK)
    parts = (_cut(documents, first, last) for first, last in pairwise(bounds))
    rows = replace(labels, row_of=labels.row_of[:0])  # every part has the rows of its documents
    return np.concatenate(list(cluster.map(_infer_part, parts, infer, rows, phi, name="transform")))


def _cut(documents: Documents, first: int, last: int) -> Documents:
    offsets = documents.offsets[first : last + 1]
    words = documents.words[offsets[0] : offsets[-1]]
    return Documents(words, offsets - offsets[0], documents.doc_rows[first:last], documents.keys[first:last])


def _infer_part(documents: Documents, infer: Infer, labels: Design, phi: NDArray[np.float32]) -> NDArray[np.float32]:
    return infer(documents, labels, phi)


class LabelSets(NamedTuple):
    """The sets of labels that training documents had, the most frequent first."""

    matrix: Any  # [set, label], the default label last
    shares: NDArray[np.float64]  # of the labeled documents

    @classmethod
    def of(cls, design: Design) -> LabelSets:
        """All sets but the empty one: a document without labels may be one that nobody labeled."""
        sizes = np.where(np.diff(design.row_starts) > 1, design.row_sizes, 0)
        rows = np.argsort(-sizes, kind="stable")[: min(MAX_LABEL_SETS, np.count_nonzero(sizes))]
        return cls(design.matrix[rows], sizes[rows] / sizes[rows].sum())

    def alpha(self, draws: Sequence[Draw]) -> NDArray[np.float64]:
        """alpha[draw, set, topic]; kept from 0 and infinity."""
        logs = np.stack([self.matrix @ draw.log_doc_weights for draw in draws])
        return np.exp(np.clip(logs, -80, 80))


def require_labels(fitted: Fitted) -> None:
    """InputError unless the model learned from labels that can be predicted."""
    if not fitted.label_names:
        raise InputError("the model learned from no labels, so it cannot predict them; fit it with labels (--labels)")
    if fitted.labels.has_numbers:
        raise InputError("the model learned from numbers, which it cannot predict; cut them into bins (bins, --bins)")


def label_probabilities(
    fitted: Fitted, documents: Documents, phi: NDArray[np.float32], n_jobs: int
) -> NDArray[np.float32]:
    """p(label | words) [document, label] by Bayes' rule over the label sets of the training documents."""
    sets = LabelSets.of(fitted.labels)
    members = sparse.csr_array(sets.matrix[:, :-1])
    return infer_labels(documents, sets.alpha(fitted.draws), sets.shares, members, phi, n_jobs)
