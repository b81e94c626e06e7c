"""Which label set a new document has: topics of its words and its set, sampled by turns."""

import math

import numpy as np

from metalda.kernels.border import helper, kernel
from metalda.kernels.choice import choose_topic, log_rising, multiply_rising, next_uniform


@helper
def _weigh_sets(counts, used, n_used, length, log_shares, alpha, alpha_sums, draw, weights):
    """p(set | m[d, .]) into `weights`: its share times the Dirichlet-multinomial probability of the counts."""
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
        total += weights[r]
    for r in range(n_sets):
        weights[r] /= total


@kernel
def infer_label_sets(words, offsets, keys, phi, log_shares, alpha, alpha_sums, start, n_burn_in, n_sweeps, chances):
    """Fill chances[d, r] with p(set r | words of d), averaged over draws; nears reference.label_set_posterior.

    By turns: topics of the words given the set's alpha[draw, set, k], and the set given the topics. The probabilities
    of the sets are averaged rather than the sets drawn (Rao–Blackwell). The chain goes on from draw to draw, with
    n_burn_in sweeps to get used to the next. A document has a generator of its own, seeded by its key; its first topics
    are drawn under the alpha `start`.
    """
    n_draws, n_sets, n_topics = alpha.shape
    counts = np.zeros(n_topics, np.int64)
    used = np.empty(n_topics, np.int64)
    current = np.empty(n_topics, np.float64)
    token_weights = np.empty(n_topics, np.float64)
    set_weights = np.empty(n_sets, np.float64)
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    topics = np.empty(longest, np.int64)
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
