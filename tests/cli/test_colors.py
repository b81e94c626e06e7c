"""On a terminal, tables have colors and bars and fit the window. In a pipe, they are plain."""

import io
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.helpers import Run, Write, news
from metalda.cli.app import app
from metalda.cli.layout import Cell, bar, fits, record_lines, table_lines, text_of
from metalda.cli.tables import bars
from metalda.utils.terminal import width

ESCAPES = re.compile(r"\x1b\[([\d;]*)m")
BOLD, DIM = "1", "2"
RAISES, LOWERS, BEST, BAR = "38;5;166", "38;5;32", "1;38;5;34", "38;5;32"

Terminal = Callable[..., str]


class Screen(io.TextIOWrapper):
    """A stream that says that it is a terminal."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, errors="backslashreplace")

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Runs ``metalda`` with a terminal as its output, and returns what it wrote."""

    def show(*arguments: object, columns: int = 100, encoding: str = "utf-8", **environment: str) -> str:
        screen = Screen(encoding)
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}.items():
            monkeypatch.setenv(name, value)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            app([str(each) for each in arguments], prog_name="metalda", standalone_mode=False)
        return screen.text()

    return show


def styled(shown: str) -> list[tuple[str, str]]:
    """The parts of an output that have a style, with their codes."""
    parts = ESCAPES.split(shown)
    return [(code, text) for code, text in zip(parts[1::2], parts[2::2], strict=True) if code not in ("", "0")]


def plain(shown: str) -> str:
    return ESCAPES.sub("", shown)


@pytest.fixture(scope="module")
def named(run: Run, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with a topic whose name could be markup of Rich."""
    folder = tmp_path_factory.mktemp("named") / "model"
    assert run("curate", model, "--rename", "0=[red]pets[/red] :cat:", "-o", folder).exit_code == 0
    return folder


def test_names_are_bold_and_shares_have_bars(terminal: Terminal, named: Path) -> None:
    shown = terminal("topics", named)
    assert (BOLD, "[red]pets[/red] :cat:") in styled(shown)
    bars = [text for code, text in styled(shown) if code == BAR]
    assert len(bars) == 2
    assert bars[0].startswith("█" * 8)  # the largest topic
    assert bars[1].startswith("█")


def test_a_pipe_has_the_same_table_without_styles_and_bars(run: Run, terminal: Terminal, named: Path) -> None:
    piped = run("topics", named).stdout
    assert "\x1b" not in piped
    assert "█" not in piped
    assert re.sub("[█▏▎▍▌▋▊▉]", "", plain(terminal("topics", named))).split() == piped.split()


def test_signs_have_two_colors_and_uncertain_rows_are_dim(
    terminal: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pandas as pd

    from metalda import MetaLDA

    effects = [("pets", 0.9, 0.2, 1.4), ("sky", -0.8, -1.1, -0.3), ("sea", 0.1, -0.5, 0.6)]
    table = pd.DataFrame(
        [{"label": name, "topic": 0, "effect": mean, "low": low, "high": high} for name, mean, low, high in effects]
    )
    table.attrs["n_draws"] = 8
    monkeypatch.setattr(MetaLDA, "label_effects", lambda self, interval: table)
    shown = styled(terminal("effects", model, "--top", "0"))
    assert [(code, text) for code, text in shown if "." in text] == [
        (RAISES, "2.46×"),
        (DIM, "1.11×"),
        (DIM, "0.61× to 1.82×"),
        (LOWERS, "0.45×"),
    ]
    assert (DIM, "sea") in shown


def compare(terminal: Terminal, data: Path, folder: Path, **how: object) -> str:
    options = ("--text", "body", "--labels", "section", "--models", "metalda,lda", "--seeds", "2", "-k", "2")
    return terminal("compare", data, "-o", folder / "runs", *options, "--iterations", "4", **how)


def test_the_best_mean_is_marked_and_a_narrow_window_turns_the_table(
    terminal: Terminal, write: Write, tmp_path: Path
) -> None:
    data = write("news.jsonl", news() * 4)
    wide = compare(terminal, data, tmp_path, columns=150)
    rows = [line.split() for line in plain(wide).splitlines()]
    (start,) = (number for number, row in enumerate(rows) if row[:3] == ["model", "topics", "perplexity"])
    means = {row[0]: row[2] for row in rows[start + 1 : start + 3]}
    best = min(means, key=lambda name: float(means[name].replace(",", "")))
    marked = [text for code, text in styled(wide) if code == BEST]
    assert sum(text.startswith(f"{means[best]} ") for text in marked) == 1
    assert "The best mean of a measure is bold." in wide
    narrow = plain(compare(terminal, data, tmp_path, columns=60)).splitlines()
    (start,) = (number for number, line in enumerate(narrow) if line.startswith("model "))
    assert narrow[start].split() == ["model", "metalda", "lda"]
    assert narrow[start + 2].split()[0] == "perplexity"
    assert all(width(line) <= 60 for line in narrow[start : start + 5])


def test_no_color_leaves_bold_and_dim(terminal: Terminal, named: Path) -> None:
    codes = {code for code, _ in styled(terminal("topics", named, NO_COLOR="1"))}
    assert codes == {BOLD}


def test_a_terminal_without_styles_gets_none(terminal: Terminal, named: Path) -> None:
    assert "\x1b" not in terminal("topics", named, TERM="dumb")


def test_a_terminal_without_block_characters_has_no_bars(terminal: Terminal, named: Path) -> None:
    shown = terminal("topics", named, encoding="cp1252")
    assert "share" in shown
    assert not [text for code, text in styled(shown) if code == BAR]
    assert r"\u2588" not in shown


@pytest.mark.parametrize("columns", [30, 60])
def test_a_narrow_window_has_records_without_bars(terminal: Terminal, model: Path, columns: int) -> None:
    lines = plain(terminal("effects", model, columns=columns)).partition("\n\nIntervals")[0].splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("topic", "label"))][:2] == ["topic", "label"]
    assert all(width(line) <= max(columns, 42) for line in lines)
    shown = plain(terminal("topics", model, columns=columns))
    assert "█" not in shown
    assert all(width(line) <= columns for line in shown.partition("\n\n")[0].splitlines())


cells = st.text(st.characters(categories=("L", "N", "P", "S")), max_size=30)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=4), st.integers(1, 30), st.integers(30, 120))
def test_styles_never_change_the_text(rows: list[tuple[str, str]], length: int, columns: int) -> None:
    header = ("name", "words")
    bare = [[Cell(first), Cell(f"{first} {second}")] for first, second in rows]
    marked = [[Cell(row[0].text, "name"), Cell(row[1].text, "name", length)] for row in bare]
    for lay_out in (
        lambda rows: table_lines(header, rows, {"name"}, columns),
        lambda rows: record_lines(header, rows, columns),
    ):
        assert [text_of(line) for line in lay_out(marked)] == [text_of(line) for line in lay_out(bare)]
    if fits(header, bare, columns):
        assert all(width(text_of(line)) <= columns for line in table_lines(header, bare, set(), columns))


def test_a_name_that_wraps_keeps_its_style_on_every_line() -> None:
    name = "a name of many words"
    lines = table_lines(("topic", "words"), [[Cell("0"), Cell(f"{name}: cat dog", "name", len(name))]], set(), 20)
    assert " ".join(span.text for line in lines[1:] for span in line if span.style == "name" and span.text) == name


@pytest.mark.parametrize(
    ("share", "shown"), [(0.0, ""), (1e-9, "▏"), (0.25, "██"), (0.26, "██▏"), (0.5, "████"), (1.0, "████████")]
)
def test_a_bar_is_proportional(share: float, shown: str) -> None:
    assert bar(share, 1.0).text == shown.ljust(8)
    assert bar(share / 2, 0.5).text == shown.ljust(8)


def test_an_unknown_share_has_no_bar() -> None:
    """Proportions of the numbers of DMR are NaN."""
    assert [cell.text for cell in bars([0.25, math.nan, 0.5])] == ["████    ", " " * 8, "█" * 8]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of POSIX")
def test_rich_is_loaded_only_on_a_terminal(model: Path) -> None:
    import pty

    register = "import atexit, sys; atexit.register(lambda: print('rich' in sys.modules))"
    command = [sys.executable, "-c", f"{register}; from metalda.cli import main; main()", "topics", str(model)]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    piped = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert piped.endswith("False\n")
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # Linux, at the end
            pass
    os.close(ours)
    assert process.returncode == 0
    assert shown.rstrip().endswith(b"True")
    assert b"\x1b[1mwords" in shown


def test_summaries_of_a_group_are_whole(run: Run) -> None:
    shown = " ".join(run("validate", "--help").stdout.partition("Commands:")[2].split())
    assert "... " not in shown
    assert "and the key with the solutions." in shown
