"""A search is a comparison of one model with itself at several sizes: the same runs, kept in the same way."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts import FEATURES, PETS, SKIES
from metalda import LDA, Corpus, MetaLDA, compare, plot_search, search_k, stability
from metalda.errors import InputError, MissingExtraError
from metalda.evaluation.figures import check_figure_path, save_figure
from metalda.evaluation.runs import InterruptedRuns
from metalda.models.base import TopicModel

QUICK: dict[str, Any] = {"n_iter": 10, "thin": 2, "n_draws": 2}
FIGURES = ["perplexity", "coherence", "diversity", "exclusivity", "stability", "label_score"]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_texts((PETS + SKIES) * 3, (["pets"] * 5 + ["sky"] * 5) * 3)


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The numbers of topics of the models that are fitted."""
    fitted: list[int] = []
    original = TopicModel.fit

    def fit(self: TopicModel, *arguments: Any, **named: Any) -> TopicModel:
        fitted.append(self.n_components)
        return original(self, *arguments, **named)

    monkeypatch.setattr(TopicModel, "fit", fit)
    return fitted


def test_there_is_a_row_per_number_of_topics_that_equals_the_comparison(corpus: Corpus) -> None:
    table = search_k(corpus, [4, 2], "metalda:mu=2", seeds=2, word_features=FEATURES, **QUICK)
    assert list(table["topics"]) == [2, 4]
    assert list(table["runs"]) == [2, 2]
    names = "metalda:mu=2,n_components=2,metalda:mu=2,n_components=4"
    expected = compare(corpus, names, seeds=2, word_features=FEATURES, **QUICK)
    for name in FIGURES:
        assert table[name].equals(expected[name])
        assert table[f"{name}_sd"].equals(expected[f"{name}_sd"])


def test_stability_is_that_of_the_models_fitted_by_hand(corpus: Corpus) -> None:
    runs = search_k(corpus, [2, 3], seeds=[1, 5, 6], by_run=True, **QUICK).query("topics == 3")
    models = []
    for seed in (1, 5, 6):
        train, _ = corpus.split(0.2, random_state=seed)
        models.append(MetaLDA(3, random_state=seed, verbose=False, **QUICK).fit(train))
    found = stability(models)
    assert list(runs["stability"]) == pytest.approx(list(found.topics.groupby("model")["similarity"].mean()))
    table = search_k(corpus, [3], seeds=[1, 5, 6], **QUICK)
    assert table["stability"][0] == pytest.approx(found.score)
    assert table["stability_sd"][0] == pytest.approx(np.std(runs["stability"], ddof=1))
    assert np.isnan(search_k(corpus, [3], seeds=1, **QUICK)["stability"][0])
    two = search_k(corpus, [3], seeds=2, **QUICK)
    assert np.isfinite(two["stability"][0])
    assert np.isnan(two["stability_sd"][0])  # they agree with each other equally, which says nothing of the spread


def test_an_estimator_keeps_its_parameters_and_is_not_changed(corpus: Corpus) -> None:
    own = LDA(7, doc_prior=0.5, random_state=3, **QUICK)
    table = search_k(corpus, range(2, 4), own, seeds=1)
    assert table[FIGURES[:4]].equals(search_k(corpus, [2, 3], "lda:doc_prior=0.5", seeds=1, **QUICK)[FIGURES[:4]])
    assert (own.n_components, own.random_state) == (7, 3)
    assert not hasattr(own, "components_")


def test_a_search_goes_on_where_it_was_and_repeats_nothing(
    corpus: Corpus, fits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = search_k(corpus, [2, 3], "lda", seeds=2, **QUICK)
    arguments: Any = {"model": "lda", "seeds": 2, "folder": tmp_path / "s", **QUICK}
    fits.clear()
    counted = TopicModel.fit

    def stop_at_the_third(self: TopicModel, *given: Any, **named: Any) -> TopicModel:
        if len(fits) == 2:
            raise KeyboardInterrupt
        return counted(self, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(TopicModel, "fit", stop_at_the_third)
        with pytest.raises(InterruptedRuns, match="2 of 4 runs are finished and saved"):
            search_k(corpus, [2, 3], **arguments)
    assert fits == [2, 3]
    resumed = search_k(corpus, [2, 3], **arguments)
    assert fits == [2, 3, 2, 3]
    columns = ["topics", *FIGURES, *(f"{name}_sd" for name in FIGURES)]
    assert resumed[columns].equals(whole[columns])
    assert search_k(corpus, [2, 3], **arguments).equals(resumed)
    assert len(fits) == 4
    search_k(corpus, [2, 5, 3], **arguments)
    assert fits[4:] == [5, 5]  # only what is new
    compare(corpus, "lda:n_components=5", seeds=2, folder=tmp_path / "s", **QUICK)
    assert len(fits) == 6  # a comparison finds the runs of a search


def test_the_folder_says_what_was_found_without_the_words_of_every_topic(corpus: Corpus, tmp_path: Path) -> None:
    table = search_k(corpus, [2, 3], "lda", seeds=2, folder=tmp_path / "s", **QUICK)
    kept = json.loads((tmp_path / "s" / "comparison.json").read_text())["document"]
    assert [row["stability"] for row in kept["models"]] == list(table["stability"])
    assert [(row["topics"], row["seed"]) for row in kept["runs"]] == [(2, 0), (3, 0), (2, 1), (3, 1)]
    assert not any("top_words" in row for row in kept["runs"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": []}, r"n_components=\[\]: give the numbers of topics to try"),
        ({"n_components": [10, 20, 10]}, "10 topics are given twice"),
        ({"n_components": ["ten"]}, "give the numbers of topics"),
        ({"n_components": "10,20"}, "give the numbers of topics"),
        ({"n_components": [0, 5]}, "lda:n_components=0: The 'n_components' parameter"),
        ({"model": "lda:n_components=5"}, "give the numbers of topics only once"),
        ({"model": "lda,metalda"}, "one model is searched at a time"),
        ({"model": "llda"}, "llda: its labels determine the number of topics"),
        ({"model": "bert"}, "there is no model 'bert'"),
        ({"seeds": 0}, "seeds=0"),
        ({"mu": 3.0}, "'mu' is not a parameter"),
    ],
)
def test_what_makes_no_sense_is_refused(corpus: Corpus, fits: list[int], change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        search_k(corpus, **{"n_components": [2], "model": "lda", **QUICK, **change})
    assert fits == []


def drawn(panels: Any) -> dict[str, tuple[list[float], list[float], list[float]]]:
    """By the name of a panel: topics, values, and lengths of the bars."""
    found = {}
    for axes in panels:
        ((line, _, (bars,)),) = axes.containers
        lengths = [(end - start) / 2 for (_, start), (_, end) in bars.get_segments()]
        found[axes.get_ylabel()] = (list(line.get_xdata()), list(line.get_ydata()), lengths)
    return found


def test_the_plot_shows_every_figure_and_its_deviation(corpus: Corpus) -> None:
    table = search_k(corpus, [2, 3, 5], "lda", seeds=3, **QUICK)
    panels = drawn(plot_search(table))
    assert len(panels) == 6
    topics, values, lengths = panels["stability across seeds"]
    assert topics == [2, 3, 5]
    assert values == list(table["stability"])
    assert lengths == pytest.approx(list(table["stability_sd"]))
    assert panels["perplexity (lower is better)"][1] == list(table["perplexity"])


def test_what_was_not_measured_is_not_drawn(corpus: Corpus) -> None:
    panels = drawn(plot_search(search_k(corpus.without_labels(), [2], "lda", seeds=1, **QUICK)))
    assert len(panels) == 4  # neither labels nor stability
    assert panels["exclusivity"][2] == [0]


def test_only_the_table_of_a_search_is_drawn(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="no column 'perplexity_sd'"):
        plot_search(search_k(corpus, [2], "lda", seeds=1, by_run=True, **QUICK))


def test_a_picture_is_of_the_kind_that_its_name_says(corpus: Corpus, tmp_path: Path) -> None:
    figure = plot_search(search_k(corpus, [2], "lda", seeds=1, **QUICK))[0].figure
    for name, start in (("k.png", b"\x89PNG"), ("k.PDF", b"%PDF"), ("k.svg", b"<?xml")):
        check_figure_path(tmp_path / name)
        save_figure(figure, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    for name, message in (
        ("k.txt", "unknown figure format"),
        ("k", "unknown figure format"),
        ("no/k.png", "there is no folder"),
    ):
        with pytest.raises(InputError, match=message):
            check_figure_path(tmp_path / name)


def test_a_missing_package_is_one_line_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'metalda\[plot\]'"):
        check_figure_path(tmp_path / "k.png")
