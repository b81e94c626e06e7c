"""Random draws that hold where floats give out: log-gammas, -log q, and tables."""

import math

from metalda.kernels.border import helper

FEW = 24  # up to so many customers each is asked; beyond, tables are reached by jumps


@helper
def draw_log_gamma(shape, rng):
    """log of a Gamma(shape, 1) draw, finite for any shape > 0: log G(a) = log G(a + 1) + log(U) / a."""
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) + math.log(1.0 - rng.random()) / shape


@helper
def draw_minus_log_beta(a, b, rng):
    """-log q for q ~ Beta(a, b), finite even where q itself would underflow: log(1 + y/x), x ~ G(a), y ~ G(b)."""
    log_ratio = draw_log_gamma(b, rng) - draw_log_gamma(a, rng)
    if log_ratio > 0.0:
        return log_ratio + math.log1p(math.exp(-log_ratio))
    return math.log1p(math.exp(log_ratio))


@helper
def draw_tables(concentration, customers, rng):
    """t = [c > 0] + sum_{i=1}^{c-1} Bern(a / (a + i)); equals reference.draw_tables in distribution.

    Customer i + 1 opens a table with probability p(i) = a / (a + i), which falls with i. For many customers the next
    candidate is found by a geometric jump at the present p(i) and kept with probability p(j) / p(i): exact, and the
    cost follows the number of tables.
    """
    if customers <= 1:
        return customers
    tables = 1
    if customers <= FEW:
        for i in range(1, customers):
            if rng.random() * (concentration + i) < concentration:
                tables += 1
        return tables
    i = 1  # the next customer to be asked
    while True:
        jump = math.log(1.0 - rng.random()) / math.log1p(-concentration / (concentration + i))
        if jump >= customers - i:
            return tables
        j = i + int(jump)
        if rng.random() * (concentration + j) < concentration + i:
            tables += 1
        i = j + 1
        if i >= customers:
            return tables
