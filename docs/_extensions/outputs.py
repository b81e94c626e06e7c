"""Run the Python of a page, and write what it prints and draws into the page.

A block of Python that is followed by a block of text is shown with its output: what it prints, or else the value of its
last line. A block that is followed by a picture has the figure of its variable `axes` or `figure` drawn.
"""

import ast
import contextlib
import io
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OPTIONAL = {"arviz", "gensim", "polars", "pyLDAvis"}  # blocks that import one are skipped where it is absent
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```|\n\n!\[[^\]]*\]\(([^)]+\.png)\))?", re.DOTALL)


def update_page(page: Path) -> None:
    """Run all blocks of a page in order, and replace the outputs."""
    import numpy as np
    import pandas as pd

    text, namespace, parts, end = page.read_text(encoding="utf-8"), dict[str, Any](), [], 0
    shown = pd.option_context(
        *("display.width", 118, "display.max_columns", 20), *("display.float_format", "{:.3f}".format)
    )
    with shown, np.printoptions(precision=3, suppress=True):
        for found in BLOCK.finditer(text):
            code, output, picture = found.groups()
            needed = set(re.findall(r"(?:import|from) (\w+)", code))
            if any(find_spec(package) is None for package in OPTIONAL & needed):
                continue
            printed = run(code, namespace)
            if picture is not None:
                draw(namespace, page.parent / picture)
            if output is not None:
                lines = [line.rstrip() for line in printed.rstrip().splitlines()]
                parts += [text[end : found.start(2)], "\n".join(lines) + "\n"]
                end = found.end(2)
    page.write_text("".join([*parts, text[end:]]), encoding="utf-8")


def run(code: str, namespace: dict[str, Any]) -> str:
    """Run a block; return what it prints, or else the value of its last line."""
    tree, printed = ast.parse(code), io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(tree, "page", "exec"), namespace)
        value = None if last is None else eval(compile(ast.Expression(last.value), "page", "eval"), namespace)
    if value is not None and not printed.getvalue():
        return str(value)
    return printed.getvalue()


def draw(namespace: dict[str, Any], path: Path) -> None:
    """Write the figure of a block as a small PNG."""
    from pictures import shrink

    axes = namespace["axes"]
    figure = axes[0].figure if hasattr(axes, "__len__") else axes.figure
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    shrink(file, path)
