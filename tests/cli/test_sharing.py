"""Commands share lists of options without repeating them."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from metalda.cli.sharing import with_shared_options


@dataclass(frozen=True)
class Colours:
    ink: Annotated[str, typer.Option("--ink", "-i", help="Of the pen.")] = "blue"
    shades: Annotated[int | None, typer.Option("--shades", min=1)] = None


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()

    def draw(
        what: Annotated[str, typer.Argument()],
        colours: Colours,
        twice: Annotated[bool, typer.Option("--twice")] = False,
    ) -> None:
        """Draw something."""
        print(what, colours, twice)

    def wipe(colours: Colours) -> None:
        print(colours.ink)

    for command in (draw, wipe):
        app.command()(with_shared_options(command))
    return app


def test_the_fields_are_options_beside_the_commands_own(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["draw", "cat", "-i", "red", "--twice", "--shades", "3"])
    assert result.output == "cat Colours(ink='red', shades=3) True\n"
    assert CliRunner().invoke(app, ["draw", "cat"]).output == "cat Colours(ink='blue', shades=None) False\n"
    assert CliRunner().invoke(app, ["wipe", "--ink", "grey"]).output == "grey\n"


def test_help_and_checks_are_those_of_ordinary_options(app: typer.Typer) -> None:
    shown = CliRunner().invoke(app, ["draw", "--help"]).output
    assert "Draw something." in shown
    assert "Of the pen." in shown
    assert "blue" in shown
    assert CliRunner().invoke(app, ["draw", "cat", "--shades", "0"]).exit_code == 2
    assert CliRunner().invoke(app, ["draw"]).exit_code == 2
