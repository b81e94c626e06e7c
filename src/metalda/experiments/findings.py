"""The conclusions of the paper, checked against our runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from metalda.evaluation.runs import RunStore
from metalda.experiments.paper import BY_LABEL, COHERENCE_TOPICS
from metalda.experiments.registry import EXPERIMENTS, SHARES
from metalda.experiments.tables import PaperCell, Plan
from metalda.experiments.training import Key, TrainingRun
from metalda.utils.checks import JsonObject

OURS = "MetaLDA"
SHORT, REGULAR = ("ws", "tmn", "an"), ("reuters", "20ng", "nyt")
WITH_AND_WITHOUT_FEATURES = (
    ("MetaLDA-0.1-wf", "LDA"),
    ("WF-LDA", "LDA"),
    ("MetaLDA-def-wf", "MetaLDA-def-def"),
    ("MetaLDA", "MetaLDA-dl-def"),
)


class Check(NamedTuple):
    """One comparison behind a finding."""

    holds: bool
    text: str


Cells = Mapping[Key, PaperCell]


@dataclass(frozen=True)
class Evidence:
    """The cells of all tables."""

    perplexity: Cells
    n_topics: Mapping[Key, int]  # in total, if the topics of the key are per label
    unseen: Cells
    coherence: Cells
    speed: Cells


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, and all comparisons that our runs allow."""

    statement: str
    checks: tuple[Check, ...]

    @property
    def exceptions(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)

    @property
    def verdict(self) -> str:
        """Return "true" only if all comparisons agree."""
        if not self.checks:
            return "not run"
        if not self.exceptions:
            return "true"
        return f"false in {len(self.exceptions)} of {len(self.checks)} comparisons"

    def to_plain(self) -> JsonObject:
        """Return the finding as plain data."""
        checks = [check._asdict() for check in self.checks]
        return {"statement": self.statement, "verdict": self.verdict, "checks": checks}


def find_out(plan: Plan, store: RunStore) -> list[Finding]:
    """Check all findings against the stored runs."""

    def cells(experiment: str) -> Cells:
        return {cell.key: cell for cell in EXPERIMENTS[experiment].table(plan, store).cells}

    evidence = Evidence(
        cells("perplexity"),
        {job.key: result["topics"] for job, result in store.all(TrainingRun)},
        cells("unseen"),
        cells("coherence"),
        cells("speed"),
    )
    return [Finding(statement, tuple(check(evidence))) for statement, check in _FINDINGS.items()]


def as_markdown(findings: list[Finding]) -> str:
    """Format the verdicts, then the exceptions to each."""
    lines = ["| finding | verdict | comparisons |", "|---|---|---|"]
    lines += [f"| {each.statement} | {each.verdict} | {len(each.checks)} |" for each in findings]
    for each in findings:
        if each.exceptions:
            lines += ["", f"Against “{each.statement}”:", "", *(f"- {check.text}" for check in each.exceptions)]
    return "\n".join(lines) + "\n"


def _best_or_tied(evidence: Evidence) -> Iterator[Check]:
    """Compare MetaLDA with each model; PLLDA with the MetaLDA that has as many topics, or the nearest with fewer."""
    cells = evidence.perplexity
    for key, other in cells.items():
        if key.model == OURS:
            continue
        n_topics = evidence.n_topics[key] if key.model in BY_LABEL else key.topics
        topics = [k.topics for k in cells if k[:2] == (key.dataset, OURS) and k.topics and k.topics <= (n_topics or 0)]
        if topics and (key.model in BY_LABEL or max(topics) == n_topics):
            yield _lower(cells[Key(key.dataset, OURS, max(topics))], other, tied=True)


def _features_help(evidence: Evidence) -> Iterator[Check]:
    for key, cell in evidence.perplexity.items():
        for model, without in WITH_AND_WITHOUT_FEATURES:
            other = evidence.perplexity.get(key._replace(model=without))
            if key.model == model and other is not None:
                yield _lower(cell, other)


def _short_texts_gain_more(evidence: Evidence) -> Iterator[Check]:
    gains = {}
    for dataset in SHORT + REGULAR:
        ours, plain = (evidence.perplexity.get(Key(dataset, model, COHERENCE_TOPICS)) for model in (OURS, "LDA"))
        if ours is not None and plain is not None:
            gains[dataset] = 1 - ours.mean / plain.mean
    for short, regular in product(SHORT, REGULAR):
        if short in gains and regular in gains:
            text = f"{short}: {gains[short]:.1%} below LDA; {regular}: {gains[regular]:.1%}"
            yield Check(gains[short] > gains[regular], text)


def _gap_grows(evidence: Evidence) -> Iterator[Check]:
    cells = evidence.unseen
    for key in cells:
        if key.model == OURS or key.share != SHARES[0]:
            continue
        ratios = []
        for share in (SHARES[0], SHARES[-1]):
            ours, other = (cells.get(key._replace(model=model, share=share)) for model in (OURS, key.model))
            ratios += [other.mean / ours.mean] if ours is not None and other is not None else []
        if len(ratios) == 2:
            text = f"{key.dataset}: {key.model} over MetaLDA {ratios[0]:.3f} with {SHARES[0]:.0%} of the documents"
            yield Check(ratios[0] > ratios[1], f"{text}, {ratios[1]:.3f} with {SHARES[-1]:.0%}")


def _most_coherent(evidence: Evidence) -> Iterator[Check]:
    ours = evidence.coherence.get(Key("ws", OURS, COHERENCE_TOPICS))
    for key, other in evidence.coherence.items():
        if ours is not None and key.model != OURS and (key.dataset, key.topics) == (ours.key.dataset, ours.key.topics):
            text = f"ws, {key.topics} topics: MetaLDA {ours.mean:.4f}, {key.model} {other.mean:.4f}"
            yield Check(ours.mean > other.mean, text)


def _faster_than_other_features(evidence: Evidence) -> Iterator[Check]:
    for key, other in evidence.speed.items():
        ours = evidence.speed.get(key._replace(model=OURS))
        if ours is not None and key.model in ("WF-LDA", "LF-LDA"):
            yield _lower(ours, other, "ms", ".1f")


def _faster_than_the_paper(evidence: Evidence) -> Iterator[Check]:
    for key, cell in evidence.speed.items():
        if cell.paper is not None:
            what = f"{key.dataset}, {key.topics} topics, {key.model}"
            yield Check(cell.mean < cell.paper.mean, f"{what}: {cell.mean:.1f} ms, in the paper {cell.paper.mean:.1f}")


def _lower(cell: PaperCell, other: PaperCell, unit: str = "", form: str = ",.0f", *, tied: bool = False) -> Check:
    """Check that a cell is below another or, if `tied`, at most the sum of both standard deviations above it."""
    room = (cell.deviation or 0) + (other.deviation or 0) if tied else 0
    names = [f"{_name(each.key)} {each.mean:{form}} {unit}".strip() for each in (cell, other)]
    return Check(cell.mean <= other.mean + room, f"{cell.key.dataset}: {names[0]}, {names[1]}")


def _name(key: Key) -> str:
    if key.model not in BY_LABEL:
        return f"{key.model} with {key.topics:,} topics"
    return key.model if key.topics is None else f"{key.model} with {key.topics} topics per label"


_FINDINGS: Mapping[str, Callable[[Evidence], Iterator[Check]]] = {
    "MetaLDA is best or tied on every corpus, at an equal number of topics": _best_or_tied,
    "Word features help models that are like LDA": _features_help,
    "The gain over LDA is larger on short texts": _short_texts_gain_more,
    "The gap grows as there are fewer documents to train on": _gap_grows,
    "MetaLDA's topics are the most coherent on Web Snippets": _most_coherent,
    "MetaLDA's iterations are faster than WF-LDA's and LF-LDA's": _faster_than_other_features,
    "Every model is faster than in the paper": _faster_than_the_paper,
}
