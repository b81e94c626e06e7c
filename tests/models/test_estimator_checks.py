"""scikit-learn's own checks, on LDA."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from metalda import LDA

# Checks that cannot apply, with the reason.
EXPECTED: dict[str, str] = {}


def _checks():
    model = LDA(n_components=2, n_iter=4, thin=1, n_draws=2, random_state=0, verbose=False)
    for estimator, check in estimator_checks_generator(model, expected_failed_checks=EXPECTED, mark="skip"):
        name = check.func.__name__ if hasattr(check, "func") else check.__name__
        yield pytest.param(estimator, check, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_scikit_learn_accepts_lda(estimator, check):
    with warnings.catch_warnings():
        # The checks feed real numbers where counts are meant; each positive one is then rounded, and we say so.
        warnings.filterwarnings("ignore", message=".*not counts.*")
        assert check(estimator) is None  # they raise what they find
