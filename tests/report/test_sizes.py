"""Every view with 2, 30 and 200 topics, with and without labels, in a browser."""

from pathlib import Path
from typing import Any

import pytest

from report.chromium import SIZES, visit
from report.sized import write_sized

VIEWS = ["", "?topic=1&label=2", "topics", "topic/1"]
VIEWS_OF_LABELS = ["labels", "labels?cell=3.1", "cell/3/1", "trends", "trends?order=change&cell=20.1"]


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [2, 30, 200])
def test_views_hold_few_and_many_topics_and_hostile_names(browser: Any, tmp_path: Path, n_topics: int) -> None:
    path = write_sized(tmp_path, n_topics)
    for size, scheme in zip(SIZES, ("dark", "light"), strict=True):
        opened = visit(browser, path, size, scheme)
        for view in [*VIEWS, *VIEWS_OF_LABELS]:
            opened.go(view)
            assert (opened.heading() == "Not found") is (n_topics == 2 and view in VIEWS_OF_LABELS), view
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
            assert opened.page.evaluate("window.__pwned") is None, view
            for tag in ("main img", "main script", "main b:not(.tiles b)", "main a:not([href^='#/'])", ".chart b"):
                assert opened.page.locator(tag).count() == 0, (view, tag)
        opened.go("")
        assert opened.page.locator(".topic").count() == n_topics
        assert (opened.page.locator(".linked .labels").count() > 0) is (n_topics > 2)
        assert opened.problems == []
