"""The figure: perplexity with unseen words predicted, against the share of documents to train on."""

from __future__ import annotations

from collections.abc import Iterator

from metalda.experiments.cells import gather, grid
from metalda.experiments.paper import UNSEEN, UNSEEN_MODELS
from metalda.experiments.plans import Experiment, Plan, Table
from metalda.experiments.plots import draw_by_share
from metalda.experiments.runs import RunStore
from metalda.experiments.training import Training

SHARES = (0.2, 0.4, 0.6, 0.8)


def list_jobs(plan: Plan) -> Iterator[Training]:
    for dataset in plan.datasets:
        for seed in plan.seeds:
            for share in SHARES:
                for model in plan.models:
                    for topics in plan.topics or (UNSEEN.get(dataset, 100),):
                        yield Training(dataset, model, topics, seed, plan.sweeps, share)


def tabulate(plan: Plan, store: RunStore) -> Table:
    found = [(job, result) for job, result in store.all(Training) if plan.includes(job.key) and job.share is not None]
    cells = gather(found, lambda result: result["with_unseen"]["last"], {})
    unseen = {cell.key[0::3]: cell.mean for cell in gather(found, lambda result: result["unseen_share"], {})}
    lines = []
    for dataset, topics in dict.fromkeys((cell.key.dataset, cell.key.topics) for cell in cells):
        own = [cell for cell in cells if (cell.key.dataset, cell.key.topics) == (dataset, topics)]
        shares = sorted({cell.key.share for cell in own if cell.key.share is not None})
        columns = {share: f"{share:.0%}, {unseen[dataset, share]:.0%} unseen" for share in shares}
        texts = {(cell.key.model, cell.key.share): cell.show(",.0f") for cell in own}
        lines += [*grid(f"{dataset}, {topics} topics, trained on", columns, texts), ""]
    return Table("\n".join(lines), cells, draw_by_share(unseen))


FIGURE_OF_UNSEEN_WORDS = Experiment(
    "unseen", "Perplexity with unseen words (the figure)", ("ws", "tmn"), UNSEEN_MODELS, list_jobs, tabulate
)
