"""The page: whole, by itself, and deaf to what documents say."""

import base64
import doctest
import hashlib
import html
import json
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from contracts import QUICK, corpus
from metalda import LDA, errors, write_report
from metalda.report.page import render, script_safe
from metalda.report.summary import summarize
from report.hostile import WORDS, hostile_corpus, hostile_model


@pytest.fixture(scope="module")
def hostile_page() -> str:
    documents = hostile_corpus()
    model = hostile_model(documents)
    return render(summarize(model, documents, models={WORDS[0]: model}, title=WORDS[1]))


def data_of(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="summary">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def without_scripts(page: str) -> str:
    return re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_hostile_text_is_escaped_wherever_it_stands(hostile_page: str) -> None:
    assert hostile_page.count("<script") == hostile_page.count("</script") == 2
    shown = without_scripts(hostile_page)
    for harm in ("<img", "<svg", "<b>", '<a href="javascript', "<!--", "onload=window.__pwned=1>"):
        assert harm not in shown
    assert html.escape(WORDS[0]) in shown  # the words of a topic, for browsers without scripts


def test_hostile_text_comes_out_of_the_data_unchanged(hostile_page: str) -> None:
    found = data_of(hostile_page)["words"]["names"]
    assert {word for word in WORDS if len(word) < 100} <= set(found)
    assert max(map(len, found)) <= 120


@pytest.mark.parametrize("text", ["</script>", "<!--", "<script", "\u2028", "\u2029", "&amp;", "\ud800"])
def test_data_end_no_script(text: str) -> None:
    safe = script_safe({text: [text]})
    assert text not in safe
    assert json.loads(safe) == {text: [text]}
    safe.encode("utf-8")


def test_the_page_allows_its_own_scripts_and_nothing_else(hostile_page: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', hostile_page)
    policy = html.unescape(policy)
    scripts = re.findall(r"<script>(.*?)</script>", hostile_page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert len(hashes) == 1
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]


def test_our_parts_name_no_address_and_never_read_text_as_html() -> None:
    folder = files("metalda.report").joinpath("templates")
    parts = [part for kind in ("js", "views", "css") for part in folder.joinpath(kind).iterdir()]
    assert len(parts) > 10
    for part in [*parts, folder.joinpath("report.html")]:
        text = part.read_text(encoding="utf-8")
        assert not re.search(r"https?:|@import|url\(", text), part.name
        assert max(map(len, text.splitlines())) <= 120, part.name
        assert not re.search(r"(inner|outer|Adjacent)HTML|document\.write|eval\(|\|\s*safe\b", text), part.name


def test_the_data_are_the_summary(tmp_path: Path) -> None:
    model = LDA(2, **QUICK).fit(corpus())
    write_report(model, tmp_path / "r.html", corpus())
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert data_of(page) == json.loads(json.dumps(summarize(model, corpus()).to_plain()))
    assert len(page) < 200_000
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_one_model_gives_one_file(tmp_path: Path) -> None:
    model = LDA(2, **QUICK).fit(corpus())
    for name in ("a.html", "b.html"):
        write_report(model, tmp_path / name, corpus())
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_report_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    model = LDA(2, **QUICK).fit(corpus())
    with pytest.raises(errors.InputError, match="cannot be written"):
        write_report(model, tmp_path / "none" / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", [write_report, summarize])
def test_the_examples_run(function: Any) -> None:
    (examples,) = doctest.DocTestFinder(recurse=False).find(function, function.__name__)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(errors.MissingExtraError, match=r"pip install 'metalda\[report\]'"):
        write_report(LDA(2, **QUICK).fit(corpus()), tmp_path / "r.html")


def test_a_report_is_a_page_also_from_python(tmp_path: Path) -> None:
    model = LDA(2, n_iter=4, verbose=False).fit(["cat dog", "sun rain"])
    with pytest.raises(errors.InputError, match=r"report\.pdf: a report is an HTML file"):
        write_report(model, tmp_path / "report.pdf")


def test_every_file_of_views_is_part_of_the_page(hostile_page: str) -> None:
    views = files("metalda.report").joinpath("templates").joinpath("views")
    texts = [view.read_text(encoding="utf-8") for view in views.iterdir()]
    assert texts
    assert all(text in hostile_page for text in texts)


# From linear sRGB to that of people without the cones for green (Machado et al., 2009), and to XYZ.
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]


def lightness_and_tone(linear: np.ndarray) -> np.ndarray:
    """CIELAB of linear sRGB."""
    ratio = np.clip(linear, 0, 1) @ np.transpose(XYZ) / [0.95047, 1, 1.08883]
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def test_colors_of_topics_differ_also_for_deuteranopes() -> None:
    text = files("metalda.report").joinpath("templates/css/base.css").read_text(encoding="utf-8")
    for theme in text.split("color-scheme:")[1:]:
        found = re.findall(r"--topic-\d: #(\w{6});", theme)
        assert len(found) == 8
        values = np.array([[int(color[i : i + 2], 16) for i in (0, 2, 4)] for color in found]) / 255
        linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
        assert pdist(lightness_and_tone(linear)).min() > 30
        assert pdist(lightness_and_tone(linear @ np.transpose(DEUTERANOPIA))).min() > 20
