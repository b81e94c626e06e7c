"""Ranks equal those of SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from metalda.utils.ranks import average_ranks


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements=st.sampled_from([-np.inf, -1, 0, -0.0, 2, np.nan]),
    )
)
def test_ranks_are_those_of_scipy(values: np.ndarray) -> None:
    np.testing.assert_array_equal(average_ranks(values), rankdata(values, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_of_many_values_with_ties_are_those_of_scipy(dtype: type) -> None:
    values = np.random.default_rng(0).integers(0, 300, (1000, 4)).astype(dtype)
    np.testing.assert_array_equal(average_ranks(values), rankdata(values, axis=0))
