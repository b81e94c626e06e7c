"""The order of labels: found, or given."""

import re

import pytest

from metalda.errors import InputError
from metalda.report.order import rank_labels


def ranks(*values: str, order: object = (), kind: str = "time") -> list[float | None]:
    names = [value if value.startswith(kind) else f"{kind}={value}" for value in values]
    return list(rank_labels(names, [kind] * len(names), order))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("1994", "1990", "2001"), [1994, 1990, 2001]),
        (("1990s", "1980s", "2000s"), [1990, 1980, 2000]),
        (("2021-03", "2021-01", "2020-12"), [2021 + 2 / 12, 2021, 2020 + 11 / 12]),
        (("2021-03-31", "2021-04-01", "2021-03-01"), [2021 + 2 / 12 + 30 / 372, 2021 + 3 / 12, 2021 + 2 / 12]),
        (("2021Q3", "2021 Q1", "2020-Q4"), [2021.5, 2021, 2020.75]),
        (("-1.5", "2", "0"), [-1.5, 2, 0]),
        (("time ≥ 8", "time < 4", "4 ≤ time < 8"), [2, 0, 1]),
        (("1990", "2000", "2010", "unknown"), [1990, 2000, 2010, None]),
        (("1990", "2000", "rock", "jazz"), [None] * 4),
        (("1990", "rock"), [None] * 2),
        (("2021-13", "2021-00", "2021-01"), [None] * 3),
        (("a", "b", "c"), [None] * 3),
        (("1", "2", "3", "9" * 400), [1, 2, 3, None]),
    ],
)
def test_times_numbers_and_bins_are_found(values: tuple[str, ...], expected: list[float | None]) -> None:
    names = [value if "time" in value else f"time={value}" for value in values]
    assert list(rank_labels(names, ["time"] * len(names))) == pytest.approx(expected)


def test_a_given_order_is_that_of_names_or_of_a_list() -> None:
    assert ranks("grade10", "grade9", "grade1", order="time") == [2, 1, 0]
    assert ranks("large", "small", "medium", order={"time": ["small", "medium", "large"]}) == [2, 0, 1]
    assert ranks("large", "small", order={"time": ["time=large", "small"]}) == [0, 1]
    assert ranks("1994", "1990", "2001", order=["time"]) == [1994, 1990, 2001]
    assert ranks("1994", "1990", "2001", order={"time": ["2001", "1994", "1990"]}) == [1, 2, 0]
    assert rank_labels(["b", "a"], ["", ""], {"": ["b", "a"]}) == (0, 1)
    assert ranks(f"v{'9' * 400}", "v1", "v2", order="time") == [0, 1, 2]  # as a number it is infinite


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("size", "there is no kind of labels 'size'; kinds are: 'time'"),
        ({"time": ["a", "x"]}, "order of 'time': there is no label 'x'"),
        ({"time": ["a"]}, "order of 'time': the label 'b' is missing; give all labels in order"),
        ({"time": ["a", "b", "time=a"]}, "order of 'time': a label is in it twice"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(order: object, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        ranks("a", "b", order=order)
