"""Figures of matplotlib, which notebooks show and other programs write to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError, missing_extra
from metalda.storage import replacing
from metalda.utils.progress import in_notebook

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(**options: Any) -> Figure:
    """Return a figure. A notebook shows it below the cell; elsewhere it is neither shown nor kept by pyplot."""
    make = _figure_class()
    if in_notebook():
        import matplotlib.pyplot as plt

        make = plt.figure
    figure: Figure = make(**options)
    return figure


def only_axes(figure: Figure) -> Axes:
    """Return the axes that fill a figure. In a notebook they are displayed as the figure."""
    if not in_notebook():
        return figure.add_subplot()
    from metalda.evaluation.notebook_axes import NotebookAxes

    return figure.add_subplot(axes_class=NotebookAxes)


def as_panels(axes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return the axes of a figure. In a notebook the array is displayed as the figure."""
    if not in_notebook():
        return axes
    from metalda.evaluation.notebook_axes import NotebookPanels

    return axes.view(NotebookPanels)


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format of the file name. Equal figures give equal files."""
    import matplotlib

    kind = path.suffix[1:].lower()
    undated = {"metadata": {"Date": None}} if kind == "svg" else {}
    with replacing(path, "xb") as file, matplotlib.rc_context({"svg.hashsalt": "metalda"}):
        figure.savefig(file, format=kind, dpi=150, **undated)


def check_figure_path(path: Path) -> None:
    """Raise an InputError if no figure can be written there; called before fitting, which may take hours."""
    kinds = _figure_class()().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise InputError(f"{path}: unknown figure format; give a name that ends in .png, .pdf or .svg")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file")


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("matplotlib", "plot", "Drawing") from None
    return Figure
