"""Tables II to IV: perplexity of held-out documents, unseen words ignored."""

from __future__ import annotations

from collections.abc import Iterator

from metalda.experiments.cells import as_markdown, gather
from metalda.experiments.paper import MODELS, VARIANTS, figures, topics_of
from metalda.experiments.plans import Experiment, Plan, Table
from metalda.experiments.plots import draw_by_topics
from metalda.experiments.runs import RunStore
from metalda.experiments.training import Training


def list_jobs(plan: Plan) -> Iterator[Training]:
    """All models with the first seed come first."""
    for dataset in plan.datasets:
        for seed in plan.seeds:
            for model in plan.models:
                for topics in topics_of(model, dataset, plan.topics):
                    yield Training(dataset, model, topics, seed, plan.sweeps)


def tabulate(plan: Plan, store: RunStore) -> Table:
    """The last state beside the paper; averaged draws and hidden labels, which it did not have, for themselves."""
    found = [(job, result) for job, result in store.all(Training) if plan.includes(job.key) and job.share is None]
    last = gather(found, lambda result: result["perplexity"]["last"], figures("perplexity"))
    mean = gather(found, lambda result: result["perplexity"]["mean"], {})
    hidden = gather(found, lambda result: result.get("labels_hidden", {}).get("last"), {})
    parts = {
        "The last state, as in the paper (the paper's figure: difference, verdict)": last,
        "Averaged over draws": mean,
        "The last state, with the labels of the test documents hidden": hidden,
    }
    text = "".join(f"## {title}\n\n{as_markdown(cells, ',.0f')}\n" for title, cells in parts.items() if cells)
    return Table(text, last, draw_by_topics("perplexity"))


TABLES_OF_PERPLEXITY = Experiment(
    "perplexity", "Perplexity (Tables III and IV)", ("ws",), tuple(MODELS), list_jobs, tabulate
)
TABLE_OF_VARIANTS = Experiment(
    "variants", "Variants of MetaLDA (Table II)", ("ws",), ("LDA", *VARIANTS), list_jobs, tabulate
)
