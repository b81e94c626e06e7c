"""Token patterns: regular expressions of users and of saved models, matched within a limit of time.

Patterns such as ``(a+)+$`` take time that is exponential in the length of a text, and Python's `re` has no limit.
In the main thread a timer interrupts it (on POSIX, from Python 3.11 on, where every search checks for signals). In
other threads, and elsewhere, a child process searches, which can be killed. Both give the tokens that `re` gives.
"""

from __future__ import annotations

import marshal
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import TypeVar, cast

from metalda.errors import InputError

SECONDS = 5.0
CHARACTERS_PER_SECOND = 100_000  # which add to the limit; usual patterns search 5 million and more
LONGEST_PATTERN = 100_000  # characters, which take half a second to compile

_Found = TypeVar("_Found")  # a token, or its place
_HAS_TIMER = hasattr(signal, "setitimer") and sys.version_info >= (3, 11)
_CHILD = """
import marshal, re, sys
pattern = re.compile(marshal.load(sys.stdin.buffer))
while True:
    text, with_places = marshal.load(sys.stdin.buffer)
    if with_places:
        found = [match.span(pattern.groups) for match in pattern.finditer(text)]
    else:
        found = pattern.findall(text)
    marshal.dump(found, sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""


class SlowPatternError(InputError):
    """A pattern takes too long on a text."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a token pattern."""
    if len(pattern) > LONGEST_PATTERN:
        raise InputError(f"token_pattern has {len(pattern):,} characters, but {LONGEST_PATTERN:,} is the maximum")
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"token_pattern={_excerpt(pattern)} is not a regular expression: {error}") from error


class TokenFinder:
    """Finds the tokens of texts, as ``re.findall`` does; a text that takes too long raises SlowPatternError.

    Texts share one limit, so that many texts of a few seconds each are refused as well.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = compile_pattern(pattern)
        if self._pattern.groups > 1:
            raise InputError(
                f"token_pattern={_excerpt(pattern)} has {self._pattern.groups} capturing groups, but only one is "
                "possible, which is the token: write (?:…) for the others"
            )
        self._seconds = SECONDS  # that are left
        self._child: _Child | None = None

    def __call__(self, text: str) -> list[str]:
        return self._find(text, self._pattern.findall, with_places=False)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the start and the end of each token in a text; empty tokens are left out."""
        found = self._find(text, self._find_places, with_places=True)
        return [(start, end) for start, end in found if start < end]  # (-1, -1) if the group matched nothing

    def _find_places(self, text: str) -> list[tuple[int, int]]:
        group = self._pattern.groups  # 0 is the whole match
        return [match.span(group) for match in self._pattern.finditer(text)]

    def _find(self, text: str, find: Callable[[str], list[_Found]], *, with_places: bool) -> list[_Found]:
        allowed = min(self._seconds, SECONDS) + len(text) / CHARACTERS_PER_SECOND
        try:
            if _HAS_TIMER and threading.current_thread() is threading.main_thread():
                return self._find_with_timer(text, find, allowed)
            if self._child is None:
                self._child = _Child(self._pattern.pattern)
            return cast("list[_Found]", self._child.find(text, with_places, allowed))
        except _TimeUpError:
            raise SlowPatternError(
                f"token_pattern={_excerpt(self._pattern.pattern)} takes too long on the text that begins with "
                f"{_excerpt(text)}; simplify it: a repeat within a repeat, as in (a+)+, takes exponential time"
            ) from None

    def _find_with_timer(self, text: str, find: Callable[[str], list[_Found]], allowed: float) -> list[_Found]:
        handler = signal.signal(signal.SIGVTALRM, _stop)
        try:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, allowed)  # of processor time: other programs do not count
                return find(text)
            finally:
                self._seconds = signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0]
        finally:
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL if handler is None else handler)


class _TimeUpError(Exception):
    pass


def _stop(signum: int, frame: object) -> None:
    raise _TimeUpError


class _Child:
    """A process that finds tokens, one text at a time."""

    def __init__(self, pattern: str) -> None:
        self._lock = threading.Lock()
        try:
            if getattr(sys, "frozen", False):
                raise OSError("this program contains its own Python")
            command = [sys.executable, "-I", "-S", "-c", _CHILD]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except (OSError, TypeError) as error:
            raise InputError(
                f"token_pattern={_excerpt(pattern)}: outside the main thread, a pattern of your own needs a second "
                f"process, which cannot be started: {error}"
            ) from error
        self._process = process
        weakref.finalize(self, _end, process)
        self._send(pattern)

    def find(self, text: str, with_places: bool, seconds: float) -> object:
        """Return the tokens of a text, or their places; the process is killed after some seconds."""
        with self._lock:
            timer = threading.Timer(seconds, self._process.kill)
            timer.daemon = True
            timer.start()
            try:
                self._send((text, with_places))
                return marshal.load(self._process.stdout)  # type: ignore[arg-type]
            except (EOFError, OSError, ValueError, TypeError):  # the process was killed
                raise _TimeUpError from None
            finally:
                timer.cancel()

    def _send(self, message: str | tuple[str, bool]) -> None:
        assert self._process.stdin is not None
        marshal.dump(message, self._process.stdin)
        self._process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with process:  # closes its pipes
        pass


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
