"""Intrusion tasks are right by construction, and keys come back as they were saved."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metalda import LDA, Corpus, LabeledLDA
from metalda.errors import HintWarning, InputError, StorageError
from metalda.evaluation import IntrusionKey, make_intrusion_tasks
from metalda.evaluation.intrusion import IntrusionTasks, draw_intruder
from themes import THEME_OF, themed_model, themed_texts


@pytest.fixture(scope="module")
def tasks() -> IntrusionTasks:
    return make_intrusion_tasks(themed_model(), themed_texts(), n_documents=30)


def test_word_tasks_have_the_top_words_of_each_topic_and_an_improbable_word_that_is_probable_elsewhere(
    tasks: IntrusionTasks,
) -> None:
    model = themed_model()
    place, phi, top = model.fitted_.word_index, model.components_, model.top_words(10)
    assert sorted(task.topic for task in tasks.word_tasks) == list(range(6))
    for task in tasks.word_tasks:
        own = [word for i, word in enumerate(task.options) if i != task.intruder]
        intruder = task.options[task.intruder]
        assert set(own) == set(top[task.topic][:5])
        assert phi[task.topic, place[intruder]] <= np.median(phi[task.topic])
        assert any(intruder in words for k, words in enumerate(top) if k != task.topic)
        assert len({THEME_OF[word] for word in own}) == 1
        assert THEME_OF[intruder] != THEME_OF[own[0]]


def test_an_intruder_is_improbable_if_there_is_such_a_word_and_otherwise_the_least_probable() -> None:
    phi = np.array([0.3, 0.2, 0.15, 0.12, 0.11, 0.06, 0.04, 0.02], np.float32)  # the median is 0.115
    own, rng = np.array([0, 1]), np.random.default_rng(0)
    drawn = {draw_intruder(phi, own, np.array([0, 1, 2, 3, 4, 6]), rng) for _ in range(50)}
    assert drawn == {4, 6}
    assert draw_intruder(phi, own, np.array([0, 1, 2, 3]), rng) == 3
    assert draw_intruder(phi, own, np.array([0, 1]), rng) is None


def test_topic_tasks_have_the_three_top_topics_of_a_document_and_an_improbable_one(tasks: IntrusionTasks) -> None:
    model, texts = themed_model(), themed_texts()
    theta, words = model.transform(texts), model.top_words(8)
    assert len({task.document for task in tasks.topic_tasks}) == 30
    for task, text in zip(tasks.topic_tasks, tasks.texts, strict=True):
        own = theta[task.document]
        shown = [k for i, k in enumerate(task.topics) if i != task.intruder]
        assert set(shown) == set(np.argsort(-own)[:3])
        assert task.topic == own.argmax()
        assert own[task.topics[task.intruder]] < own[shown].min()
        assert task.proportions == pytest.approx(own[list(task.topics)])
        assert task.options == tuple(tuple(words[k]) for k in task.topics)
        assert text == texts[task.document]


def test_intruders_stand_anywhere_and_topics_come_in_any_order(tasks: IntrusionTasks) -> None:
    assert {task.intruder for task in tasks.topic_tasks} == {0, 1, 2, 3}
    many = [make_intrusion_tasks(themed_model(), random_state=seed) for seed in range(10)]
    assert {task.intruder for each in many for task in each.word_tasks} == set(range(6))
    assert len({tuple(task.topic for task in each.word_tasks) for each in many}) > 5


def test_one_seed_gives_the_same_tasks_and_another_seed_others() -> None:
    first, again, other = (
        make_intrusion_tasks(themed_model(), themed_texts(), n_documents=5, random_state=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first.key.id == again.key.id != other.key.id
    assert first.word_tasks == make_intrusion_tasks(themed_model(), random_state=3).word_tasks


def test_the_tasks_that_are_shown_do_not_depend_on_the_solutions(tasks: IntrusionTasks) -> None:
    moved = replace(
        tasks,
        word_tasks=tuple(replace(task, intruder=(task.intruder + 1) % 6, topic=0) for task in tasks.word_tasks),
        topic_tasks=tuple(replace(task, intruder=(task.intruder + 1) % 4) for task in tasks.topic_tasks),
    )
    assert moved.shown == tasks.shown
    assert moved.key.id == tasks.key.id


def test_sizes_are_those_asked_for() -> None:
    found = make_intrusion_tasks(themed_model(), themed_texts(), n_words=3, n_topics=2, n_documents=4)
    assert [len(task.options) for task in found.word_tasks] == [4, 4]
    assert len(found.topic_tasks) == len(found.texts) == 4
    assert make_intrusion_tasks(themed_model(), themed_texts(), n_documents=0).topic_tasks == ()


def test_documents_are_shown_as_written_or_as_words() -> None:
    model, texts = themed_model(), themed_texts()
    corpus = model.to_corpus(texts)
    words = make_intrusion_tasks(model, corpus.with_texts(None), n_documents=3)
    given = make_intrusion_tasks(model, corpus.with_texts(None), texts=texts, n_documents=3)
    assert make_intrusion_tasks(model, corpus, n_documents=3).texts == given.texts
    assert words.texts == tuple(" ".join(corpus.document(task.document)) for task in words.topic_tasks)
    assert given.texts == tuple(texts[task.document] for task in words.topic_tasks)
    assert given.topic_tasks == words.topic_tasks
    with pytest.raises(InputError, match="texts for 2 documents, but there are 120 documents"):
        make_intrusion_tasks(model, corpus, texts=texts[:2])


def test_empty_documents_and_those_without_known_words_are_left_out() -> None:
    texts = ["", "unknown words", *themed_texts(3), "other unknown words", ""]
    with pytest.warns(HintWarning, match="3 of 20 documents"):
        found = make_intrusion_tasks(themed_model(), texts)
    assert {task.document for task in found.topic_tasks} == {2, 3, 4}


def test_long_words_and_texts_are_cut() -> None:
    long = "x" * 5000
    texts = [f"{text} {long} {'y' * 5000} {long}" for text in themed_texts()]
    model = LDA(6, n_iter=5, random_state=0, verbose=False).fit(texts)
    found = make_intrusion_tasks(model, texts, n_documents=2)
    shown = json.dumps(found.shown)
    assert "x" * 119 + "\\u2026" in shown
    assert "x" * 2900 not in shown.replace(found.texts[0], "")
    assert max(map(len, found.texts)) == 3000


def test_background_topics_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = LDA(6, n_iter=60, n_draws=5, random_state=0, verbose=False).fit(themed_texts())
    background = np.array([False, True, False, False, False, False])
    monkeypatch.setitem(vars(model.fitted_), "is_background", background)
    found = make_intrusion_tasks(model, themed_texts(), n_documents=30)
    words = set(model.top_words(10)[1])
    assert sorted(task.topic for task in found.word_tasks) == [0, 2, 3, 4, 5]
    assert not any(words.intersection(task.options) for task in found.word_tasks)
    assert not any(1 in task.topics for task in found.topic_tasks)
    monkeypatch.setitem(vars(model.fitted_), "is_background", ~background)
    with pytest.raises(InputError, match="at least 2 topics with a theme, but the model has 1"):
        make_intrusion_tasks(model)
    monkeypatch.setitem(vars(model.fitted_), "is_background", np.array([True, True, True, False, False, False]))
    with pytest.raises(InputError, match=r"at least 4 topics .* has 3: leave it out with n_documents=0"):
        make_intrusion_tasks(model, themed_texts())


def test_a_topic_without_an_intruder_is_named_and_left_out() -> None:
    corpus = Corpus.from_tokens([["a", "b"], ["a", "b"], ["a", "c"]] * 5)
    model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(corpus)
    with (
        pytest.warns(HintWarning, match="no task for topics 0, 1"),
        pytest.raises(InputError, match=r"use fewer words with n_words \(--words\)"),
    ):
        make_intrusion_tasks(model)


def test_models_that_exclude_topics_from_documents_have_no_arbitrary_tasks() -> None:
    texts = themed_texts(40)
    model = LabeledLDA(n_iter=20, random_state=0, verbose=False).fit(texts, [["a"], ["b"], ["c"], ["d"]] * 10)
    with pytest.raises(InputError, match="in no document 3 topics are more probable"):
        make_intrusion_tasks(model, model.to_corpus(texts, [["a"], ["b"], ["c"], ["d"]] * 10))


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_words": 1},
        {"n_words": 2.5},
        {"n_documents": -1},
        {"n_topics": 0},
        {"random_state": -1},
        {"random_state": "x"},
    ],
)
def test_wrong_settings_are_one_line(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(arguments))):
        make_intrusion_tasks(themed_model(), **arguments)


def test_a_key_comes_back_as_it_was_saved(tasks: IntrusionTasks, tmp_path: Path) -> None:
    tasks.key.save(tmp_path / "key.json")
    assert IntrusionKey.load(tmp_path / "key.json") == tasks.key


@pytest.mark.parametrize(
    "damage",
    [
        lambda key: key.update(id=3),
        lambda key: key.update(word_tasks=None),
        lambda key: key.update(word_tasks=[], topic_tasks=[]),
        lambda key: key["word_tasks"][0].update(intruder=6),
        lambda key: key["word_tasks"][0].update(intruder=True),
        lambda key: key["word_tasks"][0].update(options=["a", 2]),
        lambda key: key["word_tasks"][0].update(topic=-1),
        lambda key: key["word_tasks"].append(7),
        lambda key: key["topic_tasks"][0].update(proportions=[0.5]),
        lambda key: key["topic_tasks"][0].update(proportions=[0.5, 0.1, 0.1, 2]),
        lambda key: key["topic_tasks"][0].update(topic=10**400),
        lambda key: key["topic_tasks"][0].update(topic=99),
        lambda key: key["topic_tasks"][0].pop("document"),
        lambda key: key["topic_tasks"][0].update(options="abcd"),
    ],
)
def test_a_damaged_key_is_one_line(tasks: IntrusionTasks, tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "key.json"
    tasks.key.save(path)
    content = json.loads(path.read_text())
    damage(content["document"])
    path.write_text(json.dumps(content))
    with pytest.raises(StorageError, match=r"key\.json: damaged") as caught:
        IntrusionKey.load(path)
    assert "\n" not in str(caught.value)
