"""Files of the repository that tests read. A source distribution has fewer of them."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def repository_path(name: str) -> Path:
    """The path of a file or folder. Skips the test in a source distribution without it."""
    path = ROOT / name
    if not path.exists() and (ROOT / "PKG-INFO").exists():
        pytest.skip(f"{name} is not part of the source distribution")
    return path


def repository_text(name: str) -> str:
    return repository_path(name).read_text(encoding="utf-8")
