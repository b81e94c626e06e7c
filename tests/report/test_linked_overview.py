"""The linked overview in a browser: the map, the words of a topic, and labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metalda
from contracts import corpus, quietly
from metalda import Corpus, MetaLDA, write_report
from report.chromium import Visit, visit

SETTINGS: dict[str, Any] = {"n_iter": 60, "thin": 1, "random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def documents() -> Corpus:
    return Corpus.from_tokens([*corpus()] * 4, ([["pets"]] * 5 + [["sky"]] * 5) * 4)


@pytest.fixture(scope="module")
def model(documents: Corpus) -> metalda.MetaLDA:
    return MetaLDA(3, **SETTINGS).fit(documents)


@pytest.fixture(scope="module")
def report(documents: Corpus, model: metalda.MetaLDA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    quietly(write_report, model, path, documents)
    return path


def shown_topic(opened: Visit) -> str:
    """The topic whose words stand beside the map."""
    href = opened.page.locator(".side h3 a").first.get_attribute("href")
    return str(href).removeprefix("#/topic/")


def radii(opened: Visit) -> dict[int, float]:
    """The radii of the circles, by topic."""
    found = opened.page.locator(".topic").evaluate_all(
        "all => all.map(g => [Number(g.dataset.topic), Number(g.querySelector('.spot').getAttribute('r'))])"
    )
    return dict(found)


@pytest.mark.slow
def test_a_topic_is_reached_pinned_and_read_by_keyboard_alone(
    browser: Any, report: Path, model: metalda.MetaLDA
) -> None:
    opened = visit(browser, report)
    page = opened.page
    shares = model.topics()["share"]
    assert shown_topic(opened) == str(shares.idxmax())

    def tab_to(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"Tab does not reach {selector}")

    tab_to(".topic")
    first = page.evaluate("document.activeElement.dataset.topic")
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.dataset.topic") != first:
            break
    chosen = page.evaluate("document.activeElement.dataset.topic")
    assert chosen != first
    assert shown_topic(opened) == chosen
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash").endswith(f"topic={chosen}")
    assert page.locator(".topic[aria-pressed=true]").get_attribute("data-topic") == chosen
    tab_to(".side a[href^='#/word/']")
    words = page.locator(".side tbody th").all_inner_texts()
    assert words == model.topic_words(int(chosen), 15)["word"].tolist()
    tab_to(".side a[href^='#/document/']")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('main').dataset.shown.startsWith('#/document/')")
    page.go_back()
    page.wait_for_selector(".topic[aria-pressed=true]")
    assert shown_topic(opened) == chosen
    page.locator(f".topic[data-topic='{chosen}']").focus()
    page.keyboard.press("Escape")
    assert "topic=" not in page.evaluate("location.hash")
    assert page.locator(".topic[aria-pressed=true]").count() == 0
    assert opened.problems == []


@pytest.mark.slow
def test_pointing_previews_and_a_click_pins(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    page = opened.page
    usual = shown_topic(opened)
    other, pinned = (k for k in ("0", "1", "2") if k != usual)
    page.locator(f".topic[data-topic='{other}']").hover()
    assert shown_topic(opened) == other
    page.locator("h1").hover()
    assert shown_topic(opened) == usual
    page.locator(f".topic[data-topic='{pinned}']").click()
    page.locator("h1").click()
    assert shown_topic(opened) == pinned
    page.locator(f".topic[data-topic='{other}']").hover()
    assert shown_topic(opened) == other
    page.locator("h1").hover()
    assert shown_topic(opened) == pinned
    page.reload()
    opened.settle()
    assert shown_topic(opened) == pinned
    page.locator(".pin").click()
    assert "topic=" not in page.evaluate("location.hash")
    assert opened.problems == []


@pytest.mark.slow
def test_pointing_at_a_word_makes_areas_its_probabilities_of_topics(
    browser: Any, report: Path, model: metalda.MetaLDA
) -> None:
    opened = visit(browser, report)
    before = radii(opened)
    word = opened.page.locator(".side tbody th").first
    joint = model.topics()["share"].to_numpy() * model.components_[:, model.fitted_.word_index[word.inner_text()]]
    given_word = joint / joint.sum()
    for point in (word.hover, word.locator("a").focus):
        point()
        areas = {k: radius**2 for k, radius in radii(opened).items() if given_word[k] >= 0.1}
        scales = [area / given_word[k] for k, area in areas.items()]
        assert scales == pytest.approx([scales[0]] * len(scales), rel=0.1)  # shares of words have two digits
        assert "given the word" in opened.page.inner_text("main")
        opened.page.locator("h1").hover()
        opened.page.locator("h1").click()
    assert radii(opened) == before
    assert opened.problems == []


@pytest.mark.slow
def test_a_label_colors_the_circles_by_its_effects(browser: Any, report: Path, model: metalda.MetaLDA) -> None:
    opened = visit(browser, report)
    page = opened.page
    page.get_by_role("button", name="pets").click()
    j = model.label_names_.index("pets")
    assert page.evaluate("location.hash").endswith(f"label={j}")
    table = quietly(model.label_effects).set_index(["label", "topic"])
    for k in range(3):
        row = table.loc[("pets", k)]
        fill = page.locator(f".topic[data-topic='{k}'] .spot").evaluate("circle => circle.style.fill")
        tone = "warm" if row["low"] > 0 else "cool" if row["high"] < 0 else "rest"
        assert f"--{tone})" in fill, k
    assert np.sign(table.loc["pets"][["low", "high"]]).sum(axis=1).abs().max() == 2  # something is certain
    page.locator(".topic").first.focus()
    assert "pets: " in page.locator(".tip").inner_text()
    page.reload()
    opened.settle()
    assert page.get_by_role("button", name="pets").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="pets").click()
    assert "label=" not in page.evaluate("location.hash")
    assert opened.problems == []
