"""Pictures of measures, by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from metalda.errors import InputError, missing_extra
from metalda.storage import replacing

if TYPE_CHECKING:
    import pandas as pd

_PANELS = {  # what is drawn, where there is something to draw
    "perplexity": "perplexity (lower is better)",
    "coherence": "coherence (NPMI)",
    "diversity": "topic diversity",
    "exclusivity": "exclusivity",
    "stability": "stability across seeds",
    "label_score": "prediction of labels",
}
_COLUMNS = 3


def plot_search(table: pd.DataFrame) -> Any:
    """Draw the table of `search_k`: a panel per measure over the number of topics.

    Bars reach a standard deviation over seeds to either side.

    Parameters
    ----------
    table : DataFrame
        From `search_k`; not by run.

    Returns
    -------
    matplotlib.figure.Figure
        Shown by a notebook, and saved by its ``savefig("k.png")``.

    Examples
    --------
    >>> from metalda import Corpus, plot_search, search_k
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat dog", "rain sun rain", "sun rain sun"] * 5)
    >>> figure = plot_search(search_k(corpus, [2, 3], "lda", seeds=2, n_iter=20))
    >>> [axes.get_ylabel() for axes in figure.axes][0]
    'perplexity (lower is better)'
    """
    missing = [name for name in ("topics", "perplexity", "perplexity_sd") if name not in table]
    if missing:
        raise InputError(f"no column {missing[0]!r} in the table: give the one that search_k returns, without by_run")
    measures = [name for name in _PANELS if name in table and table[name].notna().any()]
    n_rows = -(-len(measures) // _COLUMNS)
    figure = new_figure(figsize=(4 * min(len(measures), _COLUMNS), 3 * n_rows), layout="constrained")
    for i, name in enumerate(measures):
        axes = figure.add_subplot(n_rows, _COLUMNS, i + 1)
        deviations = table[f"{name}_sd"].fillna(0)  # one seed has none
        axes.errorbar(table["topics"], table[name], yerr=deviations, marker="o", capsize=3)
        axes.set_xticks(table["topics"])
        axes.set_xlabel("topics")
        axes.set_ylabel(_PANELS[name])
        axes.grid(alpha=0.3)
    return figure


def save_figure(figure: Any, path: Path) -> None:
    """As a file of the kind that its name says; the same figure gives the same file."""
    import matplotlib

    kind = path.suffix[1:].lower()
    undated = {"metadata": {"Date": None}} if kind == "svg" else {}
    with replacing(path, "xb") as file, matplotlib.rc_context({"svg.hashsalt": "metalda"}):
        figure.savefig(file, format=kind, dpi=150, **undated)


def check_picture(path: Path) -> None:
    """Raise an InputError if no picture can be written there: better now than after hours of fitting."""
    kinds = new_figure().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise InputError(f"{path}: no kind of picture; give a name that ends in .png, .pdf or .svg")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not the name of a picture")


def new_figure(**options: Any) -> Any:
    """One of its own, not pyplot's: nothing is shown or kept behind the user's back."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("matplotlib", "plot", "Drawing") from None
    return Figure(**options)
