"""The command line: one module per command, which parses, calls the library, and prints."""

import gc
import os
import sys


def main() -> None:
    """Run ``metalda``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as in >&-; the null device also keeps its number from other files
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    gc.set_threshold(50_000)  # saves a tenth of the start-up time: imports create many objects and little garbage
    from metalda.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # escape characters that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="metalda")
