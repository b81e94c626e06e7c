"""Topics over labels that have an order, in a browser."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metalda
from contracts import corpus, quietly
from metalda import LDA, Corpus, MetaLDA, write_report
from report.chromium import visit

SETTINGS: dict[str, Any] = {"n_iter": 60, "thin": 1, "random_state": 0, "verbose": False}
DECADES = ["2000s", "1980s", "1990s", "1970s"]


@pytest.fixture(scope="module")
def documents() -> Corpus:
    ten = [*corpus()]
    return Corpus.from_tokens(ten * 4, [[DECADES[i // 10]] for i in range(40)])


@pytest.fixture(scope="module")
def model(documents: Corpus) -> metalda.MetaLDA:
    return MetaLDA(3, **SETTINGS).fit(documents)


def write(model: Any, path: Path, documents: Corpus | None, **options: Any) -> Path:
    quietly(write_report, model, path, documents, **options)
    return path


@pytest.mark.slow
def test_panels_have_observed_shares_and_expected_intervals(
    browser: Any, documents: Corpus, model: metalda.MetaLDA, tmp_path: Path
) -> None:
    opened = visit(browser, write(model, tmp_path / "r.html", documents))
    page = opened.page
    opened.go("trends")
    assert page.locator(".multiples .chart").count() == 3
    assert page.locator(".multiples .line").count() == page.locator(".multiples .band").count() == 3
    opened.unfold()
    theta = model.transform(documents)
    expected = quietly(model.label_proportions).set_index(["label", "topic"])
    for panel in page.locator(".multiples > section").all():
        k = int(panel.locator("h3 a").get_attribute("href").removeprefix("#/topic/"))
        rows = [row.locator("th, td").all_inner_texts() for row in panel.locator("tbody tr").all()]
        assert [row[0] for row in rows] == sorted(DECADES)
        for decade, text in rows:
            start = 10 * DECADES.index(decade)
            numbers = [float(part.strip("()%")) / 100 for part in text.replace("to ", "").split()]
            wanted = [theta[start : start + 10, k].mean(), *expected.loc[(decade, k), ["low", "high"]]]
            assert numbers == pytest.approx(wanted, abs=0.002), (decade, k)
    assert opened.problems == []


@pytest.mark.slow
def test_panels_are_ordered_by_their_center_of_mass(
    browser: Any, documents: Corpus, model: metalda.MetaLDA, tmp_path: Path
) -> None:
    opened = visit(browser, write(model, tmp_path / "r.html", documents))
    opened.go("trends")
    theta, years = model.transform(documents), np.repeat([2000, 1980, 1990, 1970], 10)
    centers = (years[:, None] * theta).sum(axis=0) / theta.sum(axis=0)

    def shown() -> list[int]:
        links = opened.page.locator(".multiples h3 a")
        return links.evaluate_all("all => all.map(a => Number(a.getAttribute('href').split('/').pop()))")

    assert np.diff(centers[shown()]).min() > -0.5  # shares are rounded
    opened.page.get_by_label("Order by").select_option("number")
    opened.settle()
    assert shown() == [0, 1, 2]
    assert opened.page.evaluate("location.hash").endswith("order=number")
    assert opened.problems == []


@pytest.mark.slow
def test_a_point_leads_to_the_documents_of_its_topic_and_period_by_keyboard(
    browser: Any, documents: Corpus, model: metalda.MetaLDA, tmp_path: Path
) -> None:
    opened = visit(browser, write(model, tmp_path / "r.html", documents))
    page = opened.page
    opened.go("trends?order=number")
    theta = model.transform(documents)
    topic = int(theta[10:20].sum(axis=0).argmax())
    page.locator(".multiples .cursor").nth(topic).focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert "1980s, 10 documents, observed share" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel")
    assert page.locator(".panel h3 a").all_inner_texts()[0] == "1980s"
    shown = page.locator(".panel h3 + p + ul a").all_inner_texts()
    assert set(map(int, shown)) <= set(range(10, 20))
    assert theta[int(shown[0]), topic] == pytest.approx(theta[10:20, topic].max(), abs=0.01)
    page.reload()
    opened.settle()
    assert page.locator(".panel").count() == 1
    page.locator(".panel a", has_text="All ").click()
    page.wait_for_function("() => document.getElementById('main').dataset.shown.startsWith('#/cell/')")
    assert " in 1980s" in opened.heading()
    page.go_back()
    page.wait_for_selector(".panel")
    page.locator(".close").click()
    assert page.locator(".panel").count() == 0
    assert opened.problems == []


@pytest.mark.slow
def test_trends_need_an_order_and_show_what_the_model_has(browser: Any, documents: Corpus, tmp_path: Path) -> None:
    graded = documents.without_labels()
    graded = Corpus.from_tokens([*graded], [[("low", "middle", "high")[i % 3]] for i in range(40)])
    lda = LDA(2, **SETTINGS).fit(graded)
    order = {"": ["low", "middle", "high"]}
    cases = [
        (write(lda, tmp_path / "none.html", graded), []),
        (write(lda, tmp_path / "given.html", graded, order=order), ["low", "middle", "high"]),
        (
            write(MetaLDA(2, **SETTINGS).fit(graded), tmp_path / "alone.html", None, order=order),
            ["low", "middle", "high"],
        ),
    ]
    for path, expected in cases:
        opened = visit(browser, path)
        opened.go("trends")
        assert (opened.heading() == "Not found") is not expected, path
        if expected:
            opened.unfold()
            assert opened.page.locator(".multiples table").first.locator("tbody th").all_inner_texts() == expected
            assert opened.page.locator(".multiples .line").count() == 2
            opened.go("labels")
            ticks = [text for text in opened.page.locator(".picture .tick.end").all_text_contents() if text in expected]
            assert ticks == expected
        assert opened.problems == []
