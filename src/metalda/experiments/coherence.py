"""Table V: NPMI of a topic's ten top words, in windows of ten words of a corpus of reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metalda.datasets.catalog import find_compressed
from metalda.evaluation.coherence import score_topics
from metalda.evaluation.windows import count_windows
from metalda.experiments import perplexity
from metalda.experiments.cells import Key, as_markdown, gather
from metalda.experiments.paper import BY_LABEL, COHERENCE_TOPICS, MODELS, figures
from metalda.experiments.plans import Experiment, Plan, Table
from metalda.experiments.plots import draw_bars
from metalda.experiments.runs import RunStore
from metalda.experiments.training import Training

REFERENCE = "wikipedia-sample.tsv"
WINDOW = 10  # words
BEST = 20  # topics


@dataclass(frozen=True)
class Scoring:
    """The coherence of what a training run learnt."""

    dataset: str
    model: str
    topics: int | None
    seed: int
    sweeps: int
    reference: str = REFERENCE

    @classmethod
    def of(cls, job: Training) -> Scoring:
        return cls(job.dataset, job.model, job.topics, job.seed, job.sweeps)

    @property
    def name(self) -> str:
        """For a file."""
        return f"coherence/{self.dataset}-{self.model}-k{self.topics}-{self.sweeps}-seed{self.seed}"

    @property
    def key(self) -> Key:
        """The cell that it belongs to."""
        return Key(self.dataset, self.model, self.topics)


def list_jobs(plan: Plan) -> Iterator[Training]:
    """Training: the same runs as for perplexity."""
    return perplexity.list_jobs(plan.with_topics((COHERENCE_TOPICS,)))


def score_runs(plan: Plan, store: RunStore) -> None:
    """Score the topics of all runs that have no score yet, in one pass over the reference."""
    runs = {Scoring.of(job): result for job, result in store.all(Training) if _belongs(job.key, plan)}
    topics = {
        scoring: [words.split() for words in result["words"]]
        for scoring, result in runs.items()
        if store.find(scoring) is None
    }
    if not topics:
        return
    words = {word for each in topics.values() for topic in each for word in topic}
    path = find_compressed("wikipedia", plan.data, REFERENCE)
    counts = count_windows(sorted(words), path, window=WINDOW, text=3, progress=True)
    for scoring, own in topics.items():
        scores = score_topics(own, counts, "npmi")
        missing = {"words_missing": int(scores.n_missing.sum()), "pairs_apart": int(scores.n_apart.sum())}
        store.keep(scoring, {"all": scores.mean, "best": scores.best(BEST), **missing})


def tabulate(plan: Plan, store: RunStore) -> Table:
    found = [(job, result) for job, result in store.all(Scoring) if _belongs(job.key, plan)]
    every = gather(found, lambda result: result["all"], figures("coherence"), lower_is_better=False)
    best = gather(found, lambda result: result["best"], figures("coherence of the best"), lower_is_better=False)
    parts = {"All topics": every, f"The best {BEST} topics": best}
    text = "".join(f"## {title}\n\n{as_markdown(cells, '.4f')}\n" for title, cells in parts.items())
    return Table(text, every, draw_bars("NPMI"))


def _belongs(key: Key, plan: Plan) -> bool:
    return plan.includes(key) and key.share is None and key.topics in (plan.topics or (COHERENCE_TOPICS,))


TABLE_OF_COHERENCE = Experiment(
    "coherence",
    "Topic coherence (Table V)",
    ("ws", "tmn"),
    tuple(model for model in MODELS if model not in BY_LABEL),
    list_jobs,
    tabulate,
    finish=score_runs,
)
