"""What a regression needs of the Dirichlet-multinomial: log Γ(a + c) / Γ(a), and its derivative."""

import math

import numpy as np
from numba import float64

from metalda.kernels.border import helper, kernel
from metalda.kernels.choice import log_rising

FEW = 12  # up to so many factors are multiplied one by one


@helper
def _digamma(x):
    """ψ(x) for x > 0: shifted to where the asymptotic series is exact."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (5 / 660 - y * (691 / 32760))))))
    return shift + math.log(x) - 0.5 / x - series


@kernel
def add_rising(concentration, rows, columns, counts, times, gradient):
    """The sum of times * log Γ(a + c) / Γ(a) over entries, with a = concentration[row, column].

    Its derivative by a is added to `gradient`.
    """
    total = 0.0
    for i in range(rows.shape[0]):
        r, k, count, weight = rows[i], columns[i], counts[i], times[i]
        a = concentration[r, k]
        if count <= FEW:
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
    """m[d, k] > 0 of all documents: fills the row of the document, the topic and the count; returns how many."""
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
