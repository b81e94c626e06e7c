"""Choosing a topic, and the small functions that several kernels call."""

import math

import numpy as np
from numba import float32, float64, uint64

from metalda.kernels.border import helper, kernel

BLOCK = 32  # topics whose weights are summed at a time while searching
FAINT, BRIGHT = float32(1e-25), float32(1e30)  # beyond these a float32 sum has lost digits, or all of them
FEW, MODERATE = 24, 1e4  # so many factors of such a size are multiplied one by one; beyond, log-gammas are used
LARGE, SMALL = 1e150, 1e-150


@helper
def stir(state):
    """The output of splitmix64 for a state."""
    x = uint64(state + uint64(0x9E3779B97F4A7C15))
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@helper
def next_uniform(state):
    """One step of splitmix64: the new state and a uniform in [0, 1)."""
    bits = stir(state)
    return uint64(state + uint64(0x9E3779B97F4A7C15)), float64(bits >> uint64(11)) * 2.0**-53


@helper
def choose_topic(weights, n_topics, x):
    """First k with x < weights[0] + … + weights[k]; equals reference.choose_topic.

    Rounding may carry x past the end: then it is the last topic of positive weight. A weight of 0 is never chosen.
    """
    k = 0
    while k + BLOCK < n_topics:
        block = weights[k] * 0
        for j in range(k, k + BLOCK):
            block += weights[j]
        if x < block:
            break
        x -= block
        k += BLOCK
    while k < n_topics:
        if x < weights[k]:
            return k
        x -= weights[k]
        k += 1
    k = n_topics - 1
    while k > 0 and weights[k] <= 0:
        k -= 1
    return k


@kernel
def choose_topic_slowly(doc_counts, alpha, word_counts, beta, topic_totals, beta_sums, uniform):
    """The same conditional in float64, for a token whose float32 weights vanish or overflow."""
    n_topics = alpha.shape[0]
    weights = np.empty(n_topics, np.float64)
    total = 0.0
    for k in range(n_topics):
        weights[k] = (
            (float64(alpha[k]) + doc_counts[k]) * (float64(beta[k]) + word_counts[k]) / (beta_sums[k] + topic_totals[k])
        )
        total += weights[k]
    return choose_topic(weights, n_topics, uniform * total)


@helper
def multiply_rising(log_product, product, concentration, count):
    """exp(log_product) * product, times Γ(a + c) / Γ(a); a logarithm is taken only when the product gets extreme."""
    if count > FEW or concentration > MODERATE:
        return log_product + log_rising(concentration, count), product
    for j in range(count):
        product *= concentration + j
    if product > LARGE or product < SMALL:
        return log_product + math.log(product), 1.0
    return log_product, product


@helper
def log_rising(concentration, count):
    """log Γ(a + c) / Γ(a)"""
    if concentration < 1e9:  # beyond, the difference would have lost its digits
        return math.lgamma(concentration + count) - math.lgamma(concentration)
    total = 0.0
    for j in range(count):
        total += math.log(concentration + j)
    return total
