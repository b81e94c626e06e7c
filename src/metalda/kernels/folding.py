"""New documents, with phi held fixed."""

import numpy as np
from numba import float32

from metalda.kernels.border import kernel
from metalda.kernels.choice import FAINT, choose_topic, next_uniform, stir


@kernel
def _choose_faint_phi(factor, word_phi, uniform):
    weights = factor.astype(np.float64) * word_phi
    return choose_topic(weights, len(weights), uniform * weights.sum())


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
        for k in range(n_topics):  # a loop without a store, so that it is vectorized whatever the arrays' addresses are
            mass += expected[k]
        for k in range(n_topics):
            theta[d, k] = float32(expected[k] / mass)
        for i in range(last - first):
            doc_counts[topics[i]] = 0


@kernel
def hash_documents(word_keys, words, offsets, keys):
    """Stir the keys of a document's words, in order, into its key."""
    for d in range(offsets.shape[0] - 1):
        state = keys[d]
        for i in range(offsets[d], offsets[d + 1]):
            state = stir(state ^ word_keys[words[i]])
        keys[d] = state


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
