"""The datasets by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from metalda.corpus import Corpus
from metalda.datasets.newsgroups import load_newsgroups
from metalda.datasets.paper import load_tmn, load_ws
from metalda.datasets.places import PathLike
from metalda.datasets.python_docs import load_python_docs
from metalda.datasets.reuters import load_reuters
from metalda.errors import InputError


class Dataset(NamedTuple):
    """What there is to know before loading; ``n_documents`` is None where it depends on the machine."""

    name: str
    description: str
    n_documents: int | None
    how: str


_LOADERS: dict[str, tuple[Dataset, Callable[[PathLike | None], Corpus | tuple[Corpus, Corpus]]]] = {
    entry.name: (entry, loader)
    for entry, loader in (
        (
            Dataset("python-docs", "docstrings of your Python's standard library, by module", None, "built in"),
            lambda folder: load_python_docs(),
        ),
        (
            Dataset("ws", "Web Snippets, 8 labels, the paper's train and test", 12_337, "WS/ in METALDA_DATA"),
            load_ws,
        ),
        (
            Dataset("tmn", "Tag My News, 7 labels", 32_597, "TMN/ in METALDA_DATA"),
            load_tmn,
        ),
        (
            Dataset("reuters", "Reuters-21578, 120 labels", 11_367, "reuters21578.tar.gz in METALDA_DATA"),
            load_reuters,
        ),
        (
            Dataset("20ng", "20 Newsgroups, 20 labels", 18_846, "20news-bydate.tar.gz in METALDA_DATA"),
            load_newsgroups,
        ),
    )
}


def available() -> list[Dataset]:
    """All datasets, in the order in which a newcomer should meet them."""
    return [entry for entry, _ in _LOADERS.values()]


def load(name: str, folder: PathLike | None = None) -> Corpus | tuple[Corpus, Corpus]:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        One of ``available()``.
    folder : path, optional
        Where the data lies; by default the folder that the environment variable ``METALDA_DATA`` names. The built-in
        corpus needs none.

    Returns
    -------
    Corpus or (Corpus, Corpus)
        Train and test where the dataset comes split.
    """
    if name not in _LOADERS:
        raise InputError(f"no dataset {name!r}; there are: {', '.join(_LOADERS)}")
    return _LOADERS[name][1](folder)
