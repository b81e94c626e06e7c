"""Word intrusion and topic intrusion (Chang et al., 2009): tasks in which people search for what does not belong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError, StorageError, hint
from metalda.models.estimator import require_fitted
from metalda.models.word_scores import top_indices
from metalda.storage import PathLike, read_document, write_document
from metalda.utils.checks import JsonObject

if TYPE_CHECKING:
    from metalda.corpus import Corpus
    from metalda.models.base import TopicModel

KEY = "intrusion-key"  # kind of file
N_TOPICS = 3  # topics of the document in a task of topic intrusion; another one is the intruder
_N_TOPIC_WORDS = 8  # that represent a topic, as in the paper
_MAX_WORD, _MAX_TEXT = 120, 3000  # letters
_MOST_TASKS = 100_000
_BATCH = 200  # documents whose topics are inferred at a time


@dataclass(frozen=True)
class WordTask:
    """Word intrusion: the most probable words of a topic and an intruder, in the order in which they are shown."""

    topic: int
    options: tuple[str, ...]
    intruder: int  # index into options


@dataclass(frozen=True)
class TopicTask:
    """Topic intrusion: the most probable topics of a document and an intruder, in the order in which they are shown."""

    document: int  # in the corpus
    id: str | None
    topic: int  # the most probable one
    options: tuple[tuple[str, ...], ...]  # the most probable words of each shown topic
    topics: tuple[int, ...]  # their numbers
    proportions: tuple[float, ...]  # of the shown topics in the document
    intruder: int  # index into options


Task = WordTask | TopicTask


@dataclass(frozen=True)
class IntrusionKey:
    """The tasks of a page with their solutions. Coders must not see it.

    Parameters
    ----------
    id : str
        Identifies the page. Answers contain it.
    word_tasks : tuple of WordTask
    topic_tasks : tuple of TopicTask
    """

    id: str
    word_tasks: tuple[WordTask, ...]
    topic_tasks: tuple[TopicTask, ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return all tasks in the order of the page, which is that of answers."""
        return (*self.word_tasks, *self.topic_tasks)

    def save(self, path: PathLike) -> None:
        """Write the key as a JSON file."""
        write_document(Path(path), KEY, asdict(self))

    @classmethod
    def load(cls, path: PathLike) -> IntrusionKey:
        """Read the file that `save` wrote; StorageError if it is damaged."""
        document = read_document(Path(path), KEY)
        try:
            found = cls(
                _string(document["id"]),
                tuple(_word_task(task) for task in document["word_tasks"]),
                tuple(_topic_task(task) for task in document["topic_tasks"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise StorageError(f"{path}: damaged: not a whole key ({error!r})") from error
        if not 0 < len(found.tasks) <= _MOST_TASKS:
            raise StorageError(f"{path}: damaged: a key has 1 to {_MOST_TASKS:,} tasks")
        return found


@dataclass(frozen=True)
class IntrusionTasks:
    """Tasks without their solutions, as coders see them, and the key.

    Parameters
    ----------
    word_tasks : tuple of WordTask
    topic_tasks : tuple of TopicTask
    texts : tuple of str
        The document of each task of topic intrusion: its text, or its words.
    """

    word_tasks: tuple[WordTask, ...]
    topic_tasks: tuple[TopicTask, ...]
    texts: tuple[str, ...]

    @property
    def shown(self) -> dict[str, object]:
        """Return what coders see, as plain data: options in their order, without solutions and topic numbers."""
        documents = zip(self.texts, self.topic_tasks, strict=True)
        return {
            "words": [list(task.options) for task in self.word_tasks],
            "topics": [{"text": text, "options": list(map(list, task.options))} for text, task in documents],
        }

    @property
    def key(self) -> IntrusionKey:
        """Return the tasks with their solutions. The id is a digest of what coders see."""
        digest = hashlib.sha256(json.dumps(self.shown).encode("ascii")).hexdigest()
        return IntrusionKey(digest[:16], self.word_tasks, self.topic_tasks)

    def with_texts(self, texts: Sequence[str] | Mapping[int, str]) -> IntrusionTasks:
        """Return the same tasks with documents as they were written, by their numbers in the corpus."""
        return replace(self, texts=tuple(_cut(str(texts[task.document]), _MAX_TEXT) for task in self.topic_tasks))


def make_intrusion_tasks(
    model: TopicModel,
    corpus: object = None,
    *,
    texts: Iterable[str] | None = None,
    n_words: int = 5,
    n_topics: int | None = None,
    n_documents: int = 20,
    random_state: int = 0,
) -> IntrusionTasks:
    """Make tasks of word intrusion and, with a corpus, of topic intrusion; `metalda.write_intrusion_tasks` shows them.

    Parameters
    ----------
    model : TopicModel
        A fitted model. Background topics are left out.
    corpus : Corpus, or any other input of `transform`, optional
        Documents for topic intrusion.
    texts : iterable of str, optional
        The documents as written, in place of those of the corpus (`Corpus.texts`). Without texts, the words of the
        corpus are shown.
    n_words : int
        Words of a topic in word intrusion, besides the intruder.
    n_topics : int, optional
        The number of topics in word intrusion, drawn at random. All by default.
    n_documents : int
        The number of documents in topic intrusion, drawn at random. 0 leaves topic intrusion out.
    random_state : int
        The seed of intruders, documents and orders.

    Returns
    -------
    IntrusionTasks
        `key` has the solutions.

    Examples
    --------
    >>> from metalda import LDA
    >>> from metalda.evaluation import make_intrusion_tasks
    >>> texts = ["cat dog cow pig", "dog cow cat pig", "rain sun wind fog", "sun fog rain wind"] * 5
    >>> model = LDA(n_components=2, n_iter=20, random_state=0, verbose=False).fit(texts)
    >>> tasks = make_intrusion_tasks(model, n_words=3)
    >>> [len(options) for options in tasks.shown["words"]]
    [4, 4]
    """
    require_fitted(model)
    for name, value, least in (("n_words", n_words, 2), ("n_documents", n_documents, 0), ("n_topics", n_topics, 1)):
        if value is not None and (not isinstance(value, int | np.integer) or not least <= value <= _MOST_TASKS):
            raise InputError(f"{name} must be a whole number from {least} to {_MOST_TASKS:,}, not {value!r}")
    if not isinstance(random_state, int | np.integer) or random_state < 0:
        raise InputError(f"random_state must be a whole number of at least 0, not {random_state!r}")
    for_words, for_topics = np.random.default_rng(random_state).spawn(2)
    themes = np.flatnonzero(~model.fitted_.is_background)
    tasks = IntrusionTasks(_word_tasks(model, themes, n_words, n_topics, for_words), (), ())
    if corpus is None or n_documents == 0:
        return tasks
    if len(themes) <= N_TOPICS:
        raise InputError(
            f"topic intrusion needs at least {N_TOPICS + 1} topics with a theme, but the model has {len(themes)}: "
            "leave it out with n_documents=0 (--documents 0)"
        )
    documents = model.to_corpus(corpus)
    topic_tasks = _topic_tasks(model, documents, themes, n_documents, for_topics)
    words = {task.document: " ".join(documents.document(task.document)) for task in topic_tasks}
    tasks = replace(tasks, topic_tasks=topic_tasks).with_texts(words)
    given = documents.texts if texts is None else documents.with_texts(texts).texts
    return tasks if given is None else tasks.with_texts(given)


def _word_tasks(
    model: TopicModel, themes: NDArray[np.int64], n_words: int, n_topics: int | None, rng: np.random.Generator
) -> tuple[WordTask, ...]:
    """Return a task for each topic, in random order."""
    if len(themes) < 2:
        raise InputError(f"word intrusion needs at least 2 topics with a theme, but the model has {len(themes)}")
    phi, vocabulary, numbers = model.components_, model.vocabulary_, model.fitted_.topic_numbers
    pools = top_indices(phi[themes], 2 * n_words)  # [theme, word] probable words, from which intruders are drawn
    tasks, missing = [], []
    for theme in rng.permutation(len(themes))[:n_topics]:
        topic = int(themes[theme])
        own = top_indices(phi[topic], n_words)
        intruder = draw_intruder(phi[topic], own, np.unique(np.delete(pools, theme, axis=0)), rng)
        if len(own) < n_words or intruder is None:
            missing.append(int(numbers[topic]))
            continue
        order = rng.permutation(n_words + 1)
        shown = np.append(own, intruder)[order]
        place = int(np.flatnonzero(order == n_words)[0])
        tasks.append(WordTask(int(numbers[topic]), tuple(_cut(vocabulary[v]) for v in shown), place))
    if missing:
        found = f"topics {', '.join(map(str, sorted(missing)))}" if len(missing) < 10 else f"{len(missing):,} topics"
        hint(f"word intrusion has no task for {found}: no probable word of another topic is improbable there")
    if not tasks:
        raise InputError(
            f"word intrusion has no task: no topic has {n_words} words and an improbable word that is among the "
            f"{2 * n_words} most probable ones of another topic; use fewer words with n_words (--words)"
        )
    return tuple(tasks)


def draw_intruder(
    phi: NDArray[np.float32], own: NDArray[np.int64], pool: NDArray[np.int64], rng: np.random.Generator
) -> int | None:
    """Draw a word of the pool from the less probable half of the vocabulary; otherwise return the least probable one.

    It is always less probable than the topic's own words. None if there is no such word.
    """
    pool = pool[phi[pool] < phi[own[-1]]]
    if not len(pool):
        return None
    improbable = pool[phi[pool] <= np.median(phi)]
    return int(rng.choice(improbable)) if len(improbable) else int(pool[phi[pool].argmin()])


def _topic_tasks(
    model: TopicModel, corpus: Corpus, themes: NDArray[np.int64], n_documents: int, rng: np.random.Generator
) -> tuple[TopicTask, ...]:
    """Return a task for each of some random documents that have words of the model."""
    known = np.array([word in model.fitted_.word_index for word in corpus.vocabulary], bool)
    n_before = np.append(0, np.cumsum(known[corpus.words]))[corpus.offsets]  # known words before each document
    order = rng.permutation(np.flatnonzero(np.diff(n_before)))
    words, numbers = [tuple(map(_cut, own)) for own in model.top_words(_N_TOPIC_WORDS)], model.fitted_.topic_numbers
    tasks: list[TopicTask] = []
    for start in range(0, len(order), _BATCH):
        rows = order[start : start + _BATCH]
        theta = np.asarray(model.transform(corpus[rows]), np.float64)
        for document, own in zip(rows, theta, strict=True):
            shown = _draw_topics(own, themes, rng)
            if shown is not None and len(tasks) < n_documents:
                id = None if corpus.ids is None else _cut(str(corpus.ids[document]))
                task = _topic_task_of(int(document), id, own, shown, words, rng)
                topics = tuple(numbers[list(task.topics)].tolist())
                tasks.append(replace(task, topic=int(numbers[task.topic]), topics=topics))
        if len(tasks) == n_documents:
            break
    if not tasks:
        raise InputError(
            f"topic intrusion has no task: in no document {N_TOPICS} topics are more probable than the others; "
            "leave it out with n_documents=0 (--documents 0)"
        )
    if len(tasks) < n_documents:
        hint(f"topic intrusion has {len(tasks):,} of {n_documents:,} documents: no other document is suitable")
    return tuple(tasks)


def _draw_topics(
    theta: NDArray[np.float64], themes: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64] | None:
    """Return the most probable topics and a random one of the less probable half; None if it is not less probable."""
    by_probability = themes[np.argsort(-theta[themes], kind="stable")]
    first = max(N_TOPICS, len(themes) // 2)
    intruder = rng.choice(by_probability[first:])
    if theta[intruder] >= theta[by_probability[N_TOPICS - 1]]:
        return None
    return np.append(by_probability[:N_TOPICS], intruder)


def _topic_task_of(
    document: int,
    id: str | None,
    theta: NDArray[np.float64],
    topics: NDArray[np.int64],
    words: Sequence[tuple[str, ...]],
    rng: np.random.Generator,
) -> TopicTask:
    order = rng.permutation(len(topics))
    return TopicTask(
        document=document,
        id=id,
        topic=int(topics[0]),
        options=tuple(words[k] for k in topics[order]),
        topics=tuple(topics[order].tolist()),
        proportions=tuple(theta[topics[order]].tolist()),
        intruder=int(np.flatnonzero(order == N_TOPICS)[0]),
    )


def _cut(text: str, longest: int = _MAX_WORD) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _word_task(saved: JsonObject) -> WordTask:
    options = tuple(map(_string, _list(saved["options"])))
    return WordTask(_index(saved["topic"]), options, _index(saved["intruder"], len(options)))


def _topic_task(saved: JsonObject) -> TopicTask:
    options = tuple(tuple(map(_string, _list(words))) for words in _list(saved["options"]))
    topics, proportions = tuple(map(_index, _list(saved["topics"]))), tuple(map(float, _list(saved["proportions"])))
    if not len(options) == len(topics) == len(proportions) or not all(0 <= share <= 1 for share in proportions):
        raise ValueError("a task needs a topic and a proportion for each option")
    if saved["topic"] not in topics:
        raise ValueError("the topic of a task is not among its options")
    return TopicTask(
        document=_index(saved["document"]),
        id=None if saved["id"] is None else _string(saved["id"]),
        topic=_index(saved["topic"]),
        options=options,
        topics=topics,
        proportions=proportions,
        intruder=_index(saved["intruder"], len(options)),
    )


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.50} is not a string")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MOST_TASKS:
        raise ValueError("not a list")
    return value


def _index(value: object, end: int = 2**31) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < end:
        raise ValueError(f"{value!r:.50} is not an index")
    return value
