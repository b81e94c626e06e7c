"""Show CONTRIBUTING.md and CHANGELOG.md as pages of the site, with their links adapted."""

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace the text of a page. mkdocs calls this for every page."""
    source = PAGES.get(page.file.src_uri)
    if source is None:
        return markdown
    text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
    for name, other in PAGES.items():
        text = text.replace(f"]({other}", f"]({name}")
    return text
