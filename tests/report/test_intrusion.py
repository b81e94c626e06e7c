"""The page of intrusion tasks: whole, by itself, and without solutions."""

import base64
import hashlib
import html
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from metalda import errors, write_intrusion_tasks
from metalda.evaluation import IntrusionKey, make_intrusion_tasks
from metalda.report.intrusion import render_tasks
from report.hostile import WORDS, hostile_corpus, hostile_model
from themes import themed_model, themed_texts


def test_the_page_comes_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "tasks.html"
    key = write_intrusion_tasks(themed_model(), path, themed_texts(), n_documents=3, title="Topics & <news>")
    assert key == tmp_path / "tasks.key.json"
    tasks = make_intrusion_tasks(themed_model(), themed_texts(), n_documents=3)
    assert IntrusionKey.load(key) == tasks.key
    page = path.read_text(encoding="utf-8")
    assert page == render_tasks(tasks, "Topics & <news>")
    assert "<title>Topics &amp; &lt;news&gt;</title>" in page
    assert len(page) < 60_000
    assert sorted(each.name for each in tmp_path.iterdir()) == ["tasks.html", "tasks.key.json"]


def test_the_page_does_not_depend_on_the_solutions() -> None:
    tasks = make_intrusion_tasks(themed_model(), themed_texts(), n_documents=5)
    words = tuple(replace(task, intruder=(task.intruder + 1) % 6, topic=0) for task in tasks.word_tasks)
    other = {"proportions": (0.25,) * 4, "topics": (0, 1, 2, 3), "id": "x", "document": 0}
    documents = tuple(replace(task, intruder=(task.intruder + 1) % 4, **other) for task in tasks.topic_tasks)
    assert render_tasks(replace(tasks, word_tasks=words, topic_tasks=documents)) == render_tasks(tasks)


def test_the_key_of_another_page_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "tasks.html"
    write_intrusion_tasks(themed_model(), path)
    before = {each: each.read_bytes() for each in tmp_path.iterdir()}
    write_intrusion_tasks(themed_model(), path)
    assert {each: each.read_bytes() for each in tmp_path.iterdir()} == before
    with pytest.raises(errors.InputError, match=r"tasks\.key\.json: is the key of another page"):
        write_intrusion_tasks(themed_model(), path, random_state=1)
    assert {each: each.read_bytes() for each in tmp_path.iterdir()} == before
    (tmp_path / "tasks.key.json").write_text("something else")
    with pytest.raises(errors.StorageError, match="not valid JSON"):
        write_intrusion_tasks(themed_model(), path)


def test_hostile_text_stays_in_the_data_and_the_page_runs_only_its_own_script() -> None:
    corpus = hostile_corpus()
    page = render_tasks(make_intrusion_tasks(hostile_model(corpus), corpus, n_documents=20), WORDS[0])
    assert page.count("<script") == page.count("</script") == 2
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert html.unescape(policy).startswith(f"default-src 'none'; script-src 'sha256-{digest}'; ")
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert html.escape(WORDS[0]) in shown
    (data,) = re.findall(r'<script type="application/json" id="tasks">(.*?)</script>', page, re.DOTALL)
    words = {word for options in json.loads(data)["words"] for word in options}
    assert words <= {word if len(word) <= 120 else word[:119] + "…" for word in WORDS}


def test_a_missing_jinja2_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(errors.MissingExtraError, match=r"A page of tasks needs .*'jinja2'.*metalda\[report\]"):
        write_intrusion_tasks(themed_model(), tmp_path / "tasks.html")


def test_a_page_is_an_html_file(tmp_path: Path) -> None:
    for name in ("tasks.json", "none/tasks.html"):
        with pytest.raises(errors.InputError, match=re.escape(name)):
            write_intrusion_tasks(themed_model(), tmp_path / name)
