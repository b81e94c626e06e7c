"""The counts n[k, v] as lists: for every word its topics, in ascending order, and their counts.

The lists are sorted, so that every choice made from them depends only on the counts, not on the order of moves.
Word v has list_sizes[v] entries from list_starts[v] on, and capacity for all topics that it can have.
"""

import math

import numpy as np
from numpy import float64, int32, int64, uintp

from metalda.kernels.border import helper, kernel, prefetch
from metalda.kernels.helpers import draw_minus_log_beta, draw_tables, log_rising, multiply_rising


@helper
def move_in_list(list_sizes, list_topics, list_counts, word, start, size, old, new):
    """Move 1 from the count of `old` to that of `new` in the list of a word.

    A topic whose count reaches 0 leaves the list, and a new topic is inserted in order; the topics between them shift.
    """
    old_at, new_at = int32(0), int32(0)
    for j in range(size):  # without an early exit, which would be mispredicted
        k = list_topics[uintp(start + j)]
        old_at += int32(k < old)
        new_at += int32(k < new)
    at = start + old_at
    to = start + new_at
    end = start + size
    known = to < end and list_topics[uintp(to)] == new
    list_counts[uintp(at)] -= 1
    stays = list_counts[uintp(at)] > 0
    if known:
        list_counts[uintp(to)] += 1
        if stays:
            return
        list_sizes[word] = size - 1
        to = end - 1  # the last place becomes free
    elif stays:
        list_sizes[word] = size + 1
        at = end  # a place is added
    elif at < to:
        to -= 1
    for j in range(at, to):
        list_topics[uintp(j)] = list_topics[uintp(j + 1)]
        list_counts[uintp(j)] = list_counts[uintp(j + 1)]
    for j in range(at, to, -1):
        list_topics[uintp(j)] = list_topics[uintp(j - 1)]
        list_counts[uintp(j)] = list_counts[uintp(j - 1)]
    if not known:
        list_topics[uintp(to)] = new
        list_counts[uintp(to)] = 1


@helper
def prefetch_list(list_starts, list_topics, list_counts, word):
    """Prefetch the start of the list of a word."""
    at = uintp(list_starts[word])
    prefetch(list_topics, at)
    prefetch(list_counts, at)


@kernel
def copy_counts(list_starts, sizes, topics, counts, totals, to_sizes, to_topics, to_counts, to_totals):
    """Copy the used part of every list, and the totals."""
    to_totals[:] = totals
    for v in range(sizes.shape[0]):
        to_sizes[v] = sizes[v]
        for i in range(list_starts[v], list_starts[v] + sizes[v]):
            to_topics[i] = topics[i]
            to_counts[i] = counts[i]


@helper
def _head(list_topics, at, end):
    """Return the next topic of a list, or a number beyond all topics."""
    return int64(list_topics[uintp(at)]) if at < end else int64(1 << 62)


@kernel
def add_changes(
    list_starts,
    old_sizes,
    old_topics,
    old_counts,
    old_totals,
    new_sizes,
    new_topics,
    new_counts,
    new_totals,
    sum_sizes,
    sum_topics,
    sum_counts,
    sum_totals,
):
    """Compute sum += new - old in one pass through the three lists of every word.

    Equals counting from scratch: the changes of all shards, added to the old counts, are the counts of all new topics.
    """
    n_topics = sum_totals.shape[0]
    topics, counts = np.empty(n_topics, sum_topics.dtype), np.empty(n_topics, sum_counts.dtype)
    for k in range(n_topics):
        sum_totals[k] += new_totals[k] - old_totals[k]
    for v in range(old_sizes.shape[0]):
        start = list_starts[v]
        at_old, at_new, at_sum = start, start, start
        old_end, new_end, sum_end = start + old_sizes[v], start + new_sizes[v], start + sum_sizes[v]
        size = 0
        while True:
            old = _head(old_topics, at_old, old_end)
            new = _head(new_topics, at_new, new_end)
            summed = _head(sum_topics, at_sum, sum_end)
            k = min(old, new, summed)
            if k >= n_topics:
                break
            count = int64(0)
            if old == k:
                count -= old_counts[uintp(at_old)]
                at_old += 1
            if new == k:
                count += new_counts[uintp(at_new)]
                at_new += 1
            if summed == k:
                count += sum_counts[uintp(at_sum)]
                at_sum += 1
            if count > 0:
                topics[size] = k
                counts[size] = count
                size += 1
        sum_sizes[v] = size
        for j in range(size):
            sum_topics[start + j] = topics[j]
            sum_counts[start + j] = counts[j]


@kernel
def word_tables(
    list_starts,
    list_sizes,
    list_topics,
    list_counts,
    topic_totals,
    word_rows,
    beta,
    beta_sums,
    row_starts,
    row_labels,
    row_values,
    label_tables,
    minus_log_q,
    first,
    last,
    rng,
):
    """Step 4: draw q'[k] ~ Beta(beta[k, .], n[k, .]) and t'[k, v] ~ CRP(beta[k, v], n[k, v]), k = first … last - 1.

    Adds t' times the value of the feature to `label_tables`, by feature and topic, and fills -log q' by topic; both are
    0 for an empty topic. The draws equal reference.draw_minus_log_beta and reference.draw_tables in distribution.
    """
    for k in range(first, last):
        minus_log_q[k] = 0.0
        if topic_totals[k] > 0:
            minus_log_q[k] = draw_minus_log_beta(beta_sums[k], float64(topic_totals[k]), rng)
    for v in range(list_sizes.shape[0]):
        row = uintp(word_rows[v])
        for i in range(list_starts[v], list_starts[v] + list_sizes[v]):
            k = int64(list_topics[i])
            if first <= k < last:
                tables = draw_tables(float64(beta[row, k]), int64(list_counts[i]), rng)
                for j in range(row_starts[row], row_starts[row + 1]):
                    label_tables[uintp(row_labels[j]), k] += tables * row_values[j]


@kernel
def word_log_likelihood(list_starts, list_sizes, list_topics, list_counts, word_rows, beta, first, last):
    """Return log prod Γ(beta[k, v] + n[k, v]) / Γ(beta[k, v]) over words first … last - 1.

    Minus `totals_log_likelihood` it equals reference.dirichlet_multinomial, summed over topics.
    """
    log_product, product = 0.0, 1.0
    for v in range(first, last):
        row = uintp(word_rows[v])
        for i in range(list_starts[v], list_starts[v] + list_sizes[v]):
            concentration = float64(beta[row, uintp(list_topics[i])])
            log_product, product = multiply_rising(log_product, product, concentration, int64(list_counts[i]))
    return log_product + math.log(product)


@kernel
def totals_log_likelihood(topic_totals, beta_sums):
    """Return log prod Γ(beta[k, .] + n[k, .]) / Γ(beta[k, .]) over topics."""
    total = 0.0
    for k in range(topic_totals.shape[0]):
        total += log_rising(beta_sums[k], topic_totals[k])
    return total
