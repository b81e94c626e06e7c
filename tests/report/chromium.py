"""Pages in a real browser, without a network."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no chromium to look at the page with", allow_module_level=True)
playwright_api = pytest.importorskip("playwright.sync_api", reason="no playwright to steer chromium with")

SIZES = {"wide": (1280, 900), "phone": (390, 844)}


def open_page(
    browser: Any, path: Path, size: str = "wide", scheme: str = "light", script: str = ""
) -> tuple[Any, list[str]]:
    """The opened page, and a list of everything that goes wrong on it; the script runs before those of the page."""
    width, height = SIZES[size]
    for earlier in browser.contexts:
        earlier.close()
    context = browser.new_context(offline=True, color_scheme=scheme, viewport={"width": width, "height": height})
    context.set_default_timeout(120_000)  # milliseconds, for machines that are busy
    context.add_init_script(script)
    page, problems, address = context.new_page(), [], path.as_uri()
    page.on("console", lambda m: problems.append(f"{m.type}: {m.text}"))
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
    page.on("request", lambda r: problems.append(f"request: {r.url[:80]}") if not _own(r.url, address) else None)
    page.on("popup", lambda _: problems.append("popup"))
    page.goto(address)
    return page, problems


def _own(url: str, address: str) -> bool:
    return url.partition("#")[0] == address or url == "data:,"


@dataclass
class Visit:
    """A page that was opened, and everything that went wrong on it."""

    page: Any
    problems: list[str]

    def go(self, view: str) -> None:
        self.page.evaluate("view => { location.hash = `#/${view}`; }", view)
        self.page.wait_for_function("view => location.hash.startsWith(`#/${view}`)", arg=view.partition("?")[0])
        self.settle()

    def unfold(self) -> None:
        """Open all that is folded; what is inside is made when the browser gets round to it."""
        for summary in self.page.locator("details > summary").all():
            summary.click()
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('details')].every(d => d.open && d.children.length > 1)"
        )

    def settle(self) -> None:
        """A view is shown when the browser gets round to it, and charts that appear later in the next frame."""
        self.page.wait_for_function("() => document.getElementById('main').dataset.shown === location.hash")
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.chart')].every(c => c.querySelector('svg.picture > *'))"
        )

    def heading(self) -> str:
        return self.page.inner_text("h1")

    def words(self) -> list[str]:
        return self.page.locator("table").first.locator("tbody th").all_inner_texts()


def visit(browser: Any, path: Path, size: str = "wide", scheme: str = "light", script: str = "") -> Visit:
    """Open a report, and wait until its first view is shown; the script runs before those of the page."""
    visited = Visit(*open_page(browser, path, size, scheme, script))
    visited.settle()
    return visited
