"""Labels are found by the names that users type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalda.corpus.columns import interval_names
from metalda.errors import InputError
from metalda.meta.label_index import LabelIndex

NAMES = (
    "year < 1940",
    "1940 ≤ year < 1960",
    "year ≥ 1960",
    "genre=Drama",
    "genre=War",
    "tag=Drama",
    "size",
)
BINS = "'year < 1940', '1940 ≤ year < 1960', 'year ≥ 1960'"


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("1940 ≤ year < 1960", "1940 ≤ year < 1960"),
        ("1940 <= year < 1960", "1940 ≤ year < 1960"),
        ("1940<=year<1960", "1940 ≤ year < 1960"),
        ("1940.0 <= year < 1.96e3", "1940 ≤ year < 1960"),
        ("year<1940", "year < 1940"),
        ("year >= 1960", "year ≥ 1960"),
        ("1960 <= year", "year ≥ 1960"),
        ("year=1935", "year < 1940"),
        ("year=1940", "1940 ≤ year < 1960"),
        ("year = 1959.5", "1940 ≤ year < 1960"),
        ("year=1960", "year ≥ 1960"),
        ("War", "genre=War"),
        ("tag=Drama", "tag=Drama"),
        ("size", "size"),
    ],
)
def test_a_label_is_found_as_it_is_typed(typed: str, found: str) -> None:
    assert LabelIndex(NAMES).require(typed) == found


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("Drama", "the label 'Drama' is ambiguous: it may be 'genre=Drama' or 'tag=Drama'; give the whole name"),
        ("war", "the model has no label 'war'; did you mean 'genre=War'?"),
        ("genre=Wra", "the model has no label 'genre=Wra'; did you mean 'genre=War'"),
        ("1930 <= year < 1950", f"no label '1930 <= year < 1950'; it has {BINS}"),
        ("year=x", f"no label 'year=x'; it has {BINS}"),
        ("zebra", f"no label 'zebra'; it has {BINS}, 'genre=Drama', 'genre=War' …"),
    ],
)
def test_an_ambiguous_or_unknown_label_is_answered_with_the_nearest(typed: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        LabelIndex(NAMES).require(typed)
    assert message in str(error.value)


def test_an_exact_name_is_never_ambiguous() -> None:
    assert LabelIndex(("Drama", "genre=Drama", "tag=Drama")).require("Drama") == "Drama"


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5, unique=True), st.floats(-1e9, 1e9))
def test_every_number_has_one_bin(edges: list[float], number: float) -> None:
    edges.sort()
    names = interval_names("x", edges)
    assert LabelIndex(names).require(f"x={number!r}") == names[sum(edge <= number for edge in edges)]
    for name in names:
        assert LabelIndex(names).require(name.replace("≤", "<=").replace("≥", ">=").replace(" ", "")) == name


@pytest.mark.parametrize(
    "name", [f"{'1' * 200_000}x", f"({' - 1' * 50_000}", f"{'1 ≤ ' * 50_000}x", " " * 200_000 + "<"]
)
def test_hostile_names_take_no_time(name: str) -> None:
    """Names come with models, perhaps from strangers, so the patterns must not backtrack."""
    assert LabelIndex([name, "a"]).find(name + "=") is None
