"""One topic for every document: DMM, and the generalised Pólya urn of GPU-DMM (Li et al. 2016).

    p(z = k) ∝ (alpha[k] + M[k]) * prod_w prod_{j < N[d, w]} (beta + c[k, w] + j)
                                 / prod_{i < N[d]} (beta V + c[k, .] + i)

without the document itself: M[k] counts documents, and c = n + promotion * r counts tokens, n, and what words receive
from similar ones, r. All of them are integers, so that a document is taken out exactly, with what it promotes.

The products run over all topics at once, token by token. Before they get too large or too small their exponents are
taken out, by their bits, and added up as integers: there is no logarithm, and no document is too long.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int64, uint64, uintp

from metalda.kernels.border import helper, kernel, prefetch
from metalda.kernels.choice import choose_topic, log_rising, next_uniform

FRACTION, EXPONENT_0, BIAS = uint64(0x000FFFFFFFFFFFFF), uint64(0x3FF0000000000000), 1023  # of a float64 above 0
LINE = 16  # int32 that memory brings at a time
ROOM = 16  # neighbours that are copied at a time
NEW_AT_A_TIME = 8  # as many of the smallest float32 can be multiplied in float64


class Texts(NamedTuple):
    """Documents, and the topic that all tokens of each have."""

    words: Any
    repeats: Any  # tokens of the same word that stand before in the document
    offsets: Any
    topics: Any
    promoted: Any  # whether a token promotes the neighbours of its word; empty where no word has any


class Neighbours(NamedTuple):
    """Similar words: of word v indices[starts[v]:starts[v + 1]]. After the last there are ROOM more, of no meaning."""

    starts: Any
    indices: Any
    most: int  # that all tokens of one document can promote


class UrnPriors(NamedTuple):
    """Dirichlet parameters, and what a promotion counts beside a token."""

    alpha: Any  # by topic
    beta: float
    beta_sum: float  # beta V
    promotion: float
    at_a_time: int  # so many tokens can be multiplied, and divided by as many masses, within float64


class UrnCounts(NamedTuple):
    """What is in the urns. Of what is counted the first kind are tokens, the second, if any, what words receive."""

    urns: Any  # [word, kind, topic]
    totals: Any  # [kind, topic]
    documents: Any  # M[k]


@helper
def _take_exponents(bits, exponents):
    """Leave weights in [1, 2); what is 0, or nearly so, is taken for 2^-1023."""
    for k in range(bits.shape[0]):
        exponents[k] += int64(bits[k] >> uint64(52)) - BIAS
        bits[k] = (bits[k] & FRACTION) | EXPONENT_0


@helper
def _give_exponents(weights, bits, exponents):
    """Bring weights to where they stand beside the largest; returns their sum."""
    _take_exponents(bits, exponents)
    highest = exponents[0]
    for k in range(exponents.shape[0]):
        highest = max(highest, exponents[k])
    total = 0.0
    for k in range(exponents.shape[0]):
        exponent = exponents[k] - highest + BIAS
        bits[k] = ((bits[k] & FRACTION) | (uint64(exponent) << uint64(52))) if exponent > 0 else uint64(0)
        total += weights[k]
    return total


# Short helpers: Numba counts references to the arrays of a helper that branches, which takes longer than a token.


@helper
def _count_tokens(words, first, last, k, step, urns):
    """Add the tokens of a document to topic k; or take them out, where step is -1."""
    for i in range(uintp(first), uintp(last)):
        urns[uintp(words[i]), 0, k] += step


@helper
def _list_promotions(words, promoted, first, last, starts, indices, listed):
    """List what the tokens of a document promote; returns how much that is.

    How many neighbours a word has is hard to foresee: enough are copied for most, and then not counted.
    """
    n_listed = uintp(0)
    for i in range(uintp(first), uintp(last)):
        start, end = uintp(starts[uintp(words[i])]), uintp(starts[uintp(words[i]) + uintp(1)])
        size = (end - start) * uintp(promoted[i])
        for at in range(uintp(0), max(size, uintp(1)), uintp(ROOM)):
            for j in range(at, at + uintp(ROOM)):
                listed[n_listed + j] = indices[start + j]
        n_listed += size
    return n_listed


@helper
def _count_promotions(listed, n_listed, k, step, urns):
    """Add promotions to topic k; or take them out, where step is -1."""
    for j in range(n_listed):
        urns[uintp(listed[j]), 1, k] += step


@helper
def _fetch(words, first, last, urns):
    """Have the urns of a document brought near while another is looked at."""
    size = uintp(urns.shape[1] * urns.shape[2])
    for i in range(uintp(first), uintp(last)):
        for j in range(uintp(0), size, uintp(LINE)):
            prefetch(urns, uintp(words[i]) * size + j)


@helper
def _multiply_tokens(words, repeats, start, end, beta, urns, weights):
    """Multiply weights by beta + n + j."""
    for i in range(uintp(start), uintp(end)):
        word, base = uintp(words[i]), beta + repeats[i]
        for k in range(weights.shape[0]):
            weights[k] *= base + urns[word, 0, k]


@helper
def _multiply_both(words, repeats, start, end, beta, promotion, urns, weights):
    """Multiply weights by beta + n + promotion * r + j, two tokens at a time."""
    for i in range(uintp(start), uintp(end - (end - start) % 2), uintp(2)):
        a, base_a = uintp(words[i]), beta + repeats[i]
        b, base_b = uintp(words[i + uintp(1)]), beta + repeats[i + uintp(1)]
        for k in range(weights.shape[0]):
            by_a = base_a + urns[a, 0, k] + promotion * urns[a, 1, k]
            weights[k] *= by_a * (base_b + urns[b, 0, k] + promotion * urns[b, 1, k])
    for i in range(uintp(end - (end - start) % 2), uintp(end)):
        a, base_a = uintp(words[i]), beta + repeats[i]
        for k in range(weights.shape[0]):
            weights[k] *= base_a + urns[a, 0, k] + promotion * urns[a, 1, k]


@helper
def _divide(weights, masses, first, last, divisors):
    """Divide weights by (mass + i) for i = first … last - 1."""
    n_topics = weights.shape[0]
    for k in range(n_topics):
        divisors[k] = 1.0
    for i in range(first, last - 3, 4):
        for k in range(n_topics):
            mass = masses[k] + i
            divisors[k] *= (mass * (mass + 1.0)) * ((mass + 2.0) * (mass + 3.0))
    for i in range(last - (last - first) % 4, last):
        for k in range(n_topics):
            divisors[k] *= masses[k] + i
    for k in range(n_topics):
        weights[k] = np.divide(weights[k], divisors[k])  # `/` would look for 0, and not be vectorised


@kernel
def sweep_documents(texts, neighbours, chances, priors, counts, theta, seed):
    """Resample the topic of every document, and what its tokens promote; equals reference.sweep_documents.

    A document without tokens has no topic. Returns how many tokens moved. If theta[d, k] has rows, nothing moves, and
    the probabilities that topics were to be drawn with are added to it.
    """
    words, repeats, offsets, topics, promoted = texts  # once: looking into tuples costs more than a document
    starts, indices, most = neighbours
    alpha, beta, beta_sum, promotion, at_a_time = priors
    urns, totals, documents = counts
    n_documents, n_topics = offsets.shape[0] - 1, documents.shape[0]
    promotes, moves = urns.shape[1] > 1, theta.shape[0] == 0
    weights, masses, divisors = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    bits, exponents = weights.view(np.uint64), np.empty(n_topics, np.int64)
    state, moved = seed, 0
    listed = np.empty(most + ROOM, np.int32)
    for d in range(n_documents):
        first, last = offsets[d], offsets[d + 1]
        if first == last:
            continue
        _fetch(words, last, offsets[min(d + 2, n_documents)], urns)
        old = uintp(topics[first])
        documents[old] -= 1
        totals[0, old] -= last - first
        _count_tokens(words, first, last, old, -1, urns)
        if promotes:
            n_listed = _list_promotions(words, promoted, first, last, starts, indices, listed)
            _count_promotions(listed, n_listed, old, -1, urns)
            totals[1, old] -= int64(n_listed)
        for k in range(n_topics):
            weights[k] = alpha[k] + documents[k]
            masses[k] = beta_sum + totals[0, k]
            exponents[k] = 0
        if promotes:
            for k in range(n_topics):
                masses[k] += promotion * totals[1, k]
        for start in range(first, last, at_a_time):
            end = min(start + at_a_time, last)
            _take_exponents(bits, exponents)
            if promotes:
                _multiply_both(words, repeats, start, end, beta, promotion, urns, weights)
            else:
                _multiply_tokens(words, repeats, start, end, beta, urns, weights)
            _divide(weights, masses, start - first, end - first, divisors)
        total = _give_exponents(weights, bits, exponents)
        new = old
        if moves:
            state, uniform = next_uniform(state)
            new = uintp(choose_topic(weights, n_topics, uniform * total))
            if promotes:
                for i in range(uintp(first), uintp(last)):
                    word = uintp(words[i])
                    if starts[word] < starts[word + uintp(1)]:
                        state, uniform = next_uniform(state)
                        promoted[i] = uniform < chances[word, new]
        else:
            for k in range(n_topics):
                theta[d, k] += float32(weights[k] / total)
        documents[new] += 1
        totals[0, new] += last - first
        _count_tokens(words, first, last, new, 1, urns)
        if promotes:
            n_listed = _list_promotions(words, promoted, first, last, starts, indices, listed)
            _count_promotions(listed, n_listed, new, 1, urns)
            totals[1, new] += int64(n_listed)
        if new != old:
            moved += last - first
            for i in range(first, last):
                topics[i] = new
    return moved


@kernel
def promotion_chances(neighbours, priors, counts, chances):
    """Fill p(k | w) / max_k' p(k' | w) of words with neighbours, where p(k | w) ∝ p(k) p(w | k).

    Equals reference.promotion_chances.
    """
    starts, _, _ = neighbours
    alpha, beta, beta_sum, promotion, _ = priors
    urns, totals, documents = counts
    n_topics = chances.shape[1]
    factors, weights = np.empty(n_topics), np.empty(n_topics)
    for k in range(n_topics):
        factors[k] = (alpha[k] + documents[k]) / (beta_sum + totals[0, k] + promotion * totals[1, k])
    for v in range(chances.shape[0]):
        if starts[v] == starts[v + 1]:
            continue
        highest = 0.0
        for k in range(n_topics):
            weights[k] = factors[k] * (beta + urns[v, 0, k] + promotion * urns[v, 1, k])
            highest = max(highest, weights[k])
        for k in range(n_topics):
            chances[v, k] = float32(weights[k] / highest)


@kernel
def count_repeats(words, offsets, n_words, repeats):
    """How many tokens of the same word stand before each in its document."""
    seen = np.zeros(n_words, np.int32)
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            repeats[i] = seen[words[i]]
            seen[words[i]] += 1
        for i in range(offsets[d], offsets[d + 1]):
            seen[words[i]] = 0


@kernel
def urn_log_likelihood(priors, counts):
    """log p(w, z | alpha, beta) of DMM, for which promotions do not count; equals reference.urn_log_likelihood."""
    alpha, beta, beta_sum, _, _ = priors
    urns, totals, documents = counts
    log_likelihood, mass, n_documents, highest = 0.0, 0.0, int64(0), 0
    for k in range(documents.shape[0]):
        mass += alpha[k]
        n_documents += documents[k]
        log_likelihood += log_rising(alpha[k], documents[k]) - log_rising(beta_sum, totals[0, k])
    log_likelihood -= log_rising(mass, n_documents)
    for v in range(urns.shape[0]):
        for k in range(urns.shape[2]):
            highest = max(highest, urns[v, 0, k])
    log_risings = np.zeros(highest + 1)  # by count: most are 0, and few differ
    for count in range(highest):
        log_risings[count + 1] = log_risings[count] + math.log(beta + count)
    for v in range(urns.shape[0]):
        for k in range(urns.shape[2]):
            log_likelihood += log_risings[uintp(urns[v, 0, k])]
    return log_likelihood


@kernel
def weigh_new_documents(words, offsets, alpha, phi, theta):
    """Fill theta[d, k] ∝ alpha[k] * prod_i phi[w[i], k]: a document has one topic, and phi is held fixed."""
    n_topics = alpha.shape[0]
    weights = np.empty(n_topics)
    bits, exponents = weights.view(np.uint64), np.empty(n_topics, np.int64)
    for d in range(offsets.shape[0] - 1):
        for k in range(n_topics):
            weights[k] = alpha[k]
            exponents[k] = 0
        for start in range(offsets[d], offsets[d + 1], NEW_AT_A_TIME):
            _take_exponents(bits, exponents)
            for i in range(start, min(start + NEW_AT_A_TIME, offsets[d + 1])):
                for k in range(n_topics):
                    weights[k] *= float64(phi[uintp(words[i]), k])
        total = _give_exponents(weights, bits, exponents)
        for k in range(n_topics):
            theta[d, k] = float32(weights[k] / total)
