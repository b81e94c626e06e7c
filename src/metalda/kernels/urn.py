"""One topic for every document: DMM, and the generalized Pólya urn of GPU-DMM (Li et al. 2016).

    p(z = k) ∝ (alpha[k] + M[k]) * prod_w prod_{j < N[d, w]} (beta + c[k, w] + j)
                                 / prod_{i < N[d]} (beta V + c[k, .] + i)

where all counts exclude the document itself. M[k] counts documents, and c = n + promotion * r, where n counts tokens
and r the promotions that words receive from similar words. M, n and r are integers, so that a document and its
promotions are removed exactly.

The products run over all topics at once, token by token. Before they overflow or underflow, their exponents of two are
moved to integers (`take_exponents`), so documents of any length need no logarithms.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import float32, float64, int64, uintp
from numpy.typing import NDArray

from metalda.kernels.border import helper, kernel, prefetch
from metalda.kernels.helpers import choose_topic, give_exponents, log_rising, next_uniform, take_exponents

LINE = 16  # int32 values of a cache line
ROOM = 16  # neighbors that are copied at a time
NEW_AT_A_TIME = 8  # the product of this many float32 values is in the range of float64


class Texts(NamedTuple):
    """Documents, the topic of each, and which tokens promote."""

    words: NDArray[np.int32]
    repeats: NDArray[np.int32]  # earlier tokens of the same word in the document
    offsets: NDArray[np.int64]
    topics: NDArray[np.uint16]  # the same for all tokens of a document
    promoted: NDArray[np.uint8]  # whether a token promotes the neighbors of its word; empty if no word has neighbors


class Neighbors(NamedTuple):
    """Similar words: those of word v are indices[starts[v]:starts[v + 1]]; ROOM entries of padding follow the last."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    most: int  # the largest number of promotions of one document


class UrnPriors(NamedTuple):
    """Dirichlet parameters, and the weight of a promotion relative to a token."""

    alpha: NDArray[np.float64]  # by topic
    beta: float
    beta_sum: float  # beta V
    promotion: float
    at_a_time: int  # tokens whose factors and divisors stay in the range of float64


class UrnCounts(NamedTuple):
    """The counts. Kind 0 are tokens, n; kind 1, absent if no word has neighbors, are promotions, r."""

    urns: NDArray[np.integer]  # int32 [word, kind, topic]
    totals: NDArray[np.integer]  # int64 [kind, topic]
    documents: NDArray[np.integer]  # int64, M[k]


# The helpers are short and without branches: otherwise Numba counts references to their arrays, which is slow.


@helper
def _count_tokens(words, first, last, k, step, urns):
    """Add the tokens of a document to topic k, or remove them if step is -1."""
    for i in range(uintp(first), uintp(last)):
        urns[uintp(words[i]), 0, k] += step


@helper
def _list_promotions(words, promoted, first, last, starts, indices, listed):
    """List the words that the tokens of a document promote, and return their number.

    ROOM neighbors are copied at a time, even if a word has fewer, because a loop of varying length is mispredicted.
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
    """Add promotions to topic k, or remove them if step is -1."""
    for j in range(n_listed):
        urns[uintp(listed[j]), 1, k] += step


@helper
def _fetch(words, first, last, urns):
    """Prefetch the urns of a document while another is processed."""
    size = uintp(urns.shape[1] * urns.shape[2])
    for i in range(uintp(first), uintp(last)):
        for j in range(uintp(0), size, uintp(LINE)):
            prefetch(urns, uintp(words[i]) * size + j)


@helper
def _multiply_tokens(words, repeats, start, end, beta, urns, weights):
    """Multiply weights by beta + n + j for every token."""
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
        weights[k] = np.divide(weights[k], divisors[k])  # `/` checks for 0 and is not vectorized


@kernel
def sweep_documents(texts, neighbors, chances, priors, counts, theta, seed):
    """Resample the topic of every document and which tokens promote; equals reference.sweep_documents.

    An empty document has no topic. Returns how many tokens moved. If theta[d, k] has rows, no topic is resampled, and
    the conditional probabilities of the topics are added to it.
    """
    words, repeats, offsets, topics, promoted = texts  # once: access to a tuple costs more than a document
    starts, indices, most = neighbors
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
            take_exponents(bits, exponents)
            if promotes:
                _multiply_both(words, repeats, start, end, beta, promotion, urns, weights)
            else:
                _multiply_tokens(words, repeats, start, end, beta, urns, weights)
            _divide(weights, masses, start - first, end - first, divisors)
        total = give_exponents(weights, bits, exponents)
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
def promotion_chances(neighbors, priors, counts, chances):
    """Fill p(k | w) / max_k' p(k' | w) for words with neighbors, where p(k | w) ∝ p(k) p(w | k).

    Equals reference.promotion_chances.
    """
    starts, _, _ = neighbors
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
    """Count, for every token, the earlier tokens of the same word in its document; equals reference.count_repeats."""
    seen = np.zeros(n_words, np.int32)
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            repeats[i] = seen[words[i]]
            seen[words[i]] += 1
        for i in range(offsets[d], offsets[d + 1]):
            seen[words[i]] = 0


@kernel
def urn_log_likelihood(priors, counts):
    """Return log p(w, z | alpha, beta) of DMM, without promotions; equals reference.urn_log_likelihood."""
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
    log_risings = np.zeros(highest + 1)  # by count, since few counts are distinct
    for count in range(highest):
        log_risings[count + 1] = log_risings[count] + math.log(beta + count)
    for v in range(urns.shape[0]):
        for k in range(urns.shape[2]):
            log_likelihood += log_risings[uintp(urns[v, 0, k])]
    return log_likelihood


@kernel
def weigh_new_documents(words, offsets, alpha, phi, theta):
    """Fill theta[d, k] ∝ alpha[k] * prod_i phi[w[i], k], the topic posterior with phi fixed.

    Equals reference.weigh_new_documents.
    """
    n_topics = alpha.shape[0]
    weights = np.empty(n_topics)
    bits, exponents = weights.view(np.uint64), np.empty(n_topics, np.int64)
    for d in range(offsets.shape[0] - 1):
        for k in range(n_topics):
            weights[k] = alpha[k]
            exponents[k] = 0
        for start in range(offsets[d], offsets[d + 1], NEW_AT_A_TIME):
            take_exponents(bits, exponents)
            for i in range(start, min(start + NEW_AT_A_TIME, offsets[d + 1])):
                for k in range(n_topics):
                    weights[k] *= float64(phi[uintp(words[i]), k])
        total = give_exponents(weights, bits, exponents)
        for k in range(n_topics):
            theta[d, k] = float32(weights[k] / total)
