"""The sweep of LF-LDA: a token has a topic z, and comes from the counts (s = 0) or from the word vectors (s = 1).

    p(z = k, s = 0) ∝ (alpha[d, k] + m[d, k]) (1 - weight) (beta + n0[k, v]) / (V beta + n0[k, .])
    p(z = k, s = 1) ∝ (alpha[d, k] + m[d, k]) weight softmax[k, v]

m counts tokens of both kinds. The initial sweeps have no topic vectors yet. In them the softmax is replaced by
(beta + n1[k, v]) / (V1 beta + n1[k, .]), where V1 words have a vector.
"""

import math

import numpy as np
from numba import float64, uintp

from metalda.kernels.border import helper, kernel
from metalda.kernels.helpers import choose_topic, multiply_rising, next_uniform
from metalda.kernels.tokens import enter_document, leave_document

BY_COUNTS, BY_VECTORS = 0, 1  # the two kinds of tokens, s
NO_VECTOR = 0  # the row of the softmax for words without a vector, all 0


@helper
def choose_kind(by_counts, by_vectors, uniform):
    """Choose a kind in proportion to its weight; equals reference.choose_kind. A weight of 0 is never chosen."""
    if by_counts <= 0 or by_vectors <= 0:
        return BY_VECTORS if by_vectors > 0 else BY_COUNTS
    return BY_VECTORS if uniform * (by_counts + by_vectors) >= by_counts else BY_COUNTS


@helper
def _move(counts, totals, inverse, shares, masses, kind, word, topic, change):
    """Add `change` tokens to a topic."""
    counts[kind, word, topic] += change
    totals[kind, topic] += change
    inverse[kind, topic] = shares[kind] / (masses[kind] + totals[kind, topic])


@kernel
def sweep_latent(
    words,
    offsets,
    doc_order,
    doc_rows,
    topics,
    kinds,
    alpha,
    alpha_sums,
    beta,
    masses,
    shares,
    vector_rows,
    softmax,
    joint,
    counts,
    totals,
    seed,
):
    """Resample every token in place; equals reference.sweep_latent.

    The kind is the first axis of `counts`, `totals`, `masses` (V beta, V1 beta) and `shares` (1 - weight, weight).
    `softmax` is multiplied by `weight`; the initial sweeps (not `joint`) read only its row NO_VECTOR. Weights are
    float64, so that none underflows; reading the rows of a token dominates the cost. Returns how many tokens moved, and
    log p(z | alpha).
    """
    n_topics = totals.shape[1]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    ones = np.ones(n_topics, np.float64)
    factor = np.empty(n_topics, np.float64)  # alpha[d, k] + m[d, k]
    weights = np.empty(n_topics, np.float64)
    inverse = np.empty((2, n_topics), np.float64)  # (1 - weight) / (V beta + n0[k, .]), weight / (V1 beta + n1[k, .])
    for kind in range(2):
        for k in range(n_topics):
            inverse[kind, k] = shares[kind] / (masses[kind] + totals[kind, k])
    state, moved, row = seed, 0, -1
    log_ratio, top, bottom = 0.0, 1.0, 1.0  # of the likelihood
    for d in doc_order:
        first, last = offsets[d], offsets[d + 1]
        if doc_rows[d] != row:
            row = doc_rows[d]
            for k in range(n_topics):
                factor[k] = alpha[row, k]
        doc_alpha = alpha[row]
        enter_document(topics, first, last, doc_alpha, ones, doc_counts, factor)
        for i in range(first, last):
            old, old_kind, word = uintp(topics[i]), uintp(kinds[i]), uintp(words[i])
            doc_counts[old] -= 1
            factor[old] = doc_alpha[old] + doc_counts[old]
            _move(counts, totals, inverse, shares, masses, old_kind, word, old, -1)
            vector_row = uintp(vector_rows[word])
            by_softmax = joint or vector_row == NO_VECTOR
            word_counts, latent_counts = counts[BY_COUNTS, word], counts[BY_VECTORS, word]
            word_inverse, latent_inverse = inverse[BY_COUNTS], inverse[BY_VECTORS]
            word_softmax = softmax[vector_row if by_softmax else uintp(NO_VECTOR)]
            total = 0.0
            if by_softmax:
                for k in range(n_topics):
                    weights[k] = factor[k] * ((word_counts[k] + beta) * word_inverse[k] + word_softmax[k])
            else:
                for k in range(n_topics):
                    weights[k] = factor[k] * (
                        (word_counts[k] + beta) * word_inverse[k] + (latent_counts[k] + beta) * latent_inverse[k]
                    )
            for k in range(n_topics):
                total += weights[k]
            state, uniform = next_uniform(state)
            new = uintp(choose_topic(weights, n_topics, uniform * total))
            by_vectors = word_softmax[new] if by_softmax else (latent_counts[new] + beta) * latent_inverse[new]
            state, uniform = next_uniform(state)
            kind = uintp(choose_kind((word_counts[new] + beta) * word_inverse[new], float64(by_vectors), uniform))
            doc_counts[new] += 1
            factor[new] = doc_alpha[new] + doc_counts[new]
            _move(counts, totals, inverse, shares, masses, kind, word, new, 1)
            moved += new != old or kind != old_kind
            topics[i] = new
            kinds[i] = kind
        log_ratio, top, bottom = leave_document(
            topics, first, last, doc_alpha, alpha_sums[row], ones, doc_counts, factor, log_ratio, top, bottom
        )
    return moved, log_ratio + math.log(top) - math.log(bottom)


@kernel
def counts_log_likelihood(counts, totals, beta, mass):
    """Return log p of the words of all topics under a symmetric Dirichlet; equals reference.dirichlet_multinomial."""
    log_product, product = 0.0, 1.0
    for word in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            if counts[word, k] > 0:
                log_product, product = multiply_rising(log_product, product, beta, counts[word, k])
    log_product += math.log(product)
    for k in range(totals.shape[0]):
        log_product -= math.lgamma(mass + totals[k]) - math.lgamma(mass)
    return log_product


@kernel
def softmax_log_likelihood(counts, vector_rows, softmax):
    """Return sum n1[k, v] log(softmax[k, v]), a part of reference.latent_log_likelihood."""
    total = 0.0
    for word in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            if counts[word, k] > 0:
                total += counts[word, k] * math.log(softmax[vector_rows[word], k])
    return total
