"""Render a summary as one HTML file that works offline."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from metalda.errors import InputError, missing_extra
from metalda.report.order import Order
from metalda.report.summary import MAX_DOCUMENTS, Models, Summary, summarize
from metalda.storage import replacing

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

# Scripts before the views, and after them.
_SHARED = ("text", "dom", "address", "data", "views", "charts", "plots", "names")
_FIRST = (*_SHARED, "heatmap", "topicmap", "facets", "docmap", "ribbons")
_LAST = ("page", "frame")
_SUFFIXES = (".html", ".htm")
_STYLES = ("base", "parts", "print")  # of every page
_TEMPLATES = files("metalda.report").joinpath("templates")
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def check_page(path: Path, what: str = "a report") -> None:
    """Raise an error if a page cannot be written there, or if jinja2 is missing."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{path}: {what} is an HTML file: give a name that ends in .html")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file; choose another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")
    try:
        import_module("jinja2")
    except ImportError:
        raise missing_extra("jinja2", "report", what.capitalize()) from None


def write_report(
    model: TopicModel,
    path: str | os.PathLike[str],
    corpus: object = None,
    *,
    models: Models = (),
    chains: Iterable[TopicModel] = (),
    title: str | None = None,
    interval: float = 0.9,
    max_documents: int = MAX_DOCUMENTS,
    order: Order = (),
) -> None:
    """Write a report of a model: one HTML file that works offline.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    path : path-like
        The file, written atomically.
    corpus : Corpus, or any other input of `transform`, optional
        Documents to show, such as the training documents. Coherence and the prevalence of topics by label are
        computed from them.
    models : dict by name, or list, of fitted models, optional
        Models to compare with the first; topics are matched one to one.
    chains : list of fitted models, optional
        The same model with other seeds, for the diagnostics.
    title : str, optional
        Title of the report.
    interval : float
        Probability of credible intervals over the kept draws.
    max_documents : int
        Largest number of documents: the most typical ones of each topic, and others at random with a fixed seed.
    order : str, list of str, or mapping
        Kinds of labels that have an order, such as ``["grade"]`` for that of their names, or
        ``{"size": ["small", "medium", "large"]}``. Years, decades, dates, numbers and bins are found.

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
    summary = summarize(
        model,
        corpus,
        models=models,
        chains=chains,
        title=title,
        interval=interval,
        max_documents=max_documents,
        order=order,
    )
    write_page(summary, Path(path))


def write_page(summary: Summary, path: Path) -> None:
    """Write a summary as a page, atomically."""
    page = render(summary)
    with replacing(path, "x", encoding="utf-8", newline="\n") as file:
        file.write(page)


def render(summary: Summary) -> str:
    """Return the page as text."""
    views = sorted(each.name for each in _TEMPLATES.joinpath("views").iterdir() if each.name.endswith(".js"))
    parts = (*map("js/{}.js".format, _FIRST), *map("views/{}".format, views), *map("js/{}.js".format, _LAST))
    return fill_page(
        "report.html",
        title=summary.overview.title,
        scripts=[join_scripts(parts)],
        data=("summary", summary),
        summary=summary,
    )


def fill_page(
    template: str,
    *,
    title: str,
    scripts: Iterable[str],
    data: tuple[str, object],
    styles: Iterable[str] = (),
    **values: object,
) -> str:
    """Return a page with the styles of every page and its own, its scripts, and its data as the id and the value."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    scripts = [_one_newline(script) for script in scripts]
    style = _join(f"css/{name}.css" for name in (*_STYLES, *styles))
    environment = Environment(loader=PackageLoader("metalda.report"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template(template).render(
        title=title,
        policy=_policy(scripts),
        style=Markup(_one_newline(style)),
        scripts=[Markup(script) for script in scripts],
        data_id=data[0],
        data=Markup(script_safe(data[1])),
        **values,
    )


def script_safe(value: object) -> str:
    """Return JSON of dataclasses and plain data for a script element: no part ends the element or opens a comment."""
    text = json.dumps(value, default=vars, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def join_scripts(paths: Iterable[str]) -> str:
    """Return scripts of the templates as one, in a scope of its own."""
    return f'(() => {{\n"use strict";\n{_join(paths)}\n}})();\n'


def _join(paths: Iterable[str]) -> str:
    return "\n".join(_TEMPLATES.joinpath(path).read_text(encoding="utf-8") for path in paths)


def _one_newline(text: str) -> str:
    """Normalize line ends as a browser does before it hashes a script."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _policy(scripts: Iterable[str]) -> str:
    """Return a policy that runs only these scripts and allows no requests; charts have inline styles."""
    hashes = (hashlib.sha256(script.encode("utf-8")).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(each).decode('ascii')}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
