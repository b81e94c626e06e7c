"""Table VI: seconds per sweep, one thread, one model at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metalda.experiments.cells import Key, as_markdown, gather
from metalda.experiments.materials import load_material
from metalda.experiments.paper import MODELS, Figure, figures, topics_of
from metalda.experiments.plans import Experiment, Plan, Table
from metalda.experiments.plots import draw_by_topics
from metalda.experiments.runs import RunStore
from metalda.experiments.training import Training

WARM, TIMED = 100, 50  # sweeps: a chain grows faster as its topics become clear


@dataclass(frozen=True)
class Timing:
    """A chain on the training documents, timed once it is warm."""

    dataset: str
    model: str  # as the paper calls it
    topics: int | None
    timed_sweeps: int = TIMED

    @property
    def name(self) -> str:
        topics = "" if self.topics is None else f"-k{self.topics}"
        return f"speed/{self.dataset}-{self.model}{topics}"

    @property
    def key(self) -> Key:
        return Key(self.dataset, self.model, self.topics)

    @property
    def sweeps(self) -> None:
        """All are timed alike."""
        return None

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, Any]:
        """The mean over sweeps: regressions and topic vectors are learnt in some only."""
        material = load_material(self.dataset, data)
        train, _ = material.split(seed=0, share=None)
        training = Training(self.dataset, self.model, self.topics, seed=0, sweeps=WARM + self.timed_sweeps)
        # LF-LDA's vectors are learnt after its initial sweeps, which are no more than a start.
        model = training.make_model(material.for_words, initial_iterations=WARM).fit(train)
        seconds = np.asarray(model.history_["seconds"][WARM:])
        return {"seconds": float(seconds.mean()), "median": float(np.median(seconds)), "tokens": train.n_tokens}


def list_jobs(plan: Plan) -> Iterator[Timing]:
    for dataset in plan.datasets:
        for model in plan.models:
            for topics in topics_of(model, dataset, plan.topics):
                yield Timing(dataset, model, topics)


def tabulate(plan: Plan, store: RunStore) -> Table:
    found = [(job, result) for job, result in store.all(Timing) if plan.includes(job.key)]
    paper = {key: Figure(1000 * figure.mean, None) for key, figure in figures("speed").items()}
    cells = gather(found, lambda result: 1000 * result["seconds"], paper)
    text = f"Milliseconds per sweep, the mean of {TIMED} sweeps after {WARM}.\n\n{as_markdown(cells, ',.1f')}"
    return Table(text, cells, draw_by_topics("milliseconds per sweep", log=True))


TABLE_OF_SPEED = Experiment(
    "speed", "Time per sweep (Table VI)", ("ws", "reuters"), tuple(MODELS), list_jobs, tabulate, shared=False
)
