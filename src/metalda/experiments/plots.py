"""Plots of tables with our results and the paper's, drawn on a given matplotlib figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from metalda.evaluation.figures import new_figure, save_figure
from metalda.experiments.paper import BY_LABEL, MODELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metalda.experiments.tables import PaperCell, PaperTable

Draw: TypeAlias = "Callable[[Figure, Sequence[PaperCell]], None]"

MIN_FOR_LINES = 3  # numbers of topics
THE_PAPER = "the paper"


def save_plot(table: PaperTable, path: Path) -> None:
    """Plot a table to a file, in the format of the file name."""
    figure = new_figure(layout="constrained")
    table.draw(figure, table.cells)
    save_figure(figure, path)


def draw_by_topics(measure: str, *, log: bool = False) -> Draw:
    """Return a function that draws a panel per dataset: lines over topics, the paper's results as hollow marks.

    With too few numbers of topics for lines, the panel has bars for the number that most models have.
    """

    def draw(figure: Figure, cells: Sequence[PaperCell]) -> None:
        panels = list(dict.fromkeys(cell.key.dataset for cell in cells if cell.key.model not in BY_LABEL))
        for axes, dataset in zip(_panels(figure, len(panels)), panels, strict=True):
            by_model = _by_model(cells, dataset)
            if max(len(own) for _, own in by_model) < MIN_FOR_LINES:
                every = [cell for _, own in by_model for cell in own]
                ((topics, _),) = Counter(cell.key.topics for cell in every).most_common(1)
                _bars(axes, [cell for cell in every if cell.key.topics == topics], measure)
                axes.set_title(f"{dataset}, {topics} topics")
                continue
            for model, own in by_model:
                line = _line(axes, [cell.key.topics or 0 for cell in own], own, model)
                marks = [(cell.key.topics, cell.paper.mean) for cell in own if cell.paper is not None]
                if marks:
                    axes.plot(*zip(*marks, strict=True), "o", color=line, fillstyle="none", linestyle=":", linewidth=1)
            axes.set(title=dataset, xlabel="topics", ylabel=measure)
            locator: Any = axes.xaxis.get_major_locator()  # a MaxNLocator
            locator.set_params(integer=True)
            if log:
                axes.set_yscale("log")
        _legend(figure)

    return draw


def draw_by_share(unseen: Mapping[tuple[str, float | None], float]) -> Draw:
    """Return a function that draws a panel per dataset: lines over the share of training documents."""

    def draw(figure: Figure, cells: Sequence[PaperCell]) -> None:
        panels = list(dict.fromkeys((cell.key.dataset, cell.key.topics) for cell in cells))
        for axes, (dataset, topics) in zip(_panels(figure, len(panels)), panels, strict=True):
            shares = sorted({cell.key.share for cell in cells if cell.key.dataset == dataset and cell.key.share})
            for model, own in _by_model([cell for cell in cells if cell.key.topics == topics], dataset):
                _line(axes, [cell.key.share or 0 for cell in own], own, model)
            axes.set(
                title=f"{dataset}, {topics} topics",
                xlabel="documents trained on, out-of-vocabulary words",
                ylabel="perplexity",
            )
            axes.set_xticks(shares, [f"{share:.0%}\n{unseen[dataset, share]:.0%}" for share in shares])
        _legend(figure)

    return draw


def draw_bars(measure: str) -> Draw:
    """Return a function that draws a panel per dataset: a bar for each model, the paper's results as hollow marks."""

    def draw(figure: Figure, cells: Sequence[PaperCell]) -> None:
        panels = list(dict.fromkeys(cell.key.dataset for cell in cells))
        for axes, dataset in zip(_panels(figure, len(panels)), panels, strict=True):
            _bars(axes, [cell for cell in cells if cell.key.dataset == dataset], measure)
            axes.set_title(dataset)

    return draw


def _bars(axes: Axes, cells: Sequence[PaperCell], measure: str) -> None:
    own = cells[::-1]
    names = [cell.key.model for cell in own]
    axes.barh(names, [cell.mean for cell in own], xerr=[cell.deviation or 0 for cell in own], color="#7aa6c2")
    marks = [(cell.paper.mean, cell.key.model) for cell in own if cell.paper is not None]
    if marks:
        axes.plot(*zip(*marks, strict=True), "o", color="black", fillstyle="none", label=THE_PAPER)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False)  # above the bars
    axes.set_xlabel(measure)


def _panels(figure: Figure, n: int) -> Sequence[Axes]:
    figure.set_size_inches(5.5 * max(n, 1), 5)
    return figure.subplots(1, n, squeeze=False)[0] if n else []


def _by_model(cells: Sequence[PaperCell], dataset: str) -> list[tuple[str, list[PaperCell]]]:
    """Return the cells of each model whose number of topics varies."""
    own = [cell for cell in cells if cell.key.dataset == dataset and cell.key.model not in BY_LABEL]
    return [(model, [c for c in own if c.key.model == model]) for model in dict.fromkeys(c.key.model for c in own)]


def _line(axes: Axes, x: Sequence[float], cells: Sequence[PaperCell], model: str) -> str:
    """Draw means with standard deviations; return the color, which a model has in every plot."""
    color = f"C{list(MODELS).index(model) % 10}"
    style = "-" if list(MODELS).index(model) < 10 else "--"
    deviations = [cell.deviation or 0 for cell in cells]
    axes.errorbar(
        x, [c.mean for c in cells], deviations, color=color, linestyle=style, marker=".", capsize=2, label=model
    )
    return color


def _legend(figure: Figure) -> None:
    """Draw one legend for all panels."""
    named = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    named.pop(THE_PAPER, None)  # panels of bars have their own
    if named:
        figure.legend(named.values(), named.keys(), loc="outside right center", frameon=False)
