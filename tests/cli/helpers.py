"""What the tests of the command line share besides fixtures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import Result

PETS = ["The cat chased a dog", "A dog and a cat sleep", "cats purr while dogs bark", "My dog barks at the cat"]
SKY = ["Rain and sun today", "The sun shines, no rain", "clouds bring rain", "Wind drives the clouds"]

HOSTILE = "\x1b[31mred"
NEW = [
    {"id": "a", "body": "the cat and the kitten", "section": "pets"},
    {"id": "b", "body": "Rain, rain and the wind", "section": "sky"},
]

Run = Callable[..., Result]
Write = Callable[..., Path]


def news() -> list[dict[str, Any]]:
    """Documents with an id, a text, a label and a number."""
    texts = [(text, "pets") for text in PETS] + [(text, "sky") for text in SKY]
    return [
        {"id": f"n{i}", "body": text, "section": label, "year": 1990 + i} for i, (text, label) in enumerate(2 * texts)
    ]


def error_line(result: Result) -> str:
    """The one line of an error that the user caused."""
    assert result.exit_code == 2, result.output
    lines = result.output.splitlines()
    assert len(lines) == 1, result.output
    assert lines[0].startswith("metalda: ")
    return lines[0]
