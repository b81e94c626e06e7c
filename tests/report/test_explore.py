"""Documents with a map and facets, correlations of topics, ribbons between models, and files, in a browser."""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import metalda
from contracts import corpus, quietly
from metalda import LDA, Corpus, MetaLDA, write_report
from metalda.report.comparison import compare_models
from metalda.utils.csv_writer import guard
from metalda.utils.factors import round_factors, written_factor, written_mark
from report.chromium import SIZES, Visit, visit
from report.hostile import WORDS, hostile_corpus, hostile_model
from report.sized import write_sized

SETTINGS: dict[str, Any] = {"n_iter": 60, "thin": 2, "n_draws": 15, "random_state": 0, "verbose": False}
FORMULAS = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "＝1", '=HYPERLINK("x","y")', "-1-2"]
FORMULAS += ["-1.5e3", "plain", 'say "hi", twice']  # which are none


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Forty documents with a subject, of which one has two, and a decade."""
    return pd.DataFrame(
        {
            "text": [" ".join(document) for document in [*corpus()] * 4],
            "subject": [[["pets"], ["sky"]][i % 10 // 5] + ["home"] * (i % 10 == 7) for i in range(40)],
            "decade": [f"{1980 + 10 * (i % 3)}s" for i in range(40)],
        }
    )


@pytest.fixture(scope="module")
def documents(frame: pd.DataFrame) -> Corpus:
    return Corpus.from_frame(frame, text="text", labels=["subject", "decade"])


@pytest.fixture(scope="module")
def model(documents: Corpus) -> metalda.MetaLDA:
    return MetaLDA(3, **SETTINGS).fit(documents)


@pytest.fixture(scope="module")
def others(documents: Corpus) -> dict[str, Any]:
    second = MetaLDA(4, **{**SETTINGS, "random_state": 5}).fit(documents)
    return {"second": second, "third": LDA(2, **SETTINGS).fit(documents)}


@pytest.fixture(scope="module")
def report(documents: Corpus, model: metalda.MetaLDA, others: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    quietly(write_report, model, path, documents, models=others)
    return path


def found(opened: Visit) -> int:
    """The number of documents that the status tells."""
    text = opened.page.locator("#status").text_content()
    return 0 if text.startswith("No document") else int(text.split()[0].replace(",", ""))


def counts(opened: Visit, facet: str) -> dict[str, int]:
    """The values of a facet with their counts."""
    rows = opened.page.locator(f"fieldset:has(legend :text-is('{facet}')) li").all_inner_texts()
    return {value.strip(): int(number) for value, number in (re.split(r"\s+(?=\d+$)", row.strip()) for row in rows)}


def download(opened: Visit, button: Any, path: Path) -> str:
    with opened.page.expect_download() as info:
        button.click()
    info.value.save_as(path)
    return path.read_text(encoding="utf-8")


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))


@pytest.mark.slow
def test_facets_count_and_filter_by_keyboard(browser: Any, report: Path, frame: pd.DataFrame) -> None:
    opened = visit(browser, report)
    page = opened.page
    opened.go("documents")
    assert found(opened) == 40
    subjects, decades = frame["subject"].explode(), Counter(frame["decade"])
    assert counts(opened, "subject") == dict(Counter(subjects))
    assert counts(opened, "decade") == dict(decades)
    assert list(counts(opened, "decade")) == ["1980s", "1990s", "2000s"]  # in their order
    page.get_by_label("pets").focus()
    page.keyboard.press("Space")
    assert found(opened) == 20
    pets = frame[[own == ["pets"] for own in frame["subject"]]]
    assert counts(opened, "decade") == dict(Counter(pets["decade"]))
    assert counts(opened, "subject") == dict(Counter(subjects))  # as if nothing were chosen in it
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.get_by_label("sky").is_checked()
    assert found(opened) == 40  # one or the other
    page.get_by_label("1990s").check()
    both = sum(frame["decade"] == "1990s")
    assert found(opened) == both
    page.reload()
    opened.settle()
    assert found(opened) == both
    assert page.get_by_label("sky").is_checked()
    page.get_by_role("button", name="Remove 1990s").click()
    assert found(opened) == 40
    assert not page.get_by_label("1990s").is_checked()
    assert page.locator("canvas").get_attribute("aria-label") == "Map of 40 documents; 40 found"
    opened.go("documents?label=0.99.x&topic=7&area=1_2_x_4&color=constructor&sort=__proto__")
    assert page.locator(".list h3").count() > 0
    assert opened.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_an_area_of_the_map_filters_the_list(browser: Any, report: Path, size: str) -> None:
    opened = visit(browser, report, size)
    page = opened.page
    opened.go("documents")
    page.locator("canvas").scroll_into_view_if_needed()
    box = page.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    area = [float(part) for part in re.findall(r"area=([\d._-]+)", page.evaluate("location.hash"))[0].split("_")]
    summary = json.loads(page.locator("script#summary").text_content())
    places = np.array([[topic["x"], topic["y"]] for topic in summary["topics"]])
    own = summary["documents"]
    means = [np.average(places[own["topics"][i]], axis=0, weights=own["shares"][i]) for i in range(40)]
    inside = [i for i, (x, y) in enumerate(means) if area[0] <= x <= area[2] and area[1] <= y <= area[3]]
    assert 0 < len(inside) < 40
    assert found(opened) == len(inside)
    assert page.locator(".list h3").first.inner_text() == str(inside[0])
    assert page.locator(".brush").is_visible()
    page.reload()
    opened.settle()
    assert found(opened) == len(inside)
    page.get_by_role("button", name="Remove area of the map").click()
    assert found(opened) == 40
    assert not page.locator(".brush").is_visible()
    assert opened.problems == []


@pytest.mark.slow
def test_a_point_of_the_map_tells_and_opens_its_document(browser: Any, report: Path, tmp_path: Path) -> None:
    opened = visit(browser, report)
    page = opened.page
    opened.go("documents?label=1")
    saved = download(opened, page.get_by_label("Download the map as SVG"), tmp_path / "map.svg")
    picture = ElementTree.fromstring(saved)
    paths = [node for node in picture.iter() if node.tag.endswith("path")]
    assert len({node.get("fill") for node in paths}) >= 2
    assert not any("var(" in str(node.attrib) for node in picture.iter())
    assert [node.text for node in picture.iter() if node.tag.endswith("text")]
    x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)a5 ", paths[-1].get("d")).groups())
    page.locator("canvas").scroll_into_view_if_needed()
    box = page.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + x + 5, box["y"] + y)
    told = page.locator(".map .tip span").all_inner_texts()
    assert re.fullmatch(r"\d+", told[0])
    assert "decade=" in told[-1]
    page.mouse.down()
    page.mouse.up()
    opened.settle()
    assert opened.heading() == told[0]
    opened.go("documents?label=1")
    table = rows_of(download(opened, page.get_by_label("Download the data of the map as CSV"), tmp_path / "map.csv"))
    assert table[0] == ["document", "number", "decade", "subject", "topic", "share", "x", "y"]
    assert len(table) == 1 + found(opened)
    assert opened.problems == []


@pytest.mark.slow
def test_the_map_has_the_colors_of_topics_or_labels_and_of_the_theme(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    page = opened.page
    opened.go("documents")
    image = "document.querySelector('canvas').toDataURL()"
    light = page.evaluate(image)
    page.get_by_label("Color by").select_option(label="subject")
    by_label = page.evaluate(image)
    assert by_label != light
    assert page.locator(".chips[aria-label=Colors] .chip").all_inner_texts() == ["pets", "sky", "home"]
    assert page.evaluate("location.hash").endswith("color=label+1")
    page.get_by_label("Color by").select_option(label="decade")
    assert page.locator(".chips[aria-label=Colors] .chip").all_inner_texts() == ["1980s", "1990s", "2000s"]
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    printed = page.evaluate(image)
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.click("#theme")
    page.wait_for_function(f"before => {image} !== before", arg=by_label)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(image) == printed  # in light colors
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert opened.problems == []


@pytest.mark.slow
def test_correlations_are_those_of_the_model(browser: Any, documents: Corpus, tmp_path: Path) -> None:
    model = MetaLDA(3, doc_prior=1.0, **SETTINGS).fit(documents)  # every document has a part of every topic
    quietly(write_report, model, tmp_path / "report.html", documents)
    opened = visit(browser, tmp_path / "report.html")
    page = opened.page
    opened.go("correlations?order=number")
    expected = model.topic_correlations(documents).set_index(["topic", "other_topic"])
    button = page.get_by_label("Download the data of the chart as CSV")
    rows = rows_of(download(opened, button, tmp_path / "pairs.csv"))[1:]
    assert len(rows) == 3
    for row in rows:
        pair = tuple(sorted(int(re.findall(r"topic(\d+)", text)[0]) for text in row[:2]))
        numbers = [float(text) for text in [row[2], *row[3].split(" to "), row[4]]]
        assert numbers == pytest.approx(expected.loc[pair].to_list(), abs=0.0051)
    assert [float(row[2]) for row in rows] == sorted((float(row[2]) for row in rows), reverse=True)
    page.locator(".chart .cursor").focus()  # on the topics 0 and 1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash").endswith("pair=0.2")
    told = page.locator(".panel").inner_text()
    assert f"correlation {expected.loc[0, 2]['correlation']:+.2f}".replace("-", "−") in told
    page.reload()
    opened.settle()
    assert page.locator(".panel").inner_text() == told
    page.locator(".panel a[href*='sort=']").first.click()
    opened.settle()
    theta = model.transform(documents)
    assert page.evaluate("location.hash").endswith("#/documents?topic=0&sort=2")
    assert found(opened) == (theta.argmax(axis=1) == 0).sum()
    for view in ("correlations?pair=0.0", "correlations?pair=7.1", "correlations?order=constructor"):
        opened.go(view)
        assert page.locator(".panel").count() == 0
    assert opened.problems == []


@pytest.mark.slow
def test_ribbons_join_the_topics_that_recur(
    browser: Any, report: Path, model: metalda.MetaLDA, others: Any, documents: Corpus
) -> None:
    opened = visit(browser, report)
    page = opened.page
    opened.go("compare")
    _, *expected = compare_models({"first": model, **others}, None)
    assert 0 < len(expected[0].recurring) < 4
    for other in expected:
        n = len(other.recurring)
        assert f"{n} of 3 topics recur in {other.name}." in page.inner_text("main")
    assert page.locator(".ribbon").count() == len(expected[0].links)
    assert page.locator(".ribbon.same").count() == len(expected[0].recurring)
    page.get_by_label("Compare with").select_option(label="third")
    assert page.evaluate("location.hash").endswith("with=1")
    page.wait_for_function("n => document.querySelectorAll('.ribbon').length === n", arg=len(expected[1].links))
    opened.go("compare")
    page.locator(".ribbon-link[tabindex='0']").focus()
    assert page.locator(".tip").inner_text().split("\n")[0] in page.evaluate(
        "document.activeElement.getAttribute('aria-label')"
    )
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.startsWith('#/topic/')")
    assert opened.problems == []


@pytest.mark.slow
def test_files_hold_no_formulas(browser: Any, tmp_path: Path) -> None:
    own = [*corpus()]
    labels = [[FORMULAS[i % len(FORMULAS)], FORMULAS[(i + 1) % len(FORMULAS)]] for i in range(len(own))]
    documents = Corpus.from_tokens(own, labels, [f"={i}" for i in range(len(own))])
    quietly(write_report, MetaLDA(2, **SETTINGS).fit(documents), tmp_path / "r.html", documents)
    opened = visit(browser, tmp_path / "r.html")
    opened.go("labels")
    for button, name in (
        (opened.page.get_by_label("Download the table as CSV").last, "table.csv"),
        (opened.page.get_by_label("Download the data of the chart as CSV").first, "chart.csv"),
    ):
        table = rows_of(download(opened, button, tmp_path / name))
        assert {row[0] for row in table[1:]} == set(map(guard, FORMULAS))
        assert all(cell == guard(cell) for row in table for cell in row)
    opened.go("documents")
    table = rows_of(download(opened, opened.page.get_by_label("Download the table as CSV"), tmp_path / "d.csv"))
    assert [row[0] for row in table[1:]] == [f"'={i}" for i in range(len(own))]
    assert opened.problems == []


@pytest.mark.slow
def test_every_table_and_chart_has_a_file(browser: Any, report: Path) -> None:
    opened = visit(browser, report)
    for view in ("", "labels", "label/0", "contrast/0/1", "topic/0", "word/0", "documents", "document/0", "compare"):
        opened.go(view)
        for card in opened.page.locator("main .card").all():
            shown = card.locator(":is(table, .chart, .map):not(.side *)").count()  # beside the map is what it points at
            assert card.locator(".files").count() >= shown, (view, card.inner_text()[:80])


@pytest.mark.slow
def test_the_report_writes_factors_as_plots_do(browser: Any) -> None:
    """Marks of an axis such as 1.5× are not rounded to whole numbers."""
    scripts = Path(metalda.__file__).parent / "report" / "templates" / "js"
    text, data = ((scripts / name).read_text(encoding="utf-8") for name in ("text.js", "data.js"))
    ticks = re.findall(r"^function timesTicks.*?^}", data, re.DOTALL | re.MULTILINE)[0]
    page = browser.new_page()
    marks_of = "end => timesTicks(-end, end, 7).map(x => [times(x, true), times(x)])"
    ends = [0.08, 0.2, 0.5, 1.2, 2.5]
    found = page.evaluate(f"ends => {{ {text}\n{ticks}\nreturn ends.map({marks_of}); }}", ends)
    page.close()
    for end, marks in zip(ends, found, strict=True):
        factors = round_factors(-end, end)
        assert marks == [[written_mark(value), written_factor(np.log(value))] for value in factors]


VIEWS = ["documents", "documents?color=label+0&topic=0&label=0", "correlations", "compare"]


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [2, 30, 200])
def test_few_and_many_topics_and_hostile_names_are_explored(browser: Any, tmp_path: Path, n_topics: int) -> None:
    path = write_sized(tmp_path, n_topics)
    for size, scheme in zip(SIZES, ("dark", "light"), strict=True):
        opened = visit(browser, path, size, scheme)
        for view in VIEWS[:3]:
            opened.go(view)
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
            assert opened.page.evaluate("window.__pwned") is None, view
            for tag in ("main img", "main script", "main b", "main a:not([href^='#/'])", ".chart b"):
                assert opened.page.locator(tag).count() == 0, (view, tag)
        opened.go("documents")
        assert opened.page.evaluate(
            "() => { const c = document.querySelector('canvas');"
            " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(value => value); }"
        )
        n_facets = opened.page.locator("fieldset").count() - (0 if n_topics == 2 else 2)  # but for those of labels
        assert n_facets in (0, 1)  # the largest topic, unless it is the same in all documents
        assert opened.problems == []


@pytest.mark.slow
def test_hostile_models_are_compared_and_their_documents_found(browser: Any, tmp_path: Path) -> None:
    documents = hostile_corpus()
    model = hostile_model(documents)
    write_report(model, tmp_path / "r.html", documents, models={WORDS[0]: model, WORDS[2]: model})
    for size in SIZES:
        opened = visit(browser, tmp_path / "r.html", size)
        for view in VIEWS:
            opened.go(view)
            opened.unfold()
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
            assert opened.page.evaluate("window.__pwned") is None, view
            for tag in ("main img", "main iframe", "main script", "main a:not([href^='#/'])"):
                assert opened.page.locator(tag).count() == 0, (view, tag)
        assert "4 of 4 topics recur in " + WORDS[0] in opened.page.inner_text("main")
        assert opened.problems == []
