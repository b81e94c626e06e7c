"""How well the top words of a topic go together in documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from metalda.models.inspection import best_words

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel


def coherence(model: TopicModel, corpus: Corpus, top_n: int = 10) -> float:
    """Mean NPMI of the pairs of a topic's top words, by the documents of a corpus that hold both; mean over topics.

    NPMI = log(p(i, j) / (p(i) p(j))) / -log p(i, j), where p is a share of documents; -1 for words that no document
    has together, and 0 for two that every document has, which say nothing of each other. NaN where a topic has no two
    words.
    """
    check_is_fitted(model)
    best = best_words(model.components_, top_n)
    words, places = np.unique(best, return_inverse=True)
    together = _documents_together(corpus, [model.vocabulary_[v] for v in words]) / max(len(corpus), 1)
    first, second = np.triu_indices(best.shape[1], k=1)
    if not len(first):
        return float("nan")
    places = places.reshape(best.shape)
    scores = [_npmi(together[np.ix_(row, row)])[first, second].mean() for row in places]
    return float(np.mean(scores))


def _documents_together(corpus: Corpus, words: list[str]) -> NDArray[np.int64]:
    """In how many documents two words occur; on the diagonal, in how many one does."""
    column_of = {word: j for j, word in enumerate(words)}
    columns = np.array([column_of.get(word, -1) for word in corpus.vocabulary], np.int64)
    tokens = columns[corpus.words] if len(columns) else np.zeros(0, np.int64)
    documents = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))
    kept = tokens >= 0
    ones = np.ones(int(kept.sum()), np.int64)
    present = sparse.csr_array((ones, (documents[kept], tokens[kept])), shape=(len(corpus), len(words)))
    present.sum_duplicates()
    present.data[:] = 1
    return (present.T @ present).toarray()


def _npmi(together: NDArray[np.floating]) -> NDArray[np.float64]:
    alone = np.diagonal(together)
    result = np.full(together.shape, -1.0)
    result[together == 1] = 0
    some = (together > 0) & (together < 1)
    ratio = np.divide(together, alone[:, None] * alone[None, :], out=np.ones(together.shape), where=some)
    np.divide(np.log(ratio), -np.log(together, where=some, out=np.ones(together.shape)), out=result, where=some)
    return result
