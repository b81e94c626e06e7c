"""scikit-learn's own checks, on every model."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from contracts import CASES, Case
from metalda import GPUDMM, LFLDA, Embeddings

# Checks that fail for a reason that belongs to the model.
EXPECTED = {
    "PTM": {"check_fit2d_1sample": "a PTM needs as many documents as pseudo-documents, and its message says so"},
}
VECTORS = Embeddings(tuple(f"x{j}" for j in range(100)), np.random.default_rng(0).normal(size=(100, 3)))


class UnnamedLFLDA(LFLDA):
    _needs_names = False


class UnnamedGPUDMM(GPUDMM):
    _needs_names = False


UNNAMED = {"LFLDA": UnnamedLFLDA, "GPUDMM": UnnamedGPUDMM}


def _model(case: Case) -> Any:
    """The model of a case. The checks give matrices without names of words, which are then x0, x1, …"""
    settings: dict[str, Any] = {"n_iter": 4, "thin": 1, "n_draws": 2}
    if case.needs_names:
        return UNNAMED[case.name](**case.make(embeddings=VECTORS, **settings).get_params())
    return case.make_for_columns(**settings)


def _checks() -> Iterator[Any]:
    for case in CASES:
        if case.name == "MetaLDA-seeds":  # without names of words it is MetaLDA-def-def
            continue
        with warnings.catch_warnings():  # models do without the base class: see metalda/models/estimator.py
            warnings.filterwarnings("ignore", message=".*does not inherit from `sklearn.base.BaseEstimator`")
            checks = list(estimator_checks_generator(_model(case)))
        for estimator, check in checks:
            name = check.func.__name__
            reason = EXPECTED.get(case.name, {}).get(name)
            marks = pytest.mark.xfail(reason=reason, strict=True) if reason else ()
            yield pytest.param(estimator, check, id=f"{case}-{name}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_scikit_learn_accepts_a_model(estimator, check):
    with warnings.catch_warnings():
        # The checks feed real numbers where counts are meant; each positive one is then rounded, and we say so.
        warnings.filterwarnings("ignore", message=".*not counts.*")
        assert check(estimator) is None  # they raise what they find
