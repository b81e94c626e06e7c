"""The command line: one module per command, which parses, calls the library, and prints."""

import gc
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run ``metalda``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as in >&-; the null device also keeps its number from other files
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for name in ("SIGTERM", "SIGHUP"):  # from a job scheduler, and from a terminal that is closed
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_DFL:  # nohup ignores one
            signal.signal(getattr(signal, name), _interrupt)
    gc.set_threshold(50_000)  # saves a tenth of the start-up time: imports create many objects and little garbage
    from metalda.cli.app import app
    from metalda.utils.terminal import LOOK_ALIKE

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # replace characters that the terminal cannot show
            stream.reconfigure(errors=LOOK_ALIKE)
    app(prog_name="metalda")


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does at this moment; a shell may have started the command with Ctrl-C ignored."""
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signum, frame)
