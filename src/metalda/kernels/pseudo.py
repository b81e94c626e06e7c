"""PTM: draw the pseudo-document of every document, given its topics or its words.

    p(l_d = l) ∝ (M[l] + lambda) prod_k prod_{j < m[d, k]} (N[l, k] + alpha[k] + j) / prod_{i < N_d} (N[l] + alpha. + i)

Weights are products of many factors and exceed the range of a float. For long documents, exponents of two are therefore
kept as integers (`take_exponents`). The products over topics run over all pseudo-documents in one vectorized loop. The
denominators depend only on the length of a document. So documents are visited by length: between two documents of the
same length, only the denominators of the pseudo-documents that the first one left and joined change.
"""

import math

import numpy as np
from numpy import float64, int32, int64, uintp

from metalda.kernels.border import helper, kernel
from metalda.kernels.helpers import (
    choose_topic,
    give_exponents,
    log_rising,
    multiply_rising,
    next_uniform,
    take_exponents,
)

REACH = 870  # products stay between 2^-REACH and 2^REACH, so that one more float32 factor cannot overflow
STRIDE = 4  # tokens whose factors are multiplied in one pass
WORDS_AT_ONCE = 7  # the product of this many float32 probabilities is in the range of float64


@helper
def _divide_by_rising(quotient, exponent, start, first, last):
    """Divide quotient * 2^exponent by the product of start + i for i = first … last - 1."""
    product = 1.0 / quotient
    for i in range(first, last):
        product *= start + i
        if product > 2.0**REACH or product < 2.0**-REACH:
            product, taken = math.frexp(product)
            exponent -= taken
    return 1.0 / product, exponent


@helper
def _multiply_stride(products, counts, rows, shifts, i):
    """Multiply products by the factors N[l, k] + shift of STRIDE tokens."""
    row_a, row_b = counts[uintp(rows[i])], counts[uintp(rows[i + 1])]
    row_c, row_d = counts[uintp(rows[i + 2])], counts[uintp(rows[i + 3])]
    a, b, c, d = shifts[i], shifts[i + 1], shifts[i + 2], shifts[i + 3]
    for p in range(products.shape[0]):
        products[p] *= (row_a[p] + a) * (row_b[p] + b) * ((row_c[p] + c) * (row_d[p] + d))


@helper
def _bits_per_token(alpha, alpha_sum, n_tokens):
    """Return the number of powers of two by which one token can change a weight at most."""
    bits = math.log2(alpha_sum + n_tokens + 1)
    for k in range(alpha.shape[0]):
        bits = max(bits, math.log2(alpha_sum + n_tokens + 1) - math.log2(alpha[k]))
    return bits


@kernel
def move_documents(topics, offsets, order, alpha, concentration, pseudo, counts, totals, sizes, seed):
    """Draw the pseudo-document of every document in `order`, shortest first; equals reference.move_documents.

    Changes `pseudo`, `counts` (N as [topic, pseudo-document]), `totals` (N[l]) and `sizes` (M[l]). The last row of
    `counts` is all 0; it pads the last stride of a document.
    """
    n_topics, n_pseudo = counts.shape[0] - 1, counts.shape[1]
    alpha_sum, n_tokens, n_documents = alpha.sum(), totals.sum(), int64(sizes.sum())
    scale = 1.0 / (n_documents + n_pseudo * concentration)
    growth = _bits_per_token(alpha, alpha_sum, n_tokens)
    stretch = STRIDE * max(int64(REACH / growth) // STRIDE, 1)  # tokens after which exponents are taken out
    longest = 0
    for d in order:
        longest = max(longest, offsets[d + 1] - offsets[d])
    rows, shifts = np.empty(longest + STRIDE, np.int32), np.empty(longest + STRIDE, np.float64)
    seen = np.zeros(n_topics, np.int32)  # m[d, k] so far
    inverses = np.ones(n_pseudo, np.float64)  # 1 / prod_{i < length} (N[l] + alpha. + i)
    inverse_exponents = np.zeros(n_pseudo, np.int64)
    weights, exponents = np.empty(n_pseudo, np.float64), np.empty(n_pseudo, np.int64)
    bits = weights.view(np.uint64)
    state, length = seed, 0
    for d in order:
        first, last = offsets[d], offsets[d + 1]
        n = last - first
        if n > length:
            for p in range(n_pseudo):
                inverses[p], inverse_exponents[p] = _divide_by_rising(
                    inverses[p], inverse_exponents[p], alpha_sum + totals[p], length, n
                )
            length = n
        old = uintp(pseudo[d])
        kept = inverses[old], inverse_exponents[old]
        sizes[old] -= 1
        totals[old] -= n
        inverses[old], inverse_exponents[old] = _divide_by_rising(1.0, int64(0), alpha_sum + totals[old], 0, n)
        for i in range(n):
            k = uintp(topics[first + i])
            counts[k, old] -= 1
            rows[i] = k
            shifts[i] = alpha[k] + seen[k]
            seen[k] += 1
        for i in range(n):
            seen[uintp(rows[i])] = 0
        for i in range(n, n + STRIDE):
            rows[i], shifts[i] = n_topics, 1.0
        for p in range(n_pseudo):
            weights[p] = (sizes[p] + concentration) * scale * inverses[p]
        if n * growth < REACH:
            for i in range(0, n, STRIDE):
                _multiply_stride(weights, counts, rows, shifts, i)
        else:
            exponents[:] = inverse_exponents
            for i in range(0, n, STRIDE):
                if i % stretch == 0:
                    take_exponents(bits, exponents)
                _multiply_stride(weights, counts, rows, shifts, i)
            give_exponents(weights, bits, exponents)
        state, uniform = next_uniform(state)
        new = uintp(choose_topic(weights, n_pseudo, uniform * weights.sum()))
        pseudo[d] = new
        sizes[new] += 1
        totals[new] += n
        for i in range(n):
            counts[uintp(rows[i]), new] += 1
        if new == old:
            inverses[old], inverse_exponents[old] = kept
        else:
            inverses[new], inverse_exponents[new] = _divide_by_rising(1.0, int64(0), alpha_sum + totals[new], 0, n)


@kernel
def log_multinomials(counts, concentration):
    """Return log p of sequences with these counts by row, one Dirichlet; equals reference.dirichlet_multinomial."""
    log_product, product = 0.0, 1.0
    concentration_sum = concentration.sum()
    for row in range(counts.shape[0]):
        total = int64(0)
        for k in range(counts.shape[1]):
            if counts[row, k] > 0:
                total += counts[row, k]
                log_product, product = multiply_rising(log_product, product, concentration[k], int64(counts[row, k]))
        log_product -= log_rising(concentration_sum, total)
    return log_product + math.log(product)


@kernel
def word_probabilities(phi, words, theta, probabilities):
    """Fill p(word | l) = sum_k theta[k, l] phi[word, k], one row for each of `words`.

    The first step of reference.mix_pseudo_documents. A row does not depend on the other words.
    """
    n_topics, n_pseudo = theta.shape
    for i in range(words.shape[0]):
        word_phi, row = phi[uintp(words[i])], probabilities[i]
        row[:] = 0
        k = 0
        while k + 4 <= n_topics:
            a, b, c, d = word_phi[k], word_phi[k + 1], word_phi[k + 2], word_phi[k + 3]
            theta_a, theta_b, theta_c, theta_d = theta[k], theta[k + 1], theta[k + 2], theta[k + 3]
            for p in range(n_pseudo):
                row[p] += (a * theta_a[p] + b * theta_b[p]) + (c * theta_c[p] + d * theta_d[p])
            k += 4
        while k < n_topics:
            a, theta_a = word_phi[k], theta[k]
            for p in range(n_pseudo):
                row[p] += a * theta_a[p]
            k += 1


@kernel
def mix_pseudo_documents(rows, offsets, probabilities, prior, theta, total):
    """Add sum_l p(l | words) theta[k, l] to the row of every document; equals reference.mix_pseudo_documents.

    p(l | words) ∝ prior[l] prod_w p(w | l), where token i has row rows[i] of `probabilities`.
    """
    n_topics, n_pseudo = theta.shape
    weights, exponents = np.empty(n_pseudo, np.float64), np.empty(n_pseudo, np.int64)
    bits = weights.view(np.uint64)
    mixed = np.empty(n_topics, np.float64)
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        weights[:] = prior
        exponents[:] = 0
        for i in range(first, last):
            row = probabilities[uintp(rows[i])]
            for p in range(n_pseudo):
                weights[p] *= row[p]
            if int32(i - first) % WORDS_AT_ONCE == WORDS_AT_ONCE - 1:
                take_exponents(bits, exponents)
        give_exponents(weights, bits, exponents)
        mass = 0.0
        for k in range(n_topics):
            share, row = 0.0, theta[k]
            for p in range(n_pseudo):
                share += weights[p] * float64(row[p])
            mixed[k] = share
            mass += share
        for k in range(n_topics):
            total[d, k] += mixed[k] / mass
