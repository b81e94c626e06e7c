"""The tables of the experiments from stored runs."""

import warnings
from pathlib import Path

import pytest

from metalda.evaluation.runs import RunStore
from metalda.experiments.registry import EXPERIMENTS
from metalda.experiments.tables import Plan
from metalda.experiments.training import TrainingRun

PERPLEXITY = EXPERIMENTS["perplexity"]


def _store(folder: Path, corpora: list[str]) -> RunStore:
    store = RunStore(folder)
    for seed, corpus in enumerate(corpora):
        result = {"corpus": corpus, "perplexity": {"last": 600.0 + seed, "mean": 590.0}}
        store.keep(TrainingRun("reuters", "LDA", 100, seed, 2000), result)
    return store


def _tabulate(store: RunStore) -> str:
    plan = Plan(("reuters",), ("LDA",), (100,), (0, 1, 2), 2000, None)
    return PERPLEXITY.table(plan, store).text


def test_runs_with_different_corpora_in_one_table_are_named(tmp_path: Path) -> None:
    store = _store(tmp_path, ["former", "new", "new"])
    with pytest.warns(UserWarning, match=r"runs on reuters in .* have 2 different corpora \(1 and 2 runs\)"):
        _tabulate(store)


def test_runs_with_one_corpus_need_no_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = _tabulate(_store(tmp_path, ["same", "same", "same"]))
    assert "601 ± 1" in text
