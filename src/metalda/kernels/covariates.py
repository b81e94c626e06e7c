"""Learn the weights of labels with real values: step 3 of a sweep where a row of the design holds numbers.

Given the tables t and s = -log q of the augmentation (see kernels/weights.py), the weights w of a topic have the log
density of a Poisson regression,

    sum_l T[l] w[l]  -  sum_r s[r] exp(x[r] · w)  +  log prior,        T[l] = sum_d t[d] x[d, l]

which is concave. Labels that are 0 or 1 are drawn one after the other from their exact conditionals. Numbers are drawn
together: by a Metropolis-Hastings step whose proposal is a Newton step with normal noise (iteratively weighted least
squares; Gamerman, 1997), and now and then one by one with a slice sampler, which moves wherever the chain is.
"""

import math

import numpy as np

from metalda.kernels.border import helper, kernel
from metalda.kernels.helpers import draw_log_gamma, draw_poisson_normal

MOST_STEPS = 1000  # of a slice sampler, which takes a few unless weights are beyond the range of floats
HIGHEST_LOG, LARGEST = 700.0, 1e290  # of a product that is exponentiated; of s exp(x · w)


@helper
def _bounded(x):
    return math.exp(min(x, HIGHEST_LOG))


@helper
def _log_density(tables, precisions, numbers, weights, values):
    """Return the log density of the weights of numbers, up to a constant; `values` are s[r] exp(x[r] · w)."""
    total = 0.0
    for r in range(values.shape[0]):
        total -= values[r]
    for j in range(numbers.shape[0]):
        total += tables[j] * weights[j] - 0.5 * precisions[numbers[j]] * weights[j] ** 2
    return total


@helper
def _linearize(columns, tables, precisions, numbers, weights, values, gradient, hessian):
    """Fill the gradient of the log density, and the Cholesky factor L of its negative Hessian (lower triangle)."""
    n = numbers.shape[0]
    for j in range(n):
        slope = tables[j] - precisions[numbers[j]] * weights[j]
        for r in range(values.shape[0]):
            slope -= columns[j, r] * values[r]
        gradient[j] = slope
        for i in range(j + 1):
            curvature = precisions[numbers[j]] if i == j else 0.0
            for r in range(values.shape[0]):
                curvature += columns[i, r] * columns[j, r] * values[r]
            hessian[j, i] = curvature
    for j in range(n):
        for i in range(j + 1):
            rest = hessian[j, i]
            for m in range(i):
                rest -= hessian[j, m] * hessian[i, m]
            hessian[j, i] = math.sqrt(max(rest, 1e-300)) if i == j else rest / hessian[i, i]


@helper
def _solve(factor, vector):
    """Replace a vector b by the solution of L L' x = b."""
    n = vector.shape[0]
    for j in range(n):
        rest = vector[j]
        for i in range(j):
            rest -= factor[j, i] * vector[i]
        vector[j] = rest / factor[j, j]
    _solve_transposed(factor, vector)


@helper
def _solve_transposed(factor, vector):
    """Replace a vector b by the solution of L' x = b."""
    n = vector.shape[0]
    for back in range(n):
        j = n - 1 - back
        rest = vector[j]
        for i in range(j + 1, n):
            rest -= factor[i, j] * vector[i]
        vector[j] = rest / factor[j, j]


@helper
def _log_proposal(factor, change, step):
    """Return the log density of proposing this change of the weights, given the Newton step; without a constant."""
    n = change.shape[0]
    total = 0.0
    for j in range(n):
        total += math.log(factor[j, j])
        own = 0.0  # (L' d)[j] for the deviation d from the Newton step
        for i in range(j, n):
            own += factor[i, j] * (change[i] - step[i])
        total -= 0.5 * own * own
    return total


@helper
def _move(columns, values, change, moved):
    """Fill s[r] exp(x[r] · w) after a change of the weights."""
    for r in range(values.shape[0]):
        exponent = 0.0
        for j in range(change.shape[0]):
            exponent += columns[j, r] * change[j]
        moved[r] = values[r] * _bounded(exponent)


@helper
def _newton_step(columns, tables, precisions, numbers, weights, values, rng):
    """Do the Metropolis-Hastings step; changes weights and values if it is accepted."""
    n = numbers.shape[0]
    step, back = np.empty(n), np.empty(n)
    factor, other = np.empty((n, n)), np.empty((n, n))
    change, moved = np.empty(n), np.empty(values.shape[0])
    _linearize(columns, tables, precisions, numbers, weights, values, step, factor)
    _solve(factor, step)
    for j in range(n):
        change[j] = rng.standard_normal()
    _solve_transposed(factor, change)
    for j in range(n):
        change[j] += step[j]
    before = _log_density(tables, precisions, numbers, weights, values)
    forward = _log_proposal(factor, change, step)
    _move(columns, values, change, moved)
    proposed = weights + change
    after = _log_density(tables, precisions, numbers, proposed, moved)
    if not after > -math.inf:
        return
    _linearize(columns, tables, precisions, numbers, proposed, moved, back, other)
    _solve(other, back)
    for j in range(n):
        change[j] = -change[j]
    if math.log(1.0 - rng.random()) < after - before + _log_proposal(other, change, back) - forward:
        weights[:] = proposed
        values[:] = moved


@helper
def _slice_step(columns, tables, precisions, numbers, weights, values, rng):
    """Draw the weights one by one with a slice sampler that steps out (Neal, 2003); changes weights and values."""
    n_rows = values.shape[0]
    for j in range(numbers.shape[0]):
        precision, curvature = precisions[numbers[j]], precisions[numbers[j]]
        for r in range(n_rows):
            curvature += columns[j, r] ** 2 * values[r]
        width = 2.0 / math.sqrt(curvature)
        level = math.log(1.0 - rng.random())  # relative to the current log density
        low = -width * rng.random()
        high = low + width
        for _ in range(MOST_STEPS):
            if not _rise(columns[j], values, tables[j], weights[j], precision, low) > level:
                break
            low -= width
        for _ in range(MOST_STEPS):
            if not _rise(columns[j], values, tables[j], weights[j], precision, high) > level:
                break
            high += width
        for _ in range(MOST_STEPS):
            change = low + (high - low) * rng.random()
            if _rise(columns[j], values, tables[j], weights[j], precision, change) > level:
                weights[j] += change
                for r in range(n_rows):
                    values[r] *= _bounded(columns[j, r] * change)
                break
            if change < 0.0:
                low = change
            else:
                high = change


@helper
def _rise(column, values, tables, weight, precision, change):
    """Return the increase of the log density if one weight changes."""
    total = tables * change - 0.5 * precision * change * (2.0 * weight + change)
    for r in range(values.shape[0]):
        total -= values[r] * math.expm1(min(column[r] * change, HIGHEST_LOG))
    return total


@kernel
def draw_real_weights(
    log_weights,
    label_tables,
    row_scales,
    topic_scales,
    row_starts,
    row_labels,
    row_values,
    label_starts,
    label_rows,
    block_starts,
    numbers,
    block_row_starts,
    block_rows,
    cell_starts,
    cells,
    shapes,
    rates,
    own_topics,
    precisions,
    slices,
    first,
    last,
    rng,
):
    """Draw the weights of topics first … last - 1 where labels `numbers` have real values; changes log_weights.

    Block b of numbers is ``numbers[block_starts[b]:block_starts[b + 1]]``. It is 0 outside the rows
    ``block_rows[block_row_starts[b]:block_row_starts[b + 1]]``, and its values there are the `cells` from
    ``cell_starts[b]``, [number, row]. The other labels are 0 or 1. A label with precision 0 has a gamma prior with its
    shape and rate, the others have normal priors. A label with own_topics[l] >= 0 has a weight in this topic only;
    the others stay as they are. `slices` is the share of the updates of numbers that use the slice sampler. The
    stationary distribution is reference.real_log_density.
    """
    n_rows, n_labels = row_starts.shape[0] - 1, log_weights.shape[0]
    is_number = np.zeros(n_labels, np.bool_)
    for j in range(numbers.shape[0]):
        is_number[numbers[j]] = True
    values = np.empty(n_rows)  # s[r] exp(x[r] · w)
    for k in range(first, last):
        for r in range(n_rows):
            exponent = 0.0
            for i in range(row_starts[r], row_starts[r + 1]):
                exponent += row_values[i] * log_weights[row_labels[i], k]
            values[r] = min(row_scales[r] * topic_scales[k] * _bounded(exponent), LARGEST)
        for label in range(n_labels):
            if is_number[label] or not (own_topics[label] < 0 or own_topics[label] == k):
                continue
            rows = label_rows[label_starts[label] : label_starts[label + 1]]
            old, total = log_weights[label, k], 0.0
            for r in rows:
                total += values[r]
            log_exposure = math.log(total) - old if total > 0.0 else -math.inf
            if precisions[label] > 0.0:
                new = draw_poisson_normal(label_tables[label, k], log_exposure, precisions[label], rng)
            else:
                rate = rates[label] + math.exp(log_exposure)
                new = draw_log_gamma(shapes[label] + label_tables[label, k], rng) - math.log(rate)
            log_weights[label, k] = new
            factor = _bounded(new - old)
            for r in rows:
                values[r] = min(values[r] * factor, LARGEST)
        for b in range(block_starts.shape[0] - 1):
            own = numbers[block_starts[b] : block_starts[b + 1]]
            rows_of = block_rows[block_row_starts[b] : block_row_starts[b + 1]]
            columns = cells[cell_starts[b] : cell_starts[b + 1]].reshape((own.shape[0], rows_of.shape[0]))
            tables, weights, part = np.empty(own.shape[0]), np.empty(own.shape[0]), np.empty(rows_of.shape[0])
            for j in range(own.shape[0]):
                tables[j], weights[j] = label_tables[own[j], k], log_weights[own[j], k]
            for i in range(rows_of.shape[0]):
                part[i] = values[rows_of[i]]
            if rng.random() < slices:
                _slice_step(columns, tables, precisions, own, weights, part, rng)
            else:
                _newton_step(columns, tables, precisions, own, weights, part, rng)
            for j in range(own.shape[0]):
                log_weights[own[j], k] = weights[j]
            for i in range(rows_of.shape[0]):
                values[rows_of[i]] = min(part[i], LARGEST)
