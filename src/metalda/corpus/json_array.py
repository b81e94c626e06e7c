"""Read a JSON array of any size element by element, in bounded memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from metalda.corpus.files import exceeds, one_line, too_large
from metalda.corpus.stream import Location
from metalda.errors import InputError

_PIECE = 2**20  # characters
_DECODER, _SPACE = json.JSONDecoder(), re.compile(r"[ \t\n\r]*")
_LONGEST_ATOM = len("-Infinity")  # that the end of a piece can cut, apart from strings


class ArrayElements:
    """The elements of a JSON array with the numbers of their lines; one element, or a piece of the file, is in memory.

    Parameters
    ----------
    path : Path
        For messages.
    pieces : iterator of str
        The file, from ``[`` on.
    number : int
        The line on which the array begins.
    max_bytes : int
        The limit of an element.
    """

    def __init__(self, path: Location, pieces: Iterator[str], number: int, max_bytes: int) -> None:
        self._path, self._pieces, self._max_bytes = path, pieces, max_bytes
        self._text = next(pieces)
        self._position = 1  # the next character
        self._number, self._counted = number, 0  # the line of the character `_counted`

    def __iter__(self) -> Iterator[tuple[int, object]]:
        is_open = self._next_character() != "]"
        while is_open:
            number = self._line()
            yield number, self._read_value()
            is_open = self._next_character() == ","
            if is_open:
                self._position += 1
                self._next_character()
            elif self._next_character() != "]":
                raise self._wrong("expected a comma or the end of the array", self._position)
        self._position += 1
        if self._next_character():
            raise self._wrong("the array has ended, but the file has not", self._position)

    def _read_value(self) -> object:
        """Read the value at the position, and as much of the file as it takes."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._position)
            except json.JSONDecodeError as error:
                at_end = error.pos + _LONGEST_ATOM > len(self._text) or error.msg.startswith("Unterminated string")
                if not at_end or not self._read_on():
                    raise self._wrong(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:
                raise self._wrong(one_line(error), self._position) from None
            else:
                if end == len(self._text) and self._read_on():  # a number may continue
                    continue
                if exceeds(self._text[self._position : end], self._max_bytes):
                    raise too_large(f"{self._path} line {self._line()}", self._max_bytes)
                self._position = end
                return value

    def _read_on(self) -> bool:
        """Read as many characters as are held after the position, so that a value is parsed a few times only.

        Returns False, and changes nothing, at the end of the file.
        """
        n_held = len(self._text) - self._position
        if n_held > self._max_bytes + 2 * _PIECE:
            raise too_large(f"{self._path} line {self._line()}", self._max_bytes)
        new: list[str] = []
        while sum(map(len, new)) <= min(n_held, self._max_bytes) and (piece := next(self._pieces, "")):
            new.append(piece)
        if not new:
            return False
        self._line()
        self._text = "".join([self._text[self._position :], *new])
        self._position = self._counted = 0
        return True

    def _next_character(self) -> str:
        """Return the next character that is not space, or nothing at the end of the file."""
        while True:
            found = _SPACE.match(self._text, self._position)
            assert found is not None
            self._position = found.end()
            if self._position < len(self._text) or not self._read_on():
                return self._text[self._position : self._position + 1]

    def _line(self) -> int:
        """Return the line of the position."""
        self._number += self._text.count("\n", self._counted, self._position)
        self._counted = self._position
        return self._number

    def _wrong(self, problem: str, position: int) -> InputError:
        line = self._number + self._text.count("\n", self._counted, position)
        if position == len(self._text):  # the file ends with the last line that is not empty
            line -= self._text.count("\n", len(self._text.rstrip()))
        found = excerpt(self._text[position : position + 61])
        return InputError(f"{self._path} line {line}: not JSON: {problem}, found {found}")


def excerpt(line: str) -> str:
    """Return the beginning of a line, for messages."""
    return repr(line if len(line) <= 60 else line[:57] + "...")
