"""The datasets by name, and how large they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np

from metalda.corpus import Corpus
from metalda.corpus.building import Settings
from metalda.datasets.catalogue import DATASETS, Dataset, Statistics
from metalda.datasets.newsgroups import load_newsgroups
from metalda.datasets.nyt import load_nyt
from metalda.datasets.paper import load_an, load_tmn, load_ws
from metalda.datasets.places import PathLike
from metalda.datasets.python_docs import load_python_docs
from metalda.datasets.reuters import load_reuters
from metalda.datasets.tables import load_arxiv, load_wikipedia
from metalda.errors import InputError

Loaded = Corpus | tuple[Corpus, Corpus]


def _built_in(
    folder: PathLike | None, *, min_words: int = 5, limit: int | None = None, progress: bool = False, **tokenising: Any
) -> Corpus:
    return load_python_docs(min_words=min_words, limit=limit, progress=progress, **tokenising)


_LOADERS: dict[str, Callable[..., Loaded]] = {
    "python-docs": _built_in,
    "ws": load_ws,
    "tmn": load_tmn,
    "an": load_an,
    "reuters": load_reuters,
    "20ng": load_newsgroups,
    "nyt": load_nyt,
    "arxiv": load_arxiv,
    "wikipedia": load_wikipedia,
}


def available() -> list[Dataset]:
    """All datasets, in the order in which a newcomer should meet them."""
    return list(DATASETS.values())


def describe(name: str) -> Dataset:
    """What there is to know about a dataset before loading it."""
    if name not in DATASETS:
        raise InputError(f"no dataset {name!r}; there are: {', '.join(DATASETS)}")
    return DATASETS[name]


def load(name: str, folder: PathLike | None = None, *, progress: bool = False, **settings: Any) -> Loaded:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        One of ``available()``.
    folder : path, optional
        Where the data lies; by default the folder that the environment variable ``METALDA_DATA`` names, then the cache,
        ``~/.cache/metalda/datasets`` on Linux. The built-in corpus needs none.
    progress : bool
        Show a progress bar, if there is a terminal, where loading takes long.
    **settings
        Those of the dataset's own loader, such as ``embeddings=`` of `load_reuters`.

    Returns
    -------
    Corpus or (Corpus, Corpus)
        Train and test where the dataset comes split.

    Examples
    --------
    >>> from metalda import datasets
    >>> datasets.load("python-docs", limit=100)  # doctest: +ELLIPSIS
    Corpus: 100 documents, ...
    """
    describe(name)
    loader = _LOADERS[name]
    known = set(signature(loader).parameters)
    if "tokenising" in known:
        known |= {field.name for field in fields(Settings)}
    for setting in settings:
        if setting not in known:
            raise InputError(f"dataset {name!r}: {setting}= (--{setting}) is not for it; {_choices(known)}")
    return loader(folder, **settings, **({"progress": progress} if "progress" in known else {}))


def _choices(known: set[str]) -> str:
    names = sorted(known - {"folder", "progress", "tokenising"})
    return f"there are: {', '.join(names)}" if names else "it comes tokenised and filtered"


def statistics(loaded: Loaded) -> Statistics:
    """The size of a loaded dataset; train and test count together.

    Examples
    --------
    >>> from metalda import Corpus
    >>> train = Corpus.from_tokens([["goal", "keeper"], ["vote"]], labels=["sport", "politics"])
    >>> test = Corpus.from_tokens([["goal", "law", "court"]], labels=["law"])
    >>> statistics((train, test))
    Statistics(documents=3, labels=3, vocabulary=5, mean_length=2.0)
    """
    parts = loaded if isinstance(loaded, tuple) else (loaded,)
    n_documents = sum(map(len, parts))
    return Statistics(
        documents=n_documents,
        labels=len({name for part in parts for name in part.label_names}),
        vocabulary=len({word for part in parts for word in part.vocabulary}),
        mean_length=sum(part.n_tokens for part in parts) / n_documents,
    )


def count_empty(loaded: Loaded) -> int:
    """Documents without a word, which are kept so that the corpus has the documents that its owners say it has."""
    parts = loaded if isinstance(loaded, tuple) else (loaded,)
    return sum(int((np.diff(part.offsets) == 0).sum()) for part in parts)
