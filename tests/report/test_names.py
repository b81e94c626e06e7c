"""Names that a reader gives to topics, in a browser, and the file that metalda reads."""

import json
from pathlib import Path
from typing import Any

import pytest

import metalda
from contracts import corpus, quietly
from metalda import LDA, MetaLDA, read_names, write_report
from report.chromium import visit
from report.hostile import PWN, WORDS
from report.sized import write_sized

SETTINGS: dict[str, Any] = {"n_iter": 40, "thin": 2, "n_draws": 10, "random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def model() -> metalda.MetaLDA:
    return MetaLDA(4, **SETTINGS).fit(corpus()).merge([1, 3])


@pytest.fixture(scope="module")
def report(model: metalda.MetaLDA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    quietly(write_report, model, path, corpus())
    return path


def rename(page: Any, topic: int, name: str) -> None:
    """Rename a topic by keyboard, where a view shows its pencil."""
    page.locator(f"[data-rename='{topic}']").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


@pytest.mark.slow
def test_names_are_kept_by_the_browser_saved_as_a_file_and_read(
    browser: Any, report: Path, model: metalda.MetaLDA, tmp_path: Path
) -> None:
    opened = visit(browser, report)
    page = opened.page
    rename(page, int(model.topics()["share"].to_numpy().argmax()), "the  largest one ")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Rename the largest one"
    opened.go("topics")
    rename(page, 2, "<b>wet</b> & חתול")
    assert "2 topics have a name that was given here" in page.inner_text("main")
    page.reload()
    opened.settle()
    titles = page.locator("article h2 a").all_inner_texts()
    assert [title.rpartition(" ")[0] for title in titles if "<b>" in title] == ["<b>wet</b> & חתול"]
    opened.go("labels")
    assert "<b>wet</b> & חתול" in page.locator(".picture .head").all_text_contents()
    opened.go("topic/2")
    assert opened.heading().startswith("<b>wet</b> & חתול")
    with page.expect_download() as info:
        page.get_by_role("button", name="Save the names as a file").click()
    info.value.save_as(tmp_path / "names.json")
    names = read_names(tmp_path / "names.json")
    table = model.topics().set_index("topic")
    assert names == {int(table["share"].idxmax()): "the largest one", 2: "<b>wet</b> & חתול"}
    renamed = metalda.MetaLDA(4, **SETTINGS).fit(corpus()).merge([1, 3]).rename(names)
    quietly(write_report, renamed, tmp_path / "again.html", corpus())
    data = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert "the largest one" in data
    page.get_by_role("button", name="Take them back").click()
    assert page.locator("[aria-label=Names]").count() == 0
    page.reload()
    opened.settle()
    assert "<b>" not in opened.heading()
    assert opened.problems == []


@pytest.mark.slow
def test_a_name_that_metalda_would_refuse_is_refused(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    page = opened.page
    opened.go("topic/0")
    other = page.evaluate("JSON.parse(document.getElementById('summary').textContent).topics[1].title")
    model = LDA(2, **SETTINGS).fit(corpus())
    for name, problem in (
        ("topic7", "could be the number"),
        ("12", "could be the number"),
        ("a\u202eb", "printable"),
        ("x" * 201, "at most 200"),
        (other, "Another topic"),
    ):
        page.locator("[data-rename='0']").click()
        page.locator(".rename input").fill(name)
        page.keyboard.press("Enter")
        assert problem in page.locator(".rename [role=alert]").inner_text(), name
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.dataset.rename") == "0"
        if name != other:
            with pytest.raises(metalda.errors.InputError):
                model.rename({0: name})
    before = opened.heading()
    page.locator("[data-rename='0']").click()
    page.locator(".rename input").fill("")
    page.keyboard.press("Enter")
    assert opened.heading() == before
    assert opened.problems == []


@pytest.mark.slow
def test_what_the_browser_keeps_is_only_text(browser: Any, report: Path) -> None:
    for kept in (
        '{"0": "<img src=x onerror=' + PWN + '>", "2": 7, "__proto__": "x", "99": "none"}',
        '{"0": "same", "2": "same"}',
        '["0"]',
        "null",
        "{",
        json.dumps({"0": WORDS[0], "2": "long" * 100}),
    ):
        opened = visit(browser, report)
        page = opened.page
        key = page.evaluate(
            "`metalda names ${JSON.parse(document.getElementById('summary').textContent).overview.key}`"
        )
        page.evaluate("([key, kept]) => localStorage.setItem(key, kept)", [key, kept])
        page.reload()
        opened.settle()
        for view in ("topics", "topic/0", ""):
            opened.go(view)
        titles = page.locator(".topic").evaluate_all("all => all.map(g => g.getAttribute('aria-label').split(' (')[0])")
        assert len(set(titles)) == 3
        assert page.evaluate("window.__pwned") is None
        assert page.locator("main img, main script").count() == 0
        assert opened.problems == []


@pytest.mark.slow
def test_a_browser_that_keeps_nothing_says_so(browser: Any, tmp_path: Path) -> None:
    path = write_sized(tmp_path, 2)
    forbidden = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden'); } });"
    opened = visit(browser, path, script=forbidden)
    opened.go("topics")
    rename(opened.page, 1, "mine")
    assert "This browser does not keep it: save the file" in opened.page.inner_text("main")
    opened.go("topic/1")
    assert opened.heading().startswith("mine")
    assert opened.problems == []
