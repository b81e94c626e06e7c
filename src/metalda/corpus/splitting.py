"""Which documents are held out."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from metalda.errors import InputError


def held_out(n_documents: int, test_size: float, random_state: Any) -> np.ndarray:
    """True for the documents that a random split puts into the test part."""
    if isinstance(test_size, Integral) and not isinstance(test_size, bool):
        n_test = int(test_size)
    elif isinstance(test_size, Real) and 0 < test_size < 1:
        n_test = math.ceil(test_size * n_documents)
    else:
        raise InputError(f"test_size={test_size!r}: give a share between 0 and 1, or a number of documents")
    if not 0 < n_test < n_documents:
        raise InputError(f"test_size={test_size!r} leaves nothing to train or to test on, of {n_documents:,} documents")
    is_test = np.zeros(n_documents, dtype=bool)
    is_test[np.random.default_rng(random_state).permutation(n_documents)[:n_test]] = True
    return is_test
