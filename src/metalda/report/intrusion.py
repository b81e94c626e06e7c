"""The page of intrusion tasks: one HTML file for coders, which works offline and contains no solutions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from metalda.errors import InputError
from metalda.evaluation.intrusion import IntrusionKey, IntrusionTasks, make_intrusion_tasks
from metalda.evaluation.intrusion_scores import ANSWERS
from metalda.report.page import check_page, fill_page, join_scripts
from metalda.report.values import cut
from metalda.storage import replacing
from metalda.storage.manifest import encode

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

TITLE = "Which one does not belong?"
_SCRIPTS = ("text", "dom", "page", "intrusion")


def write_intrusion_tasks(
    model: TopicModel,
    path: str | os.PathLike[str],
    corpus: object = None,
    *,
    texts: Iterable[str] | None = None,
    n_words: int = 5,
    n_topics: int | None = None,
    n_documents: int = 20,
    title: str = TITLE,
    random_state: int = 0,
) -> Path:
    """Write tasks of word and topic intrusion (Chang et al., 2009) as one HTML file for coders, and their key.

    The page works offline. Coders open it in a browser, answer, and send back the file of answers that the page saves.
    The page does not contain the solutions: they are in the key, for `score_intrusion`.

    In word intrusion, coders see the most probable words of a topic and an intruder: a word from the less probable half
    of the vocabulary in this topic that is among the most probable words of another topic. In topic intrusion they see
    a document, its three most probable topics, and an intruder from the less probable half of the topics.

    Parameters
    ----------
    model : TopicModel
        A fitted model. Background topics are left out.
    path : path-like
        The HTML file. The key is beside it: ``tasks.key.json`` for ``tasks.html``. The key of another page is not
        replaced.
    corpus : Corpus, or any other input of `transform`, optional
        Documents for topic intrusion, such as the training documents. Without it, the page has word intrusion only.
    texts : iterable of str, optional
        The documents of the corpus as they were written. A list of texts as corpus needs none. Without texts, the words
        of the corpus are shown.
    n_words : int
        Words of a topic in word intrusion, besides the intruder.
    n_topics : int, optional
        The number of topics in word intrusion, drawn at random. All by default.
    n_documents : int
        The number of documents in topic intrusion, drawn at random. 0 leaves topic intrusion out.
    title : str
        Title of the page.
    random_state : int
        The seed of intruders, documents and orders.

    Returns
    -------
    Path
        The file of the key.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from metalda import LDA, write_intrusion_tasks
    >>> texts = ["cat dog cow pig", "dog cow cat pig", "rain sun wind fog", "sun fog rain wind"] * 5
    >>> model = LDA(n_components=2, n_iter=20, random_state=0, verbose=False).fit(texts)
    >>> with TemporaryDirectory() as folder:
    ...     write_intrusion_tasks(model, Path(folder, "tasks.html"), n_words=3).name
    'tasks.key.json'
    """
    check_tasks_page(Path(path))
    tasks = make_intrusion_tasks(
        model,
        corpus,
        texts=texts,
        n_words=n_words,
        n_topics=n_topics,
        n_documents=n_documents,
        random_state=random_state,
    )
    return write_tasks_page(tasks, Path(path), title)


def check_tasks_page(path: Path) -> None:
    """Raise an error if the page cannot be written there, or if jinja2 is missing."""
    check_page(path, "a page of tasks")


def write_tasks_page(tasks: IntrusionTasks, path: Path, title: str = TITLE) -> Path:
    """Write tasks as a page and, beside it, their key, whose path is returned."""
    page, key, place = render_tasks(tasks, title), tasks.key, path.with_suffix(".key.json")
    if place.exists() and IntrusionKey.load(place).id != key.id:
        raise InputError(
            f"{place}: is the key of another page, whose answers need it: choose another name, or remove it"
        )
    with replacing(path, "x", encoding="utf-8", newline="\n") as file:
        file.write(page)
        file.flush()
        key.save(place)  # neither file appears without the other
    return place


def render_tasks(tasks: IntrusionTasks, title: str = TITLE) -> str:
    """Return the page as text."""
    answers = {"tasks": tasks.key.id, "coder": "", "answers": [None] * len(tasks.key.tasks)}
    return fill_page(
        "intrusion.html",
        title=cut(title),
        scripts=[join_scripts(f"js/{name}.js" for name in _SCRIPTS)],
        styles=("intrusion",),
        data=("tasks", {**tasks.shown, "blank": json.loads(encode(ANSWERS, {}, answers))}),
    )
