"""The paper's published results (Tables III to VI), and its models with their settings."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple


class Figure(NamedTuple):
    """A mean over the paper's runs, and their standard deviation if it is published."""

    mean: float
    deviation: float | None


class PaperModel(NamedTuple):
    """A model of the paper: its name there, and its name in `compare`."""

    name: str
    ours: str
    labels: bool = False  # learns from labels
    features: bool = False  # learns from features or vectors of words


# In the order of the paper's tables. GPU-DMM and PTM have no perplexity there: their code could not fold in documents.
MODELS = {
    model.name: model
    for model in (
        PaperModel("LDA", "lda"),
        PaperModel("PTM", "ptm:n_pseudo_documents=1000"),
        PaperModel("MetaLDA-def-def", "metalda:weight_prior=gamma,doc_prior=default,word_prior=default"),
        PaperModel("DMR", "dmr", labels=True),
        PaperModel("MetaLDA-dl-0.01", "metalda:weight_prior=gamma,doc_prior=labels,word_prior=0.01", labels=True),
        PaperModel("MetaLDA-dl-def", "metalda:weight_prior=gamma,doc_prior=labels,word_prior=default", labels=True),
        PaperModel("LLDA", "llda", labels=True),
        PaperModel("PLLDA", "pllda", labels=True),
        PaperModel("LF-LDA", "lflda", features=True),
        PaperModel("WF-LDA", "wflda", features=True),
        PaperModel("GPU-DMM", "gpudmm:word_prior=0.01", features=True),
        PaperModel("MetaLDA-0.1-wf", "metalda:weight_prior=gamma,doc_prior=0.1,word_prior=features", features=True),
        PaperModel("MetaLDA-def-wf", "metalda:weight_prior=gamma,doc_prior=default,word_prior=features", features=True),
        PaperModel("MetaLDA", "metalda:weight_prior=gamma", labels=True, features=True),
    )
}
BY_LABEL = ("LLDA", "PLLDA")  # their topics belong to labels
VARIANTS = tuple(name for name in MODELS if name.startswith("MetaLDA"))
TOPICS = {"nyt": (200, 500), "an": (50, 100)}  # elsewhere 50, 100, 150 and 200
TOPICS_PER_LABEL = {"nyt": (2, 5), "an": (5, 10)}  # elsewhere 5, 10, 20 and 50
UNSEEN = {"reuters": 200, "20ng": 200, "tmn": 100, "ws": 50}  # topics in the figure
UNSEEN_MODELS = ("LDA", "DMR", "WF-LDA", "MetaLDA")
COHERENCE_TOPICS = 100
ITERATIONS = 2000


def topics_of(model: str, dataset: str, chosen: tuple[int, ...] = ()) -> tuple[int | None, ...]:
    """Return the numbers of topics to run a model with: per label for PLLDA; None for LLDA, which has one per label."""
    if model == "LLDA":
        return (None,)
    if model == "PLLDA":
        return TOPICS_PER_LABEL.get(dataset, (5, 10, 20, 50))
    return chosen or TOPICS.get(dataset, (50, 100, 150, 200))


@lru_cache
def figures(table: str) -> dict[tuple[str, str, int | None], Figure]:
    """Return the results in a table by dataset, model and number of topics."""
    found = {}
    with files(__package__).joinpath("paper.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["table"] == table:
                topics = int(row["topics"]) if row["topics"] else None
                deviation = float(row["deviation"]) if row["deviation"] else None
                found[row["dataset"], row["model"], topics] = Figure(float(row["mean"]), deviation)
    return found
