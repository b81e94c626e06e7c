"""Which cases of a parametrized test run by default."""

from collections.abc import Iterable
from typing import Any

import pytest


def slow_after_first(cases: Iterable[Any]) -> list[Any]:
    """The first case, then the others marked as slow. A tuple has a value for each name."""
    first, *others = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*first), *(pytest.param(*case, marks=pytest.mark.slow) for case in others)]
