"""Text that tries to be more than text, and what a browser would make of it."""

from html.parser import HTMLParser

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil", "&amp;", "x" * 10_000]
SAFE = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "bdi"}


class Page(HTMLParser):
    """The tags that a browser would see, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data
