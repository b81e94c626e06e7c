"""Step 1 of a sweep: a new topic for every token.

p(z = k) ∝ (alpha[d, k] + m[d, k]) * (beta[k, v] + n[k, v]) / (beta[k, .] + n[k, .])
"""

import numpy as np
from numba import float32, float64, uint64

from metalda.kernels.border import kernel

BLOCK = 32  # topics whose weights are summed at a time while searching
FAINT, BRIGHT = float32(1e-25), float32(1e30)  # beyond these a float32 sum has lost digits, or all of them


@kernel
def choose_topic(weights, x):
    """First k with x < weights[0] + … + weights[k]; equals reference.choose_topic.

    Rounding may carry x past the end: then it is the last topic of positive weight. A weight of 0 is never chosen.
    """
    n_topics = weights.shape[0]
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
def _choose_topic_slowly(doc_counts, alpha, word_counts, beta, topic_totals, beta_sums, uniform):
    """The same conditional in float64, for a token whose float32 weights vanish or overflow."""
    n_topics = alpha.shape[0]
    weights = np.empty(n_topics, np.float64)
    total = 0.0
    for k in range(n_topics):
        weights[k] = (
            (float64(alpha[k]) + doc_counts[k]) * (float64(beta[k]) + word_counts[k]) / (beta_sums[k] + topic_totals[k])
        )
        total += weights[k]
    return choose_topic(weights, uniform * total)


@kernel
def sweep_dense(
    words,
    offsets,
    doc_rows,
    topics,
    alpha,
    word_rows,
    beta,
    beta_sums,
    word_topic_counts,
    topic_totals,
    rng,
):
    """Resample every token where beta may differ by word; returns how many moved. Equals reference.sweep_tokens.

    One vectorised pass over the topics of a token, then a search by blocks. Counts stay integers: the two float32
    factors are formed from them anew, so nothing drifts.
    """
    n_topics = topic_totals.shape[0]
    doc_counts = np.zeros(n_topics, np.int32)  # m[d, k]
    inverse = np.empty(n_topics, np.float32)  # 1 / (beta[k, .] + n[k, .])
    factor = np.empty(n_topics, np.float32)  # (alpha[d, k] + m[d, k]) * inverse[k]
    weights = np.empty(n_topics, np.float32)
    for k in range(n_topics):
        inverse[k] = float32(1.0 / (beta_sums[k] + topic_totals[k]))
    moved = 0
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        doc_alpha = alpha[doc_rows[d]]
        for k in range(n_topics):
            factor[k] = doc_alpha[k] * inverse[k]
        for i in range(first, last):
            doc_counts[topics[i]] += 1
        for i in range(first, last):
            k = topics[i]
            factor[k] = (doc_alpha[k] + float32(doc_counts[k])) * inverse[k]
        for i in range(first, last):
            old = topics[i]
            word_counts = word_topic_counts[words[i]]  # n[., v]
            word_beta = beta[word_rows[words[i]]]
            word_counts[old] -= 1
            doc_counts[old] -= 1
            topic_totals[old] -= 1
            inverse[old] = float32(1.0 / (beta_sums[old] + topic_totals[old]))
            factor[old] = (doc_alpha[old] + float32(doc_counts[old])) * inverse[old]
            total = float32(0)
            for k in range(n_topics):
                weight = factor[k] * (word_beta[k] + float32(word_counts[k]))
                weights[k] = weight
                total += weight
            uniform = rng.random()
            if FAINT < total < BRIGHT:
                new = choose_topic(weights, float32(uniform * total))
            else:
                new = _choose_topic_slowly(
                    doc_counts, doc_alpha, word_counts, word_beta, topic_totals, beta_sums, uniform
                )
            topics[i] = new
            moved += new != old
            word_counts[new] += 1
            doc_counts[new] += 1
            topic_totals[new] += 1
            inverse[new] = float32(1.0 / (beta_sums[new] + topic_totals[new]))
            factor[new] = (doc_alpha[new] + float32(doc_counts[new])) * inverse[new]
        for i in range(first, last):
            doc_counts[topics[i]] = 0
    return moved


@kernel
def count_topics(words, topics, word_topic_counts, topic_totals):
    """Add the assignments of some tokens to n[k, v] and n[k, .]."""
    for i in range(words.shape[0]):
        word_topic_counts[words[i], topics[i]] += 1
        topic_totals[topics[i]] += 1


@kernel
def _stir(state):
    """The output of splitmix64 for a state."""
    x = uint64(state + uint64(0x9E3779B97F4A7C15))
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@kernel
def _next_uniform(state):
    """One step of splitmix64: the new state and a uniform in [0, 1)."""
    bits = _stir(state)
    return uint64(state + uint64(0x9E3779B97F4A7C15)), float64(bits >> uint64(11)) * 2.0**-53


@kernel
def fold_in(words, offsets, doc_rows, keys, alpha, phi, n_burn_in, n_sweeps, theta):
    """Fill theta[d, k], the mean of p(theta | words, alpha, phi), by Gibbs sampling with phi held fixed.

    Each document has a generator of its own, seeded by its key, so that its row does not depend on its neighbours. The
    topic probabilities of every token are averaged rather than the topics drawn from them (Rao–Blackwell).
    """
    n_topics = alpha.shape[1]
    doc_counts = np.zeros(n_topics, np.int32)
    factor = np.empty(n_topics, np.float32)  # alpha[d, k] + m[d, k]
    weights = np.empty(n_topics, np.float32)
    expected = np.empty(n_topics, np.float32)
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    topics = np.empty(longest, np.int64)
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        doc_alpha = alpha[doc_rows[d]]
        state = keys[d]
        for k in range(n_topics):
            factor[k] = doc_alpha[k]
            expected[k] = float32(0)
        for sweep in range(-1, n_burn_in + n_sweeps):  # sweep -1 gives every token its first topic
            for i in range(first, last):
                if sweep >= 0:
                    old = topics[i - first]
                    doc_counts[old] -= 1
                    factor[old] = doc_alpha[old] + float32(doc_counts[old])
                word_phi = phi[words[i]]
                total = float32(0)
                for k in range(n_topics):
                    weight = factor[k] * word_phi[k]
                    weights[k] = weight
                    total += weight
                state, uniform = _next_uniform(state)
                if total > FAINT:
                    new = choose_topic(weights, float32(uniform * total))
                    if sweep >= n_burn_in:
                        scale = float32(1) / total
                        for k in range(n_topics):
                            expected[k] += weights[k] * scale
                else:
                    new = _choose_faint_phi(factor, word_phi, uniform)
                    if sweep >= n_burn_in:
                        expected[new] += float32(1)
                topics[i - first] = new
                doc_counts[new] += 1
                factor[new] = doc_alpha[new] + float32(doc_counts[new])
        mass = 0.0
        for k in range(n_topics):
            theta[d, k] = doc_alpha[k] + expected[k] / float32(n_sweeps)
            mass += theta[d, k]
        for k in range(n_topics):
            theta[d, k] = float32(theta[d, k] / mass)
        for i in range(last - first):
            doc_counts[topics[i]] = 0


@kernel
def _choose_faint_phi(factor, word_phi, uniform):
    weights = factor.astype(np.float64) * word_phi
    return choose_topic(weights, uniform * weights.sum())


@kernel
def score_tokens(words, offsets, theta, phi, probabilities):
    """Add p(w) = sum_k theta[d, k] phi[k, w] to the entry of every token."""
    n_topics = theta.shape[1]
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            total = 0.0
            for k in range(n_topics):
                total += theta[d, k] * phi[words[i], k]
            probabilities[i] += total


@kernel
def hash_documents(word_keys, words, offsets, keys):
    """Stir the keys of a document's words, in order, into its key."""
    for d in range(offsets.shape[0] - 1):
        state = keys[d]
        for i in range(offsets[d], offsets[d + 1]):
            state = _stir(state ^ word_keys[words[i]])
        keys[d] = state
