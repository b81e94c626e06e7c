"""The experiments of the paper: the runs of each, and the function that makes a table from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metalda.datasets.catalog import find_compressed
from metalda.errors import warn
from metalda.evaluation.coherence import score_topics
from metalda.evaluation.runs import RunStore
from metalda.evaluation.windows import count_windows
from metalda.experiments.paper import (
    BY_LABEL,
    COHERENCE_TOPICS,
    MODELS,
    UNSEEN,
    UNSEEN_MODELS,
    VARIANTS,
    Figure,
    figures,
    topics_of,
)
from metalda.experiments.plots import draw_bars, draw_by_share, draw_by_topics
from metalda.experiments.tables import Experiment, PaperTable, Plan, as_markdown, gather, grid
from metalda.experiments.training import Key, PaperRun, TrainingRun, load_material
from metalda.utils.checks import JsonObject

SHARES = (0.2, 0.4, 0.6, 0.8)  # of the documents to train on
REFERENCE = "wikipedia-sample.tsv"
WINDOW = 10  # words
BEST = 20  # topics
WARM, TIMED = 100, 50  # iterations; early ones are slower, because words have more topics


def _list_training(plan: Plan) -> Iterator[TrainingRun]:
    """Yield the runs of the perplexity tables; all models with the first seed come first."""
    for dataset in plan.datasets:
        for seed in plan.seeds:
            for model in plan.models:
                for topics in topics_of(model, dataset, plan.topics):
                    yield TrainingRun(dataset, model, topics, seed, plan.iterations)


def _find_training(plan: Plan, store: RunStore, *, by_share: bool) -> list[tuple[TrainingRun, JsonObject]]:
    """Return the training runs of a table; a warning names a dataset whose runs have different corpora."""
    found = [
        (job, result)
        for job, result in store.all(TrainingRun)
        if plan.includes(job.key) and (job.share is not None) == by_share
    ]
    for dataset in dict.fromkeys(job.dataset for job, _ in found):
        corpora = Counter(result.get("corpus") for job, result in found if job.dataset == dataset)
        if len(corpora) > 1:
            numbers = " and ".join(map(str, corpora.values()))
            warn(
                f"the runs on {dataset} in {store.folder} have {len(corpora)} different corpora ({numbers} runs), such "
                "as from two preprocessings: means over them say nothing. Delete the older lines of "
                f"{dataset}.jsonl, or use another folder (-o)"
            )
    return found


def _tabulate_perplexity(plan: Plan, store: RunStore) -> PaperTable:
    """Make Tables II to IV: perplexity of held-out documents, without out-of-vocabulary words."""
    found = _find_training(plan, store, by_share=False)
    last = gather(found, lambda result: result["perplexity"]["last"], figures("perplexity"))
    mean = gather(found, lambda result: result["perplexity"]["mean"], {})
    hidden = gather(found, lambda result: result.get("labels_hidden", {}).get("last"), {})
    parts = {
        "The last state, as in the paper (the paper's figure: difference, verdict)": last,
        "Averaged over draws": mean,
        "The last state, with the labels of the test documents hidden": hidden,
    }
    text = "".join(f"## {title}\n\n{as_markdown(cells, ',.0f')}\n" for title, cells in parts.items() if cells)
    return PaperTable(text, last, draw_by_topics("perplexity"))


def _list_by_share(plan: Plan) -> Iterator[TrainingRun]:
    """Yield the runs of the figure."""
    for dataset in plan.datasets:
        for seed in plan.seeds:
            for share in SHARES:
                for model in plan.models:
                    for topics in plan.topics or (UNSEEN.get(dataset, 100),):
                        yield TrainingRun(dataset, model, topics, seed, plan.iterations, share)


def _tabulate_unseen(plan: Plan, store: RunStore) -> PaperTable:
    """Make the figure: perplexity with out-of-vocabulary words predicted, by the share of training documents."""
    found = _find_training(plan, store, by_share=True)
    cells = gather(found, lambda result: result["with_unseen"]["last"], {})
    unseen = {cell.key[0::3]: cell.mean for cell in gather(found, lambda result: result["unseen_share"], {})}
    lines = []
    for dataset, topics in dict.fromkeys((cell.key.dataset, cell.key.topics) for cell in cells):
        own = [cell for cell in cells if (cell.key.dataset, cell.key.topics) == (dataset, topics)]
        shares = sorted({cell.key.share for cell in own if cell.key.share is not None})
        columns: dict[float | None, str] = {
            share: f"{share:.0%}, {unseen[dataset, share]:.0%} unseen" for share in shares
        }
        texts = {(cell.key.model, cell.key.share): cell.show(",.0f") for cell in own}
        lines += [*grid(f"{dataset}, {topics} topics, trained on", columns, texts), ""]
    return PaperTable("\n".join(lines), cells, draw_by_share(unseen))


@dataclass(frozen=True)
class CoherenceRun(PaperRun):
    """The coherence of the topics of a training run."""

    seed: int
    iterations: int
    reference: str = REFERENCE

    @classmethod
    def of(cls, job: TrainingRun) -> CoherenceRun:
        """Return the run that scores the topics of a training run."""
        return cls(job.dataset, job.model, job.topics, job.seed, job.iterations)


def _list_for_coherence(plan: Plan) -> Iterator[TrainingRun]:
    """Yield the training runs, which are those of the perplexity tables."""
    return _list_training(plan.with_topics((COHERENCE_TOPICS,)))


def _score_runs(plan: Plan, store: RunStore) -> None:
    """Score the topics of all training runs without a score, in one pass over the reference."""
    runs = {CoherenceRun.of(job): result for job, result in store.all(TrainingRun) if _belongs(job.key, plan)}
    topics = {
        scoring: [words.split() for words in result["words"]]
        for scoring, result in runs.items()
        if store.find(scoring) is None
    }
    if not topics:
        return
    words = {word for each in topics.values() for topic in each for word in topic}
    path = find_compressed("wikipedia", plan.data, REFERENCE)
    counts = count_windows(sorted(words), path, window=WINDOW, text=3, verbose=True)
    for scoring, own in topics.items():
        scores = score_topics(own, counts, "npmi")
        missing = {"words_missing": int(scores.n_missing.sum()), "pairs_apart": int(scores.n_apart.sum())}
        store.keep(scoring, {"all": scores.mean, "best": scores.best(BEST), **missing})


def _tabulate_coherence(plan: Plan, store: RunStore) -> PaperTable:
    """Make Table V: NPMI of a topic's ten top words, in windows of ten words of a reference corpus."""
    found = [(job, result) for job, result in store.all(CoherenceRun) if _belongs(job.key, plan)]
    every = gather(found, lambda result: result["all"], figures("coherence"), lower_is_better=False)
    best = gather(found, lambda result: result["best"], figures("coherence of the best"), lower_is_better=False)
    parts = {"All topics": every, f"The best {BEST} topics": best}
    text = "".join(f"## {title}\n\n{as_markdown(cells, '.4f')}\n" for title, cells in parts.items())
    return PaperTable(text, every, draw_bars("NPMI"))


def _belongs(key: Key, plan: Plan) -> bool:
    return plan.includes(key) and key.share is None and key.topics in (plan.topics or (COHERENCE_TOPICS,))


@dataclass(frozen=True)
class TimingRun(PaperRun):
    """A chain on the training documents, timed after a warm-up."""

    timed_iterations: int = TIMED

    @property
    def iterations(self) -> None:
        """Return None, because all runs are timed with the same numbers of iterations."""
        return None

    def run(self, checkpoint: Path, data: Path | None) -> dict[str, object]:
        """Time the mean over iterations: regressions and topic vectors are learned in some of them only."""
        material = load_material(self.dataset, data)
        train, _ = material.split(seed=0, share=None)
        training = TrainingRun(self.dataset, self.model, self.topics, seed=0, iterations=WARM + self.timed_iterations)
        # LF-LDA learns vectors after its initial iterations, so only these belong to the warm-up.
        model = training.make_model(material.for_words, initial_iterations=WARM).fit(train)
        seconds = np.asarray(model.history_["seconds"][WARM:])
        return {"seconds": float(seconds.mean()), "median": float(np.median(seconds)), "tokens": train.n_tokens}


def _list_timings(plan: Plan) -> Iterator[TimingRun]:
    """Yield the runs of the table of speed."""
    for dataset in plan.datasets:
        for model in plan.models:
            for topics in topics_of(model, dataset, plan.topics):
                yield TimingRun(dataset, model, topics)


def _tabulate_speed(plan: Plan, store: RunStore) -> PaperTable:
    """Make Table VI: time per iteration, one thread, one model at a time."""
    found = [(job, result) for job, result in store.all(TimingRun) if plan.includes(job.key)]
    paper = {key: Figure(1000 * figure.mean, None) for key, figure in figures("speed").items()}
    cells = gather(found, lambda result: 1000 * result["seconds"], paper)
    text = f"Milliseconds per iteration, the mean of {TIMED} iterations after {WARM}.\n\n{as_markdown(cells, ',.1f')}"
    return PaperTable(text, cells, draw_by_topics("milliseconds per iteration", log=True))


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "variants",
            "Variants of MetaLDA (Table II)",
            ("ws",),
            ("LDA", *VARIANTS),
            _list_training,
            _tabulate_perplexity,
        ),
        Experiment(
            "perplexity",
            "Perplexity (Tables III and IV)",
            ("ws",),
            tuple(MODELS),
            _list_training,
            _tabulate_perplexity,
        ),
        Experiment(
            "unseen",
            "Perplexity with out-of-vocabulary words (the figure)",
            ("ws", "tmn"),
            UNSEEN_MODELS,
            _list_by_share,
            _tabulate_unseen,
        ),
        Experiment(
            "coherence",
            "Topic coherence (Table V)",
            ("ws", "tmn"),
            tuple(model for model in MODELS if model not in BY_LABEL),
            _list_for_coherence,
            _tabulate_coherence,
            finish=_score_runs,
        ),
        Experiment(
            "speed",
            "Time per iteration (Table VI)",
            ("ws", "reuters"),
            tuple(MODELS),
            _list_timings,
            _tabulate_speed,
            shared=False,
        ),
    )
}
