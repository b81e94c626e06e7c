"""Agreement of coders, and intervals of shares."""

import numpy as np
import pytest

from metalda.errors import InputError
from metalda.evaluation import krippendorff_alpha
from metalda.evaluation.agreement import effective_answers, wilson_interval

nan = np.nan
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, sections A and C.
BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
NOMINAL = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
]


@pytest.mark.parametrize(("ratings", "published"), [(BINARY, 0.095), (NOMINAL, 0.743)])
def test_alpha_is_that_of_the_published_examples(ratings: list, published: float) -> None:
    assert round(krippendorff_alpha(ratings), 3) == published


def test_alpha_is_1_for_equal_and_below_0_for_opposite_ratings() -> None:
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == 1
    assert krippendorff_alpha([[1, 2, 1, 2], [2, 1, 2, 1]]) < 0


def test_alpha_does_not_depend_on_the_order_or_on_the_names_of_categories() -> None:
    ratings = np.array(NOMINAL)
    shuffled = np.random.default_rng(0).permutation(ratings, axis=1)[::-1]
    assert krippendorff_alpha(shuffled) == pytest.approx(krippendorff_alpha(ratings))
    assert krippendorff_alpha(-7.5 * ratings) == pytest.approx(krippendorff_alpha(ratings))


@pytest.mark.parametrize("ratings", [[[1, 1], [1, 1]], [[1, nan], [nan, 2]], [[1, 2, 3]], [[nan], [nan]], [[], []]])
def test_alpha_is_nan_where_it_is_not_defined(ratings: list) -> None:
    assert np.isnan(krippendorff_alpha(ratings))


def test_ratings_are_a_matrix() -> None:
    with pytest.raises(InputError, match="coder, unit"):
        krippendorff_alpha([1, 2])


def test_wilson_intervals_are_those_of_scipy() -> None:
    from scipy.stats import binomtest

    for k, n in ((0, 5), (3, 10), (10, 10), (49, 60)):
        expected = binomtest(k, n).proportion_ci(0.9, method="wilson")
        assert wilson_interval(k / n, n, 0.9) == pytest.approx((expected.low, expected.high))


def test_equal_answers_to_a_task_count_as_one_and_independent_ones_as_all() -> None:
    rng = np.random.default_rng(0)
    same = [np.repeat(right, 5) for right in rng.random(400) < 0.6]
    assert effective_answers(same) == pytest.approx(400, rel=0.01)
    independent = list(rng.random((400, 5)) < 0.6)
    assert effective_answers(independent) > 1700
    assert effective_answers([np.ones(3, bool)] * 4) == 12
    assert effective_answers([np.array([True, False, False])]) == 3


def test_intervals_cover_the_accuracy_of_tasks_that_differ() -> None:
    rng, n_trials, n_covered, n_naive = np.random.default_rng(0), 1000, 0, 0
    for _ in range(n_trials):
        answers = [rng.random(5) < easy for easy in rng.beta(1, 0.5, 20)]  # mean 2/3
        share = float(np.mean(answers))
        low, high = wilson_interval(share, effective_answers(answers), 0.9)
        n_covered += low <= 2 / 3 <= high
        low, high = wilson_interval(share, 100, 0.9)
        n_naive += low <= 2 / 3 <= high
    assert 0.86 < n_covered / n_trials < 0.94
    assert n_naive / n_trials < 0.8  # otherwise this shows nothing
