"""Print errors, warnings and log messages as lines on stderr, and set exit codes."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from metalda.errors import InputError, MissingExtraError
from metalda.utils.terminal import one_line

BAD_INPUT, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 2, 1, 130, 141

# Click's UsageError. Newer versions of Typer contain a copy of Click, so it cannot be imported from there.
_UsageError: Any = typer.BadParameter.__mro__[1]


@contextmanager
def error_border(*, debug: bool = False, command: str = "metalda") -> Iterator[None]:
    """Convert every error inside to one line and an exit code; with `debug` errors are raised."""
    with _messages_as_lines():
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as head, has closed the pipe
            _drop_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt as stop:
            _print_line(": ".join(["interrupted", *map(str, stop.args)]))
            raise typer.Exit(INTERRUPTED) from None
        except _UsageError as error:
            where = error.ctx.command_path if error.ctx is not None else command
            _print_line(f"{error.format_message()} (see {where} --help)")
            raise typer.Exit(BAD_INPUT) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if debug:
                raise
            _print_line(describe(error))
            raise typer.Exit(BAD_INPUT if _is_expected(error) else UNEXPECTED) from None


def _is_expected(error: Exception) -> bool:
    """Return whether the input or the machine caused the error; any other error is a bug."""
    return isinstance(error, (InputError, OSError, MissingExtraError, MemoryError))


def describe(error: Exception) -> str:
    """Return the message of an error, without Python's prefixes."""
    if isinstance(error, OSError) and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename is not None else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if _is_expected(error):
        return str(error)
    kind = type(error).__name__
    return f"unexpected error: {kind}: {error}; metalda --debug … shows the traceback. Please report it"


@contextmanager
def _messages_as_lines() -> Iterator[None]:
    """Print log messages, and each warning once, in the same form as errors."""
    shown: set[str] = set()

    def show(message: Warning | str, *details: object, **more: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            _print_line(f"warning: {message}")

    handler = _Lines()
    logger, propagates = logging.getLogger("metalda"), logging.getLogger("metalda").propagate
    levels = {name: logging.getLogger(name).level for name in ("metalda.corpus", "metalda.memory", "metalda.models")}
    logger.addHandler(handler)
    logger.propagate = False
    logging.getLogger("metalda.corpus").setLevel(logging.INFO)  # how a file was read
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.filterwarnings("ignore", ".*joblib will operate in serial mode")  # no /dev/shm; it is not used
            warnings.showwarning = show
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        logger.propagate = propagates
        logger.removeHandler(handler)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        _print_line(f"warning: {text}" if record.levelno >= logging.WARNING else text)


def _print_line(message: str) -> None:
    with suppress(OSError):  # nobody reads it: a terminal was closed, or a disk is full
        print(f"metalda: {one_line(message)}", file=sys.stderr)


def _drop_output() -> None:
    """Redirect stdout to the null device, so that the interpreter's last flush succeeds."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
