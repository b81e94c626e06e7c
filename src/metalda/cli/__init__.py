"""The command line: parse, call, print. Nothing heavy is imported before a command needs it."""

import gc
import sys


def main() -> None:
    """The program ``metalda``."""
    gc.set_threshold(50_000)  # or a tenth of the start is spent on looking for garbage among what was just imported
    from metalda.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character shows its number instead of failing
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="metalda")
