"""Score the answers of coders to intrusion tasks: accuracy, topic log odds, and agreement."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError, StorageError
from metalda.evaluation.agreement import effective_answers, krippendorff_alpha, wilson_interval
from metalda.evaluation.intrusion import IntrusionKey, Task, TopicTask
from metalda.storage import PathLike, read_document
from metalda.utils.markup import frame_html

if TYPE_CHECKING:
    import pandas as pd

ANSWERS = "intrusion-answers"  # kind of file
WORD, TOPIC = "word intrusion", "topic intrusion"
_MAX_BYTES = 10_000_000  # of a file with answers
_MAX_NAME = 200  # letters
_LEAST = 1e-6  # proportion in topic log odds; models that exclude topics from documents have proportions of 0


@dataclass(frozen=True)
class IntrusionAnswers:
    """The answers of one coder, which the page saves as a JSON file.

    Parameters
    ----------
    tasks : str
        The id of the page, as in its key.
    coder : str
        A name.
    choices : tuple of int or None
        For each task of the page, the index of the chosen option; None without an answer.
    name : str
        The name of the file, for messages.
    """

    tasks: str
    coder: str
    choices: tuple[int | None, ...]
    name: str = "answers"

    @classmethod
    def load(cls, path: PathLike) -> IntrusionAnswers:
        """Read a file of the page; StorageError if it is damaged or something else."""
        place = Path(path)
        if place.is_file() and place.stat().st_size > _MAX_BYTES:
            raise StorageError(f"{path}: too large for answers, which have at most {_MAX_BYTES / 1e6:.0f} MB")
        document = read_document(place, ANSWERS)
        tasks, coder, choices = (document.get(name) for name in ("tasks", "coder", "answers"))
        if not isinstance(tasks, str):
            raise StorageError(f"{path}: damaged: the id of the tasks is missing")
        if not isinstance(coder, str) or not coder.strip() or len(coder) > _MAX_NAME:
            raise StorageError(f"{path}: the coder's name is missing or too long: type it on the page and save again")
        if not isinstance(choices, list) or not all(each is None or type(each) is int for each in choices):
            raise StorageError(f"{path}: damaged: the answers are not a list of numbers")
        name = " ".join(coder.split()).encode("utf-8", "replace").decode()  # half of a surrogate pair is no letter
        return cls(tasks, name, tuple(choices), str(path))


@dataclass(frozen=True)
class IntrusionScores:
    """How well coders find intruders.

    Parameters
    ----------
    overall : DataFrame
        A row for word intrusion and one for topic intrusion: tasks, coders, answers, `chance` (accuracy by guessing),
        `accuracy` with its interval `low` to `high`, `model_precision`, `log_odds` and `alpha`.
    topics : DataFrame
        The same for each topic, with its words. In topic intrusion a task counts for the most probable topic of its
        document.
    coders : DataFrame
        Answers and accuracy of each coder.
    notes : tuple of str
        Answers that are missing, and files that were counted once.
    interval : float
        Probability of the intervals.
    """

    overall: pd.DataFrame
    topics: pd.DataFrame
    coders: pd.DataFrame
    notes: tuple[str, ...]
    interval: float

    def __repr__(self) -> str:
        parts = [
            f"{row.task} {row.accuracy:.3f} ({row.low:.3f} to {row.high:.3f})" for row in self.overall.itertuples()
        ]
        return f"IntrusionScores: accuracy of {', '.join(parts)}; {len(self.coders)} coders"

    def _repr_html_(self) -> str:
        return frame_html(repr(self), self.topics, "topics")


def score_intrusion(
    key: IntrusionKey | PathLike,
    answers: Iterable[IntrusionAnswers | PathLike] | IntrusionAnswers | PathLike,
    *,
    interval: float = 0.9,
) -> IntrusionScores:
    """Score the answers of coders to the tasks of `write_intrusion_tasks`.

    Accuracy is the share of answers that are the intruder. Its interval is Wilson's, with the effective number of
    answers, because the answers to one task resemble each other. Model precision (Chang et al., 2009) is the mean over
    tasks of their accuracy. The topic log odds of an answer are log theta of the intruder minus log theta of the chosen
    topic; `log_odds` is their mean over coders and documents. It is at most 0, and higher is better. `alpha` is
    Krippendorff's alpha of the chosen options.

    Parameters
    ----------
    key : path-like or IntrusionKey
        The file ``tasks.key.json``.
    answers : list of path-like or IntrusionAnswers
        The file of each coder. It is an error if one coder has several files with different answers. Equal ones are
        counted once.
    interval : float
        Probability of the intervals.

    Returns
    -------
    IntrusionScores

    Examples
    --------
    >>> from metalda import LDA, score_intrusion
    >>> from metalda.evaluation import IntrusionAnswers, make_intrusion_tasks
    >>> texts = ["cat dog cow pig", "dog cow cat pig", "rain sun wind fog", "sun fog rain wind"] * 5
    >>> model = LDA(n_components=2, n_iter=20, random_state=0, verbose=False).fit(texts)
    >>> key = make_intrusion_tasks(model, n_words=3).key
    >>> right = tuple(task.intruder for task in key.tasks)
    >>> scores = score_intrusion(key, [IntrusionAnswers(key.id, name, right) for name in ("Ann", "Bo")])
    >>> scores.overall[["task", "coders", "answers", "accuracy"]].to_dict("records")
    [{'task': 'word intrusion', 'coders': 2, 'answers': 4, 'accuracy': 1.0}]
    """
    import pandas as pd

    if not 0 < interval < 1:
        raise InputError(f"interval must be between 0 and 1, not {interval!r}")
    if not isinstance(key, IntrusionKey):
        key = IntrusionKey.load(key)
    given = [answers] if isinstance(answers, IntrusionAnswers | str | os.PathLike) else list(answers)
    if not given:
        raise InputError("no answers: give the files that the coders have sent")
    loaded = [each if isinstance(each, IntrusionAnswers) else IntrusionAnswers.load(each) for each in given]
    coders, notes = _coders(key, loaded)
    choices = np.array([[-1 if c is None else c for c in each.choices] for each in coders], np.int64)  # [coder, task]
    right = choices == [task.intruder for task in key.tasks]
    table = _Table(key.tasks, choices, right, interval)
    kinds = {WORD: range(len(key.word_tasks)), TOPIC: range(len(key.word_tasks), len(key.tasks))}
    answered = {kind: places for kind, places in kinds.items() if (choices[:, places] >= 0).any()}
    return IntrusionScores(
        overall=pd.DataFrame([{"task": kind, **table.overall(places)} for kind, places in answered.items()]),
        topics=pd.DataFrame([row for kind, places in answered.items() for row in table.by_topic(kind, places)]),
        coders=pd.DataFrame(
            {
                "coder": [each.coder for each in coders],
                "answers": (choices >= 0).sum(axis=1),
                "accuracy": right.sum(axis=1) / (choices >= 0).sum(axis=1),
            }
        ),
        notes=notes,
        interval=float(interval),
    )


def _coders(key: IntrusionKey, given: Sequence[IntrusionAnswers]) -> tuple[list[IntrusionAnswers], tuple[str, ...]]:
    """Return the answers of each coder, once, and notes; an error if they do not belong to the tasks."""
    kept: dict[str, IntrusionAnswers] = {}
    notes = []
    for each in given:
        _check_fit(key, each)
        n_missing = each.choices.count(None)
        before = kept.get(each.coder.casefold())
        if before is not None and before.choices != each.choices:
            raise InputError(
                f"{each.name}: the coder {each.coder!r} has other answers in {before.name}: leave out one of the files"
            )
        if before is not None:
            notes.append(f"{each.name}: the same coder and answers as in {before.name}; counted once")
        elif n_missing == len(each.choices):
            notes.append(f"{each.name}: the coder {each.coder!r} has no answers; not counted")
        else:
            kept[each.coder.casefold()] = each
            if n_missing:
                notes.append(f"{each.name}: {n_missing:,} of {len(each.choices):,} tasks have no answer")
    if not kept:
        raise InputError("no answers: the files are of coders who have not answered any task")
    return list(kept.values()), tuple(notes)


def _check_fit(key: IntrusionKey, answers: IntrusionAnswers) -> None:
    """Raise an error for answers to other tasks, or to options that do not exist."""
    if answers.tasks != key.id:
        raise InputError(
            f"{answers.name}: the answers belong to another page (its id is {answers.tasks[:40]!r}, that of the key "
            f"{key.id!r}): give the key that was written with the page"
        )
    if len(answers.choices) != len(key.tasks):
        raise InputError(
            f"{answers.name}: damaged: {len(answers.choices):,} answers, but there are {len(key.tasks):,} tasks"
        )
    for number, (choice, task) in enumerate(zip(answers.choices, key.tasks, strict=True), start=1):
        if choice is not None and not 0 <= choice < len(task.options):
            raise InputError(f"{answers.name}: damaged: task {number} has no option {choice!r:.30}")


@dataclass(frozen=True)
class _Table:
    """Rows of scores."""

    tasks: Sequence[Task]
    choices: NDArray[np.int64]  # [coder, task]; -1 without an answer
    right: NDArray[np.bool_]
    interval: float

    def overall(self, places: Sequence[int]) -> dict[str, object]:
        """Return the scores of tasks of one kind."""
        ratings = np.where(self.choices < 0, np.nan, self.choices)[:, places]
        return {**self._row(places), "alpha": krippendorff_alpha(ratings)}

    def by_topic(self, kind: str, places: Iterable[int]) -> Iterator[dict[str, object]]:
        """Yield the scores of each topic, in the order of their numbers."""
        by_topic: dict[int, list[int]] = {}
        for i in places:
            if (self.choices[:, i] >= 0).any():
                by_topic.setdefault(self.tasks[i].topic, []).append(i)
        for topic, own in sorted(by_topic.items()):
            yield {"task": kind, "topic": topic, **self._row(own), "words": _words(self.tasks[own[0]])}

    def _row(self, places: Sequence[int]) -> dict[str, object]:
        answered = [self.choices[:, i] >= 0 for i in places]
        right = [self.right[own, i] for own, i in zip(answered, places, strict=True) if own.any()]
        share = float(np.concatenate(right).mean())
        low, high = wilson_interval(share, effective_answers(right), self.interval)
        return {
            "tasks": len(places),
            "coders": int((self.choices[:, places] >= 0).any(axis=1).sum()),
            "answers": sum(map(len, right)),
            "chance": float(np.mean([1 / len(self.tasks[i].options) for i in places])),
            "accuracy": share,
            "low": low,
            "high": high,
            "model_precision": float(np.mean([each.mean() for each in right])),
            "log_odds": self._log_odds(places),
        }

    def _log_odds(self, places: Sequence[int]) -> float:
        """Return the mean of the topic log odds over documents; NaN for word intrusion, which has none."""
        means = []
        for i in places:
            task, chosen = self.tasks[i], self.choices[:, i][self.choices[:, i] >= 0]
            if isinstance(task, TopicTask) and len(chosen):
                logs = np.log(np.maximum(task.proportions, _LEAST))
                means.append(float((logs[task.intruder] - logs[chosen]).mean()))
        return float(np.mean(means)) if means else float("nan")


def _words(task: Task) -> list[str]:
    """Return the words of the topic of a task, without the intruder."""
    if isinstance(task, TopicTask):
        return list(task.options[task.topics.index(task.topic)])
    return [word for i, word in enumerate(task.options) if i != task.intruder]
