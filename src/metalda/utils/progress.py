"""Progress bars: on a terminal as text, in a notebook as a widget, and none in the log of a batch job."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def in_notebook() -> bool:
    """Return whether the program runs in the kernel of a notebook, which shows figures and widgets."""
    package = sys.modules.get("IPython")
    shell = package.get_ipython() if package is not None else None
    return shell is not None and "IPKernelApp" in shell.config


def shows_progress(verbose: bool = True) -> bool:
    """Return whether a progress bar has readers."""
    return verbose and (in_notebook() or (sys.stderr is not None and sys.stderr.isatty()))


def progress_bar(items: Iterable[Any] | None = None, *, verbose: bool = True, **how: Any) -> tqdm:
    """Return a progress bar of tqdm, over items or with a `total`. It is silent where nobody would read it."""
    if in_notebook():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets the bar is text
            from tqdm.auto import tqdm
    else:
        from tqdm import tqdm
    return tqdm(items, disable=not shows_progress(verbose), dynamic_ncols=True, file=sys.stderr, **how)


def print_note(text: str) -> None:
    """Print a line above the progress bars."""
    from tqdm import tqdm

    tqdm.write(text, file=sys.stdout if in_notebook() else sys.stderr)
