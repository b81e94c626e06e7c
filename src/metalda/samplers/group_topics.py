"""The topics of groups of documents, given draws of `GroupTokens`: their averages, and draws for intervals.

Given the tables and n[k, g, v] of a kept state, phi[k] ~ Dirichlet(beta[k] + t[k]) and phi[k, g] ~ Dirichlet(n[k, g] +
c[k] phi[k]). So averages are exact within a state. Contrasts of groups are drawn given n[k, g, v], with a prior for
them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from metalda.kernels.border import frozen
from metalda.kernels.wording import draw_concentrations, draw_wordings
from metalda.priors import LogLinear
from metalda.samplers.draws import Draw
from metalda.samplers.wording import RATE, SHAPE

N_DRAWS = 400  # of an interval, at least; spread over the kept states
MIN_TOKENS = 3  # of a word in a topic; groups cannot be told apart by fewer
N_WARM = 50  # steps from the start until draws are used
SHAPES = 0.7 * 3.0 ** np.arange(5)  # of deviations: their standard deviation is 1.2 for the first and 0.13 for the last


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


def frequent_words(draws: Sequence[Draw], topics: Sequence[int]) -> NDArray[np.int64]:
    """Return the words that have at least `MIN_TOKENS` tokens of some topics together in some draw."""
    is_frequent = np.zeros(draws[0].word_topic_counts.shape[0], np.bool_)
    for draw in draws:
        tokens = sum(_column(_counts(draw), topic) for topic in topics)
        is_frequent |= np.asarray(tokens).reshape(len(is_frequent), -1).sum(axis=1) >= MIN_TOKENS
    return np.flatnonzero(is_frequent)


def draw_side_logs(
    draws: Sequence[Draw],
    word_prior: LogLinear,
    topic: int,
    words: NDArray[np.int64],
    sides: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return draws of log p[s, v] [draw, side, word]: the probabilities of words in one topic, on sides of a contrast.

    A side is a set of groups, whose tokens are counted together. All words that are not asked for count as one.

    Given the counts, the deviations of sides from each other have the prior of `draw_wordings`, and not the Dirichlet
    prior of the sampler. The latter expects deviations of log p[s, v] to be small where a word is frequent, so its
    intervals miss a frequent word that one group uses twice as often. The chain goes on from state to state.
    """
    n_each = math.ceil(N_DRAWS / len(draws))
    deviations, exposures = np.ones((len(words) + 1, len(sides))), np.zeros(len(sides))
    log_weights, found = np.zeros(len(SHAPES)), []
    for number, draw in enumerate(draws):
        beta = word_prior.products(draw.log_word_weights[:, [topic]])[word_prior.design.row_of, 0].astype(np.float64)
        by_group = _column(_counts(draw), topic).reshape(len(beta), -1)
        by_side = np.stack([by_group[:, list(groups)].sum(axis=1) for groups in sides], axis=1)
        counts = np.vstack([by_side[words], by_side.sum(axis=0) - by_side[words].sum(axis=0)]).astype(np.int64)
        distinct, levels = np.unique(counts, return_inverse=True)
        constants = gammaln(SHAPES + distinct[:, None]) - gammaln(SHAPES) + SHAPES * np.log(SHAPES)
        if number == 0:
            exposures[:] = counts.sum(axis=0)
        logs = np.empty((n_each + (N_WARM if number == 0 else 0), len(sides), len(counts)))
        draw_wordings(
            frozen(counts, np.int64),
            frozen(levels.reshape(counts.shape), np.int64),
            frozen(np.append(beta[words], max(beta.sum() - beta[words].sum(), 0.0)), np.float64),
            frozen(SHAPES, np.float64),
            frozen(constants, np.float64),
            log_weights,
            deviations,
            exposures,
            logs,
            rng,
        )
        found.append(logs[-n_each:, :, :-1])
    return np.concatenate(found)


def draw_group_concentrations(draw: Draw, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return n draws of c[k] [draw, topic], given the tables and the tokens of groups."""
    totals = frozen(group_totals(draw), np.int64)
    tables = frozen(draw.word_topic_counts.sum(axis=0), np.int64)
    concentrations, found = draw.extra["concentrations"].copy(), np.empty((n, totals.shape[1]))
    for i in range(n):
        draw_concentrations(totals, tables, SHAPE, RATE, concentrations, rng)
        found[i] = concentrations
    return found


def _counts(draw: Draw) -> sparse.csr_array:
    assert draw.group_counts is not None, "draws of GroupTokens have the counts of groups"
    return draw.group_counts


def _column(counts: sparse.csr_array, topic: int) -> NDArray[np.float64]:
    return np.asarray(counts[:, [topic]].toarray()[:, 0], np.float64)
