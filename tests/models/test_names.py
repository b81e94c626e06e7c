"""Names of topics in a file."""

import re
from pathlib import Path

import pytest

from metalda import LDA, read_names
from metalda.errors import InputError


def test_names_are_read_by_number_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text('{"7": " economy  and trade", "war": "peace", "12": null}', encoding="utf-8")
    assert read_names(path) == {7: "economy and trade", "war": "peace", 12: None}
    model = LDA(3, n_iter=5, verbose=False).fit(["cat dog", "rain sun"] * 5).rename({1: "war"})
    path.write_text('{"war": "pets", "0": "war"}', encoding="utf-8")
    assert model.rename(read_names(path)).topics()["name"].tolist() == ["war", "pets", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON (line 1"),
        ("[1]", 'expected an object, {"7": "economy", …}'),
        ("{}", "has no names"),
        ('{"7": "a", "7": "b"}', "the topic '7' is named twice"),
        ('{"7": "a", "07": "b"}', "a topic is named twice"),
        ('{"7": 3}', "must be a text that is not empty, not 3"),
        ('{"7": ""}', "must be a text that is not empty"),
        ('{"7": "topic3"}', "could be the number of a topic"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_file_that_is_wrong_is_one_line_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "names.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)) as info:
        read_names(path)
    assert "names.json" in str(info.value)
    with pytest.raises(InputError, match=r"none\.json"):
        read_names(tmp_path / "none.json")
