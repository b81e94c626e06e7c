"""Slow reference implementations of the kernels, which tests compare with on small inputs."""

import itertools
import math
import re
import unicodedata

import numpy as np
from scipy.special import gammaln

from metalda.corpus.unicode import word_marks


def choose_topic(weights, x):
    """First k with x < weights[0] + … + weights[k], or else the last topic of positive weight."""
    cumulative = 0.0
    for k, weight in enumerate(weights):
        cumulative += weight
        if x < cumulative:
            return k
    return max((k for k, weight in enumerate(weights) if weight > 0), default=0)


def splitmix(seed):
    """The uniforms that a seed stands for (Steele, Lea and Flood 2014)."""
    state = int(seed)
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        x = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        yield ((x ^ (x >> 31)) >> 11) / 2**53


def sweep_tokens(documents, topics, alpha, beta, uniforms):
    """Step 1 by the formula: alpha[d][k], beta[k][v]; counts from scratch for every token. Changes `topics`.

    The uniform falls on the old topic first, then on the parts of the weights of others that have n, then on those that
    have beta.
    """
    n_topics, n_words = beta.shape
    for d, document in enumerate(documents):
        for i in range(len(document)):
            old, topics[d][i] = topics[d][i], None
            m = np.zeros(n_topics)
            n = np.zeros((n_topics, n_words))
            for e, other in enumerate(documents):
                for j, v in enumerate(other):
                    if topics[e][j] is not None:
                        n[topics[e][j], v] += 1
                        m[topics[e][j]] += e == d
            v = document[i]
            factor = (alpha[d] + m) / (beta.sum(axis=1) + n.sum(axis=1))
            by_old = factor[old] * (n[old, v] + beta[old, v])
            factor[old] = 0
            weights = np.concatenate([[by_old], factor * n[:, v], factor * beta[:, v]])
            chosen = choose_topic(weights, next(uniforms) * weights.sum())
            topics[d][i] = (chosen - 1) % n_topics if chosen > 0 else old


def choose_kind(by_counts, by_vectors, uniform):
    """0 or 1, in proportion to two weights."""
    return choose_topic([by_counts, by_vectors], uniform * (by_counts + by_vectors))


def sweep_latent(documents, topics, kinds, alpha, beta, weight, has_vector, softmax, uniforms):
    """LF-LDA's two lines by the formula, counts from scratch for every token. Changes `topics` and `kinds`.

    softmax[k][v]; None in the initial sweeps, where n1 stands in for it.
    """
    n_topics, n_words, n_vectors = len(alpha), len(has_vector), sum(has_vector)
    for d, document in enumerate(documents):
        for i, v in enumerate(document):
            topics[d][i] = None
            m = np.zeros(n_topics)
            n = np.zeros((2, n_topics, n_words))
            for e, other in enumerate(documents):
                for j, u in enumerate(other):
                    if topics[e][j] is not None:
                        n[kinds[e][j], topics[e][j], u] += 1
                        m[topics[e][j]] += e == d
            by_counts = (1 - weight) * (beta + n[0, :, v]) / (n_words * beta + n[0].sum(axis=1))
            by_vectors = np.zeros(n_topics)
            if has_vector[v] and softmax is None:
                by_vectors = weight * (beta + n[1, :, v]) / (n_vectors * beta + n[1].sum(axis=1))
            elif has_vector[v]:
                by_vectors = weight * softmax[:, v]
            weights = (alpha + m) * (by_counts + by_vectors)
            k = choose_topic(weights, next(uniforms) * weights.sum())
            topics[d][i], kinds[d][i] = k, choose_kind(by_counts[k], by_vectors[k], next(uniforms))


def latent_log_likelihood(documents, topics, kinds, alpha, beta, weight, has_vector, softmax):
    """log p(w, z, s | alpha, beta, softmax); without softmax, words that come from vectors are a Dirichlet's too."""
    n_topics, has_vector = len(alpha), np.array(has_vector)
    n = np.zeros((2, n_topics, len(has_vector)))
    total = 0.0
    for document, z, s in zip(documents, topics, kinds, strict=True):
        total += dirichlet_multinomial(alpha, np.bincount(np.array(z, int), minlength=n_topics))
        for v, k, kind in zip(document, z, s, strict=True):
            n[kind, k, v] += 1
            if kind == 1 and not has_vector[v]:
                return -math.inf
            total += math.log(weight if kind else 1 - weight)
            if kind and softmax is not None:
                total += math.log(softmax[k, v])
    for k in range(n_topics):
        total += dirichlet_multinomial(np.full(len(has_vector), beta), n[0, k])
        if softmax is None:
            total += dirichlet_multinomial(np.full(has_vector.sum(), beta), n[1, k, has_vector])
    return total


def softmax(topic_vectors, vectors, has_vector):
    """softmax[topic, word]; 0 for words without a vector."""
    weights = np.exp(topic_vectors @ vectors.T) * has_vector
    return weights / weights.sum(axis=1, keepdims=True)


def draw_log_gamma(shape, rng):
    if shape >= 1:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1)) + math.log(1 - rng.random()) / shape


def draw_minus_log_beta(a, b, rng):
    log_y = draw_log_gamma(b, rng)
    return np.logaddexp(0, log_y - draw_log_gamma(a, rng))


def draw_tables(concentration, customers, rng):
    """Every customer but the first opens a table with probability a / (a + i)."""
    opened = [rng.random() * (concentration + i) < concentration for i in range(1, customers)]
    return min(customers, 1) + sum(opened)


def table_probabilities(concentration, customers):
    """p(t) for t = 0 … c: proportional to |s(c, t)| a^t, by the recursion over customers."""
    p = np.zeros(customers + 1)
    p[0] = 1
    for i in range(customers):
        opens = concentration / (concentration + i) if i else 1.0
        p[1:] = p[1:] * (1 - opens) + p[:-1] * opens
        p[0] *= 1 - opens
    return p


def draw_weights(log_weights, label_tables, row_scales, topic_scales, design, shape, rng):
    """Steps 3 and 4 by the formula; `design` is a dense 0/1 matrix [row, label]."""
    weights = np.exp(log_weights)
    for label in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            without = np.prod(np.where(design == 1, weights[:, k], 1), axis=1) / weights[label, k]
            rate = shape + topic_scales[k] * np.sum(design[:, label] * row_scales * without)
            weights[label, k] = math.exp(draw_log_gamma(shape + label_tables[label, k], rng)) / rate
    return np.log(weights)


def poisson_normal(grid, events, exposure, precision):
    """Density of w on a grid, up to a factor: t events with exposure c exp(w), and w ~ Normal(0, 1 / precision)."""
    logs = events * grid - exposure * np.exp(grid) - precision * grid**2 / 2
    return np.exp(logs - logs.max())


def real_log_density(weights, tables, scales, design, shape, precisions):
    """Log density of log weights […, label] of one topic, up to a constant; `design` is a dense matrix [row, label].

    A label with precision 0 has a gamma prior with this shape and rate.
    """
    of_prior = np.where(precisions > 0, -precisions * weights**2 / 2, shape * weights - shape * np.exp(weights))
    return weights @ tables - np.exp(weights @ design.T) @ scales + of_prior.sum(axis=-1)


def multiply_weights(log_weights, design):
    return np.exp(design @ log_weights)


def dirichlet_multinomial(concentration, counts):
    """log p(a sequence with these counts)."""
    total = concentration.sum()
    return (
        gammaln(total)
        - gammaln(total + counts.sum())
        + (gammaln(concentration + counts) - gammaln(concentration)).sum()
    )


def log_likelihood(documents, topics, alpha, beta):
    """log p(w, z | alpha, beta)"""
    n_topics, n_words = beta.shape
    n = np.zeros((n_topics, n_words))
    total = 0.0
    for d, document in enumerate(documents):
        total += dirichlet_multinomial(alpha[d], np.bincount(topics[d], minlength=n_topics))
        np.add.at(n, (topics[d], document), 1)
    return total + sum(dirichlet_multinomial(beta[k], n[k]) for k in range(n_topics))


def add_rising(concentration, entries):
    """sum weight * log Γ(a + c) / Γ(a) over entries (row, column, c, weight), and its derivative by concentration."""
    total, gradient = 0.0, np.zeros_like(concentration)
    for row, column, count, weight in entries:
        for j in range(count):
            total += weight * math.log(concentration[row, column] + j)
            gradient[row, column] += weight / (concentration[row, column] + j)
    return total, gradient


def count_topics(topics, doc_rows):
    """(row of the document, topic, count), the topics of a document in the order of their first tokens."""
    return [(row, k, z.count(k)) for row, z in zip(doc_rows, topics, strict=True) for k in dict.fromkeys(z)]


def move_documents(topics, pseudo, order, n_pseudo, alpha, concentration, uniforms):
    """PTM: a pseudo-document for every document in `order`, counts from scratch for each. Changes `pseudo`."""
    for d in order:
        pseudo[d] = None
        logs = np.empty(n_pseudo)
        for candidate in range(n_pseudo):
            inside = [topics[e] for e in range(len(topics)) if pseudo[e] == candidate]
            before = np.bincount([k for z in inside for k in z], minlength=len(alpha))
            after = before + np.bincount(topics[d], minlength=len(alpha))
            logs[candidate] = math.log(len(inside) + concentration)
            logs[candidate] += dirichlet_multinomial(alpha, after) - dirichlet_multinomial(alpha, before)
        weights = np.exp(logs - logs.max())
        pseudo[d] = choose_topic(weights, next(uniforms) * weights.sum())


def pseudo_log_likelihood(documents, topics, pseudo, n_pseudo, alpha, concentration, beta):
    """PTM: log p(w, z, l), where the documents of a pseudo-document are one document of LDA."""
    inside = [[d for d in range(len(documents)) if pseudo[d] == candidate] for candidate in range(n_pseudo)]
    merged = [np.array([v for d in each for v in documents[d]], int) for each in inside]
    merged_topics = [np.array([k for d in each for k in topics[d]], int) for each in inside]
    sizes = np.array([len(each) for each in inside])
    by_documents = dirichlet_multinomial(np.full(n_pseudo, concentration), sizes)
    return by_documents + log_likelihood(merged, merged_topics, np.tile(alpha, (n_pseudo, 1)), beta)


def mix_pseudo_documents(documents, prior, theta, phi):
    """PTM: theta of new documents, sum_l p(l | words) theta[l]; phi[word, topic]."""
    rows = []
    for document in documents:
        logs = np.log(prior) + sum((np.log(theta @ phi[v]) for v in document), np.zeros(len(prior)))
        weights = np.exp(logs - logs.max())
        rows.append(weights @ theta / weights.sum())
    return np.array(rows)


def count_urns(documents, topics, promoted, neighbors, n_topics, n_words, without=None):
    """M[k], n[k][v] and r[k][v] of documents that have one topic each; empty ones have none."""
    m, n, r = np.zeros(n_topics), np.zeros((n_topics, n_words)), np.zeros((n_topics, n_words))
    for d, document in enumerate(documents):
        if document and d != without:
            m[topics[d]] += 1
            for v, flag in zip(document, promoted[d], strict=True):
                n[topics[d], v] += 1
                for u in neighbors[v]:
                    r[topics[d], u] += bool(flag)
    return m, n, r


def document_weights(document, m, c, alpha, beta):
    """log of the conditional of a document's topic, up to a constant, with counts that do not have the document."""
    result = np.log(alpha + m)
    for k in range(len(m)):
        seen = []
        for i, v in enumerate(document):
            result[k] += math.log(c[k, v] + beta + seen.count(v)) - math.log(c[k].sum() + beta * c.shape[1] + i)
            seen.append(v)
    return result


def promotion_chances(m, c, alpha, beta):
    """p(k | w) / max_k p(k | w), by topic and word."""
    p = ((alpha + m) / (c.sum(axis=1) + beta * c.shape[1]))[:, None] * (c + beta)
    return p / p.max(axis=0)


def sweep_documents(documents, topics, promoted, neighbors, alpha, beta, promotion, n_words, uniforms):
    """A topic for every document by the formula, counts from scratch each time. Changes `topics` and `promoted`."""
    shape = len(alpha), n_words
    m, n, r = count_urns(documents, topics, promoted, neighbors, *shape)
    chances = promotion_chances(m, n + promotion * r, alpha, beta)
    for d, document in enumerate(documents):
        if not document:
            continue
        m, n, r = count_urns(documents, topics, promoted, neighbors, *shape, without=d)
        logs = document_weights(document, m, n + promotion * r, alpha, beta)
        weights = np.exp(logs - logs.max())
        topics[d] = choose_topic(weights, next(uniforms) * weights.sum())
        for i, v in enumerate(document):
            if neighbors[v]:
                promoted[d][i] = next(uniforms) < np.float32(chances[topics[d], v])


def count_repeats(documents):
    """Earlier tokens of the same word in the document, token by token."""
    return [document[:i].count(v) for document in documents for i, v in enumerate(document)]


def weigh_new_documents(documents, alpha, phi):
    """p(topic | words) where every document has one topic; phi[word, topic]."""
    logs = [np.log(alpha) + np.log(phi[document].astype(float)).sum(axis=0) for document in documents]
    weights = [np.exp(each - each.max()) for each in logs]
    return [each / each.sum() for each in weights]


def urn_log_likelihood(documents, topics, alpha, beta, n_words):
    """log p(w, z) where every document has one topic."""
    nothing = [[0] * len(document) for document in documents]
    m, n, _ = count_urns(documents, topics, nothing, [[]] * n_words, len(alpha), n_words)
    return dirichlet_multinomial(alpha, m) + sum(dirichlet_multinomial(np.full(n_words, beta), row) for row in n)


def count_windows(documents, window, n_words):
    """Windows that have two words (one, on the diagonal), each window looked at by itself; how many, and short ones."""
    together = np.zeros((n_words, n_words), np.int64)
    n_windows = n_short = 0
    for document in documents:
        size = window or len(document)
        n_short += len(document) < window
        for start in range(max(len(document) - size, 0) + 1):
            present = {word for word in document[start : start + size] if word >= 0}
            together[np.ix_(sorted(present), sorted(present))] += 1
            n_windows += 1
    return np.triu(together), n_windows, n_short


def find_words(texts, words):
    """Numbers of the words of texts: runs of two or more word characters and combining marks of scripts."""
    numbers = {word: i for i, word in enumerate(words)}

    def is_part(character):
        is_mark = unicodedata.category(character) in ("Mn", "Mc") and ord(character) in word_marks()
        return is_mark or re.match(r"\w", character) is not None

    runs = [["".join(run) for part, run in itertools.groupby(text, is_part) if part] for text in texts]
    return [[numbers.get(token, -1) for token in own if len(token) > 1] for own in runs]


def label_set_posterior(words, phi, shares, alpha):
    """p(set | words) by summing over all topics of all words: phi[v][k], alpha[set][k]."""
    n_topics = phi.shape[1]
    likelihoods = np.zeros(len(shares))
    for topics in itertools.product(range(n_topics), repeat=len(words)):
        counts = np.bincount(topics, minlength=n_topics) if topics else np.zeros(n_topics)
        of_words = math.prod(phi[v, k] for v, k in zip(words, topics, strict=True))
        of_topics = gammaln(alpha + counts) - gammaln(alpha)
        sums = alpha.sum(axis=1)
        likelihoods += of_words * np.exp(of_topics.sum(axis=1) + gammaln(sums) - gammaln(sums + len(words)))
    return shares * likelihoods / (shares @ likelihoods)


def mixed_theta(words, phi, shares, alpha):
    """E[theta | words] of a document whose label set is unknown, by summing over all topics of all sets."""
    chances = label_set_posterior(words, phi, shares, alpha)
    return chances @ [fold_in(words, own, phi) for own in alpha]


def mix_label_sets(words, phi, shares, alpha, power=1.0):
    """p(set | words) and the mean of theta, word by word with expected topics: phi[v][k], alpha[set][k].

    The words are visited in steps that have no common divisor with their number, and then in the opposite order.
    """
    step = max(1, int(0.618 * len(words)))
    while math.gcd(step, len(words)) > 1:
        step += 1
    order = [words[i * step % len(words)] for i in range(len(words))]
    log_weights, means = np.log(shares), np.zeros(alpha.shape)
    for own, alpha_of_set in enumerate(alpha):
        for directed in (order, order[::-1]):
            factor = alpha_of_set.astype(float)
            for word in directed:
                topics = factor * phi[word]
                log_weights[own] += power / 2 * math.log(topics.sum() / factor.sum())
                factor = factor + topics / topics.sum()
            means[own] += factor / factor.sum() / 2
    chances = np.exp(log_weights - log_weights.max())
    chances /= chances.sum()
    return chances, chances @ means


def fold_in(words, alpha, phi):
    """E[theta | words, alpha, phi] by summing over all topics of all words: phi[v][k], alpha[k]."""
    mean, mass = np.zeros(len(alpha)), 0.0
    for topics in itertools.product(range(len(alpha)), repeat=len(words)):
        counts = np.bincount(np.array(topics, int), minlength=len(alpha))
        weight = math.prod(phi[v, k] for v, k in zip(words, topics, strict=True))
        weight *= math.exp(dirichlet_multinomial(alpha, counts))
        mean += weight * (alpha + counts) / (alpha.sum() + len(words))
        mass += weight
    return mean / mass


def score_tokens(documents, theta, phi):
    """p(word) = theta[d] @ phi[word], token by token."""
    return [theta[d] @ phi[v] for d, document in enumerate(documents) for v in document]


def log_stirling(n):
    """log |s(n, t)| for t = 0 … n: in how many ways n customers fill t tables."""
    row = np.array([0.0])
    for i in range(n):
        kept = np.append(row + (np.log(i) if i else -np.inf), -np.inf)
        row = np.logaddexp(kept, np.append(-np.inf, row))
    return row


def wording_log_likelihood(counts, concentration, beta):
    """log p(w | z) of one topic: counts n[g][v], phi ~ Dirichlet(beta), phi[g] ~ Dirichlet(c phi), both integrated out.

    A sum over the tables of all groups: prod_g (prod_v |s(n, t)|) c^t. / (c)_n., times the Dirichlet-multinomial of t.
    """
    counts = np.asarray(counts)
    cells = [range(int(n > 0), n + 1) for n in counts.ravel()]
    found = -np.inf
    for tables in itertools.product(*cells):
        ways = sum(log_stirling(n)[t] for n, t in zip(counts.ravel(), tables, strict=True))
        sums = np.array(tables).reshape(counts.shape).sum(axis=0)
        total = sums.sum()
        of_sums = gammaln(beta.sum()) - gammaln(beta.sum() + total) + (gammaln(beta + sums) - gammaln(beta)).sum()
        found = np.logaddexp(found, ways + total * np.log(concentration) + of_sums)
    totals = counts.sum(axis=1)
    return found - (gammaln(concentration + totals) - gammaln(concentration)).sum()


def concentration_change(counts, shared, factor):
    """How log p(w | z, c phi) of one topic changes if c phi is multiplied: counts n[g][v], shared[v] = c phi[v]."""

    def log_likelihood(values):
        rising = gammaln(values + counts) - gammaln(values)
        totals = np.asarray(counts).sum(axis=1)
        return rising.sum() - (gammaln(values.sum() + totals) - gammaln(values.sum())).sum()

    return log_likelihood(factor * shared) - log_likelihood(shared)


def log_concentration_density(concentration, group_totals, n_tables, shape, rate):
    """log p(c | tables, tokens of groups) of one topic, up to a constant."""
    log_q = (gammaln(concentration) - gammaln(concentration + np.asarray(group_totals))).sum()
    return (shape - 1 + n_tables) * np.log(concentration) - rate * concentration + log_q
