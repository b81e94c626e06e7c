"""A cell compares the runs with the figure of the paper."""

import pytest

from metalda.experiments.paper import Figure
from metalda.experiments.tables import PaperCell, as_markdown, gather
from metalda.experiments.training import Key, TrainingRun

KEY = Key("ws", "MetaLDA", 50)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((760.0, 770.0), "within"),  # 765, deviation 7: 9 from the paper, which has 9 itself
        ((740.0, 742.0), "better"),
        ((800.0, 801.0), "worse"),
        ((782.0,), "within"),  # one run has no deviation: the paper's alone
        ((784.0,), "worse"),
    ],
)
def test_within_means_no_further_away_than_both_deviations(values: tuple[float, ...], verdict: str) -> None:
    assert PaperCell(KEY, values, 2000, Figure(774, 9)).verdict == verdict


def test_higher_is_better_where_it_is() -> None:
    assert PaperCell(KEY, (0.2, 0.2), 2000, Figure(0.1, 0.01), lower_is_better=False).verdict == "better"
    assert PaperCell(KEY, (0.2, 0.2), 2000, Figure(0.1, 0.01)).verdict == "worse"


def test_a_difference_is_a_share_of_the_papers_figure() -> None:
    assert PaperCell(KEY, (727.56,), 2000, Figure(774, 9)).difference == pytest.approx(-0.06)
    assert PaperCell(KEY, (-0.05,), 2000, Figure(-0.1, 0)).difference == pytest.approx(0.5)
    assert PaperCell(KEY, (700.0,), 2000).difference is None


def test_a_figure_that_may_be_near_0_has_its_difference_as_it_is() -> None:
    cell = PaperCell(KEY, (0.2,), 2000, Figure(-0.01, 0.02), lower_is_better=False)
    assert cell.show(".2f") == "0.20 (-0.01 ± 0.02: +0.21, better)"


def test_cells_are_of_the_longest_runs_and_in_the_papers_order() -> None:
    runs = [
        (TrainingRun("ws", "MetaLDA", 50, seed, iterations), {"p": iterations + seed})
        for iterations in (500, 2000)
        for seed in (0, 1)
    ]
    runs += [(TrainingRun("ws", "LDA", 50, 0, 500), {"p": 9.0}), (TrainingRun("ws", "LDA", 50, 1, 500), {"p": None})]
    cells = gather(runs, lambda result: result["p"], {("ws", "LDA", 50): Figure(961, 6)})
    assert [cell.key.model for cell in cells] == ["LDA", "MetaLDA"]
    assert [cell.values for cell in cells] == [(9.0,), (2000, 2001)]
    assert [cell.paper for cell in cells] == [Figure(961, 6), None]


def test_markdown_has_a_row_per_model_and_tells_short_runs() -> None:
    cells = [
        PaperCell(KEY, (727.0, 729.0), 2000, Figure(774, 9)),
        PaperCell(Key("ws", "MetaLDA", 100), (600.0,), 500),
        PaperCell(Key("ws", "LLDA", None), (1719.0,), 2000, Figure(1543, None)),
    ]
    assert as_markdown(cells, ",.0f").splitlines() == [
        "| ws, topics | 50 | 100 |",
        "|---|---|---|",
        "| MetaLDA | 728 ± 1 (774 ± 9: -5.9%, better) | 600, 500 iterations |",
        "",
        "| ws, topics per label | – |",
        "|---|---|",
        "| LLDA | 1,719 (1,543: +11.4%, worse) |",
    ]
