"""Make a finding small: drop parts of files and options as long as the finding stays the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from tests.fuzz.cases import Case

T = TypeVar("T", bytes, list[Any])


def minimize(case: Case, persists: Callable[[Case], bool], seconds: float = 60) -> Case:
    """Return a smaller case with the same finding; stops after this time with what it has."""
    end = time.monotonic() + seconds

    def is_same(candidate: Case) -> bool:
        return time.monotonic() < end and persists(candidate)

    for name in sorted(case.options):
        case = _smaller_option(case, name, is_same)
    for name in sorted(case.files):
        case = _smaller_file(case, name, is_same)
    return case


def _smaller_option(case: Case, name: str, is_same: Callable[[Case], bool]) -> Case:
    def changed(value: Any) -> Case:
        return case.changed(options={**case.options, name: value})

    value = case.options[name]
    if isinstance(value, list):
        value = shrink(value, lambda smaller: is_same(changed(smaller)))
    elif isinstance(value, dict):
        for key in list(value):
            smaller = {each: value[each] for each in value if each != key}
            value = smaller if is_same(changed(smaller)) else value
    return case if value == case.options[name] else changed(value)


def _smaller_file(case: Case, name: str, is_same: Callable[[Case], bool]) -> Case:
    def changed(data: bytes) -> Case:
        return case.changed(files={**case.files, name: data})

    without = case.changed(files={each: data for each, data in case.files.items() if each != name})
    if is_same(without):
        return without
    data = shrink(case.files[name], lambda smaller: is_same(changed(smaller)))
    return case if data == case.files[name] else changed(data)


def shrink(value: T, persists: Callable[[T], bool]) -> T:
    """Delete chunks, large ones first, while the property persists."""
    size = len(value)
    while size:
        start = 0
        while start < len(value):
            shorter = value[:start] + value[start + size :]
            if persists(shorter):
                value = shorter
            else:
                start += size
        size //= 2
    return value
