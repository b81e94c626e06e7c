"""Log weights as factors, such as 2.4×: how effects are written in tables, plots and the report."""

from __future__ import annotations

import math
from itertools import product

_MOST = 50.0  # of a log weight that is written
_FRACTIONS = {2: "½", 4: "¼"}
_STEPS = (  # up to so many decades on a side
    (0.1, (1.05, 1.1, 1.2)),
    (0.35, (1.25, 1.5, 2)),
    (0.75, (1.5, 2, 3, 4, 5)),
    (1.6, (2, 5, 10)),
)


def factor(log_weight: float) -> float:
    """Return the factor of a log weight, which is finite and above 0."""
    return math.exp(max(-_MOST, min(log_weight, _MOST)))


def written_factor(log_weight: float) -> str:
    """Return the factor of a log weight as text: 2.41×, 13×, or 0.09×; – if it is unknown."""
    if math.isnan(log_weight):
        return "–"
    value = factor(log_weight)
    if value >= 9.95:
        return f"{value:,.0f}×"
    return f"{value:.2f}×" if value >= 0.095 else f"{value:.3f}×" if value >= 0.0095 else f"{value:.1e}×"


def written_mark(value: float) -> str:
    """Return a round factor as text for an axis: ½×, 2× or 1/10×."""
    if value > 1 - 1e-9:
        return f"{value:,.0f}×" if value >= 100 else f"{value:.4g}×"
    inverse = 1 / value
    nearest = round(inverse)
    if abs(inverse - nearest) > 1e-6:
        return f"{value:.2g}×"
    return f"{_FRACTIONS[nearest]}×" if nearest in _FRACTIONS else f"1/{nearest:,}×"


def round_factors(low: float, high: float, most: int = 9) -> list[float]:
    """Return round factors between two log weights, with 1 among them if it is between; at most `most` or so."""
    decades = max(high, -low, 0.0) / math.log(10)
    steps = next((steps for end, steps in _STEPS if decades <= end), None)
    if steps is None:  # powers of ten at regular steps
        step = math.ceil(2 * decades / most)
        above = [10.0 ** (step * i) for i in range(1, math.ceil(decades / step) + 1)]
    else:
        above = sorted({step * 10.0**power for step, power in product(steps, range(2))})
    marks = [*(1 / value for value in reversed(above)), 1.0, *above]
    return [value for value in marks if low <= math.log(value) <= high]
