"""Find labels (or word features) by the names that users type.

Labels of a numeric column are named by intervals, ``1940 ≤ year < 1960``, and those of several columns by column and
value, ``genre=Drama``. Users also type ``1940 <= year < 1960``, ``year=1950`` and ``Drama``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from metalda.errors import InputError

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_BETWEEN = re.compile(rf"(?:(?P<low>{_NUMBER}) ?≤ ?)?(?P<column>[^<≤≥]*[^<≤≥ ])(?: ?< ?(?P<high>{_NUMBER}))?")
_FROM = re.compile(rf"(?P<column>[^<≤≥]*[^<≤≥ ]) ?≥ ?(?P<low>{_NUMBER})")
_MOST_SHOWN = 5


class Bin(NamedTuple):
    """The interval of a numeric column that a label stands for: low ≤ column < high."""

    column: str
    low: float
    high: float

    @classmethod
    def parse(cls, name: str) -> Bin | None:
        """Return the bin of ``year < 1940``, ``1940 <= year < 1960`` or ``year ≥ 1960``; None for other names."""
        text = _one_spaced(name).replace("<=", "≤").replace(">=", "≥")
        found = _FROM.fullmatch(text) or _BETWEEN.fullmatch(text)
        if found is None:
            return None
        ends = found.groupdict()
        low, high = ends.get("low"), ends.get("high")
        if low is None and high is None:
            return None
        return cls(
            ends["column"],
            -math.inf if low is None else float(low),
            math.inf if high is None else float(high),
        )


class LabelIndex:
    """The names of the labels (or features) of a model.

    A typed name finds the label with exactly this name. If there is none, it finds the one label with the same bin
    (``1940 <= year < 1960``), with the bin that contains a number (``year=1950``), or with this value in its column
    (``Drama`` for ``genre=Drama``).

    Parameters
    ----------
    names : sequence of str
    kind : str
        "label" or "feature", for messages.
    owner : str
        What has the labels, for messages.
    """

    def __init__(self, names: Sequence[str], kind: str = "label", owner: str = "model") -> None:
        self.names = tuple(names)
        self.kind = kind
        self.owner = owner
        self._exact = frozenset(names)
        self._bins: dict[str, list[tuple[Bin, str]]] = defaultdict(list)  # by column
        self._parts: dict[str, list[str]] = defaultdict(list)  # names by value
        for name in self.names:
            if (parsed := Bin.parse(name)) is not None:
                self._bins[parsed.column].append((parsed, name))
            _, equals, value = name.partition("=")
            if equals:
                self._parts[_one_spaced(value)].append(name)

    def find(self, typed: str) -> str | None:
        """Return the name of the label that was typed, or None; InputError if several labels may be meant."""
        if typed in self._exact:
            return typed
        matches = self._matches(typed)
        if len(matches) > 1:
            raise InputError(
                f"the {self.kind} {typed!r} is ambiguous: it may be {_listed(matches, ' or ')}; give the whole name"
            )
        return matches[0] if matches else None

    def require(self, typed: str) -> str:
        """Return the name of the label that was typed; InputError with the nearest names if there is none."""
        if not isinstance(typed, str):
            raise InputError(f"a {self.kind} is given by its name, a string, not {typed!r}")
        found = self.find(typed)
        if found is None:
            raise InputError(f"the {self.owner} has no {self.kind} {typed!r}; {self._nearest(typed)}")
        return found

    def require_all(self, typed: str | Iterable[str]) -> list[str]:
        """Return the names of one label, or of several, each once."""
        return list(dict.fromkeys(self.require(name) for name in ([typed] if isinstance(typed, str) else typed)))

    def _matches(self, typed: str) -> list[str]:
        asked = Bin.parse(typed)
        if asked is not None and (same := [name for each, name in self._bins.get(asked.column, ()) if each == asked]):
            return same
        column, _, value = typed.rpartition("=")
        bins = self._bins.get(_one_spaced(column))
        if bins is not None and (number := _number(value)) is not None:
            return [name for each, name in bins if each.low <= number < each.high]
        return self._parts.get(_one_spaced(typed), [])

    def _nearest(self, typed: str) -> str:
        asked = Bin.parse(typed)
        column = asked.column if asked is not None else _one_spaced(typed.rpartition("=")[0])
        if column in self._bins:
            return f"it has {_listed([name for _, name in self._bins[column]])}"
        written = {part.casefold(): names[0] for part, names in self._parts.items()}
        written |= {name.casefold(): name for name in self.names}
        close = get_close_matches(typed.casefold(), written, n=3, cutoff=0.6)
        if close:
            return f"did you mean {_listed(list(dict.fromkeys(written[each] for each in close)))}?"
        return f"it has {_listed(self.names)}"


def _listed(names: Sequence[str], between: str = ", ") -> str:
    shown = between.join(map(repr, names[:_MOST_SHOWN]))
    return shown + (" …" if len(names) > _MOST_SHOWN else "")


def _one_spaced(text: str) -> str:
    return " ".join(text.split())


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
