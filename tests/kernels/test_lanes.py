"""Vectors that are spelt out give what NumPy gives, row by row."""

import numpy as np
from numba import float32, njit, uintp

from metalda.kernels.lanes import LANES, add, fill, load, multiply, store


@njit
def combine(rows, chosen, start, out):
    total, product = fill(float32(0)), fill(float32(start))
    for r in chosen:
        total = add(total, load(rows, uintp(r)))
        product = multiply(product, load(rows, uintp(r)))
    store(out, uintp(0), total)
    store(out, uintp(2), product)


def test_rows_are_added_and_multiplied_lane_by_lane_and_nothing_else_is_touched():
    rng = np.random.default_rng(0)
    rows = rng.gamma(2, 1, (9, LANES)).astype(np.float32)
    chosen = np.array([3, 0, 3, 8])
    out = np.full((4, LANES), 7, np.float32)
    combine(rows, chosen, 0.5, out)
    total, product = np.float32(0), np.float32(0.5)
    for r in chosen:
        total, product = total + rows[r], product * rows[r]
    np.testing.assert_array_equal(out, [total, np.full(LANES, 7), product, np.full(LANES, 7)])
    assert out.dtype == np.float32


def test_rows_need_no_alignment():
    memory = np.arange(2 * LANES + 1, dtype=np.float32)
    out = np.empty((3, LANES), np.float32)
    combine(memory[1:].reshape(2, LANES), np.array([1]), 1.0, out)
    np.testing.assert_array_equal(out[0], memory[1 + LANES :])
