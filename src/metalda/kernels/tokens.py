"""Step 1 of a sweep, a new topic for every token.

    p(z = k) ∝ (alpha[d, k] + m[d, k]) * (beta[k, v] + n[k, v]) / (beta[k, .] + n[k, .])

The weight of a topic is split, so that the cost follows the topics that a word really has:

    (alpha + m) n    / (beta. + n.)    from the list of the word, where most of the weight is
    (alpha + m) beta / (beta. + n.)    over all topics, in one vectorised product (`sweep_by_word`); or, where beta is
                                       the same for all words of a topic, as two sums that are kept up to date as
                                       tokens move (`sweep_shared`)

A token that stays where it was, as most do, changes nothing. Counts are integers, and the float32 factors are formed
from them anew, so that they do not drift; the sums that are kept are float64. Documents are visited in an order that
keeps those with the same row of alpha together, so that factors need not be formed anew for each.
"""

import math

import numpy as np
from numba import float32, float64, int32, int64, uintp

from metalda.kernels.border import helper, kernel
from metalda.kernels.choice import (
    BLOCK,
    BRIGHT,
    FAINT,
    LARGE,
    SMALL,
    choose_topic,
    choose_topic_slowly,
    next_uniform,
)
from metalda.kernels.lists import find_topic, move_in_list


@helper
def enter_document(topics, doc_alpha, inverse, doc_counts, factor, present, place):
    """Count the topics of a document; returns how many it has."""
    n_present = 0
    for i in range(topics.shape[0]):
        k = uintp(topics[i])
        if doc_counts[k] == 0:
            place[k] = n_present
            present[n_present] = k
            n_present += 1
        doc_counts[k] += 1
    for j in range(n_present):
        k = uintp(present[j])
        factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]
    return n_present


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
def _weigh_list(list_topics, list_counts, start, size, factor, old, weights):
    """weights[j] = (alpha + m) n / (beta. + n.) for the topics of a word, without the token itself.

    Returns their sum, and where the old topic stands.
    """
    total, before = float32(0), int32(0)
    for j in range(size):
        k = uintp(list_topics[uintp(start + j)])
        weight = float32(list_counts[uintp(start + j)] - (k == old)) * factor[k]  # not later: it would cancel
        weights[j] = weight
        total += weight
        before += int32(k < old)
    return total, int64(before)


@kernel
def _choose_without_float32(
    doc_counts, alpha, list_topics, list_counts, start, size, old, beta, topic_totals, beta_sums, uniform
):
    """The same choice in float64, for a token whose float32 weights vanish or overflow."""
    word_counts = np.zeros(alpha.shape[0], np.int32)
    for j in range(size):
        word_counts[list_topics[start + j]] = list_counts[start + j]
    word_counts[old] -= 1
    topic_totals[old] -= 1
    chosen = choose_topic_slowly(doc_counts, alpha, word_counts, beta, topic_totals, beta_sums, uniform)
    topic_totals[old] += 1
    return int64(chosen)


@helper
def _move_token(old, new, doc_counts, present, place, n_present, topic_totals):
    """Take a token, whose old topic does not count it any more, to a new topic; returns how many the document has."""
    topic_totals[old] -= 1
    topic_totals[new] += 1
    if doc_counts[old] == 0:
        n_present -= 1
        present[place[old]] = present[n_present]
        place[present[n_present]] = place[old]
    if doc_counts[new] == 0:
        place[new] = n_present
        present[n_present] = new
        n_present += 1
    doc_counts[new] += 1
    return n_present


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
    weights = np.empty(n_topics, np.float32)
    present = np.empty(n_topics, np.int32)  # topics of the document, in any order
    place = np.empty(n_topics, np.int32)  # where each stands there
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
        n_present = enter_document(topics[first:last], doc_alpha, inverse, doc_counts, factor, present, place)
        for i in range(begins[d], ends[d]):
            old, word = uintp(topics[i]), uintp(words[i])
            beta_row = uintp(word_rows[word])
            kept_inverse, kept_factor = inverse[old], factor[old]
            doc_counts[old] -= 1
            inverse[old] = float32(1) / float32(beta_sums[old] + (topic_totals[old] - 1))
            factor[old] = (doc_alpha[old] + float32(doc_counts[old])) * inverse[old]
            start, size = list_starts[word], int64(list_sizes[word])
            by_list, old_at = _weigh_list(list_topics, list_counts, start, size, factor, old, weights)
            by_beta = float32(0)
            for k in range(n_topics):
                by_beta += factor[k] * beta[beta_row, k]
            total = by_list + by_beta
            state, uniform = next_uniform(state)
            x = uniform * total
            chosen, new_at = int64(-1), int64(-1)
            if FAINT < total < BRIGHT:
                if x < by_list:
                    new_at = choose_topic(weights, size, float32(x))
                    chosen = int64(list_topics[uintp(start + new_at)])
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
            if new == old:
                doc_counts[old] += 1
                inverse[old], factor[old] = kept_inverse, kept_factor
                continue
            moved += 1
            topics[i] = new
            n_present = _move_token(old, new, doc_counts, present, place, n_present, topic_totals)
            if new_at < 0:
                new_at = find_topic(list_topics, start, size, new)
            move_in_list(list_sizes, list_topics, list_counts, word, start, size, old_at, new_at, new)
            inverse[new] = float32(1) / float32(beta_sums[new] + topic_totals[new])
            factor[new] = (doc_alpha[new] + float32(doc_counts[new])) * inverse[new]
        log_ratio, top, bottom = leave_document(
            topics, first, last, doc_alpha, alpha_sums[row], inverse, doc_counts, factor, log_ratio, top, bottom
        )
    return moved, log_ratio + math.log(top) - math.log(bottom)


@helper
def _choose_smoothing_topic(alpha, beta, inverse, blocks, x):
    """First k with x < sum of alpha * beta / (beta. + n.) up to it, or the last topic of positive weight.

    `blocks` has the sums over BLOCK topics each. -1 if no topic has weight, since float32 cannot hold the products.
    """
    n_topics = alpha.shape[0]
    block = 0
    while block < blocks.shape[0] - 1 and x >= blocks[block]:
        x -= blocks[block]
        block += 1
    for k in range(block * BLOCK, n_topics):
        weight = alpha[k] * beta[k] * inverse[k]
        if x < weight:
            return k
        x -= weight
    k = n_topics - 1
    while k >= 0 and alpha[k] * beta[k] * inverse[k] <= 0:
        k -= 1
    return k


@helper
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
    weights = np.empty(n_topics, np.float32)
    present = np.empty(n_topics, np.int32)  # topics of the document, in any order
    place = np.empty(n_topics, np.int32)  # where each stands there
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
                blocks[k // BLOCK] += factor[k] * beta[k]
            smoothing = blocks.sum()
        doc_alpha = alpha[row]
        n_present = enter_document(topics[first:last], doc_alpha, inverse, doc_counts, factor, present, place)
        document = 0.0
        for j in range(n_present):
            k = uintp(present[j])
            document += float32(doc_counts[k]) * inverse[k] * beta[k]
        for i in range(begins[d], ends[d]):
            old, word = uintp(topics[i]), uintp(words[i])
            old_block = old // uintp(BLOCK)
            kept = inverse[old], factor[old], smoothing, blocks[old_block], document
            doc_counts[old] -= 1
            count = float32(doc_counts[old])
            inverse[old] = float32(1) / float32(beta_sums[old] + (topic_totals[old] - 1))
            factor[old] = (doc_alpha[old] + count) * inverse[old]
            change = float64(doc_alpha[old] * beta[old] * (inverse[old] - kept[0]))
            smoothing += change
            blocks[old_block] += change
            document += beta[old] * (count * inverse[old] - (count + float32(1)) * kept[0])
            document = max(document, 0.0)
            start, size = list_starts[word], int64(list_sizes[word])
            by_list, old_at = _weigh_list(list_topics, list_counts, start, size, factor, old, weights)
            total = by_list + document + smoothing
            state, uniform = next_uniform(state)
            x = uniform * total
            chosen, new_at = int64(-1), int64(-1)
            if FAINT < total < BRIGHT:
                if x < by_list:
                    new_at = choose_topic(weights, size, float32(x))
                    chosen = int64(list_topics[uintp(start + new_at)])
                elif x - by_list < document and n_present > 0:
                    chosen = _choose_document_topic(present, n_present, doc_counts, beta, inverse, x - by_list)
                else:
                    chosen = _choose_smoothing_topic(doc_alpha, beta, inverse, blocks, x - by_list - document)
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
                doc_counts[old] += 1
                inverse[old], factor[old], smoothing, blocks[old_block], document = kept
                continue
            moved += 1
            topics[i] = new
            n_present = _move_token(old, new, doc_counts, present, place, n_present, topic_totals)
            if new_at < 0:
                new_at = find_topic(list_topics, start, size, new)
            move_in_list(list_sizes, list_topics, list_counts, word, start, size, old_at, new_at, new)
            before, count = inverse[new], float32(doc_counts[new])
            inverse[new] = float32(1) / float32(beta_sums[new] + topic_totals[new])
            factor[new] = (doc_alpha[new] + count) * inverse[new]
            change = float64(doc_alpha[new] * beta[new] * (inverse[new] - before))
            smoothing += change
            blocks[new // uintp(BLOCK)] += change
            document += beta[new] * (count * inverse[new] - (count - float32(1)) * before)
        log_ratio, top, bottom = leave_document(
            topics, first, last, doc_alpha, alpha_sums[row], inverse, doc_counts, factor, log_ratio, top, bottom
        )
    return moved, log_ratio + math.log(top) - math.log(bottom)
