"""Hints about labels that were probably read in another way than meant: one line each, once."""

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metalda import Corpus

TEXTS = ["cat dog", "sun rain", "cat sun", "rain dog"]
GENRES = ["Drama|Comedy", "Drama|War", "Comedy|War|Drama", "War"]


def hints_of(call: Any) -> list[str]:
    """The messages of the warnings that a call issues; each must name the line of the test."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


def read(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"text": (TEXTS * 100)[: len(next(iter(columns.values())))], **columns})


def test_joined_labels_name_their_separator() -> None:
    frame = read(genre=GENRES)
    (hint,) = hints_of(lambda: Corpus.from_frame(frame, labels="genre"))
    assert hint == (
        "the field 'genre' has 4 different labels in 4 documents, such as 'Comedy|War|Drama': split them with "
        "label_delimiter='|' (--label-delimiter '|')"
    )
    assert hints_of(lambda: Corpus.from_frame(frame, labels="genre", label_delimiter="|")) == []


@pytest.mark.parametrize(
    ("labels", "separator"),
    [
        (["a; b", "b; c", "a; c", "b"], ";"),
        (["a, b", "b, c", "a, c", "a, b, c"], ","),
        (["a/b", "b/c", "c/a", "a/b/c"], "/"),
        (["Smith, John", "Miller, Ann", "Cook, Mary", "Hill, Joe"], None),  # parts that do not recur are parts of names
        (["AC/DC", "rock", "jazz", "pop", "folk"], None),
        (["news", "sport", "news", "sport"], None),
    ],
)
def test_a_separator_is_a_character_that_joins_recurring_labels(labels: list[str], separator: str | None) -> None:
    hints = hints_of(lambda: Corpus.from_frame(read(genre=labels), labels="genre"))
    assert [f"label_delimiter={separator!r}" in hint for hint in hints] == ([] if separator is None else [True])


def test_few_labels_in_many_documents_are_what_was_meant() -> None:
    assert hints_of(lambda: Corpus.from_frame(read(genre=50 * GENRES), labels="genre")) == []


def test_many_numbers_are_pointed_to_bins() -> None:
    frame = read(year=list(range(1900, 2000)))
    (hint,) = hints_of(lambda: Corpus.from_frame(frame, labels="year"))
    assert hint.startswith("the field 'year' has 100 different numbers, and each is a label")
    assert "bins={'year': 5} (--bins year=5)" in hint
    assert "numbers='year' (--numbers year)" in hint
    assert hints_of(lambda: Corpus.from_frame(frame, labels="year", bins={"year": 5})) == []
    assert hints_of(lambda: Corpus.from_frame(read(year=4 * list(range(20))), labels="year")) == []


def test_an_empty_column_is_named_also_beside_others() -> None:
    frame = read(genre=["", None, " ", float("nan")], place=["a", "b", "a", "b"])
    expected = "the field 'genre' is empty in all documents, so it gives no labels: check labels= (--labels)"
    assert hints_of(lambda: Corpus.from_frame(frame, labels="genre")) == [expected]
    assert hints_of(lambda: Corpus.from_frame(frame, labels=["genre", "place"])) == [expected]


def test_files_are_read_and_prepared_with_the_same_hints_but_new_documents_without(tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    read(genre=GENRES).to_csv(path, index=False)
    hints = hints_of(lambda: Corpus.read(path, labels="genre"))
    assert len(hints) == 1
    assert hints_of(lambda: Corpus.prepare(path, tmp_path / "corpus", labels="genre")) == hints
    schema = Corpus.load(tmp_path / "corpus").schema
    assert hints_of(lambda: Corpus.read(path, schema=schema)) == []
