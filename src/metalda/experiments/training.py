"""A model of the paper, trained on one of its corpora and judged on the documents held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metalda.corpus import Corpus
from metalda.evaluation.candidates import find_candidates
from metalda.evaluation.runs import fit_whole
from metalda.experiments.cells import Key
from metalda.experiments.materials import load_material
from metalda.experiments.paper import MODELS
from metalda.models.base import TopicModel
from metalda.models.registry import find_model, parameters_of
from metalda.models.saving import fingerprint_corpus

TOP_WORDS = 10  # of a topic, for its coherence


@dataclass(frozen=True)
class Training:
    """What is trained on what. Two runs of one job have the same result, but for the seconds."""

    dataset: str
    model: str  # as the paper calls it
    topics: int | None  # of PLLDA for each label; none of LLDA
    seed: int
    sweeps: int
    share: float | None = None  # of the documents, to train on; by default as in the paper's tables

    @property
    def name(self) -> str:
        """For a file."""
        topics = "" if self.topics is None else f"-k{self.topics}"
        share = "" if self.share is None else f"-train{100 * self.share:.0f}"
        return f"{self.dataset}/{self.model}{topics}{share}-{self.sweeps}-seed{self.seed}"

    @property
    def key(self) -> Key:
        """The cell that it belongs to."""
        return Key(self.dataset, self.model, self.topics, self.share)

    def make_model(self, for_words: Mapping[str, Any], **others: Any) -> TopicModel:
        """The model with the paper's settings, not yet fitted; those of the others that it has take their place."""
        settings = {"n_components": self.topics, "topics_per_label": self.topics, "n_iter": self.sweeps}
        settings |= {
            "initial_iterations": self.sweeps * 3 // 4,
            "random_state": self.seed,
            "verbose": False,
            **for_words,
            **others,
        }
        name = MODELS[self.model].ours
        known = parameters_of(find_model(name.partition(":")[0]))
        return find_candidates(name, {each: settings[each] for each in settings if each in known})[0].model

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, Any]:
        """Train and judge."""
        material = load_material(self.dataset, data)
        train, test = material.split(self.seed, self.share)
        model = self.make_model(material.for_words)
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        fit_whole(model, train, checkpoint, every=100)
        return {"corpus": fingerprint_corpus(material.corpus), **_judge(model, self, train, test)}


def _judge(model: TopicModel, job: Training, train: Corpus, test: Corpus) -> dict[str, Any]:
    result: dict[str, Any] = {
        "documents": [len(train), len(test)],
        "topics": len(model.components_),
        "perplexity": _perplexity(model, test),
        "seconds_per_sweep": float(np.mean(model.history_["seconds"])),
    }
    if MODELS[job.model].labels:
        result["labels_hidden"] = _perplexity(model, test.without_labels())
    if job.share is not None:
        result["unseen_share"] = len(set(test.vocabulary) - set(train.vocabulary)) / len(test.vocabulary)
        result["with_unseen"] = _perplexity(model, test, unseen="features")
    else:
        result["words"] = [" ".join(words) for words in model.top_words(TOP_WORDS)]
    return result


def _perplexity(model: TopicModel, test: Corpus, **how: Any) -> dict[str, float]:
    """Of the last state, as in the paper, and of averaged draws."""
    return {draws: model.perplexity(test, draws=draws, **how) for draws in ("last", "mean")}
