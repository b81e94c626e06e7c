"""What the shell offers after TAB."""

import pytest
from typer.testing import CliRunner

from metalda.cli.app import app


def complete(line: str) -> list[str]:
    """As bash asks for it, with the cursor at the end of the line."""
    asked = {"_METALDA_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return CliRunner().invoke(app, [], prog_name="metalda", env=asked).output.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("metalda se", ["search"]),
        ("metalda fit --bur", ["--burn-in"]),
        ("metalda fit --model l", ["lda", "llda", "lflda"]),
        ("metalda search news.jsonl --model pt", ["ptm"]),
        ("metalda compare news.jsonl --models lda,p", ["lda,pllda", "lda,ptm"]),
        ("metalda datasets re", ["reuters"]),
        ("metalda topics model --format j", ["json"]),
    ],
)
def test_commands_options_and_names_are_completed(line: str, offered: list[str]) -> None:
    assert complete(line) == offered


def test_a_model_is_not_offered_twice() -> None:
    assert "lda,lda" not in complete("metalda compare news.jsonl --models lda,")
