"""What the effect of a label is relative to follows from the label sets of the documents."""

import numpy as np
import pytest

from metalda.corpus.labels import as_labels
from metalda.meta import references
from metalda.meta.design import Design

SECTIONS_AND_YEARS = [[section, year] for section in "abc" for year in ("1", "2")]


def design(labels: list[list[str]]) -> Design:
    return Design.build(as_labels(labels, len(labels)), len(labels))


@pytest.mark.parametrize(
    ("labels", "kinds", "absent", "unknown"),
    [
        ([["a"], ["a"], ["b"]], ["ab"], "", ""),
        ([["a"], []], [], "a", ""),
        (SECTIONS_AND_YEARS, ["12", "abc"], "", ""),
        ([*SECTIONS_AND_YEARS, ["a"]], ["abc"], "12", ""),  # a document without a year
        ([*SECTIONS_AND_YEARS, ["a", "1", "x"]], ["12", "abc"], "x", ""),
        ([["a"], ["b"], ["a", "b"], []], [], "ab", ""),
        ([["a", "t"], ["b", "t"]], ["ab"], "", "t"),  # every document has the tag
        ([["a", "t"], ["b"], ["c"]], ["bc"], "", "at"),  # two labels that are always together
        ([["a", "1"], ["a", "2"], ["b", "3"], ["b", "4"]], ["12", "34"], "", "ab"),  # sections that share no year
    ],
)
def test_labels_are_compared_with_their_kind_or_with_their_absence(
    labels: list[list[str]], kinds: list[str], absent: str, unknown: str
) -> None:
    own = design(labels)
    found = own.references
    names = np.array(own.names[:-1])
    members = {"".join(sorted(names[found.kind_of == kind])) for kind in range(found.shares.shape[0])}
    assert {each for each in members if len(each) > 1} == set(kinds)
    assert "".join(sorted(names[found.kind_of < 0])) == absent
    assert "".join(sorted(names[~found.is_identified])) == unknown


def test_effects_do_not_change_with_weights_that_change_no_alpha() -> None:
    own = design(SECTIONS_AND_YEARS)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(6, 4))
    free = own.null_space @ rng.normal(size=(2, 4))
    np.testing.assert_allclose(own.matrix @ free, 0, atol=1e-12)
    assert np.abs(free).max() > 0.1
    np.testing.assert_allclose(own.references.center(weights + free), own.references.center(weights), atol=1e-12)


def test_many_labels_have_the_references_that_few_have(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    labels = [
        [f"a{rng.integers(60)}", f"y{rng.integers(9)}", *(f"t{i}" for i in rng.integers(0, 20, 2))] for _ in range(300)
    ]
    for each in labels:
        if "t3" in each:
            each.append("twin of t3")
    expected = design(labels).references
    monkeypatch.setattr(references, "_DENSE", 10)
    monkeypatch.setattr(references, "_FIRST_GUESS", 2)
    found = design(labels).references
    np.testing.assert_array_equal(found.is_identified, expected.is_identified)
    weights = rng.normal(size=(len(found.kind_of) + 1, 3))
    np.testing.assert_allclose(found.center(weights), expected.center(weights), atol=1e-9)
    assert expected.is_identified.sum() == len(found.kind_of) - 2
