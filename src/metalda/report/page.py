"""From a summary to one HTML file that works without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metalda.errors import InputError, missing_extra
from metalda.report.plain import to_plain
from metalda.report.summarise import MAX_DOCUMENTS, Models, summarise
from metalda.report.summary import Summary
from metalda.storage import replacing

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

# In this order they are one script: later parts use earlier ones.
_SCRIPTS = (
    "data",
    "dom",
    "charts",
    "overview",
    "topics",
    "labels",
    "words",
    "documents",
    "diagnostics",
    "compare",
    "frame",
)
_SUFFIXES = (".html", ".htm")
_STYLES = ("base", "parts", "print")
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def check_page(path: Path) -> None:
    """Raise an InputError where a report could not be written: better now than after the work."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{path}: a report is a page: the name must end in .html")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file; choose another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def write_report(
    model: TopicModel,
    path: str | os.PathLike[str],
    corpus: Any = None,
    *,
    models: Models = (),
    chains: Iterable[TopicModel] = (),
    title: str | None = None,
    interval: float = 0.9,
    max_documents: int = MAX_DOCUMENTS,
) -> None:
    """Write all there is to see of a model as one HTML file, which works without a network.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    path : path-like
        The file; it is written whole or not at all.
    corpus : Corpus, or whatever `transform` takes, optional
        Documents to show, such as those of training. Coherence and the prevalence of topics over labels are measured
        on them.
    models : dict by name, or list, of fitted models, optional
        To be shown beside the first; topics are matched one to one.
    chains : list of fitted models, optional
        The same model with other seeds, for the diagnostics.
    title : str, optional
        Of the report.
    interval : float
        Of credible intervals over the kept draws.
    max_documents : int
        The most documents to show: the typical ones of each topic, and others at random, always the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from metalda import LDA, write_report
    >>> texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
    >>> model = LDA(n_components=2, n_iter=20, random_state=0).fit(texts)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(model, Path(folder, "report.html"), corpus=texts)
    """
    check_page(Path(path))
    require_report()
    summary = summarise(
        model,
        corpus,
        models=models,
        chains=chains,
        title=title,
        interval=interval,
        max_documents=max_documents,
    )
    page = render(summary)
    with replacing(Path(path), "x", encoding="utf-8", newline="\n") as file:
        file.write(page)


def require_report() -> None:
    """Raise the error that names the extra, where it is not installed."""
    try:
        import jinja2  # noqa: F401
        import plotly  # noqa: F401
    except ImportError as error:
        raise missing_extra(error.name or "plotly", "report", "A report") from None


def render(summary: Summary) -> str:
    """The page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    scripts = [_one_newline(get_plotlyjs()), _parts("js", _SCRIPTS)]
    environment = Environment(loader=PackageLoader("metalda.report"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("report.html").render(
        summary=summary,
        policy=_policy(scripts),
        style=Markup(_parts("css", _STYLES)),
        scripts=[Markup(script) for script in scripts],
        data=Markup(script_safe(to_plain(summary))),
    )


def script_safe(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it ends the element, or opens a comment."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _parts(kind: str, names: Iterable[str]) -> str:
    folder = files("metalda.report").joinpath("templates").joinpath(kind)
    text = "\n".join(folder.joinpath(f"{name}.{kind}").read_text(encoding="utf-8") for name in names)
    return _one_newline(f'(() => {{\n"use strict";\n{text}\n}})();\n' if kind == "js" else text)


def _one_newline(text: str) -> str:
    """A browser reads every line end as one newline, and takes the hash of that."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _policy(scripts: Iterable[str]) -> str:
    """Only these scripts run, and nothing is fetched; Plotly sets styles of its own."""
    hashes = (hashlib.sha256(script.encode("utf-8")).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(each).decode('ascii')}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
