"""Draws: states kept from a chain, and the alpha and phi of new documents that follow from them.

alpha and phi are computed within each draw and then averaged, because products of averaged weights are biased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.errors import StorageError
from metalda.priors import LogLinear
from metalda.utils.checks import (
    Arrays,
    check_array,
    check_ascending,
    check_finite,
    check_indices,
    check_keys,
    check_range,
    check_starts,
)

_CHUNK = 4096  # words whose phi is computed at a time
_STACKED = ("log_doc_weights", "log_word_weights", "mean_alpha", "topic_totals", "word_mass")
_COUNTS = ("count_starts", "count_topics", "counts")
_GROUP_COUNTS = ("group_count_starts", "group_count_topics", "group_counts")
_EXTRA = "extra."
_MOST_TOKENS = 2**53  # that a float64 counts exactly

# Raises StorageError unless further arrays of a sampler are right, given the numbers of draws and of topics.
CheckExtra = Callable[[Arrays, int, int], None]


@dataclass(frozen=True, eq=False)
class Draw:
    """One posterior sample, from which alpha of any labels and phi of any words can be computed."""

    log_doc_weights: NDArray[np.float64]  # log lambda[l, k]
    log_word_weights: NDArray[np.float64]  # log delta[l, k]
    mean_alpha: NDArray[np.float64]  # over the training documents
    topic_totals: NDArray[np.int64]  # tokens of each topic
    word_mass: NDArray[np.float64]  # n[k, .] + beta[k, .]
    word_topic_counts: sparse.csr_array  # n[k, v] as a sparse array [word, topic]
    extra: Arrays = field(default_factory=dict)  # further arrays of the sampler
    group_counts: sparse.csr_array | None = (
        None  # n[k, g, v] as [word * groups + group, topic]; then n[k, v] are tables
    )

    @property
    def token_counts(self) -> sparse.csr_array:
        """Return the tokens of each word and topic as a sparse array [word, topic]."""
        if self.group_counts is None:
            return self.word_topic_counts
        n_groups = self.group_counts.shape[0] // self.word_topic_counts.shape[0]
        return sparse.csr_array(sum(self.group_counts[g::n_groups] for g in range(n_groups)))

    def check_mass(self, word_prior: LogLinear) -> None:
        """Raise StorageError unless the mass of words follows from the counts and the weights."""
        mass = self.word_topic_counts.sum(axis=0) + word_prior.beta(self.log_word_weights).rescaled_sums
        if not np.allclose(self.word_mass, mass, rtol=1e-6, atol=0):
            raise StorageError("word_mass differs from the sums of counts and beta")

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


def mean_alpha(draws: Sequence[Draw], doc_prior: LogLinear) -> NDArray[np.float64]:
    """Return alpha by row of the prior's design, averaged over draws."""
    total = np.zeros((doc_prior.design.n_rows, len(draws[0].mean_alpha)))
    for draw in draws:
        total += doc_prior.products(draw.log_doc_weights)
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


def pack_draws(draws: Sequence[Draw]) -> dict[str, NDArray[np.generic]]:
    """Return draws as plain arrays, for saving."""
    grouped = [draw.group_counts for draw in draws if draw.group_counts is not None]
    return {
        **{name: np.stack([getattr(draw, name) for draw in draws]) for name in _STACKED},
        **{_EXTRA + name: np.stack([draw.extra[name] for draw in draws]) for name in draws[0].extra},
        **_pack_counts([draw.word_topic_counts for draw in draws], _COUNTS),
        **(_pack_counts(grouped, _GROUP_COUNTS) if grouped else {}),
    }


def _pack_counts(counts: Sequence[sparse.csr_array], names: Sequence[str]) -> dict[str, NDArray[np.generic]]:
    starts, topics, data = names
    return {
        starts: np.stack([c.indptr for c in counts]).astype(np.int64),
        topics: np.concatenate([c.indices for c in counts]).astype(np.uint16),
        data: np.concatenate([c.data for c in counts]),
    }


def _unpack_counts(arrays: Arrays, names: Sequence[str], n_topics: int) -> list[sparse.csr_array]:
    starts, topics, data = (arrays[name] for name in names)
    found, first = [], 0
    for own in starts:
        last = first + int(own[-1])
        parts = data[first:last], topics[first:last].astype(np.int32), own
        found.append(sparse.csr_array(parts, shape=(len(own) - 1, n_topics)))
        first = last
    return found


def unpack_draws(
    arrays: Arrays,
    doc_prior: LogLinear,
    word_prior: LogLinear,
    check_extra: CheckExtra,
    n_groups: int | None = None,
) -> list[Draw]:
    """Return the draws that `pack_draws` packed; StorageError unless the arrays fit the priors and each other.

    `n_groups` is the number of groups of documents, if draws have the counts of groups.
    """
    extra = {name.removeprefix(_EXTRA): array for name, array in arrays.items() if name.startswith(_EXTRA)}
    n_draws, n_topics = _check_stacked(arrays, doc_prior, word_prior)
    n_words = len(word_prior.design.row_of)
    _check_counts(arrays, _COUNTS, n_draws, n_topics, n_words)
    check_extra(extra, n_draws, n_topics)
    draws = []
    for i, counts in enumerate(_unpack_counts(arrays, _COUNTS, n_topics)):
        parts = {name: arrays[name][i] for name in _STACKED}
        draws.append(Draw(**parts, word_topic_counts=counts, extra={name: array[i] for name, array in extra.items()}))
    if n_groups is None:
        check_keys("the counts of groups", [name for name in _GROUP_COUNTS if name in arrays], ())
        return draws
    _check_counts(arrays, _GROUP_COUNTS, n_draws, n_topics, n_words * n_groups)
    grouped = _unpack_counts(arrays, _GROUP_COUNTS, n_topics)
    for draw, own in zip(draws, grouped, strict=True):
        if not np.array_equal(own.sum(axis=0), draw.topic_totals):
            raise StorageError("the counts of groups do not sum to the totals of topics")
        check_tables(draw.word_topic_counts, own, n_groups)
    return [replace(draw, group_counts=own) for draw, own in zip(draws, grouped, strict=True)]


def sum_groups(counts: sparse.csr_array, n_groups: int) -> sparse.csr_array:
    """Return counts [word, topic], given those of words in groups."""
    total = sum((counts[g::n_groups] for g in range(1, n_groups)), start=counts[0::n_groups])
    total.sort_indices()
    return total


def check_tables(tables: sparse.csr_array, counts: sparse.csr_array, n_groups: int) -> None:
    """Raise StorageError unless every word of a topic has from one table for each group to one for each token."""
    least, most = sum_groups(counts.sign(), n_groups), sum_groups(counts, n_groups)
    fits = np.array_equal(tables.indptr, most.indptr) and np.array_equal(tables.indices, most.indices)
    if not fits or (tables.data < least.data).any() or (tables.data > most.data).any():
        raise StorageError("the tables do not fit the topics of tokens")


def _check_stacked(arrays: Arrays, doc_prior: LogLinear, word_prior: LogLinear) -> tuple[int, int]:
    """Check what all draws have in one array each; returns the numbers of draws and of topics."""
    log_doc_weights, log_word_weights, mean_alpha, topic_totals, word_mass = (arrays[name] for name in _STACKED)
    check_array("mean_alpha", mean_alpha, np.float64, (None, None))
    n_draws, n_topics = mean_alpha.shape
    if not n_draws or not 1 <= n_topics < 2**16:
        raise StorageError(f"mean_alpha has {n_draws:,} draws of {n_topics:,} topics")
    check_array("topic_totals", topic_totals, np.int64, (n_draws, n_topics))
    check_array("word_mass", word_mass, np.float64, (n_draws, n_topics))
    doc_prior.check_weights("log_doc_weights", log_doc_weights, n_draws, n_topics)
    word_prior.check_weights("log_word_weights", log_word_weights, n_draws, n_topics)
    check_finite("mean_alpha", mean_alpha, low=0)
    check_range("topic_totals", topic_totals, 0, _MOST_TOKENS)
    check_finite("word_mass", word_mass, low=float(np.finfo(np.float64).tiny))
    if not np.isfinite(total := mean_alpha.sum(axis=1)).all() or not (total > 0).all():
        raise StorageError("mean_alpha must have a finite, positive sum")
    return n_draws, n_topics


def _check_counts(arrays: Arrays, names: Sequence[str], n_draws: int, n_topics: int, n_words: int) -> None:
    """Check n[k, v] of all draws."""
    of_starts, of_topics, of_counts = names
    starts, topics, counts = (arrays[name] for name in names)
    check_array(of_starts, starts, np.int64, (n_draws, n_words + 1))
    check_array(of_topics, topics, np.uint16, (None,))
    check_array(of_counts, counts, (np.int32, np.float64), (len(topics),))
    check_indices(of_topics, topics, n_topics)
    check_range(of_counts, counts, 0, _MOST_TOKENS)
    first = 0
    for own in starts:
        last = first + int(own[-1])
        if not first <= last <= len(topics):
            raise StorageError(f"{of_starts} must end within the counts")
        check_starts(of_starts, own, last - first)
        check_ascending(of_topics, topics[first:last], own)
        first = last
    if first != len(topics):
        raise StorageError(f"{of_starts} must end with the last of {len(topics):,} counts, not after {first:,}")


def no_extra(extra: Arrays, n_draws: int, n_topics: int) -> None:
    """Raise StorageError if there are further arrays: the check of samplers that have none."""
    check_keys("the draws", extra, ())
