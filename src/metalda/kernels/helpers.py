"""Helpers that several kernels share: uniforms, the choice of a topic, products of many factors, and random draws.

Products over the tokens of a document exceed the range of a float. There are two solutions. `multiply_rising` takes a
logarithm when a product becomes extreme. `take_exponents` and `give_exponents` keep the exponents of two as integers,
which is exact, vectorizes and needs no logarithm.
"""

import math

import numpy as np
from numpy import float32, float64, int64, uint64

from metalda.kernels.border import helper

BLOCK = 32  # topics whose weights are summed at a time during a search
FAINT, BRIGHT = float32(1e-25), float32(1e30)  # a float32 sum outside this range has lost digits
FEW, MODERATE = 24, 1e4  # at most FEW factors below MODERATE are multiplied one by one; otherwise log-gammas are used
LARGE, SMALL = 1e150, 1e-150  # a float64 product outside this range is replaced by its logarithm
FRACTION, EXPONENT_0, BIAS = uint64(0x000FFFFFFFFFFFFF), uint64(0x3FF0000000000000), 1023  # bits of a float64 above 0


@helper
def stir(state):
    """Return the output of splitmix64 for a state; equals reference.splitmix."""
    x = uint64(state + uint64(0x9E3779B97F4A7C15))
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@helper
def next_uniform(state):
    """Do one step of splitmix64: the new state and a uniform in [0, 1)."""
    bits = stir(state)
    return uint64(state + uint64(0x9E3779B97F4A7C15)), float64(bits >> uint64(11)) * 2.0**-53


@helper
def choose_topic(weights, n_topics, x):
    """Return the first k with x < weights[0] + … + weights[k]; equals reference.choose_topic.

    If rounding moves x past the last sum, it is the last topic of positive weight. A topic of weight 0 is never
    chosen.
    """
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


@helper
def multiply_rising(log_product, product, concentration, count):
    """Multiply exp(log_product) * product by Γ(a + c) / Γ(a), with a logarithm only if the product is extreme."""
    if count > FEW or concentration > MODERATE:
        return log_product + log_rising(concentration, count), product
    for j in range(count):
        product *= concentration + j
    if product > LARGE or product < SMALL:
        return log_product + math.log(product), 1.0
    return log_product, product


@helper
def log_rising(concentration, count):
    """Return log Γ(a + c) / Γ(a)."""
    if concentration < 1e9:  # above, the difference of log-gammas has lost its digits
        return math.lgamma(concentration + count) - math.lgamma(concentration)
    total = 0.0
    for j in range(count):
        total += math.log(concentration + j)
    return total


@helper
def take_exponents(bits, exponents):
    """Leave weights in [1, 2) and add their exponents of two to `exponents`; `bits` are the weights as uint64.

    A weight of 0, or a denormal one, counts as 2^-1023: less than any other.
    """
    for k in range(bits.shape[0]):
        exponents[k] += int64(bits[k] >> uint64(52)) - BIAS
        bits[k] = (bits[k] & FRACTION) | EXPONENT_0


@helper
def give_exponents(weights, bits, exponents):
    """Multiply weights by 2^exponent, relative to the largest exponent, and return the sum of the weights."""
    take_exponents(bits, exponents)
    highest = exponents[0]
    for k in range(exponents.shape[0]):
        highest = max(highest, exponents[k])
    total = 0.0
    for k in range(exponents.shape[0]):
        exponent = exponents[k] - highest + BIAS
        bits[k] = ((bits[k] & FRACTION) | (uint64(exponent) << uint64(52))) if exponent > 0 else uint64(0)
    for k in range(exponents.shape[0]):
        total += weights[k]
    return total


@helper
def draw_log_gamma(shape, rng):
    """Draw log G for G ~ Gamma(shape, 1), finite for any shape > 0: log G(a) = log G(a + 1) + log(U) / a."""
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) + math.log(1.0 - rng.random()) / shape


@helper
def find_mode(level, precision):
    """Return the v with exp(v) + precision * v = level, by Newton's method from above, where it converges."""
    v = min(math.log(max(level, 1.0)), level / precision)
    for _ in range(100):
        power = math.exp(v)
        step = (power + precision * v - level) / (power + precision)
        v -= step
        if abs(step) <= 1e-10 * max(abs(v), 1.0):
            break
    return v


@helper
def draw_poisson_normal(events, log_exposure, precision, rng):
    """Draw w from exp(t w - c exp(w) - precision * w² / 2), with t events and exposure c.

    Its density is reference.poisson_normal: the conditional of a log weight with a normal prior. Around its mode, with
    e = c exp(mode), the log density is -e (exp(x) - 1 - x) - precision * x² / 2. It is concave, so its tangents at both
    sides of the mode, and its height at the mode, bound it from above. A proposal from this bound is accepted with a
    probability of about 0.8.
    """
    if log_exposure == -math.inf:  # no document has the label
        return events / precision + rng.standard_normal() / math.sqrt(precision)
    log_exposure = min(log_exposure, 1e4)  # infinite where weights are beyond the range of floats
    v = find_mode(events + precision * log_exposure, precision)
    e = math.exp(v)
    d = 1.2 / math.sqrt(e + precision)
    left = -e * math.expm1(-d) + precision * d  # slope of the tangent at -d, and of that at d
    right = -e * math.expm1(d) - precision * d
    low = -d + (e * (math.expm1(-d) + d) + 0.5 * precision * d * d) / left  # where the tangents reach the mode's height
    high = d + (e * (math.expm1(d) - d) + 0.5 * precision * d * d) / right
    low, high = min(low, 0.0), max(high, 0.0)
    total = 1.0 / left + (high - low) - 1.0 / right
    while True:
        u = rng.random() * total
        bound = 0.0
        if u < high - low:
            x = low + u
        else:
            bound = math.log(1.0 - rng.random())
            x = low + bound / left if u < high - low + 1.0 / left else high + bound / right
        if math.log(1.0 - rng.random()) + bound <= -e * (math.expm1(min(x, 700.0)) - x) - 0.5 * precision * x * x:
            return v - log_exposure + x


@helper
def draw_minus_log_beta(a, b, rng):
    """Draw -log q for q ~ Beta(a, b), finite even if q underflows: log(1 + y/x) with x ~ G(a), y ~ G(b)."""
    log_ratio = draw_log_gamma(b, rng) - draw_log_gamma(a, rng)
    if log_ratio > 0.0:
        return log_ratio + math.log1p(math.exp(-log_ratio))
    return math.log1p(math.exp(log_ratio))


@helper
def draw_tables(concentration, customers, rng):
    """Draw t = [c > 0] + sum_{i=1}^{c-1} Bern(a / (a + i)); has the distribution reference.table_probabilities.

    Customer i + 1 opens a table with probability p(i) = a / (a + i), which falls with i. For many customers the next
    candidate is found by a geometric jump at the current p(i) and kept with probability p(j) / p(i). This is exact, and
    the cost grows with the number of tables instead of the number of customers.
    """
    if customers <= 1:
        return customers
    tables = 1
    if customers <= FEW:
        for i in range(1, customers):
            if rng.random() * (concentration + i) < concentration:
                tables += 1
        return tables
    i = 1  # the next customer
    while True:
        jump = math.log(1.0 - rng.random()) / np.log1p(-concentration / (concentration + i))  # log1p(-1) is -inf
        if jump >= customers - i:
            return tables
        j = i + int(jump)
        if rng.random() * (concentration + j) < concentration + i:
            tables += 1
        i = j + 1
        if i >= customers:
            return tables
