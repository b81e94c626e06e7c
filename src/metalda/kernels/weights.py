"""Learn the weights of labels and features: data augmentation (steps 2 to 4 of a sweep), and sums for a regression.

A Dirichlet-multinomial with parameters a[k] and counts c[k] has probability

    Γ(a.) / Γ(a. + c.)  *  prod_k Γ(a[k] + c[k]) / Γ(a[k])

Augmentation draws q ~ Beta(a., c.) for the first ratio and tables t[k] ~ CRP(a[k], c[k]) for the second. Given both,
every weight (lambda, delta) has a gamma conditional if its prior is gamma. If the logarithm of the weight has a normal
prior, its conditional is log-concave. A regression (DMR, WF-LDA) needs the logarithm of the second ratio
and its derivative instead (`add_rising`).

A *row* is a set of labels (or features) that documents (or words) share. The weights of one topic do not depend on
those of another. So topics are processed in blocks, and the rows of a block stay in the cache while labels are drawn
one after the other.
"""

import math

import numpy as np
from numpy import float32, float64, int64, uintp

from metalda.kernels.border import LANES, add, fill, helper, kernel, load, multiply, store
from metalda.kernels.helpers import (
    draw_log_gamma,
    draw_minus_log_beta,
    draw_poisson_normal,
    draw_tables,
    log_rising,
)

WIDEST = 64  # largest number of topics whose random numbers are drawn together
# An update clips weights in float32 to these bounds, so that "the product without label l" is a division. The error,
# 1e-15 times a scale, is negligible compared with the rate of the prior. If a scale is large enough for it to matter
# (Dirichlet parameters close to 0), sums are computed from logarithms instead.
LOWEST, HIGHEST = -34.0, 34.0  # exp: 1.7e-15 … 5.8e14
LARGEST_SCALE = 1e6
FLOOR, CEILING = float32(1e-38), float32(1e30)  # of the float32 copy that the token kernels read
FEW_FACTORS = 12  # largest number of factors of a rising factorial that are multiplied one by one


@helper
def _draw_minus_log_q(offsets, doc_rows, alpha_sums, rng):
    """Draw -log q for q ~ Beta(alpha., N), summed over the documents of each row.

    q is a product of N variables Beta(alpha. + i, 1), so -log q is a sum of exponential variables with rates
    alpha. + i, and the sum over documents is one of gamma variables: the i-th has as its shape the number of documents
    longer than i. Rows with at most half as many documents as tokens in their longest one draw q for each document.
    """
    n_rows, n_documents = alpha_sums.shape[0], offsets.shape[0] - 1
    sizes, longest = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    for d in range(n_documents):
        length = offsets[d + 1] - offsets[d]
        sizes[doc_rows[d]] += int64(length > 0)
        longest[doc_rows[d]] = max(longest[doc_rows[d]], length)
    starts = np.zeros(n_rows + 1, np.int64)
    for row in range(n_rows):
        starts[row + 1] = starts[row] + (longest[row] if longest[row] < 2 * sizes[row] else 0)
    lengths = np.zeros(starts[n_rows], np.int64)  # documents of the row with i + 1 tokens
    minus_log_q = np.zeros(n_rows)
    for d in range(n_documents):
        row, length = doc_rows[d], offsets[d + 1] - offsets[d]
        if length == 0:
            continue
        if starts[row + 1] > starts[row]:
            lengths[starts[row] + length - 1] += 1
        else:
            minus_log_q[row] += draw_minus_log_beta(alpha_sums[row], float(length), rng)
    for row in range(n_rows):
        longer, total = int64(0), 0.0
        for i in range(starts[row + 1] - starts[row] - 1, -1, -1):
            longer += lengths[starts[row] + i]
            total += rng.standard_gamma(float(longer)) / (alpha_sums[row] + i)
        minus_log_q[row] += total
    return minus_log_q


@kernel
def document_tables(offsets, doc_rows, topics, alpha, alpha_sums, row_starts, row_labels, row_values, n_labels, rng):
    """Step 2: draw q[d] ~ Beta(alpha[d, .], N[d]) and t[d, k] ~ CRP(alpha[d, k], m[d, k]).

    Returns the sum of t times the value of the label by label and topic, and the sum of -log q by row. Empty documents
    have no effect. The draws equal reference.draw_minus_log_beta and reference.draw_tables in distribution.
    """
    n_topics = alpha.shape[1]
    label_tables = np.zeros((n_labels, n_topics), np.float64)
    minus_log_q = _draw_minus_log_q(offsets, doc_rows, alpha_sums, rng)
    doc_counts = np.zeros(n_topics, np.int64)
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        if first == last:
            continue
        row = doc_rows[d]
        for i in range(first, last):
            doc_counts[topics[i]] += 1
        for i in range(first, last):
            k = topics[i]
            if doc_counts[k] > 0:
                tables = draw_tables(float(alpha[row, k]), doc_counts[k], rng)
                doc_counts[k] = 0
                for j in range(row_starts[row], row_starts[row + 1]):
                    label_tables[row_labels[j], k] += tables * row_values[j]
    return label_tables, minus_log_q


@helper
def _bounded_exp(x):
    return math.exp(min(max(x, LOWEST), HIGHEST))


@kernel
def _sum_without_label(label, k, log_weights, row_scales, row_starts, row_labels, label_starts, label_rows):
    """Return sum_{rows r with label} scale[r] * prod_{other labels of r} w: slow, but exact for weights of any size."""
    total = 0.0
    for j in range(label_starts[label], label_starts[label + 1]):
        row = label_rows[j]
        log_product = -log_weights[label, k]
        for i in range(row_starts[row], row_starts[row + 1]):
            log_product += log_weights[row_labels[i], k]
        total += row_scales[row] * math.exp(min(log_product, 700.0))
    return total


@helper
def _sum_rows(values, rows, sums):
    """Sum these rows: in float32 over 256 at a time, in float64 over all."""
    part = np.empty((1, LANES), np.float32)
    sums[:] = 0.0
    j, n_rows = 0, len(rows)
    while j < n_rows:
        stop = min(j + 256, n_rows)
        few = fill(float32(0))
        while j + 4 <= stop:
            pair = add(load(values, uintp(rows[j])), load(values, uintp(rows[j + 1])))
            other = add(load(values, uintp(rows[j + 2])), load(values, uintp(rows[j + 3])))
            few = add(few, add(pair, other))
            j += 4
        while j < stop:
            few = add(few, load(values, uintp(rows[j])))
            j += 1
        store(part, uintp(0), few)
        for k in range(LANES):
            sums[k] += part[0, k]


@kernel
def draw_weights(
    log_weights,
    label_tables,
    row_scales,
    topic_scales,
    row_starts,
    row_labels,
    label_starts,
    label_rows,
    products,
    products_hold,
    shapes,
    rates,
    own_topics,
    precisions,
    first,
    last,
    rng,
):
    """Steps 3 and 4: draw the weights of topics first … last - 1, label after label; equals reference.draw_weights.

        w[l, k] ~ Gamma(shapes[l] + sum t,  rate = rates[l] + sum_{rows r with l} (value[r, k] / w[l, k]) * scale)

    where the scale is row_scales[r] * topic_scales[k]: the sum of -log q over the documents of the row, or the number
    of words in the row times -log q'[k]. A label with a precision above 0 has a normal prior on log w instead, with
    this precision and mean 0. A label with own_topics[l] >= 0 has a weight in this topic only; its weights in all other
    topics stay as they are. Changes log_weights. `products` are the products of the current weights by row and topic;
    they are recomputed unless `products_hold`.
    """
    n_labels, n_rows = log_weights.shape[0], row_starts.shape[0] - 1
    n_blocks = max(1, (last - first + WIDEST - 1) // WIDEST)
    size = ((last - first + n_blocks - 1) // n_blocks + 7) // 8 * 8  # of a block
    log_gammas = np.empty((n_labels, size))
    values = np.zeros((n_rows, LANES), np.float32)  # scale[r] * prod of the weights of row r
    weights = np.ones((n_labels, LANES), np.float32)
    sums = np.empty(LANES)
    change = np.empty((1, LANES), np.float32)
    largest_scale = row_scales.max()
    for block in range(first, last, size):
        end = min(block + size, last)
        for label in range(n_labels):
            if precisions[label] > 0.0:
                continue
            for k in range(block, end):
                if own_topics[label] < 0 or own_topics[label] == k:
                    log_gammas[label, k - block] = draw_log_gamma(shapes[label] + label_tables[label, k], rng)
        for start in range(block, end, LANES):
            width = min(LANES, end - start)
            for label in range(n_labels):
                for k in range(width):
                    weights[label, k] = float32(_bounded_exp(log_weights[label, start + k]))
            for r in range(n_rows):
                scale = float32(row_scales[r])
                if products_hold:
                    for k in range(width):
                        values[r, k] = scale * products[r, start + k]
                    continue
                value = fill(scale)
                for j in range(row_starts[r], row_starts[r + 1]):
                    value = multiply(value, load(weights, uintp(row_labels[j])))
                store(values, uintp(r), value)
            for label in range(n_labels):
                own = own_topics[label]
                if own >= 0 and not start <= own < start + width:
                    continue
                rows = label_rows[label_starts[label] : label_starts[label + 1]]
                _sum_rows(values, rows, sums)
                change[:] = float32(1)
                for k in range(width):
                    if own >= 0 and own != start + k:
                        continue
                    log_old = log_weights[label, start + k]
                    total = sums[k] / weights[label, k]
                    wild = largest_scale * topic_scales[start + k] > LARGEST_SCALE or log_old > HIGHEST
                    if wild or not total < math.inf:
                        total = _sum_without_label(
                            label, start + k, log_weights, row_scales, row_starts, row_labels, label_starts, label_rows
                        )
                    exposure = topic_scales[start + k] * total
                    if precisions[label] > 0.0:
                        log_exposure = math.log(exposure) if exposure > 0.0 else -math.inf
                        tables = label_tables[label, start + k]
                        log_new = draw_poisson_normal(tables, log_exposure, precisions[label], rng)
                    else:
                        log_new = log_gammas[label, start - block + k] - math.log(rates[label] + exposure)
                    log_weights[label, start + k] = log_new
                    new = float32(_bounded_exp(log_new))
                    change[0, k] = new / weights[label, k]
                    weights[label, k] = new
                factor = load(change, uintp(0))
                for r in rows:
                    store(values, uintp(r), multiply(load(values, uintp(r)), factor))


@kernel
def _multiply_row_slowly(log_weights, labels, first, size, values, sums):
    """Fill one row of `multiply_weights` from logarithms, for products outside the range of float32; return its sum."""
    total = 0.0
    for k in range(len(sums)):
        log_product = 0.0
        for label in labels:
            log_product += log_weights[label, first + k]
        product = math.exp(min(log_product, 230.0))
        total += product
        sums[k] += size * product
        values[first + k] = min(max(float32(product), FLOOR), CEILING)
    return max(total, 1e-300)


@helper
def _sum_topic_slowly(log_weights, row_starts, row_labels, row_sizes, k):
    """Return sum_r size * prod_{l in r} w[l, k] from logarithms, for products outside the range of float32."""
    total = 1e-300
    for r in range(row_starts.shape[0] - 1):
        log_product = 0.0
        for j in range(row_starts[r], row_starts[r + 1]):
            log_product += log_weights[row_labels[j], k]
        total += row_sizes[r] * math.exp(min(log_product, 230.0))
    return total


@kernel
def multiply_weights(log_weights, row_starts, row_labels, row_sizes, first, last, values, row_sums, topic_sums):
    """Compute value[r, k] = prod_{l in r} w[l, k] for topics first … last - 1; equals reference.multiply_weights.

    Fills the float32 array `values`, topic_sums[k] = sum_r size * value, and row_sums[r], the sum of value over these
    topics. Products are computed in float32. The error is negligible relative to the largest value of the row and to
    the sum of the topic. If these are too small themselves, logarithms are used.
    """
    n_topics = last - first
    weights = np.empty((log_weights.shape[0], n_topics), np.float32)
    for label in range(log_weights.shape[0]):
        for k in range(n_topics):
            weights[label, k] = float32(math.exp(min(max(log_weights[label, first + k], -80.0), 80.0)))
    product = np.empty(n_topics, np.float32)
    sums = np.zeros(n_topics)
    for r in range(row_starts.shape[0] - 1):
        product[:] = float32(1)
        for j in range(row_starts[r], row_starts[r + 1]):
            label = uintp(row_labels[j])
            for k in range(n_topics):
                product[k] *= weights[label, k]
        size = row_sizes[r]
        row_sum = 0.0
        for k in range(n_topics):
            row_sum += product[k]
        if not 1e-10 < row_sum < 1e30:
            labels = row_labels[row_starts[r] : row_starts[r + 1]]
            row_sums[r] = _multiply_row_slowly(log_weights, labels, first, size, values[r], sums)
            continue
        row_sums[r] = row_sum
        for k in range(n_topics):
            sums[k] += size * product[k]
            values[r, first + k] = max(product[k], FLOOR)
    for k in range(n_topics):
        if not sums[k] > 1e-10:
            sums[k] = _sum_topic_slowly(log_weights, row_starts, row_labels, row_sizes, first + k)
        topic_sums[first + k] = sums[k]


@helper
def _digamma(x):
    """Return ψ(x) for x > 0, shifted until the asymptotic series is exact; equals scipy.special.digamma."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (5 / 660 - y * (691 / 32760))))))
    return shift + math.log(x) - 0.5 / x - series


@kernel
def add_rising(concentration, rows, columns, counts, times, gradient):
    """Return the sum of times * log Γ(a + c) / Γ(a) over entries, with a = concentration[row, column].

    Adds its derivative with respect to a to `gradient`. Equals reference.add_rising.
    """
    total = 0.0
    for i in range(rows.shape[0]):
        r, k, count, weight = rows[i], columns[i], counts[i], times[i]
        a = concentration[r, k]
        if count <= FEW_FACTORS:
            product, slope = 1.0, 0.0
            for j in range(count):
                product *= a + j
                slope += 1.0 / (a + j)
            total += weight * math.log(product)
        else:
            total += weight * log_rising(a, count)
            slope = _digamma(a + float64(count)) - _digamma(a)
        gradient[r, k] += weight * slope
    return total


@kernel
def count_topics(offsets, doc_rows, topics, n_topics, rows, columns, counts):
    """List the m[d, k] > 0: fill the row of the document, the topic and the count; return how many there are.

    Equals reference.count_topics.
    """
    doc_counts = np.zeros(n_topics, np.int64)
    size = 0
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            doc_counts[topics[i]] += 1
        for i in range(offsets[d], offsets[d + 1]):
            k = topics[i]
            if doc_counts[k] > 0:
                rows[size] = doc_rows[d]
                columns[size] = k
                counts[size] = doc_counts[k]
                doc_counts[k] = 0
                size += 1
    return size
