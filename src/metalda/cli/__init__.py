"""The command line: one module per command, which parses, calls the library, and prints."""

import gc
import sys


def main() -> None:
    """Run ``metalda``."""
    gc.set_threshold(50_000)  # saves a tenth of the start-up time: imports create many objects and little garbage
    from metalda.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # escape characters that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="metalda")
