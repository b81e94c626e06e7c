"""What all commands have in common: help, lazy loading, completion, groups of options, and the border for errors."""

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import metalda
from cli.helpers import Run, error_line
from metalda.cli import app as app_module
from metalda.cli.app import app, with_shared_options

COMMANDS = [entry.name for entry in app_module.COMMANDS]
PROGRAM = [sys.executable, "-c", "from metalda.cli import main; main()"]


def test_version_is_the_first_line_and_the_others_are_what_a_bug_report_needs(run: Run) -> None:
    first, machine, required, optional = run("--version").stdout.splitlines()
    assert first == f"metalda {metalda.__version__}"
    assert platform.python_version() in machine
    assert platform.machine() in machine
    assert f"numba {version('numba')}, " in required
    assert optional.startswith("optional: ")


def test_a_package_that_is_not_installed_is_named_as_such(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metalda.cli.versions._OPTIONAL", ("numpy", "no-such-package"))
    assert run("--version").stdout.endswith(f"optional: numpy {version('numpy')}, no no-such-package\n")


def test_help_names_every_command(run: Run) -> None:
    shown = run("--help").stdout
    assert all(f"\n  {command} " in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_ends_with_an_example(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    examples = result.stdout.rpartition("Example:\n")[2].rstrip().splitlines()
    assert examples
    assert all(example.strip().startswith(f"metalda {command}") for example in examples)


@pytest.mark.parametrize("command", ["make", "score"])
def test_commands_of_a_group_have_their_own_help(run: Run, command: str) -> None:
    shown = run("validate", command, "--help").stdout
    assert shown.startswith(f"Usage: metalda validate {command} ")
    assert f"  metalda validate {command} " in shown.rpartition("Example:\n")[2]
    assert f"see metalda validate {command} --help" in error_line(run("validate", command))
    assert "Missing command. (see metalda validate --help)" in error_line(run("validate"))
    assert "'mak'" in error_line(run("validate", "mak"))


def test_the_help_of_a_command_lists_options_by_section(run: Run) -> None:
    lines = run("fit", "--help").stdout.splitlines()
    sections = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    expected = ["Data:", "Text:", "Word features:", "Model:", "Training:", "Parameters of single models:", "Computing:"]
    assert sections == ["Arguments:", "Options:", *expected]
    start = sections.index("Training:")
    own = lines[lines.index("Training:") : lines.index(sections[start + 1])]
    assert any(line.startswith("  --iterations ") for line in own)


LOADED = """
import os, sys
from metalda.cli import main
try:
    main()
except SystemExit:
    pass
loaded = [name.removeprefix("metalda.cli.") for name in sys.modules if name.startswith("metalda.cli.")]
loaded += [name for name in ("numba", "sklearn", "scipy", "pandas") if name in sys.modules]
print("LOADED", *loaded)
"""
SHARED = {"app", "errors", "layout", "model_options", "options", "tables"}


def loaded(*arguments: str, **environment: str) -> set[str]:
    """The modules of the command line, and the slow packages, that a command loads."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize("command", ["topics", "chains", "import", "reproduce"])
def test_only_the_module_of_the_command_is_loaded(command: str) -> None:
    assert loaded("--help") == {"app", "errors"}
    assert loaded(command, "--help") == {*SHARED, app_module.Entry(command, "", "").module}


def test_completion_of_files_is_quick_also_after_fit() -> None:
    asked = {"_METALDA_COMPLETE": "complete_bash", "COMP_WORDS": "metalda fit new", "COMP_CWORD": "2"}
    assert not loaded(**asked) & {"numba", "sklearn", "scipy", "pandas"}


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/command-line.md",
        "docs/effects.md",
        "docs/guides/topics-over-time.md",
        "docs/guides/validation.md",
        "docs/reproduction/README.md",
    ],
)
def test_every_option_in_the_documents_exists(page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    loaded = [app_module.load_command(entry) for entry in app_module.COMMANDS]
    commands = [each for command in loaded for each in getattr(command, "commands", {"": command}).values()]
    there = {
        name for command in commands for option in command.params for name in (*option.opts, *option.secondary_opts)
    }
    there |= {"--help", "--debug", "--version", "--install-completion", "--show-completion"}
    lines = [line for line in text.splitlines() if "metalda" in line or page.endswith("command-line.md")]
    named = {
        name
        for line in lines
        if not re.search("pip|uvx", line)
        for name in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)
    }
    assert named - there == set()


def test_an_unknown_command_and_a_missing_argument_are_one_line(run: Run) -> None:
    assert "'fitt'" in error_line(run("fitt"))
    line = error_line(run("topics"))
    assert "MODEL" in line
    assert "metalda topics --help" in line


def test_debug_lets_the_traceback_through(run: Run, tmp_path: Path) -> None:
    assert isinstance(run("--debug", "topics", tmp_path / "none").exception, metalda.errors.StorageError)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (FileNotFoundError(2, "No such file or directory", "x.txt"), 2, "x.txt: No such file or directory"),
        (PermissionError(13, "Permission denied"), 2, "Permission denied"),
        (metalda.errors.missing_extra("pyarrow", "parquet", "Reading Parquet"), 2, "pip install 'metalda[parquet]'"),
        (MemoryError(), 2, "not enough memory"),
        (metalda.errors.InputError("two\nlines"), 2, "two lines"),
        (ValueError("zip() argument 2 is shorter"), 1, "unexpected error: ValueError: zip() argument 2 is shorter"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("oh"), 1, "unexpected error: ZeroDivisionError: oh"),
    ],
)
def test_errors_are_one_line_with_their_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("metalda.datasets.available", fail)
    result = run("datasets")
    assert result.exit_code == code
    assert len(result.stderr.splitlines()) == 1
    assert line in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows reports broken pipes otherwise")
def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen([*PROGRAM, "datasets"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX closes them")
@pytest.mark.parametrize(
    ("closed", "arguments", "code"),
    [(">&-", ["datasets"], 0), ("2>&-", ["nonsense"], 2), ("<&- >&- 2>&-", ["fit", "-"], 2)],
)
def test_closed_standard_streams_are_like_the_null_device(
    tmp_path: Path, closed: str, arguments: list[str], code: int
) -> None:
    command = ["sh", "-c", f'"$@" {closed}', "sh", *PROGRAM, *arguments]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (code, "", "")


def test_a_terminal_without_unicode_shows_numbers() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = subprocess.run([*PROGRAM, "datasets"], env=environment, capture_output=True, check=False)
    assert result.returncode == 0


def test_errors_of_the_program_itself_have_no_traceback(tmp_path: Path) -> None:
    result = subprocess.run([*PROGRAM, "topics", "none"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "metalda: none: no such folder, so no saved model\n"


def test_starting_does_not_look_for_garbage_among_what_it_imports() -> None:
    collections = "sum(each['collections'] for each in gc.get_stats())"
    program = (
        "import atexit, gc; from metalda.cli import main; "
        f"before = {collections}; atexit.register(lambda: print({collections} - before)); main()"
    )
    done = subprocess.run([sys.executable, "-c", program, "--version"], check=True, capture_output=True, text=True)
    assert int(done.stdout.splitlines()[-1]) <= 1


def complete(line: str) -> list[str]:
    """As bash asks for it, with the cursor at the end of the line."""
    asked = {"_METALDA_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return CliRunner().invoke(app, [], prog_name="metalda", env=asked).output.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("metalda se", ["search"]),
        ("metalda pre", ["prepare", "prevalence", "predict"]),
        ("metalda prevalence --ov", ["--over"]),
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


@dataclass(frozen=True)
class Colors:
    ink: Annotated[str, typer.Option("--ink", "-i", help="Of the pen.")] = "blue"
    shades: Annotated[int | None, typer.Option("--shades", min=1)] = None


@pytest.fixture
def painter() -> typer.Typer:
    painter = typer.Typer()

    def draw(
        what: Annotated[str, typer.Argument()],
        colors: Colors,
        twice: Annotated[bool, typer.Option("--twice")] = False,
    ) -> None:
        """Draw something."""
        print(what, colors, twice)

    def wipe(colors: Colors) -> None:
        print(colors.ink)

    for command in (draw, wipe):
        painter.command()(with_shared_options(command))
    return painter


def test_the_fields_are_options_beside_the_commands_own(painter: typer.Typer) -> None:
    result = CliRunner().invoke(painter, ["draw", "cat", "-i", "red", "--twice", "--shades", "3"])
    assert result.output == "cat Colors(ink='red', shades=3) True\n"
    assert CliRunner().invoke(painter, ["draw", "cat"]).output == "cat Colors(ink='blue', shades=None) False\n"
    assert CliRunner().invoke(painter, ["wipe", "--ink", "grey"]).output == "grey\n"


def test_help_and_checks_are_those_of_ordinary_options(painter: typer.Typer) -> None:
    shown = CliRunner().invoke(painter, ["draw", "--help"]).output
    assert "Draw something." in shown
    assert "Of the pen." in shown
    assert "blue" in shown
    assert CliRunner().invoke(painter, ["draw", "cat", "--shades", "0"]).exit_code == 2
    assert CliRunner().invoke(painter, ["draw"]).exit_code == 2
