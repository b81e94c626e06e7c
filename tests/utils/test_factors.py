"""Log weights as factors."""

import math

import pytest

from metalda.utils.factors import factor, round_factors, written_factor, written_mark


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1.00×"), (2.4, "2.40×"), (12.6, "13×"), (0.012, "0.012×"), (1e-5, "1.0e-05×"), (4e4, "40,000×")],
)
def test_factors_are_written_with_as_many_digits_as_say_something(value: float, text: str) -> None:
    assert written_factor(math.log(value)) == text


def test_unknown_and_extreme_effects_are_written() -> None:
    assert written_factor(math.nan) == "–"
    assert math.isfinite(factor(1e9))
    assert factor(-1e9) > 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1×"),
        (1 / 2, "½×"),
        (1 / 4, "¼×"),
        (1 / 10, "1/10×"),
        (1.25, "1.25×"),
        (0.8, "0.8×"),
        (1 / 1.05, "0.95×"),
        (1e4, "10,000×"),
    ],
)
def test_marks_are_fractions(value: float, text: str) -> None:
    assert written_mark(value) == text


@pytest.mark.parametrize("half_width", [0.05, 0.15, 0.25, 0.3, 0.7, 1.5, 3, 8, 20, 49])
def test_marks_are_few_symmetric_and_inside(half_width: float) -> None:
    marks = round_factors(-half_width, half_width)
    assert 1.0 in marks
    assert marks == sorted(marks)
    assert [1 / value for value in reversed(marks)] == pytest.approx(marks)
    assert all(abs(math.log(value)) <= half_width for value in marks)
    assert len(marks) <= 15
    assert len(marks) >= 3
