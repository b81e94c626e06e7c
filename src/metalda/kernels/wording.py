"""Wording by group: draw the shared topics phi[k], the tables of groups, and the concentrations c[k].

    phi[k] ~ Dirichlet(beta[k])                 phi[k, g] ~ Dirichlet(c[k] phi[k])

With phi[k, g] integrated out, the counts n[k, g, v] of a group are Dirichlet-multinomial with the parameters
c[k] phi[k, v]. Tables t[k, g, v] ~ CRP(c[k] phi[k, v], n[k, g, v]) and q[k, g] ~ Beta(c[k], n[k, g, .]) make phi[k] and
c[k] conjugate: phi[k] is Dirichlet with the parameters beta[k, v] + sum_g t[k, g, v], and c[k] is gamma.

`draw_wordings` draws the probabilities of words on the sides of a contrast, given their counts, with another prior.
"""

import math

import numpy as np
from numpy import float32, float64, int64, uintp

from metalda.kernels.border import helper, kernel
from metalda.kernels.helpers import FEW, draw_log_gamma, draw_minus_log_beta, draw_tables, log_rising

SMALLEST_SHAPE = 1e-30  # so that the logarithm of a gamma variable is a finite float32
SMALLEST_LOG, SMALLEST_DEVIATION = -300.0, 1e-100  # so that products are above 0


@helper
def _draw_log_gamma(shape, rng):
    return float32(draw_log_gamma(max(shape, SMALLEST_SHAPE), rng))


@kernel
def draw_log_gammas(starts, sizes, topics, tables, word_rows, beta, first, last, log_gammas, rng):
    """Draw log G[v, k] ~ log Gamma(beta[k, v] + t[k, v]) for words first … last - 1; `beta` is by row.

    Divided by their sums over words, G[., k] is Dirichlet with the parameters beta[k] + t[k].
    """
    n_topics = log_gammas.shape[1]
    for v in range(first, last):
        row = uintp(word_rows[v])
        at, end = starts[v], starts[v] + sizes[v]
        for k in range(n_topics):
            shape = float64(beta[row, k])
            if at < end and topics[at] == k:
                shape += tables[at]
                at += 1
            log_gammas[v, k] = _draw_log_gamma(shape, rng)


@helper
def _rising_change(a, factor, count):
    """Return log of Γ(f a + c) / Γ(f a) divided by Γ(a + c) / Γ(a)."""
    if count > FEW:
        return log_rising(factor * a, count) - log_rising(a, count)
    ratio = factor
    for j in range(1, count):
        ratio *= (factor * a + j) / (a + j)
    return math.log(ratio)


@kernel
def add_word_changes(
    list_starts, list_sizes, list_topics, list_counts, n_groups, values, factors, first, last, changes
):
    """Add to changes[k] how log p(w | z, c phi) of words first … last - 1 changes if c[k] is multiplied by a factor.

    Without the terms of totals, which `accept_factors` adds. Equals reference.concentration_change with them.
    """
    for word in range(first * n_groups, last * n_groups):
        v = uintp(word // n_groups)
        for i in range(list_starts[word], list_starts[word] + list_sizes[word]):
            k = uintp(list_topics[i])
            changes[k] += _rising_change(float64(values[v, k]), factors[k], int64(list_counts[i]))


@kernel
def accept_factors(group_totals, changes, factors, shape, rate, concentrations, rng):
    """Multiply c[k] by its factor with the probability of Metropolis and Hastings; the factor becomes 1 otherwise.

    Factors are proposed symmetrically on the scale of log c. The density of log c is that of c times c.
    """
    for k in range(concentrations.shape[0]):
        c = concentrations[k]
        change = changes[k] + shape * math.log(factors[k]) - rate * c * (factors[k] - 1.0)
        for g in range(group_totals.shape[0]):
            if group_totals[g, k] > 0:
                change -= log_rising(factors[k] * c, group_totals[g, k]) - log_rising(c, group_totals[g, k])
        if math.log(1.0 - rng.random()) < change:
            concentrations[k] = factors[k] * c
        else:
            factors[k] = 1.0


@kernel
def group_tables(
    list_starts,
    list_sizes,
    list_topics,
    list_counts,
    n_groups,
    values,
    first,
    last,
    starts,
    sizes,
    topics,
    tables,
    totals,
    rng,
):
    """Draw t[k, g, v] ~ CRP(values[v, k], n[k, g, v]) for words first … last - 1, and fill their sums over groups.

    The list of word v in group g is ``v * n_groups + g``; values are c[k] phi[k, v]. Fills the lists of sums from
    `starts` on, and adds them to `totals` by topic. A table has the distribution reference.table_probabilities.
    """
    n_topics = totals.shape[0]
    sums = np.zeros(n_topics, np.int64)
    for v in range(first, last):
        for word in range(v * n_groups, (v + 1) * n_groups):
            for i in range(list_starts[word], list_starts[word] + list_sizes[word]):
                k = uintp(list_topics[i])
                sums[k] += draw_tables(float64(values[v, k]), int64(list_counts[i]), rng)
        at = starts[v]
        for k in range(n_topics):
            if sums[k] > 0:
                topics[at] = k
                tables[at] = sums[k]
                totals[k] += sums[k]
                sums[k] = 0
                at += 1
        sizes[v] = at - starts[v]


@kernel
def draw_concentrations(group_totals, table_totals, shape, rate, concentrations, rng):
    """Draw q[k, g] ~ Beta(c[k], n[k, g, .]) and c[k] ~ Gamma(shape + t[k, .], rate - sum_g log q[k, g]), in place.

    A group without tokens of the topic has no q, because Beta(c, 0) does not exist. Equals
    reference.draw_concentrations in distribution.
    """
    for k in range(concentrations.shape[0]):
        total = rate
        for g in range(group_totals.shape[0]):
            if group_totals[g, k] > 0:
                total += draw_minus_log_beta(concentrations[k], float64(group_totals[g, k]), rng)
        concentrations[k] = rng.standard_gamma(shape + table_totals[k]) / total


@helper
def _draw_component(count, expected, shapes, constants, log_weights, cumulative, rng):
    """Draw the component of a deviation x ~ Gamma(a, a), given count ~ Poisson(expected x), with x integrated out.

    `constants[m]` is log Γ(a + count) / Γ(a) + a log a.
    """
    highest = -math.inf
    for m in range(shapes.shape[0]):
        cumulative[m] = log_weights[m] + constants[m] - (shapes[m] + count) * math.log(shapes[m] + expected)
        highest = max(highest, cumulative[m])
    total = 0.0
    for m in range(shapes.shape[0]):
        total += math.exp(cumulative[m] - highest)
        cumulative[m] = total
    x, m = rng.random() * total, 0
    while m < shapes.shape[0] - 1 and cumulative[m] <= x:
        m += 1
    return m


@kernel
def draw_wordings(counts, levels, beta, shapes, constants, log_weights, deviations, exposures, logs, rng):
    """Draw log probabilities of words [step, side, word] on the sides of a contrast, given their counts [word, side].

        p[s, v] = G[v] x[s, v] / sum_w G[w] x[s, w]      G[v] ~ Gamma(beta[v], 1)
        x[s, v] ~ sum_m weight[m] Gamma(a[m], a[m])      weight ~ Dirichlet(1)

    The deviations x have the mean 1. The weights of the shapes a are learned, so that a few deviations can be large
    among many small ones. With exposures u[s] ~ Gamma(n[s, .], sum_v G[v] x[s, v]), every step is conjugate. Updates
    `log_weights`, `deviations` [word, side] and `exposures`. `constants` has a row for each distinct count, and
    `levels` [word, side] is the row of a count.
    """
    n_words, n_sides = counts.shape
    n_shapes = shapes.shape[0]
    log_base, base = np.empty(n_words), np.empty(n_words)
    cumulative, drawn = np.empty(n_shapes), np.empty(n_shapes)
    totals, sums = np.zeros(n_sides), np.empty(n_sides)
    for v in range(n_words):
        for s in range(n_sides):
            totals[s] += counts[v, s]
    for step in range(logs.shape[0]):
        sums[:] = 0.0
        for v in range(n_words):
            shape, rate = beta[v], 1.0
            for s in range(n_sides):
                shape += counts[v, s]
                rate += exposures[s] * deviations[v, s]
            log_base[v] = max(draw_log_gamma(max(shape, SMALLEST_SHAPE), rng) - math.log(rate), SMALLEST_LOG)
            base[v] = math.exp(log_base[v])
            for s in range(n_sides):
                sums[s] += base[v] * deviations[v, s]
        for s in range(n_sides):
            exposures[s] = rng.standard_gamma(totals[s]) / sums[s] if totals[s] > 0 else 0.0
        drawn[:] = 1.0
        sums[:] = 0.0
        for v in range(n_words):
            for s in range(n_sides):
                count, expected = counts[v, s], exposures[s] * base[v]
                m = _draw_component(count, expected, shapes, constants[levels[v, s]], log_weights, cumulative, rng)
                drawn[m] += 1.0
                x = rng.standard_gamma(shapes[m] + count) / (shapes[m] + expected)
                deviations[v, s] = max(x, SMALLEST_DEVIATION)
                sums[s] += base[v] * deviations[v, s]
                logs[step, s, v] = log_base[v] + math.log(deviations[v, s])
        for s in range(n_sides):
            logs[step, s] -= math.log(sums[s])
        for m in range(n_shapes):
            log_weights[m] = draw_log_gamma(drawn[m], rng)
