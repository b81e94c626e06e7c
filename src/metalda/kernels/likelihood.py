"""The likelihood of a state, log p(w, z | alpha, beta): two Dirichlet-multinomials, theta and phi summed out.

Γ(a.) / Γ(a. + c.)  *  prod_k Γ(a[k] + c[k]) / Γ(a[k])
"""

import math

import numpy as np

from metalda.kernels.border import kernel

FEW = 24  # up to so many factors are multiplied one by one; beyond, it is a difference of log-gammas
MODERATE = 1e4  # above this, a difference of log-gammas would lose digits, and a product of FEW might overflow
LARGE, SMALL = 1e200, 1e-200


@kernel
def _log_rising(concentration, count):
    """log Γ(a + c) / Γ(a)"""
    if concentration < MODERATE:
        return math.lgamma(concentration + count) - math.lgamma(concentration)
    total = 0.0
    for j in range(count):
        total += math.log(concentration + j)
    return total


@kernel
def _multiply_rising(log_product, product, concentration, count):
    """exp(log_product) * product, times Γ(a + c) / Γ(a); a logarithm is taken only when the product gets extreme."""
    if count > FEW or concentration > MODERATE:
        return log_product + _log_rising(concentration, count), product
    for j in range(count):
        product *= concentration + j
    if product > LARGE or product < SMALL:
        return log_product + math.log(product), 1.0
    return log_product, product


@kernel
def document_log_likelihood(offsets, doc_rows, topics, alpha, alpha_sums):
    """log p(z | alpha); equals reference.document_log_likelihood."""
    n_topics = alpha.shape[1]
    doc_counts = np.zeros(n_topics, np.int64)
    log_product, product = 0.0, 1.0
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        row = doc_rows[d]
        log_product -= _log_rising(alpha_sums[row], last - first)
        for i in range(first, last):
            doc_counts[topics[i]] += 1
        for i in range(first, last):
            k = topics[i]
            if doc_counts[k] > 0:
                log_product, product = _multiply_rising(log_product, product, float(alpha[row, k]), doc_counts[k])
                doc_counts[k] = 0
    return log_product + math.log(product)


@kernel
def word_log_likelihood(word_topic_counts, topic_totals, word_rows, beta, beta_sums):
    """log p(w | z, beta); equals reference.word_log_likelihood."""
    n_words, n_topics = word_topic_counts.shape
    log_product, product = 0.0, 1.0
    for k in range(n_topics):
        log_product -= _log_rising(beta_sums[k], topic_totals[k])
    for v in range(n_words):
        row = word_rows[v]
        for k in range(n_topics):
            count = word_topic_counts[v, k]
            if count > 0:
                log_product, product = _multiply_rising(log_product, product, float(beta[row, k]), np.int64(count))
    return log_product + math.log(product)
