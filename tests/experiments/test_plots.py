"""Plots of tables show the cells that can be compared."""

from collections.abc import Sequence

import pytest

from metalda.experiments.plots import draw_by_topics
from metalda.experiments.tables import PaperCell
from metalda.experiments.training import Key

figures = pytest.importorskip("matplotlib.figure", reason="no matplotlib")


def _cells(model: str, topics: Sequence[int]) -> list[PaperCell]:
    return [PaperCell(Key("ws", model, each), (900.0, 910.0), 2000, None, lower_is_better=True) for each in topics]


def _panel(cells: list[PaperCell]):
    figure = figures.Figure()
    draw_by_topics("perplexity")(figure, cells)
    (axes,) = figure.axes
    return figure, axes


def test_several_numbers_of_topics_are_joined_by_lines() -> None:
    figure, axes = _panel(_cells("LDA", [50, 100, 150]) + _cells("MetaLDA", [50, 100, 150]))
    assert not axes.patches
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["LDA", "MetaLDA"]


def test_models_are_set_side_by_side_where_they_have_one_number_of_topics() -> None:
    figure, axes = _panel(_cells("LDA", [100]) + _cells("MetaLDA", [100, 1000]))
    assert axes.get_title() == "ws, 100 topics"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["MetaLDA", "LDA"]
    assert [bar.get_width() for bar in axes.patches] == [905, 905]
    assert not figure.legends


def test_topics_of_labels_have_no_panel() -> None:
    figure = figures.Figure()
    draw_by_topics("perplexity")(figure, _cells("PLLDA", [5, 10, 20]))
    assert not figure.axes
