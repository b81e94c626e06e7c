"""States kept from a chain, and what follows from them for new documents.

alpha and phi are formed inside each draw and then averaged: products of averaged weights would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metalda.meta.design import Design
from metalda.priors import concentration_of
from metalda.training.gibbs import ChainState, Problem


@dataclass(frozen=True, eq=False)
class Draw:
    """One kept state: enough to form alpha for any labels, and phi for seen and unseen words."""

    log_doc_weights: NDArray[np.float64]  # log lambda[l, k]
    log_word_weights: NDArray[np.float64]  # log delta[l, k]
    mean_alpha: NDArray[np.float64]  # over the training documents
    topic_totals: NDArray[np.int64]  # n[k, .]
    word_topic_counts: Any  # n[k, v] as a sparse array [word, topic]

    @classmethod
    def keep(cls, problem: Problem, state: ChainState) -> Draw:
        sizes = problem.doc_prior.design.row_sizes
        return cls(
            state.log_doc_weights.copy(),
            state.log_word_weights.copy(),
            sizes @ state.alpha.values.astype(np.float64) / sizes.sum(),
            state.counts.topic_totals.copy(),
            state.counts.to_matrix(),
        )

    def alpha(self, documents: Design, trained_unlabelled: bool) -> NDArray[np.float64]:
        """alpha by row of new documents' labels.

        The default weight alone is held by the data only if documents without labels were trained on; otherwise such
        a document gets the mean alpha of the training documents.
        """
        alpha = concentration_of(self.log_doc_weights, documents).values.astype(np.float64)
        if documents.bare_row is not None and not trained_unlabelled:
            alpha[documents.bare_row] = self.mean_alpha
        return alpha

    def phi(self, words: Design, unseen: Design | None = None, *, together: bool = True) -> NDArray[np.float64]:
        """phi[word, k] of the training vocabulary, followed by unseen words.

        With `together` the unseen words share the probability of one vocabulary with the seen ones, so that phi sums
        to 1. Otherwise each unseen word is taken as if it were the only one.
        """
        beta = concentration_of(self.log_word_weights, words)
        totals = self.topic_totals + beta.topic_sums
        seen = beta.values[words.row_of].astype(np.float64)
        counts = self.word_topic_counts.tocoo()
        seen[counts.row, counts.col] += counts.data
        if unseen is None:
            return seen / totals
        beta_unseen = concentration_of(self.log_word_weights, unseen)
        new = beta_unseen.values[unseen.row_of].astype(np.float64)
        if together:
            totals = totals + beta_unseen.topic_sums
            return np.concatenate([seen, new]) / totals
        return np.concatenate([seen / totals, new / (totals + new)])


def mean_alpha(draws: Sequence[Draw], documents: Design, trained_unlabelled: bool) -> NDArray[np.float64]:
    """alpha averaged over draws."""
    return _mean([draw.alpha(documents, trained_unlabelled) for draw in draws])


def mean_phi(
    draws: Sequence[Draw], words: Design, unseen: Design | None = None, *, together: bool = True
) -> NDArray[np.float64]:
    """phi averaged over draws."""
    return _mean(draw.phi(words, unseen, together=together) for draw in draws)


def _mean(arrays: Any) -> NDArray[np.float64]:
    total, n = None, 0
    for array in arrays:
        total = array if total is None else np.add(total, array, out=total)
        n += 1
    assert total is not None, "there is always at least one draw"
    return total / n
