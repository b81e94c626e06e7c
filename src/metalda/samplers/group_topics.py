"""The topics of groups of documents, given draws of `GroupTokens`: their averages, and draws for intervals.

Given the tables and n[k, g, v] of a kept state, phi[k] ~ Dirichlet(beta[k] + t[k]) and phi[k, g] ~ Dirichlet(n[k, g] +
c[k] phi[k]). So averages are exact within a state, and any number of topics can be drawn from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.kernels.border import frozen
from metalda.kernels.wording import draw_concentrations
from metalda.priors import LogLinear
from metalda.samplers.draws import Draw
from metalda.samplers.wording import RATE, SHAPE

N_DRAWS = 400  # of an interval, at least; spread over the kept states


def group_totals(draw: Draw) -> NDArray[np.float64]:
    """Return n[g, k, .], the tokens of each group and topic."""
    counts = _counts(draw)
    n_groups = counts.shape[0] // draw.word_topic_counts.shape[0]
    return np.stack([np.asarray(counts[g::n_groups].sum(axis=0), np.float64) for g in range(n_groups)])


def group_shares(draw: Draw) -> NDArray[np.float64]:
    """Return the share of each group in the tokens of each topic [group, topic]; equal shares in an empty topic."""
    totals = group_totals(draw)
    sums = totals.sum(axis=0)
    equal = np.full(totals.shape, 1 / len(totals))
    shares: NDArray[np.float64] = np.divide(totals, sums, out=equal, where=sums > 0)
    return shares


def mean_group_phi(
    draws: Sequence[Draw],
    word_prior: LogLinear,
    group: int | None,
    unseen_prior: LogLinear | None = None,
    alone: bool = False,
) -> NDArray[np.float32]:
    """Return phi[word, k] of a group, averaged over draws: the vocabulary, then out-of-vocabulary words.

    Without a group it is the average over groups, by their shares in the tokens of a topic. With `alone`, each
    out-of-vocabulary word is added to the vocabulary alone; otherwise all are, and the probabilities sum to 1.
    """
    n_words, n_topics = len(word_prior.design.row_of), len(draws[0].mean_alpha)
    n_unseen = 0 if unseen_prior is None else len(unseen_prior.design.row_of)
    total = np.zeros((n_words + n_unseen, n_topics), np.float32)
    for draw in draws:
        shared = np.zeros_like(total)
        beta = np.zeros((0, n_topics)) if unseen_prior is None else draw.beta(unseen_prior)
        draw.add_phi(shared[:n_words], word_prior, 0.0 if alone else beta.sum(axis=0))
        shared[n_words:] = beta / (draw.word_mass + (beta if alone else beta.sum(axis=0)))
        concentrations, totals = draw.extra["concentrations"], group_totals(draw)
        of_group = np.eye(len(totals))[group][:, None] if group is not None else group_shares(draw)
        weights = of_group / (totals + concentrations)
        total += shared * (concentrations * weights.sum(axis=0)).astype(np.float32)
        cells = _counts(draw).tocoo()
        parts = cells.data * weights[cells.row % len(totals), cells.col], (cells.row // len(totals), cells.col)
        own = sparse.coo_array(parts, shape=(n_words, n_topics)).tocsr().tocoo()
        total[own.row, own.col] += own.data.astype(np.float32)
    total /= np.float32(len(draws))
    return total


def used_words(draws: Sequence[Draw], topic: int) -> NDArray[np.int64]:
    """Return the words that have tokens of a topic in some draw."""
    found = [draw.word_topic_counts[:, [topic]].nonzero()[0] for draw in draws]
    return np.unique(np.concatenate(found)).astype(np.int64)


def draw_group_logs(
    draw: Draw,
    word_prior: LogLinear,
    topic: int,
    words: NDArray[np.int64],
    groups: Sequence[int],
    n: int,
    seed: Sequence[int],
) -> NDArray[np.float64]:
    """Return n draws of log phi[k, g, v] of one topic in some groups [group, draw, word], for some words.

    All other words count as one, because sums of Dirichlet variables are Dirichlet. The draws of a group do not depend
    on which other groups are drawn.
    """
    beta = word_prior.products(draw.log_word_weights[:, [topic]])[word_prior.design.row_of, 0].astype(np.float64)
    shapes = beta[words] + _column(draw.word_topic_counts, topic)[words]
    others = max(beta.sum() - beta[words].sum(), 0.0)
    rng = np.random.default_rng(seed)
    shared = draw.extra["concentrations"][topic] * np.exp(_log_dirichlet(np.append(shapes, others), n, rng))
    counts = _column(_counts(draw), topic).reshape(len(beta), -1)[words]
    found = np.empty((len(groups), n, len(words)))
    for i, group in enumerate(groups):
        own = np.append(counts[:, group], 0.0)
        found[i] = _log_dirichlet(own + shared, n, np.random.default_rng([*seed, group]))[:, :-1]
    return found


def draw_group_concentrations(draw: Draw, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return n draws of c[k] [draw, topic], given the tables and the tokens of groups."""
    totals = frozen(group_totals(draw), np.int64)
    tables = frozen(draw.word_topic_counts.sum(axis=0), np.int64)
    concentrations, found = draw.extra["concentrations"].copy(), np.empty((n, totals.shape[1]))
    for i in range(n):
        draw_concentrations(totals, tables, SHAPE, RATE, concentrations, rng)
        found[i] = concentrations
    return found


def _log_dirichlet(shapes: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw logarithms of n Dirichlet variables [draw, word], finite for tiny parameters."""
    shapes = np.broadcast_to(np.maximum(shapes, 1e-290), (n, shapes.shape[-1]))
    logs = np.log(rng.standard_gamma(shapes + 1)) + np.log1p(-rng.random(shapes.shape)) / shapes
    logs -= logs.max(axis=-1, keepdims=True)
    normalized: NDArray[np.float64] = logs - np.log(np.exp(logs).sum(axis=-1, keepdims=True))
    return normalized


def _counts(draw: Draw) -> sparse.csr_array:
    assert draw.group_counts is not None, "draws of GroupTokens have the counts of groups"
    return draw.group_counts


def _column(counts: sparse.csr_array, topic: int) -> NDArray[np.float64]:
    return np.asarray(counts[:, [topic]].toarray()[:, 0], np.float64)
