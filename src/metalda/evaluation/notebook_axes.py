"""Axes that a notebook displays as their figure, not as text."""

from __future__ import annotations

import io

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Image, display
from matplotlib.axes import Axes
from matplotlib.figure import Figure


class NotebookAxes(Axes):
    """The axes of a figure that is the result of a cell."""

    def _ipython_display_(self) -> None:
        _display(self.get_figure(root=True))


class NotebookPanels(np.ndarray):
    """All axes of a figure that is the result of a cell."""

    def _ipython_display_(self) -> None:
        _display(self.flat[0].figure)


def _display(figure: Figure | None) -> None:
    """Show a figure, unless pyplot shows it below this cell: it forgets a figure that it has shown."""
    if figure is None or (plt.get_backend().lower() != "agg" and plt.fignum_exists(figure.number)):
        return
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    display(Image(file.getvalue()))
