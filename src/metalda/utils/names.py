"""Names of topics and of columns."""

from __future__ import annotations

import re
from collections.abc import Collection

from metalda.errors import InputError
from metalda.utils.terminal import clean

_TAKEN = re.compile(r"[0-9]+|topic ?[0-9]+", re.IGNORECASE)  # how topics without a name are called
_LONGEST = 200


def check_name(name: object) -> str:
    """Return the name of a topic with single spaces between its words; InputError if it is none."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the name of a topic must be a text that is not empty, not {name!r}")
    text = " ".join(name.split())
    if len(text) > _LONGEST:
        raise InputError(f"the name {text[:40]!r}… has {len(text):,} characters: give one of at most {_LONGEST}")
    if clean(text) != text:
        raise InputError(f"the name {text!r} has characters that cannot be printed: leave them out")
    if _TAKEN.fullmatch(text):
        raise InputError(f"the name {text!r} could be the number of a topic: choose another")
    return text


def unused(name: str, taken: Collection[str], pattern: str = "{} ({})") -> str:
    """Return the name, with a number from 2 on if it is taken already."""
    unique, n = name, 2
    while unique in taken:
        unique, n = pattern.format(name, n), n + 1
    return unique
