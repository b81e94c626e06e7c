"""What all commands have in common: help, version, and the border for errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import metalda
from cli.helpers import Run, error_line

COMMANDS = (
    *("demo", "fit", "topics", "effects", "transform", "evaluate", "compare", "predict", "datasets"),
    *("search", "stability", "chains", "import", "coherence", "reproduce", "report"),
)
PROGRAM = [sys.executable, "-c", "from metalda.cli import main; main()"]


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"metalda {metalda.__version__}\n"


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
def test_a_reader_that_leaves_early_is_no_error(model: Path) -> None:
    process = subprocess.Popen([*PROGRAM, "topics", str(model)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (141, b"")


def test_a_terminal_without_unicode_shows_numbers(model: Path) -> None:
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
