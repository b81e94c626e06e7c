"""Step 1 of a sweep: draw a new topic for every token.

    p(z = k) ∝ (alpha[d, k] + m[d, k]) * (beta[k, v] + n[k, v]) / (beta[k, .] + n[k, .])

Most tokens keep their topic. So the weight of the old topic is computed first, and a token that keeps its topic changes
no counts. The weight of the other topics is split, so that the cost depends on the number of topics that a word has:

    (alpha + m) n    / (beta. + n.)    from the list of the word, which has most of the weight
    (alpha + m) beta / (beta. + n.)    over all topics, in one vectorized product (`sweep_by_word`); or, if beta is
                                       the same for all words of a topic, as two sums that are updated as tokens move
                                       (`sweep_shared`)

Lists are short, and mispredicted branches dominate the cost. So a position in a list is found by counting all sums that
are too small, without an early exit. Counts are integers, and float32 factors are recomputed from them, so that they do
not drift; the sums that are updated are float64. Documents with the same row of alpha are visited together, so that
factors are not recomputed for each document.
"""

import math

import numpy as np
from numpy import float32, float64, int32, int64, uintp

from metalda.kernels.border import helper, kernel, prefetch
from metalda.kernels.helpers import BLOCK, BRIGHT, FAINT, LARGE, SMALL, choose_topic, next_uniform
from metalda.kernels.lists import move_in_list, prefetch_list

AHEAD = 2  # tokens from one whose list is read to the one whose list is prefetched


@helper
def make_seen(offsets):
    """Return room for the topics that a document has when it is entered, and for those that its tokens move to."""
    longest = int64(0)
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    return np.empty(2 * longest + 1, np.uint16)


@helper
def enter_document(topics, first, last, doc_alpha, inverse, doc_counts, factor, seen):
    """Count the topics of a document and compute their factors; returns how many distinct topics it put into `seen`."""
    size = int64(0)
    for i in range(first, last):
        k = uintp(topics[i])
        seen[size] = k
        size += int64(doc_counts[k] == 0)
        doc_counts[k] += 1
    for j in range(size):
        k = uintp(seen[j])
        factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]
    return size


@helper
def leave_document(doc_alpha, inverse, doc_counts, factor, seen, size):
    """Reset the counts of a document, and the factors, of the topics that it has or had."""
    for j in range(size):
        k = uintp(seen[j])
        doc_counts[k] = 0
        factor[k] = doc_alpha[k] * inverse[k]


@helper
def add_likelihood(topics, first, last, doc_alpha, alpha_sum, doc_counts, log_ratio, top, bottom):
    """Update log p(z | alpha) = log_ratio + log(top / bottom) by that of a document, and reset its counts.

    The probability is a product over tokens of (alpha[k] + earlier tokens of topic k) / (alpha. + earlier tokens).
    """
    for i in range(first, last):
        k = uintp(topics[i])
        doc_counts[k] -= 1
        top *= doc_alpha[k] + doc_counts[k]
        bottom *= alpha_sum + (i - first)
        if not (SMALL < top < LARGE and SMALL < bottom < LARGE):
            log_ratio += math.log(top) - math.log(bottom)
            top, bottom = 1.0, 1.0
    return log_ratio, top, bottom


@helper
def _weigh_others(list_topics, list_counts, start, size, factor, old, sums):
    """Fill the cumulative sums of (alpha + m) n / (beta. + n.) over the topics of a word, where factor[old] is 0.

    Returns the last sum, and n of the old topic.
    """
    total, old_count = float32(0), int32(0)
    for j in range(size):
        k, count = uintp(list_topics[uintp(start + j)]), list_counts[uintp(start + j)]
        total += float32(count) * factor[k]
        sums[j] = total
        old_count += count if k == old else int32(0)
    return total, old_count


@helper
def _choose_from_list(list_topics, start, size, sums, x):
    """Return the topic at the first sum above x; its weight is never 0."""
    at = int32(0)
    for j in range(size):
        at += int32(sums[j] <= x)
    return int64(list_topics[uintp(start + at)])


@helper
def _weigh_old(alpha, doc_count, word_count, beta, beta_sum, topic_total):
    """Return (alpha + m) (beta + n) / (beta. + n.) from counts without the token, rounded as for the other topics."""
    factor = float32(float64(alpha + float32(doc_count)) / (beta_sum + topic_total))
    return factor * (beta + float32(word_count))


@kernel
def _choose_without_float32(
    doc_counts, alpha, list_topics, list_counts, start, size, old, beta, topic_totals, beta_sums, uniform
):
    """Draw the topic of one token in float64, if its float32 weights vanish or overflow."""
    n_topics = alpha.shape[0]
    word_counts = np.zeros(n_topics, np.int32)
    for j in range(size):
        word_counts[list_topics[start + j]] = list_counts[start + j]
    weights = np.empty(n_topics, np.float64)
    total = 0.0
    for k in range(n_topics):
        own = int64(k == old)
        weights[k] = (
            (float64(alpha[k]) + (doc_counts[k] - own))
            * (float64(beta[k]) + (word_counts[k] - own))
            / (beta_sums[k] + (topic_totals[k] - own))
        )
    for k in range(n_topics):
        total += weights[k]
    return int64(choose_topic(weights, n_topics, uniform * total))


@helper
def _form_factors(k, doc_alpha, doc_counts, beta_sums, topic_totals, inverse, factor):
    """Recompute the factors of a topic whose counts have changed."""
    inverse[k] = float32(1) / float32(beta_sums[k] + topic_totals[k])
    factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]


@helper
def _choose_by_word(factor, beta, x):
    """Return the first k with x < sum of factor * beta up to k, or the last k of positive weight, or -1."""
    n_topics = factor.shape[0]
    k = 0
    while k + BLOCK < n_topics:
        block = float32(0)
        for j in range(k, k + BLOCK):
            block += factor[j] * beta[j]
        if x < block:
            break
        x -= block
        k += BLOCK
    while k < n_topics:
        weight = factor[k] * beta[k]
        if x < weight:
            return k
        x -= weight
        k += 1
    k = n_topics - 1
    while k >= 0 and factor[k] * beta[k] <= 0:
        k -= 1
    return k


@kernel
def sweep_by_word(
    words,
    offsets,
    begins,
    ends,
    doc_order,
    doc_rows,
    topics,
    alpha,
    alpha_sums,
    word_rows,
    beta,
    beta_sums,
    list_starts,
    list_sizes,
    list_topics,
    list_counts,
    topic_totals,
    with_likelihood,
    seed,
):
    """Resample tokens begins[d] … ends[d] - 1 of every document; equals reference.sweep_tokens.

    Row word_rows[v] of beta is that of word v. Returns how many tokens moved, and log p(z | alpha) if asked for.
    """
    n_topics = topic_totals.shape[0]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    inverse = np.empty(n_topics, np.float32)  # 1 / (beta[k, .] + n[k, .])
    factor = np.empty(n_topics, np.float32)  # (alpha[d, k] + m[d, k]) * inverse[k]
    sums = np.empty(n_topics, np.float32)
    seen = make_seen(offsets)  # topics that the document has, or had
    for k in range(n_topics):
        inverse[k] = float32(1) / float32(beta_sums[k] + topic_totals[k])
    state, moved, row = seed, 0, -1
    log_ratio, top, bottom = 0.0, 1.0, 1.0  # of the likelihood
    for d in doc_order:
        first, last = offsets[d], offsets[d + 1]
        if begins[d] == ends[d] and not with_likelihood:
            continue
        if doc_rows[d] != row:
            row = doc_rows[d]
            for k in range(n_topics):
                factor[k] = alpha[row, k] * inverse[k]
        doc_alpha = alpha[row]
        size_seen = enter_document(topics, first, last, doc_alpha, inverse, doc_counts, factor, seen)
        for i in range(begins[d], ends[d]):
            old, word = uintp(topics[i]), uintp(words[i])
            beta_row = uintp(word_rows[word])
            start, size = list_starts[word], int64(list_sizes[word])
            ahead = uintp(words[uintp(min(i + 1, last - 1))])
            prefetch_list(list_starts, list_topics, list_counts, ahead)
            prefetch(beta, uintp(word_rows[ahead]) * uintp(n_topics))
            kept = factor[old]
            factor[old] = float32(0)
            by_list, old_count = _weigh_others(list_topics, list_counts, start, size, factor, old, sums)
            by_beta = float32(0)
            for k in range(n_topics):
                by_beta += factor[k] * beta[beta_row, k]
            by_old = _weigh_old(
                doc_alpha[old],
                doc_counts[old] - 1,
                old_count - 1,
                beta[beta_row, old],
                beta_sums[old],
                topic_totals[old] - 1,
            )
            total = float64(by_old) + by_list + by_beta
            state, uniform = next_uniform(state)
            x = uniform * total - by_old
            chosen = int64(-1)
            if FAINT < total < BRIGHT:
                if x < 0:
                    factor[old] = kept
                    continue
                if x < by_list:
                    chosen = _choose_from_list(list_topics, start, size, sums, x)
                else:
                    chosen = _choose_by_word(factor, beta[beta_row], float32(x - by_list))
            if chosen < 0:
                chosen = _choose_without_float32(
                    doc_counts,
                    doc_alpha,
                    list_topics,
                    list_counts,
                    start,
                    size,
                    old,
                    beta[beta_row],
                    topic_totals,
                    beta_sums,
                    uniform,
                )
            new = uintp(chosen)
            factor[old] = kept
            if new == old:
                continue
            moved += 1
            topics[i] = new
            seen[size_seen] = new
            size_seen += int64(doc_counts[new] == 0)
            move_in_list(list_sizes, list_topics, list_counts, word, start, size, old, new)
            for k, step in ((old, -1), (new, 1)):
                doc_counts[k] += step
                topic_totals[k] += step
                _form_factors(k, doc_alpha, doc_counts, beta_sums, topic_totals, inverse, factor)
        if with_likelihood:
            log_ratio, top, bottom = add_likelihood(
                topics, first, last, doc_alpha, alpha_sums[row], doc_counts, log_ratio, top, bottom
            )
        leave_document(doc_alpha, inverse, doc_counts, factor, seen, size_seen)
    return moved, log_ratio + math.log(top) - math.log(bottom)


@helper
def _choose_document_topic(topics, first, last, beta, inverse, old, x):
    """Return the first topic other than the old one with x < sum of beta / (beta. + n.) over tokens, or the last."""
    chosen = int64(-1)
    for i in range(first, last):
        k = uintp(topics[i])
        weight = float64(beta[k]) * inverse[k]
        if k != old and weight > 0:
            chosen = int64(k)
            if x < weight:
                break
            x -= weight
    return chosen


@helper
def _choose_smoothing_topic(alpha, beta, inverse, blocks, old, x):
    """Return the first k other than the old one with x < sum of alpha * beta / (beta. + n.) up to k.

    If there is none, it is the last topic of positive weight; -1 if no other topic has weight. `blocks` has the sums
    over BLOCK topics each, including the old topic.
    """
    n_topics = alpha.shape[0]
    block, old_block = 0, int64(old) // BLOCK
    by_old = float64(alpha[old]) * beta[old] * inverse[old]
    while block < blocks.shape[0] - 1:
        weight = blocks[block] - (by_old if block == old_block else 0.0)
        if x < weight:
            break
        x -= weight
        block += 1
    for k in range(block * BLOCK, n_topics):
        if k != old:
            weight = float64(alpha[k]) * beta[k] * inverse[k]
            if x < weight:
                return k
            x -= weight
    k = n_topics - 1
    while k >= 0 and (k == old or alpha[k] * beta[k] * inverse[k] <= 0):
        k -= 1
    return k


@helper
def _sum_smoothing(alpha, row, beta, inverse, first, last):
    """Return the sum of alpha * beta / (beta. + n.) over topics first … last - 1."""
    total = 0.0
    for k in range(first, last):
        total += float64(alpha[row, k]) * beta[k] * inverse[k]
    return total


@kernel
def sweep_shared(
    words,
    offsets,
    begins,
    ends,
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
    with_likelihood,
    seed,
):
    """Resample tokens as `sweep_by_word` does, if beta[k] is the same for all words.

    Equals reference.sweep_tokens in distribution. The part of the weights without n is kept as two sums: m beta /
    (beta. + n.) over the topics of the document, and alpha beta / (beta. + n.) over all topics, which is rarely chosen.
    """
    n_topics = topic_totals.shape[0]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    inverse = np.empty(n_topics, np.float32)  # 1 / (beta[k, .] + n[k, .])
    factor = np.empty(n_topics, np.float32)  # (alpha[d, k] + m[d, k]) * inverse[k]
    sums = np.empty(n_topics, np.float32)
    seen = make_seen(offsets)  # topics that the document has, or had
    for k in range(n_topics):
        inverse[k] = float32(1) / float32(beta_sums[k] + topic_totals[k])
    state, moved, row = seed, 0, -1
    log_ratio, top, bottom = 0.0, 1.0, 1.0  # of the likelihood
    smoothing, blocks = 0.0, np.empty((n_topics + BLOCK - 1) // BLOCK)  # of all topics, and by BLOCK topics
    for d in doc_order:
        first, last = offsets[d], offsets[d + 1]
        if begins[d] == ends[d] and not with_likelihood:
            continue
        if doc_rows[d] != row:
            row = doc_rows[d]
            for k in range(n_topics):
                factor[k] = alpha[row, k] * inverse[k]
            smoothing = 0.0
            for b in range(blocks.shape[0]):
                blocks[b] = _sum_smoothing(alpha, row, beta, inverse, b * BLOCK, min((b + 1) * BLOCK, n_topics))
                smoothing += blocks[b]
        doc_alpha = alpha[row]
        size_seen = enter_document(topics, first, last, doc_alpha, inverse, doc_counts, factor, seen)
        document = 0.0
        for j in range(size_seen):
            k = uintp(seen[j])
            document += doc_counts[k] * (float64(beta[k]) * inverse[k])
        for i in range(begins[d], ends[d]):
            old, word = uintp(topics[i]), uintp(words[i])
            start, size = list_starts[word], int64(list_sizes[word])
            prefetch_list(list_starts, list_topics, list_counts, uintp(words[uintp(min(i + AHEAD, last - 1))]))
            kept = factor[old]
            factor[old] = float32(0)
            by_list, old_count = _weigh_others(list_topics, list_counts, start, size, factor, old, sums)
            factor[old] = kept
            by_old = _weigh_old(
                doc_alpha[old],
                doc_counts[old] - 1,
                old_count - 1,
                beta[old],
                beta_sums[old],
                topic_totals[old] - 1,
            )
            each = float64(beta[old]) * inverse[old]
            by_document = max(document - doc_counts[old] * each, 0.0)
            by_smoothing = max(smoothing - doc_alpha[old] * each, 0.0)
            total = by_old + by_list + by_document + by_smoothing
            state, uniform = next_uniform(state)
            x = uniform * total - by_old
            chosen = int64(-1)
            if FAINT < total < BRIGHT:
                if x < 0:
                    continue
                if x < by_list:
                    chosen = _choose_from_list(list_topics, start, size, sums, x)
                elif x - by_list < by_document:
                    chosen = _choose_document_topic(topics, first, last, beta, inverse, old, x - by_list)
                else:
                    x -= by_list + by_document
                    chosen = _choose_smoothing_topic(doc_alpha, beta, inverse, blocks, old, x)
            if chosen < 0:
                chosen = _choose_without_float32(
                    doc_counts,
                    doc_alpha,
                    list_topics,
                    list_counts,
                    start,
                    size,
                    old,
                    beta,
                    topic_totals,
                    beta_sums,
                    uniform,
                )
            new = uintp(chosen)
            if new == old:
                continue
            moved += 1
            topics[i] = new
            seen[size_seen] = new
            size_seen += int64(doc_counts[new] == 0)
            move_in_list(list_sizes, list_topics, list_counts, word, start, size, old, new)
            for k, step in ((old, -1), (new, 1)):
                before = float64(doc_alpha[k]) * inverse[k], float64(doc_counts[k]) * inverse[k]
                doc_counts[k] += step
                topic_totals[k] += step
                _form_factors(k, doc_alpha, doc_counts, beta_sums, topic_totals, inverse, factor)
                change = float64(beta[k]) * (float64(doc_alpha[k]) * inverse[k] - before[0])
                smoothing += change
                blocks[k // uintp(BLOCK)] += change
                document += float64(beta[k]) * (float64(doc_counts[k]) * inverse[k] - before[1])
        if with_likelihood:
            log_ratio, top, bottom = add_likelihood(
                topics, first, last, doc_alpha, alpha_sums[row], doc_counts, log_ratio, top, bottom
            )
        leave_document(doc_alpha, inverse, doc_counts, factor, seen, size_seen)
    return moved, log_ratio + math.log(top) - math.log(bottom)
