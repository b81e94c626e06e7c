"""Coders answer intrusion tasks in a browser: by keyboard, on a phone, without storage, and with hostile text."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from marks import slow_after_first
from metalda import score_intrusion, write_intrusion_tasks
from metalda.evaluation import IntrusionAnswers, IntrusionKey
from report.chromium import SIZES, open_page
from report.hostile import WORDS, hostile_corpus, hostile_model
from themes import themed_model, themed_texts

NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } });"
FORGETFUL = "Storage.prototype.setItem = () => {};"


@dataclass
class Coder:
    """A coder who looks at a page of tasks."""

    page: Any
    problems: list[str]

    def is_at(self, view: int) -> None:
        """Wait for a view: -1 is the start, tasks follow, the last is the end."""
        self.page.wait_for_function("view => document.getElementById('main').dataset.shown === String(view)", arg=view)
        assert self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def download(self, path: Path, press: str = "Enter") -> IntrusionAnswers:
        with self.page.expect_download() as info:
            self.press(press)
        info.value.save_as(path / info.value.suggested_filename)
        return IntrusionAnswers.load(path / info.value.suggested_filename)

    def text(self) -> str:
        return self.page.inner_text("main")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tasks") / "tasks.html"
    write_intrusion_tasks(themed_model(), path, themed_texts(), n_documents=2)
    return path


@pytest.fixture(scope="module")
def key(tasks: Path) -> IntrusionKey:
    return IntrusionKey.load(tasks.with_suffix(".key.json"))


@pytest.mark.parametrize(
    ("size", "scheme"), slow_after_first([("phone", "dark"), ("wide", "light"), ("phone", "light"), ("wide", "dark")])
)
def test_the_keyboard_alone_gives_answers_that_are_scored(
    browser: Any, tasks: Path, key: IntrusionKey, tmp_path: Path, size: str, scheme: str
) -> None:
    coder = Coder(*open_page(browser, tasks, size, scheme))
    coder.is_at(-1)
    assert coder.page.evaluate("document.documentElement.dataset.theme") == scheme
    assert "For 6 groups of words, choose" in coder.text()
    assert "For 2 documents, choose" in coder.text()
    coder.press("Tab", "Tab", "Tab")  # skip link, theme, name
    coder.page.keyboard.type("Änn 1/2")
    coder.press("Enter")
    for i, task in enumerate(key.tasks):
        coder.is_at(i)
        assert coder.page.evaluate("document.activeElement.tagName") == "H1"
        assert coder.page.locator("input[type=radio]:checked").count() == 0
        shown = [text.split("\n", 1)[-1].strip() for text in coder.page.locator(".option").all_inner_texts()]
        options = [option if isinstance(option, str) else ", ".join(option) for option in task.options]
        assert shown == options
        coder.press(str(task.intruder + 1))
        assert coder.page.locator("progress").evaluate("bar => bar.value") == i + 1
        coder.press("Enter")
    coder.is_at(len(key.tasks))
    assert coder.page.inner_text("h1") == "All tasks are answered"
    coder.press("Tab", "Tab")  # name, download
    answers = coder.download(tmp_path)
    assert Path(answers.name).name == "answers-Änn-1-2.json"
    assert answers.coder == "Änn 1/2"
    scores = score_intrusion(key, [answers])
    assert scores.overall["accuracy"].tolist() == [1, 1]
    assert scores.overall["answers"].tolist() == [6, 2]
    assert "Please send it back" in coder.text()
    assert coder.problems == []


def test_arrows_and_tab_reach_every_choice_and_documents_are_shown_as_written(
    browser: Any, tasks: Path, key: IntrusionKey
) -> None:
    coder = Coder(*open_page(browser, tasks))
    coder.page.get_by_role("button", name="Start").click()
    coder.is_at(0)
    coder.press("Tab", "Space", "ArrowDown", "ArrowDown")
    assert coder.page.locator("input[type=radio]").nth(2).is_checked()
    coder.press("Tab", "Tab", "Tab", "Enter")  # back, next, finish
    coder.is_at(len(key.tasks))
    coder.page.get_by_role("button", name="Document 1").click()
    coder.is_at(6)
    texts = themed_texts()
    assert coder.page.locator(".document").inner_text() == texts[key.topic_tasks[0].document]
    coder.page.get_by_role("button", name="Back").click()
    coder.is_at(5)
    controls = coder.page.locator("main button, main input")
    unnamed = "e => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())"
    assert not any(control.evaluate(unnamed) for control in controls.all())
    assert coder.problems == []


@pytest.mark.slow
def test_answers_are_kept_in_the_browser_until_they_are_deleted(
    browser: Any, tasks: Path, key: IntrusionKey, tmp_path: Path
) -> None:
    coder = Coder(*open_page(browser, tasks))
    coder.page.fill("#coder", "Bo")
    coder.page.get_by_role("button", name="Start").click()
    coder.is_at(0)
    assert "stay in this browser" in coder.text()
    coder.press("2", "Enter", "Enter", "5", "Enter")
    coder.is_at(3)
    coder.page.reload()
    coder.is_at(-1)
    assert coder.page.input_value("#coder") == "Bo"
    assert "2 of 8 tasks answered" in coder.text()
    coder.page.get_by_role("button", name="Continue").click()
    coder.is_at(1)  # the first without an answer
    coder.page.get_by_role("button", name="Finish").click()
    coder.is_at(8)
    assert coder.page.inner_text("h1") == "Not all tasks are answered"
    assert coder.page.locator(".group button").all_inner_texts()[0] == "Words 2"
    coder.page.get_by_role("button", name="Download answers").focus()
    answers = coder.download(tmp_path)
    assert answers.choices == (1, None, 4, None, None, None, None, None)
    coder.page.get_by_text("Delete my answers").click()
    coder.page.get_by_role("button", name="Delete them").click()
    coder.is_at(-1)
    coder.page.reload()
    coder.is_at(-1)
    assert coder.page.input_value("#coder") == ""
    assert "0 of 8 tasks answered" in coder.text()
    assert coder.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("script", [NO_STORAGE, FORGETFUL])
def test_a_browser_without_storage_says_so_and_works(
    browser: Any, tasks: Path, key: IntrusionKey, tmp_path: Path, script: str
) -> None:
    coder = Coder(*open_page(browser, tasks, script=script))
    coder.is_at(-1)
    assert "This browser keeps no data" in coder.text()
    coder.page.get_by_role("button", name="Start").click()
    coder.is_at(0)
    coder.press("3")
    coder.page.get_by_role("button", name="Finish").click()
    coder.is_at(8)
    coder.page.get_by_role("button", name="Download answers").click()
    assert coder.page.inner_text("#message") == "Please enter your name or code first."
    assert coder.page.evaluate("document.activeElement.id") == "coder"
    coder.page.keyboard.type("Cy")
    answers = coder.download(tmp_path)
    assert answers.choices == (2, *[None] * 7)
    assert coder.problems == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "kept", ["null", "{", "[]", '{"coder": 1}', '{"coder": "x", "answers": [99, 0, 0, 0, 0, 0, 0, 0]}']
)
def test_what_else_is_in_the_storage_is_ignored(browser: Any, tasks: Path, key: IntrusionKey, kept: str) -> None:
    coder = Coder(*open_page(browser, tasks))
    coder.page.evaluate("([place, kept]) => localStorage.setItem(place, kept)", [f"metalda-{key.id}", kept])
    coder.page.reload()
    coder.is_at(-1)
    assert "0 of 8 tasks answered" in coder.text()
    assert coder.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_hostile_text_runs_nothing_and_breaks_nothing(browser: Any, tmp_path: Path, size: str) -> None:
    corpus, path = hostile_corpus(), tmp_path / "tasks.html"
    write_intrusion_tasks(
        hostile_model(corpus),
        path,
        corpus,
        texts=[f"{WORDS[i % 24]}\n\ud800 \x00 {WORDS[2]}" for i in range(25)],
        title=WORDS[0],
    )
    key = IntrusionKey.load(path.with_suffix(".key.json"))
    coder = Coder(*open_page(browser, path, size))
    coder.page.fill("#coder", WORDS[3])
    coder.press("Enter")
    for i in range(len(key.tasks)):
        coder.is_at(i)
        for tag in ("main img", "main svg", "main script", "main a", "main b"):
            assert coder.page.locator(tag).count() == 0, tag
        coder.press("1", "Enter")
    coder.is_at(len(key.tasks))
    coder.page.get_by_role("button", name="Download answers").focus()
    answers = coder.download(tmp_path)
    assert answers.coder == WORDS[3]
    assert score_intrusion(key, answers).coders["answers"].tolist() == [len(key.tasks)]
    assert coder.page.evaluate("window.__pwned") is None
    assert coder.problems == []
