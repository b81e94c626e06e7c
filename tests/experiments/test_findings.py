"""A finding is true only if all runs agree."""

from pathlib import Path
from typing import Any

import pytest

from metalda.evaluation.runs import RunStore
from metalda.experiments.findings import Finding, as_markdown, find_out
from metalda.experiments.paper import MODELS
from metalda.experiments.registry import CoherenceRun, TimingRun
from metalda.experiments.tables import Plan
from metalda.experiments.training import DATASETS, TrainingRun

PLAN = Plan(DATASETS, tuple(MODELS), (), (0,), 2000)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def keep(
    store: RunStore, dataset: str, model: str, perplexity: float, topics: int = 100, total: int | None = None
) -> None:
    result = {"perplexity": {"last": perplexity, "mean": perplexity}, "topics": total or topics}
    store.keep(TrainingRun(dataset, model, topics, 0, 2000), result)


def finding(store: RunStore, start: str) -> Finding:
    (found,) = [each for each in find_out(PLAN, store) if each.statement.startswith(start)]
    return found


def test_nothing_is_found_where_nothing_was_run(store: RunStore) -> None:
    assert {each.verdict for each in find_out(PLAN, store)} == {"not run"}


def test_the_best_is_best_at_its_own_number_of_topics(store: RunStore) -> None:
    keep(store, "ws", "MetaLDA", 600)
    keep(store, "ws", "LDA", 590, topics=50)  # nothing to compare it with
    keep(store, "ws", "DMR", 610)
    assert finding(store, "MetaLDA is best").verdict == "true"
    keep(store, "tmn", "MetaLDA", 600)
    keep(store, "tmn", "DMR", 599)
    best = finding(store, "MetaLDA is best")
    assert best.verdict == "false in 1 of 2 comparisons"
    assert [check.text for check in best.exceptions] == ["tmn: MetaLDA with 100 topics 600, DMR with 100 topics 599"]


def test_topics_by_label_are_counted_together(store: RunStore) -> None:
    keep(store, "ws", "MetaLDA", 600)
    keep(store, "ws", "PLLDA", 500, topics=5, total=40)  # fewer than any MetaLDA here
    assert finding(store, "MetaLDA is best").verdict == "not run"
    keep(store, "ws", "PLLDA", 500, topics=20, total=160)
    (exception,) = finding(store, "MetaLDA is best").exceptions
    assert exception.text == "ws: MetaLDA with 100 topics 600, PLLDA with 20 topics per label 500"


def test_ties_count_for_the_best_only(store: RunStore) -> None:
    for seed, (ours, other) in enumerate([(600, 598), (610, 604)]):
        for model, value in (("MetaLDA", ours), ("MetaLDA-dl-def", other)):
            result: dict[str, Any] = {"perplexity": {"last": value, "mean": value}, "topics": 100}
            store.keep(TrainingRun("ws", model, 100, seed, 2000), result)
    assert finding(store, "MetaLDA is best").verdict == "true"
    assert finding(store, "Word features").verdict == "false in 1 of 1 comparisons"


@pytest.mark.parametrize(("gain", "verdict"), [(0.4, "true"), (0.1, "false in 1 of 1 comparisons")])
def test_gains_are_shares_of_ldas_perplexity(store: RunStore, gain: float, verdict: str) -> None:
    for dataset, own in (("ws", gain), ("reuters", 0.2)):
        keep(store, dataset, "LDA", 1000)
        keep(store, dataset, "MetaLDA", 1000 * (1 - own))
    assert finding(store, "The gain over LDA").verdict == verdict


def test_the_gap_is_that_between_the_smallest_and_the_largest_share(store: RunStore) -> None:
    for share, ours, other in ((0.2, 900, 1200), (0.8, 600, 660)):
        for model, value in (("MetaLDA", ours), ("DMR", other)):
            unseen = {"with_unseen": {"last": value}, "unseen_share": 1 - share}
            store.keep(TrainingRun("ws", model, 50, 0, 2000, share), {**unseen, "topics": 50})
    gap = finding(store, "The gap grows")
    assert gap.verdict == "true"
    assert "1.333 with 20%" in gap.checks[0].text
    assert "1.100 with 80%" in gap.checks[0].text


def test_coherence_is_compared_on_web_snippets_alone(store: RunStore) -> None:
    for dataset, model, value in (
        ("ws", "MetaLDA", 0.1),
        ("ws", "LDA", 0.05),
        ("tmn", "MetaLDA", 0.1),
        ("tmn", "LDA", 0.2),
    ):
        store.keep(CoherenceRun(dataset, model, 100, 0, 2000), {"all": value, "best": value})
    assert finding(store, "MetaLDA's topics").verdict == "true"


def test_speed_is_compared_with_others_and_with_the_paper(store: RunStore) -> None:
    for model, seconds in (("MetaLDA", 0.02), ("WF-LDA", 0.03), ("LF-LDA", 0.01)):  # 0.1232, 1.8162 and 2.4920 there
        store.keep(TimingRun("ws", model, 50), {"seconds": seconds})
    faster = finding(store, "MetaLDA's iterations")
    assert [check.text for check in faster.exceptions] == [
        "ws: MetaLDA with 50 topics 20.0 ms, LF-LDA with 50 topics 10.0 ms"
    ]
    assert finding(store, "Every model is faster").verdict == "true"
    store.keep(TimingRun("ws", "LDA", 50), {"seconds": 0.03})  # 0.0219 there
    assert len(finding(store, "Every model is faster").exceptions) == 1


def test_exceptions_are_listed(store: RunStore) -> None:
    keep(store, "ws", "MetaLDA", 600)
    keep(store, "ws", "DMR", 590)
    text = as_markdown(find_out(PLAN, store))
    assert (
        "| MetaLDA is best or tied on every corpus, at an equal number of topics | false in 1 of 1 comparisons | 1 |"
        in text
    )
    assert "- ws: MetaLDA with 100 topics 600, DMR with 100 topics 590" in text
