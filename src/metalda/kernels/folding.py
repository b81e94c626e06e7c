"""Kernels for new documents with fixed phi: infer topics, score words, and infer label sets.

Every document has a separate random generator, seeded by a key made of its words and labels, so its result does not
depend on the other documents of a batch.
"""

import math

import numpy as np
from numba import float32

from metalda.kernels.border import helper, kernel
from metalda.kernels.helpers import FAINT, choose_topic, log_rising, multiply_rising, next_uniform, stir


@helper
def _longest(offsets):
    """Return the number of tokens of the longest document."""
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    return longest


@kernel
def _choose_faint_phi(factor, word_phi, uniform):
    """Choose a topic in float64, for a token whose float32 weights vanish."""
    weights = factor.astype(np.float64) * word_phi
    return choose_topic(weights, len(weights), uniform * weights.sum())


@kernel
def fold_in(words, offsets, doc_rows, keys, alpha, phi, n_burn_in, n_sweeps, theta):
    """Fill theta[d, k] with the mean of p(theta | words, alpha, phi) by Gibbs sampling; approximates reference.fold_in.

    A token has p(z = k) ∝ (alpha[d, k] + m[d, k]) * phi[w, k]. These probabilities are averaged instead of the topics
    drawn from them (Rao–Blackwell).
    """
    n_topics = alpha.shape[1]
    doc_counts = np.zeros(n_topics, np.int32)
    factor = np.empty(n_topics, np.float32)  # alpha[d, k] + m[d, k]
    weights = np.empty(n_topics, np.float32)
    expected = np.empty(n_topics, np.float32)
    topics = np.empty(_longest(offsets), np.int64)
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
                    weights[k] = factor[k] * word_phi[k]
                for k in range(n_topics):
                    total += weights[k]
                state, uniform = next_uniform(state)
                if total > FAINT:
                    new = choose_topic(weights, n_topics, float32(uniform * total))
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
            expected[k] = doc_alpha[k] + expected[k] / float32(n_sweeps)
        for k in range(n_topics):  # a loop without a store, so that it is vectorized for any addresses of the arrays
            mass += expected[k]
        for k in range(n_topics):
            theta[d, k] = float32(expected[k] / mass)
        for i in range(last - first):
            doc_counts[topics[i]] = 0


@kernel
def hash_documents(word_keys, words, offsets, keys):
    """Mix the keys of a document's words, in order, into its key with splitmix64."""
    for d in range(offsets.shape[0] - 1):
        state = keys[d]
        for i in range(offsets[d], offsets[d + 1]):
            state = stir(state ^ word_keys[words[i]])
        keys[d] = state


@kernel
def score_tokens(words, offsets, theta, phi, probabilities):
    """Add p(w) = sum_k theta[d, k] phi[w, k] to the entry of every token; equals reference.score_tokens."""
    n_topics = theta.shape[1]
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            total = 0.0
            for k in range(n_topics):
                total += theta[d, k] * phi[words[i], k]
            probabilities[i] += total


@helper
def _weigh_sets(counts, used, n_used, length, log_shares, alpha, alpha_sums, draw, weights):
    """Fill p(set | m[d, .]) ∝ share of the set times the Dirichlet-multinomial probability of the counts."""
    n_sets = weights.shape[0]
    highest = -np.inf
    for r in range(n_sets):
        log_weight, product = log_shares[r] - log_rising(alpha_sums[draw, r], length), 1.0
        for j in range(n_used):
            k = used[j]
            log_weight, product = multiply_rising(log_weight, product, alpha[draw, r, k], counts[k])
        weights[r] = log_weight + math.log(product)
        highest = max(highest, weights[r])
    total = 0.0
    for r in range(n_sets):
        weights[r] = math.exp(weights[r] - highest)
    for r in range(n_sets):
        total += weights[r]
    for r in range(n_sets):
        weights[r] /= total


@kernel
def infer_label_sets(words, offsets, keys, phi, log_shares, alpha, alpha_sums, start, n_burn_in, n_sweeps, chances):
    """Fill chances[d, r] with p(set r | words of d), averaged over draws; approximates reference.label_set_posterior.

    Alternates between the topics of the words given the alpha[draw, set, k] of the set, and the set given the topics.
    The probabilities of the sets are averaged instead of the sets drawn (Rao–Blackwell). One chain passes through all
    draws, with n_burn_in sweeps at the start of each. The first topics are drawn under the alpha `start`.
    """
    n_draws, n_sets, n_topics = alpha.shape
    counts = np.zeros(n_topics, np.int64)
    used = np.empty(n_topics, np.int64)
    current = np.empty(n_topics, np.float64)
    token_weights = np.empty(n_topics, np.float64)
    set_weights = np.empty(n_sets, np.float64)
    topics = np.empty(_longest(offsets), np.int64)
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        state = keys[d]
        for k in range(n_topics):
            counts[k] = 0
            current[k] = start[k]
        for r in range(n_sets):
            chances[d, r] = 0.0
        for turn in range(n_draws * (n_burn_in + n_sweeps)):
            draw, sweep = turn // (n_burn_in + n_sweeps), turn % (n_burn_in + n_sweeps)
            for i in range(first, last):
                if turn > 0:
                    counts[topics[i - first]] -= 1
                word = words[i]
                total = 0.0
                for k in range(n_topics):
                    token_weights[k] = (current[k] + counts[k]) * phi[word, k]
                for k in range(n_topics):
                    total += token_weights[k]
                state, uniform = next_uniform(state)
                new = choose_topic(token_weights, n_topics, uniform * total)
                topics[i - first] = new
                counts[new] += 1
            n_used = 0
            for k in range(n_topics):
                if counts[k] > 0:
                    used[n_used] = k
                    n_used += 1
            _weigh_sets(counts, used, n_used, last - first, log_shares, alpha, alpha_sums, draw, set_weights)
            state, uniform = next_uniform(state)
            chosen = choose_topic(set_weights, n_sets, uniform)
            for k in range(n_topics):
                current[k] = alpha[draw, chosen, k]
            if sweep >= n_burn_in:
                for r in range(n_sets):
                    chances[d, r] += set_weights[r] / (n_draws * n_sweeps)
