"""CONTRIBUTING.md and CHANGELOG.md are pages of the site too; their links, written from the root, are made to fit."""

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by mkdocs for every page, with its text."""
    source = PAGES.get(page.file.src_uri)
    return markdown if source is None else (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
