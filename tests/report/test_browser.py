"""The page in a browser: every view, without a network, and with text that means harm."""

import csv
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import metalda
from contracts import corpus, quietly
from marks import slow_after_first
from metalda import LDA, Corpus, LabeledLDA, MetaLDA, write_report
from report.chromium import SIZES, visit
from report.hostile import WORDS, hostile_corpus, hostile_model

VIEWS = ["", "topics", "topic/0", "topic/2", "labels", "label/0", "label/1", "contrast/0/1", "words", "word/0"]
VIEWS += ["documents", "document/0", "document/9", "diagnostics", "compare", "correlations", "cell/0/1"]
CHOSEN = ["documents?label=0&topic=0&color=label+0&area=-1_-1_0_1", "correlations?pair=0.1"]
SETTINGS: dict[str, Any] = {"n_iter": 40, "thin": 2, "n_draws": 10, "random_state": 0, "verbose": False}


def factor(text: str) -> float:
    """The number of 2.4×."""
    return float(text.removesuffix("×").replace(",", ""))


def topic_of(text: str) -> int:
    """The number of a topic, which stands after its name."""
    return int(re.findall(r"topic(\d+)", text)[0])


@pytest.fixture(scope="module")
def documents() -> Corpus:
    ten = corpus()
    return Corpus.from_tokens([*ten, *ten], [["pets"]] * 5 + [["sky"]] * 5 + [["pets"]] * 5 + [["sky", "home"]] * 5)


@pytest.fixture(scope="module")
def model(documents: Corpus) -> metalda.MetaLDA:
    features = {"cat": "animal", "dog": "animal", "rain": "weather", "sun": "weather"}
    return MetaLDA(3, word_features=features, **SETTINGS).fit(documents)


@pytest.fixture(scope="module")
def report(documents: Corpus, model: metalda.MetaLDA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    others = [LDA(4, **SETTINGS).fit(documents), MetaLDA(2, **SETTINGS).fit(documents)]
    second = MetaLDA(3, **{**SETTINGS, "random_state": 1}).fit(documents)
    write_report(model, path, documents, models=others, chains=[second])
    return path


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    documents = hostile_corpus()
    model = hostile_model(documents)
    write_report(model, path, documents, models={WORDS[0]: model}, title=WORDS[1])
    return path


@pytest.mark.parametrize(
    ("size", "scheme"), slow_after_first([(size, scheme) for size in SIZES for scheme in ("light", "dark")])
)
def test_every_view_is_drawn_without_errors_requests_or_overflow(
    browser: Any, report: Path, size: str, scheme: str
) -> None:
    opened = visit(browser, report, size, scheme)
    headings = set()
    for view in VIEWS:
        opened.go(view)
        headings.add(opened.heading())
        assert opened.page.locator("main section, main .card").count(), view
        assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
        current = opened.page.locator("nav a[aria-current=page]")
        assert current.count() == 1, view
    assert len(headings) == len(VIEWS)
    assert opened.page.evaluate("document.documentElement.dataset.theme") == scheme
    assert opened.problems == []


@pytest.mark.slow
def test_hostile_text_runs_nothing_and_breaks_nothing(browser: Any, hostile_report: Path) -> None:
    for size in SIZES:
        opened = visit(browser, hostile_report, size)
        for view in [*VIEWS, "label/5", "word/3", "word/20", "document/25"]:
            opened.go(view)
            opened.unfold()
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
            assert opened.page.evaluate("window.__pwned") is None, view
            for tag in ("main img", "main iframe", "main script", "main a:not([href^='#/'])", ".chart b"):
                assert opened.page.locator(tag).count() == 0, (view, tag)
        opened.go("documents")
        opened.page.fill("#document-search", "<script>")
        opened.go("words")
        opened.page.fill("#word-search", "<img src=x")
        assert WORDS[2] in opened.page.inner_text("main")
        assert opened.page.evaluate("window.__pwned") is None
        assert opened.problems == []


@pytest.mark.slow
def test_hostile_labels_are_shown_as_they_are_in_charts(browser: Any, hostile_report: Path) -> None:
    opened = visit(browser, hostile_report)
    opened.go("labels")
    ticks = opened.page.locator(".picture .tick").all_text_contents()
    assert any(tick.startswith("<script>w") for tick in ticks)
    assert "<b>bold</b>" in ticks
    assert "$\\alpha$" in ticks
    assert "&lt;b&gt;" in ticks


@pytest.mark.slow
def test_the_slider_orders_words_by_relevance(browser: Any, report: Path, model: metalda.MetaLDA) -> None:
    opened = visit(browser, report)
    opened.go("topic/1")
    phi = model.components_.astype(np.float64)
    marginal = model.topics()["share"].to_numpy() @ phi
    by_probability = [model.vocabulary_[v] for v in np.argsort(-phi[1], kind="stable")]
    assert opened.words() == by_probability[:30]
    for tenths in (0, 6, 10):
        opened.page.locator("#lambda").evaluate(
            "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", str(tenths / 10)
        )
        relevance = np.log(phi[1]) - (1 - tenths / 10) * np.log(marginal)
        shown = [relevance[model.fitted_.word_index[word]] for word in opened.words()]
        assert shown == sorted(shown, reverse=True) or np.allclose(shown, sorted(shown, reverse=True), atol=0.05)
        assert f"λ = {tenths / 10:.1f}" in opened.page.inner_text("main")
    opened.page.get_by_role("button", name="Lift").click()
    assert opened.page.locator("#lambda").input_value() == "0"
    assert opened.page.get_by_role("button", name="Lift").get_attribute("aria-pressed") == "true"


@pytest.mark.slow
def test_words_are_found_and_lead_to_topics_and_documents(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    opened.go("words")
    everything = len(opened.words())
    opened.page.fill("#word-search", "Cat")
    assert opened.words()[0] == "cat"
    assert len(opened.words()) < everything
    opened.page.get_by_role("link", name="cat", exact=True).click()
    opened.settle()
    assert opened.heading() == "Word cat"
    assert opened.page.locator("mark").first.inner_text() == "cat"
    opened.go("words")
    opened.page.fill("#word-search", "nonsense")
    assert "No word" in opened.page.inner_text("main")


@pytest.mark.slow
def test_documents_are_searched_sorted_and_shown(browser: Any, report: Path, model: metalda.MetaLDA) -> None:
    opened = visit(browser, report)
    opened.go("documents")
    assert "20 documents" in opened.page.inner_text("main")
    opened.page.fill("#document-search", "wind rain")
    assert "2 of 20 documents" in opened.page.inner_text("main")
    assert opened.page.locator("mark").count() >= 4
    opened.page.fill("#document-search", "")
    opened.page.get_by_label("Sort by").select_option("2")
    first = int(opened.page.locator(".list h3").first.inner_text())
    theta = model.transform(Corpus.from_tokens([*corpus(), *corpus()], None))[:, 2]
    assert first in np.argsort(-theta)[:8]
    opened.page.locator(".list h3 a").first.click()
    opened.settle()
    assert opened.heading() == str(first)
    toned = opened.page.locator(".toned")
    assert toned.count() == len([*corpus(), *corpus()][first])
    opened.page.get_by_role("group", name="Highlight one topic").locator("button").first.click()
    assert opened.page.locator("button[aria-pressed=true]").count() == 1


@pytest.mark.slow
def test_documents_are_shown_as_written(browser: Any, tmp_path: Path) -> None:
    texts = ["The CAT 🙂 saw\nthe <b>dog</b>!", "It RAINED; the rain…", "A cat & a dog.", "Rain,   sun and rain"] * 5
    own = Corpus.from_texts(texts, stem="english")
    write_report(LDA(2, **SETTINGS).fit(own), tmp_path / "r.html", own)
    opened = visit(browser, tmp_path / "r.html")
    opened.go("document/0")
    assert opened.page.locator("p.text").text_content() == texts[0]
    assert opened.page.locator(".toned").all_inner_texts() == ["CAT", "saw", "dog"]
    opened.go("documents")
    assert opened.page.locator(".snippet").first.text_content() == texts[0]
    opened.page.fill("#document-search", "rained; the")
    assert "5 of 20 documents" in opened.page.inner_text("main")
    assert opened.problems == []


@pytest.mark.slow
def test_hostile_texts_run_nothing(browser: Any, tmp_path: Path) -> None:
    documents = hostile_corpus()
    documents = documents.with_texts(" ".join(words) for words in documents)
    write_report(hostile_model(documents), tmp_path / "r.html", documents)
    for size in SIZES:
        opened = visit(browser, tmp_path / "r.html", size)
        for view in ["documents", "document/0", "document/9", "document/24", "topic/0", "word/3"]:
            opened.go(view)
            opened.unfold()
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
            assert opened.page.evaluate("window.__pwned") is None, view
            for tag in ("main img", "main iframe", "main script", "main b", "main a[href^=javascript]"):
                assert opened.page.locator(tag).count() == 0, (view, tag)
        opened.go("document/0")
        assert WORDS[0] in opened.page.inner_text("main")
        assert opened.problems == []


@pytest.mark.slow
def test_contrasts_are_those_of_the_draws(browser: Any, report: Path, model: metalda.MetaLDA) -> None:
    opened = visit(browser, report)
    names = model.label_names_
    opened.go("labels")
    opened.page.get_by_label("What sets").select_option(str(names.index("pets")))
    opened.settle()
    opened.page.get_by_label("apart from").select_option(str(names.index("sky")))
    opened.settle()
    assert opened.heading() == "What sets pets apart from sky?"
    opened.unfold()
    rows = opened.page.locator("details table tbody tr").all()
    assert len(rows) == 3
    weights = model.fitted_.weights["label"].astype(float)
    draws = weights[:, names.index("pets")] - weights[:, names.index("sky")]
    low, high = np.quantile(draws, [0.05, 0.95], axis=0, method="weibull")
    for row in rows:
        cells = [text.replace("−", "-") for text in row.locator("th, td").all_inner_texts()]
        k = topic_of(cells[0])
        shown = [factor(cells[1]), *map(factor, cells[2].split(" to "))]
        for value, expected in zip(shown, (draws[:, k].mean(), low[k], high[k]), strict=True):
            has_one_digit = value < 0.0095  # as in 1e-7×
            assert np.log(value) == pytest.approx(expected, abs=0.42 if has_one_digit else 0.15)


@pytest.mark.slow
def test_contrasts_of_merged_topics_are_said_to_be_approximate(
    browser: Any, report: Path, documents: Corpus, tmp_path: Path
) -> None:
    merged = MetaLDA(3, **SETTINGS).fit(documents).merge([0, 1])
    quietly(write_report, merged, tmp_path / "r.html")
    for path, expected in ((report, False), (tmp_path / "r.html", True)):
        opened = visit(browser, path)
        pets, sky = map(merged.label_names_.index, ("pets", "sky"))
        opened.go(f"contrast/{sky}/{pets}")
        assert ("Contrasts of merged topics are approximate" in opened.page.inner_text("main")) is expected
        assert opened.problems == []


@pytest.mark.slow
def test_contrasts_take_sets_of_labels(browser: Any, report: Path, model: metalda.MetaLDA) -> None:
    opened = visit(browser, report)
    pets, sky, home = map(model.label_names_.index, ("pets", "sky", "home"))
    opened.go(f"contrast/{sky}/{pets}")
    opened.page.get_by_label("and").first.select_option(str(home))
    opened.settle()
    assert opened.page.evaluate("location.hash") == f"#/contrast/{sky}+{home}/{pets}"
    assert opened.heading() == "What sets sky + home apart from pets?"
    opened.unfold()
    expected = quietly(model.label_contrasts, ["sky", "home"], "pets").set_index("topic")["effect"]
    rows = opened.page.locator("details table tbody tr").all()
    assert len(rows) == 3
    for row in rows:
        cells = row.locator("th, td").all_inner_texts()
        k = topic_of(cells[0])
        assert np.log(factor(cells[1])) == pytest.approx(expected[k], abs=0.15)
    opened.go(f"contrast/{home}/{pets}")  # every document is of pets or of the sky, and some are of the home
    assert "do not identify this contrast" in opened.page.inner_text("main")
    assert opened.page.locator(".chart").count() == 0
    opened.go(f"contrast/{pets}+{home}/{home}+{pets}")
    assert "Choose two different sets" in opened.page.inner_text("main")
    assert opened.problems == []


@pytest.mark.slow
def test_keyboard_and_screen_reader_find_their_way(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("nav a", has_text="Topics").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('h1').textContent === 'Topics'")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert page.title().startswith("Topics – ")
    for view in VIEWS:
        opened.go(view)
        assert page.locator("h1").count() == 1
        unnamed = "e => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())"
        controls = page.locator("main button, main select, main input")
        assert not any(control.evaluate(unnamed) for control in controls.all()), view
        assert all(chart.get_attribute("aria-label") for chart in page.locator(".chart").all()), view


@pytest.mark.slow
def test_the_theme_can_be_switched(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    before = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.page.click("#theme")
    opened.settle()
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert opened.problems == []


@pytest.mark.slow
def test_paper_gets_the_view_alone_in_light_colors(browser: Any, report: Path) -> None:
    opened = visit(browser, report, scheme="dark")
    opened.go("labels")
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    opened.page.emulate_media(media="print")
    opened.page.set_viewport_size({"width": 718, "height": 1000})  # A4 with margins of 1 cm
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.page.locator(".chart svg.picture").count()
    for hidden in ("nav", ".controls", ".files", "text=Contrast"):
        assert not opened.page.locator(hidden).first.is_visible(), hidden
    boxes = {name: opened.page.locator(name).first.bounding_box() for name in ("h1", "svg.picture")}
    assert boxes["h1"]["y"] < 50  # no empty page before it
    assert boxes["svg.picture"]["x"] + boxes["svg.picture"]["width"] <= 718
    assert opened.page.pdf().startswith(b"%PDF")
    assert opened.problems == []


@pytest.fixture(scope="module")
def large_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 200 topics and 60 labels of three kinds."""
    path = tmp_path_factory.mktemp("large") / "report.html"
    frame = pd.DataFrame(
        {
            "text": [" ".join(document) for document in corpus() for _ in range(12)],
            "place": [f"a place with a long name, number {i % 45}" for i in range(120)],
            "decade": [f"{1900 + 10 * (i % 12)}s" for i in range(120)],
            "side": [("left", "right", "middle")[i % 3] for i in range(120)],
        }
    )
    documents = Corpus.from_frame(frame, text="text", labels=["place", "decade", "side"])
    model = MetaLDA(200, **{**SETTINGS, "n_iter": 20}).fit(documents)
    quietly(write_report, model, path, documents)
    return path


@pytest.mark.slow
def test_lists_of_labels_are_whole_on_paper(browser: Any, large_report: Path) -> None:
    opened = visit(browser, large_report)
    opened.go("labels")
    rows = opened.page.locator("main section:has(h2:text-is('All labels')) tbody tr")
    assert rows.count() == 25
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == 60
    opened.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert rows.count() == 25
    opened.go("words")
    assert opened.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_two_hundred_topics_and_kinds_of_labels_are_drawn(browser: Any, large_report: Path, size: str) -> None:
    opened = visit(browser, large_report, size)
    assert opened.page.locator(".picture .topic").count() == 200
    opened.go("labels")
    assert opened.page.locator(".picture .kind").all_text_contents() == ["decade", "place", "side"]
    ticks = opened.page.locator(".picture .tick.end").all_text_contents()
    decades = [tick for tick in ticks if tick.endswith("0s")]
    assert decades == [f"{year}s" for year in range(1900, 2020, 10)]
    assert sum("…" in tick and tick[-1].isdigit() for tick in ticks) == 45  # the end of a long name tells it apart
    opened.page.locator("#groups").evaluate("slider => { slider.value = 7; slider.dispatchEvent(new Event('input')); }")
    opened.settle()
    assert opened.page.evaluate("location.hash").endswith("groups=7")
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened.problems == []


@pytest.mark.slow
def test_a_group_of_topics_is_looked_into(browser: Any, large_report: Path) -> None:
    opened = visit(browser, large_report)
    page = opened.page
    opened.go("labels?groups=9")
    assert page.locator(".picture .from").count() == 1  # the line that cuts the tree
    groups = [text for text in page.get_by_label("Look into").locator("option").all_inner_texts() if "+" in text]
    chosen = min(groups, key=lambda text: int(text.rpartition("+")[2]))
    size = 1 + int(chosen.rpartition("+")[2])
    page.get_by_label("Look into").select_option(label=chosen)
    opened.settle()
    assert page.locator(".picture .head").count() == size
    assert (
        page.locator(".picture .head")
        .first.evaluate("text => text.parentNode.getAttribute('href')")
        .startswith("#/topic/")
    )
    page.reload()
    opened.settle()
    assert page.locator(".picture .head").count() == size
    page.get_by_label("Look into").select_option("")
    opened.settle()
    assert "branch" not in page.evaluate("location.hash")
    page.locator(".picture .head").first.click()
    opened.settle()
    assert "branch=" in page.evaluate("location.hash")
    for branch in ("9999", "-1", "x", "398"):
        opened.go(f"labels?groups=9&branch={branch}")
    assert opened.problems == []


@pytest.mark.slow
def test_a_cell_leads_to_all_its_documents(browser: Any, report: Path, documents: Corpus) -> None:
    opened = visit(browser, report)
    page = opened.page
    opened.go("labels?cell=0.1")
    box = page.locator(".panel").bounding_box()
    assert box["y"] + box["height"] <= 900  # in sight, however long the heat map is
    summary = page.evaluate("JSON.parse(document.getElementById('summary').textContent)")
    j = summary["labels"]["names"].index("pets")
    shown = summary["documents"]
    place = shown["label_names"].index("pets")
    topic = shown["topics"][shown["labels"].index([place])][0]
    expected = [i for i in range(20) if place in shown["labels"][i] and topic in shown["topics"][i]]
    assert len(expected) > 3
    opened.go(f"labels?cell={j}.{topic}")
    assert page.locator(".panel li").count() == 3
    page.get_by_role("link", name=f"All {len(expected)} documents").click()
    page.wait_for_function("() => document.getElementById('main').dataset.shown.startsWith('#/cell/')")
    assert f"{len(expected)} documents of this report" in page.inner_text("main")
    page.go_back()
    page.wait_for_selector(".panel")
    page.get_by_role("button", name="Close").click()
    assert page.locator(".panel").count() == 0
    assert "cell=" not in page.evaluate("location.hash")
    assert page.evaluate("document.activeElement.getAttribute('class')") == "cursor on"
    assert opened.problems == []


def test_a_label_is_said_to_raise_a_topic_only_if_that_is_certain(
    browser: Any, report: Path, model: metalda.MetaLDA
) -> None:
    opened = visit(browser, report)
    opened.go("labels")
    low = quietly(model.label_effects).pivot(index="label", columns="topic", values="low")
    rows = opened.page.locator("main section:has(h2:text-is('All labels')) tbody tr")
    shown = {cells[0]: cells[2] for cells in (row.locator("th, td").all_inner_texts() for row in rows.all())}
    assert set(shown) == set(low.index)
    for label, own in low.iterrows():
        if own.max() > 0:
            assert topic_of(shown[label]) == own.idxmax(), label
        else:
            assert shown[label] == "nothing certain"
    assert sorted(text == "nothing certain" for text in shown.values()) == [False, False, True]


@pytest.mark.slow
def test_what_limits_conclusions_is_said_where_they_are_drawn(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    summary = opened.page.evaluate("JSON.parse(document.getElementById('summary').textContent)")
    training, effects = summary["overview"]["warnings"], summary["overview"]["effect_warnings"]
    assert training
    assert effects
    views = {view: [*training, *effects] for view in ("", "labels", "label/0", "contrast/0/1", "topic/0")}
    for view, texts in {**views, "topics": training, "diagnostics": training}.items():
        opened.go(view)
        shown = opened.page.inner_text("main")
        assert all(text in shown for text in texts), view


@pytest.mark.slow
def test_a_topic_has_one_color_in_all_views(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    found: dict[str, set[tuple[str, str]]] = {}
    look = """() => [...document.querySelectorAll("main a[href^='#/topic/'] .dot")].map(dot =>
        [dot.closest('a').getAttribute('href'), getComputedStyle(dot).backgroundColor, dot.className])"""
    for view in ("", "labels", "documents", "document/0", "document/9", "word/0", "words"):
        opened.go(view)
        for topic, *looks in opened.page.evaluate(look):
            found.setdefault(topic, set()).add(tuple(looks))
    assert set(found) == {f"#/topic/{k}" for k in range(3)}
    assert all(len(looks) == 1 for looks in found.values())
    assert len(set.union(*found.values())) == 3


def test_the_area_of_a_circle_is_the_share_and_its_name_is_on_the_map(browser: Any, tmp_path: Path) -> None:
    model = MetaLDA(2, seeds={"<b>animals</b>": ["cat", "dog"]}, **SETTINGS).fit(corpus())
    quietly(write_report, model, tmp_path / "r.html")
    opened = visit(browser, tmp_path / "r.html")
    circles = opened.page.locator(".topic").evaluate_all(
        "all => all.map(a => [Number(a.dataset.topic), Number(a.querySelector('.spot').getAttribute('r'))])"
    )
    shares = model.topics()["share"]
    areas = [radius**2 / shares[topic] for topic, radius in circles]
    assert areas[0] == pytest.approx(areas[1], rel=1e-3)
    assert "<b>animals</b>" in opened.page.locator(".caption").all_text_contents()
    assert opened.problems == []


@pytest.mark.slow
def test_charts_are_read_by_keyboard(browser: Any, report: Path, model: metalda.MetaLDA) -> None:
    opened = visit(browser, report)
    page = opened.page
    assert page.locator(".topic[tabindex='0']").count() == 1
    page.locator(".topic[tabindex='0']").focus()
    seen = {page.evaluate("document.activeElement.dataset.topic")}
    for key in ("ArrowLeft", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
        seen.add(page.evaluate("document.activeElement.dataset.topic"))
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert "% of the words" in label
        assert page.locator(".tip").inner_text().split("\n")[0] in label
    assert seen == {"0", "1", "2"}
    opened.go("labels")
    page.locator(".chart .cursor").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    text = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel")
    j, k = map(int, page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('cell')").split("."))
    label = opened.page.evaluate("j => JSON.parse(document.getElementById('summary').textContent).labels.names[j]", j)
    row = quietly(model.label_effects).set_index(["label", "topic"]).loc[(label, k)]
    assert text.startswith(f"{label}, ")
    assert f"(topic{k})" in text
    low, high = page.locator(".panel p").first.inner_text().partition("(")[2].partition(")")[0].split(" to ")
    assert np.log([factor(low), factor(high)]) == pytest.approx(row[["low", "high"]].tolist(), abs=0.06)
    assert page.locator(".panel li").count() <= 3
    opened.go("diagnostics")
    page.locator(".chart .cursor").first.focus()
    page.keyboard.press("Home")
    assert "iteration 1" in page.evaluate("document.activeElement.getAttribute('aria-valuetext')")
    assert opened.problems == []


@pytest.mark.slow
def test_the_address_keeps_options_and_back_the_place(browser: Any, report: Path) -> None:
    opened = visit(browser, report, "phone")
    page = opened.page
    opened.go("documents")
    page.fill("#document-search", "rain & sun?")
    page.fill("#document-search", "rain sun")
    page.get_by_label("Sort by").select_option("1")
    opened.settle()
    address, listed = page.url, page.locator(".list h3").all_inner_texts()
    assert address.endswith("#/documents?search=rain+sun&sort=1")
    page.evaluate("window.scrollTo(0, 300)")
    page.wait_for_function("() => window.scrollY === 300")
    opened.go("document/0")
    page.wait_for_function("() => window.scrollY === 0")
    page.go_back()
    page.wait_for_function("() => window.scrollY === 300")
    opened.settle()
    assert page.locator(".list h3").all_inner_texts() == listed
    assert page.input_value("#document-search") == "rain sun"
    page.reload()
    opened.settle()
    assert page.locator(".list h3").all_inner_texts() == listed
    opened.go("topic/1?lambda=0.6")
    assert page.locator("#lambda").input_value() == "0.6"
    opened.go("labels?scale=difference&order=size&columns=number&certain=yes&cell=0.1")
    assert page.get_by_label("Scale").input_value() == "difference"
    assert page.get_by_label("Topics by").input_value() == "number"
    assert page.get_by_label("only certain effects").is_checked()
    assert page.locator(".panel").count() == 1
    for view in (
        "labels?scale=x&order=constructor&groups=1e9&cell=9.9.__proto__",
        "topic/0?lambda=NaN",
        "words?page=99",
    ):
        opened.go(view)
        assert page.locator("main .card").count(), view
    assert opened.problems == []


@pytest.mark.slow
def test_charts_and_tables_can_be_saved(browser: Any, hostile_report: Path, tmp_path: Path) -> None:
    opened = visit(browser, hostile_report)
    opened.go("labels")
    for button, ending in (("Download the chart as SVG", ".svg"), ("Download the data of the chart as CSV", ".csv")):
        with opened.page.expect_download() as info:
            opened.page.get_by_role("button", name=button).click()
        assert info.value.suggested_filename.endswith(ending)
        info.value.save_as(tmp_path / f"file{ending}")
    picture = (tmp_path / "file.svg").read_text(encoding="utf-8")
    assert "var(--" not in picture
    root = ElementTree.fromstring(picture)
    assert not any("href" in node.attrib for node in root.iter())
    assert "<b>bold</b>" in [node.text for node in root.iter() if node.tag.endswith("}text")]
    with (tmp_path / "file.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert {len(row) for row in rows} == {5}
    assert "<b>bold</b>" in [row[0] for row in rows]
    assert opened.problems == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, which finds what keeps people from using a page."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("axe")
    if npm is None:
        pytest.skip("no npm to get axe-core with")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4.14.0"]  # with its rules
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=120)
        return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    except (OSError, subprocess.SubprocessError):
        pytest.skip("axe-core cannot be installed from npm")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_mend(browser: Any, report: Path, dated_report: Path, axe: str, scheme: str) -> None:
    for path, views in ((report, [*VIEWS, *CHOSEN]), (dated_report, ["trends", "trends?over=1&lines=1", "wording"])):
        opened = visit(browser, path, "wide", scheme)
        session = opened.page.context.new_cdp_session(opened.page)
        session.send("Runtime.evaluate", {"expression": axe})  # the page itself would not run it
        for view in views:
            opened.go(view)
            found = opened.page.evaluate("async () => (await axe.run()).violations.map(v => [v.id, v.nodes[0].html])")
            assert found == [], view


@pytest.fixture(scope="module")
def dated_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with numbers and formulas, all of whose names mean harm."""
    path = tmp_path_factory.mktemp("dated") / "report.html"
    year = WORDS[2]
    frame = pd.DataFrame(
        {
            "text": [" ".join(document) for document in [*corpus()] * 4],
            year: range(1980, 2020),
            "score": np.linspace(-1, 1, 40) ** 2,
            "genre": [WORDS[i % 4] for i in range(40)],
        }
    )
    documents = Corpus.from_frame(frame, text="text", labels="genre", numbers=[year, "score"])
    model = MetaLDA(3, prevalence=f"genre * s(`{year}`) + score", wording="genre", **SETTINGS).fit(documents)
    quietly(write_report, model, path, documents)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [("wide", "dark"), ("phone", "light")])
def test_curves_over_numbers_are_drawn_by_number_and_by_label(
    browser: Any, dated_report: Path, size: str, scheme: str
) -> None:
    opened = visit(browser, dated_report, size, scheme)
    opened.go("trends")
    assert opened.heading() == "Trends"
    assert opened.page.locator(".chart").count() == 3
    assert opened.page.locator(".chart .line").count() == 3
    text = opened.page.inner_text("main")
    assert "90% posterior intervals of the expected proportion, given the number of topics and one chain" in text
    opened.page.get_by_label("Lines").select_option("1")
    opened.settle()
    assert opened.page.locator("main .chips .chip").all_inner_texts() == sorted(WORDS[:4])
    opened.page.locator("main select").first.select_option("1")  # the number
    opened.settle()
    opened.page.get_by_label("Order by").select_option("number")
    opened.settle()
    opened.unfold()
    assert opened.page.locator("details table").first.locator("tbody tr").count() == 30
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened.page.evaluate("window.__pwned") is None
    for tag in ("main img", "main script", "main a:not([href^='#/'])", ".chart b"):
        assert opened.page.locator(tag).count() == 0, tag
    for view in ("labels", "label/0", "topic/0", "document/0"):
        opened.go(view)
    assert opened.problems == []


NOWHERE = ["nonsense", "topic/99", "label/-1", "word/x", "document/1e9", "contrast/0", "__proto__"]


@pytest.mark.slow
def test_an_address_that_leads_nowhere_says_so(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    for view in NOWHERE:
        opened.go(view)
        assert opened.heading() == "Not found", view
    assert opened.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("given", [True, False], ids=["corpus", "no corpus"])
@pytest.mark.parametrize("kind", ["one topic", "labels without effects", "topics of labels", "labels"])
def test_every_kind_of_model_is_shown(browser: Any, tmp_path: Path, kind: str, given: bool) -> None:
    settings = {**SETTINGS, "n_iter": 6}
    kinds = {
        "one topic": LDA(1, **settings),
        "labels without effects": LDA(2, **settings),
        "topics of labels": LabeledLDA(**settings),
        "labels": MetaLDA(2, **settings),
    }
    documents = corpus() if kind != "one topic" else corpus().without_labels()
    model = kinds[kind].fit(documents)
    quietly(write_report, model, tmp_path / "r.html", documents if given else None)
    opened = visit(browser, tmp_path / "r.html")
    has_labels = kind in ("topics of labels", "labels") or (kind == "labels without effects" and given)
    present = {
        **dict.fromkeys(("", "topics", "topic/0", "words", "word/0", "diagnostics"), True),
        **dict.fromkeys(("labels", "label/0"), has_labels),
        **dict.fromkeys(("documents", "document/0"), given),
        "contrast/0/1": kind == "labels",
        "compare": False,
        "correlations": kind != "one topic",
    }
    for view, expected in present.items():
        opened.go(view)
        assert (opened.heading() != "Not found") is expected, view
    assert opened.problems == []


@pytest.mark.slow
def test_topics_that_some_chains_lack_are_marked(browser: Any, documents: Corpus, tmp_path: Path) -> None:
    model = MetaLDA(4, n_chains=3, **{**SETTINGS, "n_iter": 60}).fit(documents)
    counts = model.topics()["chains"].tolist()
    assert min(counts) < 3, "every topic is in all chains, so this shows nothing"
    topic = counts.index(min(counts))
    quietly(write_report, model, tmp_path / "chains.html", corpus=documents)
    opened = visit(browser, tmp_path / "chains.html")
    for view in (f"topic/{topic}", "topics"):
        opened.go(view)
        assert f"Found in {counts[topic]} of 3 chains" in opened.page.inner_text("main")
    opened.go("label/0")
    assert f"in {counts[topic]} of 3 chains" in opened.page.inner_text("main")
    opened.go("")
    assert "were not found in all 3 chains" in opened.page.inner_text("main")
    assert opened.problems == []


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("phone", "dark")])
def test_wording_is_shown_by_group(browser: Any, dated_report: Path, size: str, scheme: str) -> None:
    opened = visit(browser, dated_report, size, scheme)
    opened.go("wording")
    assert opened.heading() == "Wording by genre"
    assert opened.page.locator("main table").count() >= 3
    before = opened.page.inner_text("main")
    opened.page.get_by_label("Group").select_option("2")
    opened.settle()
    assert opened.page.inner_text("main") != before
    opened.page.get_by_label("Order by").select_option("number")
    opened.settle()
    assert opened.page.locator("main section h2 a").evaluate_all("all => all.map(a => a.getAttribute('href'))") == [
        "#/topic/0",
        "#/topic/1",
        "#/topic/2",
    ]
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened.page.evaluate("window.__pwned") is None
    assert opened.problems == []
