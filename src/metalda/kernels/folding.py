"""Kernels for new documents with fixed phi: infer topics, score words, and infer label sets.

In `fold_in` every document has a separate random generator, seeded by a key made of its words and labels, so its result
does not depend on the other documents of a batch. `mix_label_sets` is deterministic.
"""

import math

import numpy as np
from numpy import float32

from metalda.kernels.border import helper, kernel
from metalda.kernels.helpers import FAINT, SMALL, choose_topic, next_uniform, stir

FAINTEST_RATIO = float32(1e-12)  # of probabilities of a word in two topics


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
def _gather_words(words, first, last, phi, rows):
    """Fill rows[i] with phi of a document's words, each divided by its maximum, in an order that scatters positions.

    The divisor is the same for every label set, so it cancels. Neighboring words are often about one topic. Steps of
    0.618 of the length, a number that has no common divisor with it, separate them.
    """
    length, n_topics = last - first, phi.shape[1]
    step = max(1, int(0.618 * length))
    while math.gcd(step, length) > 1:
        step += 1
    for i in range(length):
        word = words[first + (i * step) % length]
        highest = phi[word, 0]
        for k in range(n_topics):
            highest = max(highest, phi[word, k])
        for k in range(n_topics):  # a word without any probability tells nothing; denormal floats are slow
            rows[i, k] = max(phi[word, k] / highest, FAINTEST_RATIO) if highest > float32(0) else float32(1)


@helper
def _follow_words(rows, length, backward, set_alpha, alpha_sum, factor):
    """Return log p(words | alpha) word by word, and leave alpha[k] + E m[k] in `factor`.

    p(w) = sum_k (alpha[k] + E m[k]) phi[w, k] / (alpha[.] + i), where E m holds the expected topics of the i words
    before w. The probability of the first two words is exact. The topics of a word are not revised given the words
    after it: that is nearer to the sum over all topics, but predicts held-out words less well (see docs/model.md).
    """
    n_topics = factor.shape[0]
    log_product, product = 0.0, 1.0
    for k in range(n_topics):
        factor[k] = set_alpha[k]
    for j in range(length):
        i = length - 1 - j if backward else j
        total = float32(0)
        for k in range(n_topics):
            total += factor[k] * rows[i, k]
        scale = float32(1) / total
        for k in range(n_topics):
            factor[k] += factor[k] * rows[i, k] * scale
        product *= total / (alpha_sum + j)
        if product < SMALL:
            log_product, product = log_product + math.log(product), 1.0
    return log_product + math.log(product)


@kernel
def mix_label_sets(
    words,
    offsets,
    doc_rows,
    set_starts,
    sets,
    log_shares,
    alpha,
    alpha_sums,
    phi,
    powers,
    n_kept,
    n_screened,
    theta,
    chances,
):
    """Fill chances[d, j] with p(set | words) and theta[d, k] with its mean over sets; equals reference.mix_label_sets.

    The document's row r may have the label sets c = set_starts[r] … set_starts[r + 1] - 1, which is j = 0, 1, …, with
    p(set) = exp(log_shares[c]) and alpha[sets[c]]. p(set | words) ∝ p(set) p(words | set)^power. The likelihood is the
    geometric mean over the two directions of `_follow_words`, and theta given the set the mean over both. Of more than
    `n_kept` sets those are kept that explain the first `n_screened` words best.
    """
    n_topics = alpha.shape[1]
    rows = np.empty((_longest(offsets), n_topics), np.float32)
    factor = np.empty(n_topics, np.float32)
    means = np.empty((n_kept, n_topics), np.float64)
    weights = np.empty(n_kept, np.float64)
    for d in range(offsets.shape[0] - 1):
        length, start = offsets[d + 1] - offsets[d], set_starts[doc_rows[d]]
        n_sets = set_starts[doc_rows[d] + 1] - start
        _gather_words(words, offsets[d], offsets[d + 1], phi, rows)
        kept = np.arange(n_sets)
        if n_sets > n_kept:
            screened = np.empty(n_sets, np.float64)
            for j in range(n_sets):
                r = sets[start + j]
                log_likelihood = _follow_words(rows, min(length, n_screened), False, alpha[r], alpha_sums[r], factor)
                screened[j] = -log_shares[start + j] - powers[d] * log_likelihood
            kept = np.argsort(screened, kind="mergesort")[:n_kept]
        highest = -np.inf
        for a in range(kept.shape[0]):
            r = sets[start + kept[a]]
            weights[a] = log_shares[start + kept[a]]
            for k in range(n_topics):
                means[a, k] = 0.0
            for backward in range(2):
                log_likelihood = _follow_words(rows, length, backward == 1, alpha[r], alpha_sums[r], factor)
                weights[a] += powers[d] * log_likelihood / 2
                for k in range(n_topics):
                    means[a, k] += factor[k] / (2 * (alpha_sums[r] + length))
            highest = max(highest, weights[a])
        total = 0.0
        for a in range(kept.shape[0]):
            total += math.exp(weights[a] - highest)
        for k in range(n_topics):
            factor[k] = float32(0)
        chances[d] = float32(0)
        for a in range(kept.shape[0]):
            chance = math.exp(weights[a] - highest) / total
            chances[d, kept[a]] = chance
            for k in range(n_topics):
                factor[k] += float32(chance * means[a, k])
        mass = 0.0
        for k in range(n_topics):
            mass += factor[k]
        for k in range(n_topics):
            theta[d, k] = float32(factor[k] / mass)
