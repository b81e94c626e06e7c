"""Which cases of a parametrized test run by default, and how many examples Hypothesis makes."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

from metalda.kernels.border import COMPILED


def slow_after_first(cases: Iterable[Any]) -> list[Any]:
    """The first case, then the others marked as slow. A tuple has a value for each name."""
    first, *others = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*first), *(pytest.param(*case, marks=pytest.mark.slow) for case in others)]


def examples(n: int) -> settings:
    """So many examples of a kernel, but a fifth without compilation, where they only run every line."""
    return settings(max_examples=n if COMPILED else max(1, n // 5))
