"""One run of a comparison: a model, fitted on a part and judged on the other; and the folder that keeps its result."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from metalda.corpus import Corpus, NamedMatrix
from metalda.errors import InputError, StorageError
from metalda.evaluation.coherence import coherence_in_documents
from metalda.evaluation.diversity import exclusivity, topic_diversity
from metalda.evaluation.prediction import label_accuracy
from metalda.meta import Embeddings, as_word_features
from metalda.models.base import TopicModel
from metalda.models.saving import fingerprint, fingerprint_corpus
from metalda.models.transform import every_second
from metalda.storage import check_writable, read_document, write_document
from metalda.storage.manifest import package_version

MEASURES = ("perplexity", "coherence", "diversity", "exclusivity", "label_score", "seconds_per_sweep")
_MOST_LABELS = 500  # for which a classifier is trained
_KEPT_WORDS = 10  # of each topic: by them the topics of runs are compared
_VERSION = 2  # of the measures: to be raised when one of them is computed in another way
_WITHOUT_EFFECT = ("vocabulary", "verbose")


@dataclass(frozen=True)
class Split:
    """Documents to learn from and documents to judge by, with a fingerprint each."""

    train: Corpus
    test: Corpus
    prints: tuple[str, str]

    @classmethod
    def of(cls, train: Corpus, test: Corpus) -> Split:
        """Checked, so that nothing is trained in vain."""
        words = test.words[every_second(test.offsets)]
        if {test.vocabulary[v] for v in np.unique(words)}.isdisjoint(train.vocabulary):
            raise InputError("no words to score: no test document has a second word that the training documents have")
        return cls(train, test, (fingerprint_corpus(train), fingerprint_corpus(test)))


@dataclass(frozen=True)
class Judging:
    """How perplexity is computed, as in `TopicModel.perplexity`."""

    draws: str = "mean"
    unseen: str = "ignore"

    def __post_init__(self) -> None:
        for name, choices in (("draws", ("mean", "last", "each")), ("unseen", ("ignore", "features"))):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")


def identify_run(model: TopicModel, split: Split, judging: Judging) -> dict[str, Any]:
    """Plain data that is equal for two runs only if they have the same result, seconds included."""
    parameters = model.get_params(deep=False)
    return {
        "metalda": package_version(),
        "measures": _VERSION,
        "model": type(model).__name__,
        "parameters": {n: _plain(n, value) for n, value in parameters.items() if n not in _WITHOUT_EFFECT},
        "train": split.prints[0],
        "test": split.prints[1],
        "draws": judging.draws,
        "unseen": judging.unseen,
    }


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON can hold it; large ones by their fingerprint."""
    if name == "word_features" and value is not None:
        return fingerprint(*as_word_features(value).to_arrays()[1].values())  # type: ignore[union-attr]
    if isinstance(value, Embeddings):
        return fingerprint(*value.to_arrays()[1].values())
    if isinstance(value, np.ndarray):
        return fingerprint(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 1.0 is the same as 1
    if isinstance(value, str | int | float | None):
        return value
    raise InputError(f"{name}={value!r}: a comparison takes numbers and names as parameters")


def _can_be_told(labels: NamedMatrix | None) -> TypeGuard[NamedMatrix]:
    """Whether a classifier can tell them: numbers are no classes, and thousands of labels take for ever."""
    return labels is not None and labels.is_binary and len(labels.names) <= _MOST_LABELS


def judge(model: TopicModel, split: Split, judging: Judging) -> dict[str, Any]:
    """The measures of a fitted model, None where there is nothing to measure, and the top words of its topics."""
    train, test = split.train, split.test
    score = None
    if _can_be_told(train.labels) and _can_be_told(test.labels):
        # Both without labels: a model that had been told them would only give them back.
        theta, new_theta = (np.asarray(model.transform(part.without_labels())) for part in (train, test))
        score = label_accuracy(theta, train.labels, new_theta, test.labels)
    measures = {
        "perplexity": model.perplexity(test, draws=judging.draws, unseen=judging.unseen),
        "coherence": _coherence(model, train),
        "diversity": topic_diversity(model),
        "exclusivity": exclusivity(model),
        "label_score": float("nan") if score is None else score.value,
        "seconds_per_sweep": float(np.mean(model.history_["seconds"][model.n_iter_ // 2 :])),
    }
    figures = {name: value if np.isfinite(value) else None for name, value in measures.items()}
    return {
        "topics": len(model.components_),
        **figures,
        "label_measure": None if score is None else score.measure,
        "top_words": model.top_words(_KEPT_WORDS),
    }


def _coherence(model: TopicModel, train: Corpus) -> float:
    """NPMI by the training documents, -1 for words that no document has together; NaN if there are no two words."""
    if len(model.vocabulary_) < 2:
        return float("nan")
    return coherence_in_documents(model, train).mean


def run(model: TopicModel, split: Split, judging: Judging, checkpoint: Path | None, every: int) -> dict[str, Any]:
    """Fit and judge. Ctrl-C raises KeyboardInterrupt after the sweep under way, which is in the checkpoint then."""
    fit_whole(model, split.train, checkpoint, every)
    return judge(model, split, judging)


def fit_whole(model: TopicModel, train: Corpus, checkpoint: Path | None, every: int) -> None:
    """All sweeps, from a checkpoint on if there is one; Ctrl-C raises KeyboardInterrupt after the sweep under way."""
    with _ending_quietly():
        model.fit(train, checkpoint=checkpoint, checkpoint_every=every, resume=checkpoint is not None)
    if model.n_iter_ < model.n_iter:
        raise KeyboardInterrupt


@contextmanager
def _ending_quietly() -> Iterator[None]:
    """Without the warning that a model was stopped early and keeps what it learnt: here it does not."""
    logger = logging.getLogger("metalda")

    def is_news(record: logging.LogRecord) -> bool:
        return not (record.module == "loop" and record.levelno == logging.WARNING)

    logger.addFilter(is_news)
    try:
        yield
    finally:
        logger.removeFilter(is_news)


@dataclass(frozen=True)
class RunFolder:
    """Results by what decides them: ``run-<digest>.json``, and ``checkpoint-<digest>`` of a run under way."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A new or empty folder, or one that holds a comparison; nothing else is written to."""
        check_writable(path, "comparison")
        return cls(path)

    def prepare(self, mark: Callable[[Path], None]) -> None:
        """Make the folder; `mark` writes the table into it, by which it is known later, unless there is one."""
        self.path.mkdir(exist_ok=True)
        if not (self.path / "comparison.json").exists():
            mark(self.path)

    def find(self, identity: dict[str, Any]) -> dict[str, Any] | None:
        """The result of this very run, if it is there."""
        file = self._file(identity)
        if not file.exists():
            return None
        try:
            document = read_document(file, "run")
        except StorageError as error:
            raise StorageError(f"{error}; remove the file, and the run will be repeated") from error
        if document.get("identity") != identity or not isinstance(document.get("result"), dict):
            raise StorageError(f"{file}: damaged: not the run of its name; remove it, and the run will be repeated")
        self._drop_checkpoint(identity)
        return document["result"]

    def keep(self, identity: dict[str, Any], result: dict[str, Any]) -> None:
        """Now, for good; the checkpoint has done its duty."""
        write_document(self._file(identity), "run", {"identity": identity, "result": result})
        self._drop_checkpoint(identity)

    def checkpoint(self, identity: dict[str, Any]) -> Path:
        return self.path / f"checkpoint-{_digest(identity)}"

    def _drop_checkpoint(self, identity: dict[str, Any]) -> None:
        shutil.rmtree(self.checkpoint(identity), ignore_errors=True)

    def _file(self, identity: dict[str, Any]) -> Path:
        return self.path / f"run-{_digest(identity)}.json"


def _digest(identity: dict[str, Any]) -> str:
    text = json.dumps(identity, sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()
