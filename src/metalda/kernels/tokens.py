"""Step 1 of a sweep, a new topic for every token.

    p(z = k) ∝ (alpha[d, k] + m[d, k]) * (beta[k, v] + n[k, v]) / (beta[k, .] + n[k, .])

Most tokens stay where they were. So the weight of the old topic comes first, and a token that stays changes nothing.
The weight of the others is split, so that the cost follows the topics that a word really has:

    (alpha + m) n    / (beta. + n.)    from the list of the word, where most of the weight is
    (alpha + m) beta / (beta. + n.)    over all topics, in one vectorised product (`sweep_by_word`); or, where beta is
                                       the same for all words of a topic, as two sums that are kept up to date as
                                       tokens move (`sweep_shared`)

Lists are short, and what costs is a branch that cannot be foreseen: a place is found by counting all sums that are
too small, not by a search that stops. Counts are integers, and the float32 factors are formed from them anew, so that
they do not drift; the sums that are kept are float64. Documents are visited in an order that keeps those with the same
row of alpha together, so that factors need not be formed anew for each.
"""

import math

import numpy as np
from numba import float32, float64, int32, int64, uintp

from metalda.kernels.border import helper, kernel
from metalda.kernels.choice import BLOCK, BRIGHT, FAINT, LARGE, SMALL, choose_topic_slowly, next_uniform
from metalda.kernels.lists import move_in_list


@helper
def enter_document(topics, first, last, doc_alpha, inverse, doc_counts, factor):
    """Count the topics of a document, and form their factors."""
    for i in range(first, last):
        doc_counts[uintp(topics[i])] += 1
    for i in range(first, last):
        k = uintp(topics[i])
        factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]


@helper
def leave_document(topics, first, last, doc_alpha, alpha_sum, inverse, doc_counts, factor, log_ratio, top, bottom):
    """Forget the topics of a document, and bring log p(z | alpha) = log_ratio + log(top / bottom) up to date.

    Token by token this is a product of (alpha[k] + those of topic k before it) / (alpha. + those before it).
    """
    for i in range(first, last):
        k = uintp(topics[i])
        doc_counts[k] -= 1
        top *= doc_alpha[k] + doc_counts[k]
        bottom *= alpha_sum + (i - first)
        factor[k] = doc_alpha[k] * inverse[k]
        if not (SMALL < top < LARGE and SMALL < bottom < LARGE):
            log_ratio += math.log(top) - math.log(bottom)
            top, bottom = 1.0, 1.0
    return log_ratio, top, bottom


@helper
def _weigh_others(list_topics, list_counts, start, size, factor, old, sums):
    """sums[j], of (alpha + m) n / (beta. + n.) over the topics of a word up to the j-th, where factor[old] is 0.

    Returns the last of them, and n of the old topic.
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
    """The topic at the first of the sums that is above x; its weight is never 0."""
    at = int32(0)
    for j in range(size):
        at += int32(sums[j] <= x)
    return int64(list_topics[uintp(start + at)])


@helper
def _weigh_old(alpha, doc_count, word_count, beta, beta_sum, topic_total):
    """(alpha + m) (beta + n) / (beta. + n.) by counts without the token. Its factor vanishes where others' do."""
    factor = float32(float64(alpha + float32(doc_count)) / (beta_sum + topic_total))
    return factor * (beta + float32(word_count))


@kernel
def _choose_without_float32(
    doc_counts, alpha, list_topics, list_counts, start, size, old, beta, topic_totals, beta_sums, uniform
):
    """The same choice in float64, for a token whose float32 weights vanish or overflow."""
    word_counts = np.zeros(alpha.shape[0], np.int32)
    for j in range(size):
        word_counts[list_topics[start + j]] = list_counts[start + j]
    for counts in (doc_counts, word_counts):
        counts[old] -= 1
    topic_totals[old] -= 1
    chosen = choose_topic_slowly(doc_counts, alpha, word_counts, beta, topic_totals, beta_sums, uniform)
    doc_counts[old] += 1
    topic_totals[old] += 1
    return int64(chosen)


@helper
def _form_factors(k, doc_alpha, doc_counts, beta_sums, topic_totals, inverse, factor):
    """The factors of a topic whose counts have changed."""
    inverse[k] = float32(1) / float32(beta_sums[k] + topic_totals[k])
    factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]


@helper
def _choose_by_word(factor, beta, x):
    """First k with x < sum of factor * beta up to it, or the last of positive weight; -1 if float32 knows of none."""
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
    seed,
):
    """Resample tokens begins[d] … ends[d] - 1 of every document, where beta may differ by word.

    Equals reference.sweep_tokens in distribution. Returns how many tokens moved, and log p(z | alpha).
    """
    n_topics = topic_totals.shape[0]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    inverse = np.empty(n_topics, np.float32)  # 1 / (beta[k, .] + n[k, .])
    factor = np.empty(n_topics, np.float32)  # (alpha[d, k] + m[d, k]) * inverse[k]
    sums = np.empty(n_topics, np.float32)
    for k in range(n_topics):
        inverse[k] = float32(1) / float32(beta_sums[k] + topic_totals[k])
    state, moved, row = seed, 0, -1
    log_ratio, top, bottom = 0.0, 1.0, 1.0  # of the likelihood
    for d in doc_order:
        first, last = offsets[d], offsets[d + 1]
        if doc_rows[d] != row:
            row = doc_rows[d]
            for k in range(n_topics):
                factor[k] = alpha[row, k] * inverse[k]
        doc_alpha = alpha[row]
        enter_document(topics, first, last, doc_alpha, inverse, doc_counts, factor)
        for i in range(begins[d], ends[d]):
            old, word = uintp(topics[i]), uintp(words[i])
            beta_row = uintp(word_rows[word])
            start, size = list_starts[word], int64(list_sizes[word])
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
            move_in_list(list_sizes, list_topics, list_counts, word, start, size, old, new)
            for k, step in ((old, -1), (new, 1)):
                doc_counts[k] += step
                topic_totals[k] += step
                _form_factors(k, doc_alpha, doc_counts, beta_sums, topic_totals, inverse, factor)
        log_ratio, top, bottom = leave_document(
            topics, first, last, doc_alpha, alpha_sums[row], inverse, doc_counts, factor, log_ratio, top, bottom
        )
    return moved, log_ratio + math.log(top) - math.log(bottom)


@helper
def _choose_document_topic(topics, first, last, beta, inverse, old, x):
    """The first topic but the old one with x < sum of beta / (beta. + n.) over the tokens up to it, or the last."""
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
    """The first k but the old one with x < sum of alpha * beta / (beta. + n.) up to it, or the last of positive weight.

    `blocks` has the sums over BLOCK topics each, and the old topic's share. -1 if no other topic has weight.
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
    seed,
):
    """The same where beta[k] is the same for all words; equal to `sweep_by_word` in distribution.

    The part without n is kept as two sums: over the topics of the document, m beta / (beta. + n.), and over all topics,
    alpha beta / (beta. + n.), which is rarely chosen from.
    """
    n_topics = topic_totals.shape[0]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    inverse = np.empty(n_topics, np.float32)  # 1 / (beta[k, .] + n[k, .])
    factor = np.empty(n_topics, np.float32)  # (alpha[d, k] + m[d, k]) * inverse[k]
    sums = np.empty(n_topics, np.float32)
    for k in range(n_topics):
        inverse[k] = float32(1) / float32(beta_sums[k] + topic_totals[k])
    state, moved, row = seed, 0, -1
    log_ratio, top, bottom = 0.0, 1.0, 1.0  # of the likelihood
    smoothing, blocks = 0.0, np.empty((n_topics + BLOCK - 1) // BLOCK, np.float64)  # in all, and by BLOCK topics
    for d in doc_order:
        first, last = offsets[d], offsets[d + 1]
        if doc_rows[d] != row:
            row = doc_rows[d]
            blocks[:] = 0.0
            for k in range(n_topics):
                factor[k] = alpha[row, k] * inverse[k]
                blocks[k // BLOCK] += float64(alpha[row, k]) * beta[k] * inverse[k]
            smoothing = blocks.sum()
        doc_alpha = alpha[row]
        enter_document(topics, first, last, doc_alpha, inverse, doc_counts, factor)
        document = 0.0
        for i in range(first, last):
            document += float64(beta[uintp(topics[i])]) * inverse[uintp(topics[i])]
        for i in range(begins[d], ends[d]):
            old, word = uintp(topics[i]), uintp(words[i])
            start, size = list_starts[word], int64(list_sizes[word])
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
        log_ratio, top, bottom = leave_document(
            topics, first, last, doc_alpha, alpha_sums[row], inverse, doc_counts, factor, log_ratio, top, bottom
        )
    return moved, log_ratio + math.log(top) - math.log(bottom)
