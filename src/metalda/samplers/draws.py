"""Draws: states kept from a chain, and the alpha and phi of new documents that follow from them.

alpha and phi are computed within each draw and then averaged, because products of averaged weights are biased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.priors import LogLinear

_CHUNK = 4096  # words whose phi is computed at a time
_STACKED = ("log_doc_weights", "log_word_weights", "mean_alpha", "topic_totals", "word_mass")
_EXTRA = "extra."


@dataclass(frozen=True, eq=False)
class Draw:
    """One posterior sample, from which alpha of any labels and phi of any words can be computed."""

    log_doc_weights: NDArray[np.float64]  # log lambda[l, k]
    log_word_weights: NDArray[np.float64]  # log delta[l, k]
    mean_alpha: NDArray[np.float64]  # over the training documents
    topic_totals: NDArray[np.int64]  # tokens of each topic
    word_mass: NDArray[np.float64]  # n[k, .] + beta[k, .]
    word_topic_counts: Any  # n[k, v] as a sparse array [word, topic]
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # further arrays of the sampler

    def beta(self, word_prior: LogLinear) -> NDArray[np.float64]:
        """Return beta[word, k] of out-of-vocabulary words with this prior."""
        return word_prior.products(self.log_word_weights)[word_prior.design.row_of].astype(np.float64)

    def add_phi(
        self, total: NDArray[np.float32], word_prior: LogLinear, mass_unseen: NDArray[np.float64] | float
    ) -> None:
        """Add phi[word, k] of the training vocabulary to `total`; out-of-vocabulary words take part of its mass."""
        rows, row_of = word_prior.beta(self.log_word_weights).values, word_prior.design.row_of
        mass = self.word_mass + mass_unseen
        for first in range(0, len(total), _CHUNK):
            last = min(first + _CHUNK, len(total))
            total[first:last] += rows[row_of[first:last]] / mass
        counts = self.word_topic_counts.tocoo()
        total[counts.row, counts.col] += (counts.data / mass[counts.col]).astype(np.float32)


def mean_alpha_of_new(draws: Sequence[Draw], doc_prior: LogLinear, trained_unlabeled: bool) -> NDArray[np.float64]:
    """Return alpha by row of new documents, averaged over draws."""
    total = np.zeros((doc_prior.design.n_rows, len(draws[0].mean_alpha)))
    for draw in draws:
        total += doc_prior.alpha_of_new(draw.log_doc_weights, draw.mean_alpha, trained_unlabeled)
    return total / len(draws)


def mean_phi(
    draws: Sequence[Draw], word_prior: LogLinear, unseen_prior: LogLinear | None = None
) -> NDArray[np.float32]:
    """Return phi[word, k] averaged over draws: one distribution over the vocabulary, then out-of-vocabulary words."""
    n_seen, n_topics = len(word_prior.design.row_of), len(draws[0].mean_alpha)
    n_unseen = 0 if unseen_prior is None else len(unseen_prior.design.row_of)
    total = np.zeros((n_seen + n_unseen, n_topics), np.float32)
    for draw in draws:
        beta = np.zeros((0, n_topics)) if unseen_prior is None else draw.beta(unseen_prior)
        draw.add_phi(total[:n_seen], word_prior, beta.sum(axis=0))
        total[n_seen:] += beta / (draw.word_mass + beta.sum(axis=0))
    total /= np.float32(len(draws))
    return total


def mean_phi_alone(draws: Sequence[Draw], unseen_prior: LogLinear) -> NDArray[np.float32]:
    """Return phi[word, k] of out-of-vocabulary words averaged over draws, each word added to the vocabulary alone."""
    total = np.zeros((len(unseen_prior.design.row_of), len(draws[0].mean_alpha)))
    for draw in draws:
        beta = draw.beta(unseen_prior)
        total += beta / (draw.word_mass + beta)
    return (total / len(draws)).astype(np.float32)


def pack_draws(draws: Sequence[Draw]) -> dict[str, NDArray[Any]]:
    """Return draws as plain arrays, for saving."""
    counts = [draw.word_topic_counts for draw in draws]
    return {
        **{name: np.stack([getattr(draw, name) for draw in draws]) for name in _STACKED},
        **{_EXTRA + name: np.stack([draw.extra[name] for draw in draws]) for name in draws[0].extra},
        "count_starts": np.stack([c.indptr for c in counts]).astype(np.int64),
        "count_topics": np.concatenate([c.indices for c in counts]).astype(np.uint16),
        "counts": np.concatenate([c.data for c in counts]),
    }


def unpack_draws(arrays: Mapping[str, NDArray[Any]]) -> list[Draw]:
    """Return the draws that `pack_draws` packed."""
    draws, first = [], 0
    extra = {name.removeprefix(_EXTRA): array for name, array in arrays.items() if name.startswith(_EXTRA)}
    for i, starts in enumerate(arrays["count_starts"]):
        parts = {name: arrays[name][i] for name in _STACKED}
        last = first + int(starts[-1])
        counts = (arrays["counts"][first:last], arrays["count_topics"][first:last].astype(np.int32), starts)
        matrix = sparse.csr_array(counts, shape=(len(starts) - 1, len(parts["mean_alpha"])))
        draws.append(Draw(**parts, word_topic_counts=matrix, extra={name: array[i] for name, array in extra.items()}))
        first = last
    return draws
