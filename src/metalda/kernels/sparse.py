"""Step 1 of a sweep where beta is the same for all words of a topic: n[k, v] as a sorted list of topics per word.

p(z = k) ∝ (alpha[d, k] + m[d, k]) * (beta[k] + n[k, v]) / (V beta[k] + n[k, .])
"""

import math

import numpy as np
from numba import float32, float64, int64, uintp

from metalda.kernels.border import kernel
from metalda.kernels.choice import (
    BLOCK,
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
def _find_topic(list_topics, start, size, topic):
    """Where a topic stands, or would stand, in the sorted list of a word."""
    low, high = int64(0), size
    while low < high:
        middle = (low + high) >> 1
        if list_topics[uintp(start + middle)] < topic:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _change_list(list_starts, list_sizes, list_topics, list_counts, word, topic, change):
    """Add 1 to, or take 1 from, n[topic, word]; topics of count 0 leave the list, which stays sorted."""
    start, size = list_starts[word], int64(list_sizes[word])
    at = start + _find_topic(list_topics, start, size, topic)
    end = start + size
    if at < end and list_topics[at] == topic:
        list_counts[at] += change
        if list_counts[at] == 0:
            for j in range(at, end - 1):
                list_topics[j] = list_topics[j + 1]
                list_counts[j] = list_counts[j + 1]
            list_sizes[word] = size - 1
        return
    for j in range(end, at, -1):
        list_topics[j] = list_topics[j - 1]
        list_counts[j] = list_counts[j - 1]
    list_topics[at] = topic
    list_counts[at] = change
    list_sizes[word] = size + 1


@kernel
def _choose_smoothing_topic(alpha, beta, inverse, x):
    """First k with x < sum of alpha * beta / (beta. + n.) up to it, or the last topic of positive weight.

    -1 if none has, since float32 cannot hold the products.
    """
    n_topics = alpha.shape[0]
    k = 0
    while k + BLOCK < n_topics:
        block = float32(0)
        for j in range(k, k + BLOCK):
            block += alpha[j] * beta[j] * inverse[j]
        if x < block:
            break
        x -= block
        k += BLOCK
    while k < n_topics:
        weight = alpha[k] * beta[k] * inverse[k]
        if x < weight:
            return k
        x -= weight
        k += 1
    k = n_topics - 1
    while k >= 0 and alpha[k] * beta[k] * inverse[k] <= 0:
        k -= 1
    return k


@kernel
def _choose_document_topic(present, n_present, doc_counts, beta, inverse, x):
    """The same among the topics of the document, by m * beta / (beta. + n.)."""
    chosen = int64(-1)
    for j in range(n_present):
        k = uintp(present[j])
        weight = float32(doc_counts[k]) * beta[k] * inverse[k]
        if weight > 0:
            chosen = int64(k)
        if x < weight:
            break
        x -= weight
    return chosen


@kernel
def sweep_sparse(
    words,
    offsets,
    doc_order,
    doc_rows,
    topics,
    alpha,
    alpha_sums,
    beta,
    beta_sums,
    list_starts,
    list_sizes,
    list_topics,
    list_counts,
    topic_totals,
    seed,
):
    """Resample every token where beta[k] is the same for all words; equal to `sweep_dense` in distribution.

    The weight of a topic is split into three buckets, so that the cost follows the topics that a word really has:

        (alpha + m) n / (beta. + n.)   word: topics of the word, from its list sorted by topic
                m beta / (beta. + n.)  document: topics of the document
            alpha beta / (beta. + n.)  smoothing: all topics, and rarely chosen

    A token that stays where it was, as most do, changes nothing. Documents are visited in an order that keeps those
    with the same row of alpha together, so that factors need not be formed anew for each. Lists are sorted so that
    they, and with them every choice, depend on the counts alone and not on how these came about.
    """
    n_topics = topic_totals.shape[0]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    inverse = np.empty(n_topics, np.float32)  # 1 / (beta[k, .] + n[k, .])
    factor = np.empty(n_topics, np.float32)  # (alpha[d, k] + m[d, k]) * inverse[k]
    weights = np.empty(n_topics, np.float32)
    present = np.empty(n_topics, np.int32)  # topics of the document, in any order
    place = np.empty(n_topics, np.int32)  # where each stands there
    for k in range(n_topics):
        inverse[k] = float32(1.0 / (beta_sums[k] + topic_totals[k]))
    state = seed
    moved = 0
    log_product, product = 0.0, 1.0
    log_divisor, divisor = 0.0, 1.0
    row = -1
    smoothing = 0.0
    for i_order in range(doc_order.shape[0]):
        d = doc_order[i_order]
        first, last = offsets[d], offsets[d + 1]
        if doc_rows[d] != row:
            row = doc_rows[d]
            smoothing = 0.0
            for k in range(n_topics):
                factor[k] = alpha[row, k] * inverse[k]
                smoothing += factor[k] * beta[k]
        doc_alpha = alpha[row]
        n_present = 0
        for i in range(first, last):
            k = uintp(topics[i])
            if doc_counts[k] == 0:
                place[k] = n_present
                present[n_present] = k
                n_present += 1
            doc_counts[k] += 1
        document = 0.0
        for j in range(n_present):
            k = uintp(present[j])
            document += float32(doc_counts[k]) * inverse[k] * beta[k]
            factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]
        for i in range(first, last):
            old = uintp(topics[i])
            word = uintp(words[i])
            kept = inverse[old], factor[old], smoothing, document
            doc_counts[old] -= 1
            count = float32(doc_counts[old])
            inverse[old] = float32(1.0 / (beta_sums[old] + (topic_totals[old] - 1)))
            factor[old] = (doc_alpha[old] + count) * inverse[old]
            smoothing += doc_alpha[old] * beta[old] * (inverse[old] - kept[0])
            document += beta[old] * (count * inverse[old] - (count + float32(1)) * kept[0])
            start, size = list_starts[word], int64(list_sizes[word])
            by_word = float32(0)
            for j in range(size):
                weight = float32(list_counts[uintp(start + j)]) * factor[uintp(list_topics[uintp(start + j)])]
                weights[j] = weight
                by_word += weight
            at = _find_topic(list_topics, start, size, old)
            weights[at] = float32(list_counts[start + at] - 1) * factor[old]
            by_word -= factor[old]
            by_word = max(by_word, float32(0))
            document = max(document, 0.0)
            total = by_word + document + smoothing
            state, uniform = next_uniform(state)
            x = uniform * total
            chosen = int64(-1)
            if FAINT < total < BRIGHT:
                if x < by_word:
                    chosen = int64(list_topics[uintp(start + choose_topic(weights, size, float32(x)))])
                elif x - by_word < document and n_present > 0:
                    chosen = _choose_document_topic(present, n_present, doc_counts, beta, inverse, x - by_word)
                else:
                    chosen = _choose_smoothing_topic(doc_alpha, beta, inverse, float32(x - by_word - document))
            if chosen < 0:
                word_counts = np.zeros(n_topics, np.int32)
                for j in range(size):
                    word_counts[list_topics[start + j]] = list_counts[start + j]
                word_counts[old] -= 1
                topic_totals[old] -= 1
                chosen = int64(
                    choose_topic_slowly(doc_counts, doc_alpha, word_counts, beta, topic_totals, beta_sums, uniform)
                )
                topic_totals[old] += 1
            new = uintp(chosen)
            if new == old:
                doc_counts[old] += 1
                inverse[old], factor[old], smoothing, document = kept
                continue
            moved += 1
            topics[i] = new
            topic_totals[old] -= 1
            topic_totals[new] += 1
            _change_list(list_starts, list_sizes, list_topics, list_counts, word, old, -1)
            _change_list(list_starts, list_sizes, list_topics, list_counts, word, new, 1)
            if doc_counts[old] == 0:
                n_present -= 1
                present[place[old]] = present[n_present]
                place[present[n_present]] = place[old]
            if doc_counts[new] == 0:
                place[new] = n_present
                present[n_present] = new
                n_present += 1
            before, count = inverse[new], float32(doc_counts[new])
            doc_counts[new] += 1
            inverse[new] = float32(1.0 / (beta_sums[new] + topic_totals[new]))
            factor[new] = (doc_alpha[new] + count + float32(1)) * inverse[new]
            smoothing += doc_alpha[new] * beta[new] * (inverse[new] - before)
            document += beta[new] * ((count + float32(1)) * inverse[new] - count * before)
        for j in range(n_present):
            k = uintp(present[j])
            log_product, product = multiply_rising(log_product, product, float64(doc_alpha[k]), doc_counts[k])
            doc_counts[k] = 0
            factor[k] = doc_alpha[k] * inverse[k]
        log_divisor, divisor = multiply_rising(log_divisor, divisor, alpha_sums[row], last - first)
    return moved, log_product + math.log(product) - log_divisor - math.log(divisor)


@kernel
def shift_sparse(words, before, after, list_starts, list_sizes, list_topics, list_counts, topic_totals):
    """Move the counts of tokens from one assignment to another."""
    for i in range(words.shape[0]):
        if before[i] != after[i]:
            word = uintp(words[i])
            _change_list(list_starts, list_sizes, list_topics, list_counts, word, uintp(before[i]), -1)
            _change_list(list_starts, list_sizes, list_topics, list_counts, word, uintp(after[i]), 1)
            topic_totals[uintp(before[i])] -= 1
            topic_totals[uintp(after[i])] += 1


@kernel
def tables_sparse(
    list_starts, list_sizes, list_topics, list_counts, topic_totals, beta, beta_sums, topic_tables, minus_log_q, rng
):
    """Step 4, q'[k] and t'[k, v]; fills the sum of t' by topic, and -log q'. An empty topic has neither.

    Returns log p(w | z, beta).
    """
    log_product, product = 0.0, 1.0
    for k in range(topic_totals.shape[0]):
        minus_log_q[k] = 0.0
        log_product -= log_rising(beta_sums[k], topic_totals[k])
        if topic_totals[k] > 0:
            minus_log_q[k] = draw_minus_log_beta(beta_sums[k], float64(topic_totals[k]), rng)
    for v in range(list_sizes.shape[0]):
        for j in range(list_starts[v], list_starts[v] + list_sizes[v]):
            k = list_topics[j]
            concentration = float64(beta[k])
            log_product, product = multiply_rising(log_product, product, concentration, list_counts[j])
            topic_tables[k] += draw_tables(concentration, list_counts[j], rng)
    return log_product + math.log(product)


@kernel
def log_likelihood_sparse(list_starts, list_sizes, list_topics, list_counts, topic_totals, beta, beta_sums):
    """log p(w | z, beta)"""
    log_product, product = 0.0, 1.0
    for k in range(topic_totals.shape[0]):
        log_product -= log_rising(beta_sums[k], topic_totals[k])
    for v in range(list_sizes.shape[0]):
        for j in range(list_starts[v], list_starts[v] + list_sizes[v]):
            concentration = float64(beta[list_topics[j]])
            log_product, product = multiply_rising(log_product, product, concentration, list_counts[j])
    return log_product + math.log(product)
