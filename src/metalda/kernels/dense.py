"""Step 1 of a sweep where beta differs by word: counts n[k, v] as a dense array, word-major.

p(z = k) ∝ (alpha[d, k] + m[d, k]) * (beta[k, v] + n[k, v]) / (beta[k, .] + n[k, .])
"""

import math

import numpy as np
from numba import float32, float64, uintp

from metalda.kernels.border import kernel
from metalda.kernels.choice import (
    BRIGHT,
    FAINT,
    choose_topic,
    choose_topic_slowly,
    log_rising,
    multiply_rising,
    next_uniform,
)
from metalda.kernels.draws import draw_minus_log_beta, draw_tables


@kernel
def sweep_dense(
    words,
    offsets,
    doc_rows,
    topics,
    alpha,
    alpha_sums,
    word_rows,
    beta,
    beta_sums,
    word_topic_counts,
    topic_totals,
    seed,
):
    """Resample every token where beta may differ by word; equals reference.sweep_tokens.

    Returns how many tokens moved, and log p(z | alpha). One vectorised pass over the topics of a token, then a search
    by blocks. Counts stay integers: the float32 factors are formed from them anew, so nothing drifts.
    """
    n_topics = topic_totals.shape[0]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    inverse = np.empty(n_topics, np.float32)  # 1 / (beta[k, .] + n[k, .])
    factor = np.empty(n_topics, np.float32)  # (alpha[d, k] + m[d, k]) * inverse[k]
    weights = np.empty(n_topics, np.float32)
    for k in range(n_topics):
        inverse[k] = float32(1.0 / (beta_sums[k] + topic_totals[k]))
    state = seed
    moved = 0
    log_product, product = 0.0, 1.0
    log_divisor, divisor = 0.0, 1.0
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        row = doc_rows[d]
        doc_alpha = alpha[row]
        for k in range(n_topics):
            factor[k] = doc_alpha[k] * inverse[k]
        for i in range(first, last):
            doc_counts[topics[i]] += 1
        for i in range(first, last):
            k = topics[i]
            factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]
        for i in range(first, last):
            old = uintp(topics[i])
            word_counts = word_topic_counts[uintp(words[i])]  # n[., v]
            word_beta = beta[uintp(word_rows[uintp(words[i])])]
            word_counts[old] -= 1
            doc_counts[old] -= 1
            topic_totals[old] -= 1
            inverse[old] = float32(1.0 / (beta_sums[old] + topic_totals[old]))
            factor[old] = (doc_alpha[old] + float32(doc_counts[old])) * inverse[old]
            total = float32(0)
            for k in range(n_topics):
                weight = factor[k] * (word_beta[k] + float32(word_counts[k]))
                weights[k] = weight
                total += weight
            state, uniform = next_uniform(state)
            if FAINT < total < BRIGHT:
                new = uintp(choose_topic(weights, n_topics, float32(uniform * total)))
            else:
                new = uintp(
                    choose_topic_slowly(doc_counts, doc_alpha, word_counts, word_beta, topic_totals, beta_sums, uniform)
                )
            topics[i] = new
            moved += new != old
            word_counts[new] += 1
            doc_counts[new] += 1
            topic_totals[new] += 1
            inverse[new] = float32(1.0 / (beta_sums[new] + topic_totals[new]))
            factor[new] = (doc_alpha[new] + float32(doc_counts[new])) * inverse[new]
        for i in range(first, last):
            k = topics[i]
            log_product, product = multiply_rising(log_product, product, float64(doc_alpha[k]), doc_counts[k])
            doc_counts[k] = 0
        log_divisor, divisor = multiply_rising(log_divisor, divisor, alpha_sums[row], last - first)
    return moved, log_product + math.log(product) - log_divisor - math.log(divisor)


@kernel
def shift_dense(words, before, after, word_topic_counts, topic_totals):
    """Move the counts of tokens from one assignment to another."""
    for i in range(words.shape[0]):
        if before[i] != after[i]:
            word = uintp(words[i])
            word_topic_counts[word, uintp(before[i])] -= 1
            word_topic_counts[word, uintp(after[i])] += 1
            topic_totals[uintp(before[i])] -= 1
            topic_totals[uintp(after[i])] += 1


@kernel
def count_dense(words, topics, word_topic_counts, topic_totals):
    """Add the assignments of some tokens to n[k, v] and n[k, .]."""
    for i in range(words.shape[0]):
        word_topic_counts[words[i], topics[i]] += 1
        topic_totals[topics[i]] += 1


@kernel
def tables_dense(
    word_topic_counts,
    topic_totals,
    word_rows,
    beta,
    beta_sums,
    row_starts,
    row_labels,
    label_tables,
    minus_log_q,
    first,
    last,
    rng,
):
    """Step 4, q'[k] and t'[k, v] for topics first … last - 1; returns log p(w | z, beta) of these topics.

    Fills the sum of t' by feature and topic, and -log q' by topic. An empty topic has neither.
    """
    log_product, product = 0.0, 1.0
    for k in range(first, last):
        minus_log_q[k] = 0.0
        log_product -= log_rising(beta_sums[k], topic_totals[k])
        if topic_totals[k] > 0:
            minus_log_q[k] = draw_minus_log_beta(beta_sums[k], float64(topic_totals[k]), rng)
    for v in range(word_topic_counts.shape[0]):
        row = word_rows[v]
        for k in range(first, last):
            count = word_topic_counts[v, k]
            if count > 0:
                concentration = float64(beta[row, k])
                log_product, product = multiply_rising(log_product, product, concentration, count)
                tables = draw_tables(concentration, count, rng)
                for j in range(row_starts[row], row_starts[row + 1]):
                    label_tables[row_labels[j], k] += tables
    return log_product + math.log(product)
