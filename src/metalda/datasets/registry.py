"""Load datasets by name, and measure their size."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import numpy as np

from metalda.corpus import Corpus
from metalda.datasets.catalog import DATASETS, Dataset, PathLike, Statistics
from metalda.datasets.news import load_newsgroups, load_nyt, load_reuters
from metalda.datasets.python_docs import load_python_docs
from metalda.datasets.tabular import load_an, load_arxiv, load_tmn, load_wikipedia, load_ws
from metalda.errors import InputError

Loaded = Corpus | tuple[Corpus, Corpus]


def _built_in(
    folder: PathLike | None,
    *,
    min_words: int = 5,
    limit: int | None = None,
    verbose: bool = False,
    **tokenizing: object,
) -> Corpus:
    return load_python_docs(min_words=min_words, limit=limit, verbose=verbose, **tokenizing)


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
    """Return all datasets, those that need the least preparation first."""
    return list(DATASETS.values())


def describe(name: str) -> Dataset:
    """Return the description of a dataset."""
    if name not in DATASETS:
        raise InputError(f"no dataset {name!r}; there are: {', '.join(DATASETS)}")
    return DATASETS[name]


def load(name: str, folder: PathLike | None = None, *, verbose: bool = False, **settings: object) -> Loaded:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        One of ``available()``.
    folder : path, optional
        The folder with the data; by default that of the environment variable ``METALDA_DATA``, then the cache,
        ``~/.cache/metalda/datasets`` on Linux. The built-in corpus needs none.
    verbose : bool
        Show a progress bar, if there is a terminal and loading takes long.
    **settings
        Arguments of the loader of this dataset, such as ``embeddings=`` of `load_reuters`.

    Returns
    -------
    Corpus or (Corpus, Corpus)
        Train and test if the dataset is distributed in two parts.

    Examples
    --------
    >>> from metalda import datasets
    >>> datasets.load("python-docs", limit=100)  # doctest: +ELLIPSIS
    Corpus: 100 documents, ...
    """
    describe(name)
    loader = _LOADERS[name]
    known = set(signature(loader).parameters)
    if "tokenizing" in known:
        known |= set(signature(Corpus.from_texts).parameters) - {"texts", "labels", "ids"}
    for setting in settings:
        if setting not in known:
            raise InputError(f"dataset {name!r}: {setting}= (--{setting}) is not a setting of it; {_choices(known)}")
    return loader(folder, **settings, **({"verbose": verbose} if "verbose" in known else {}))


def _choices(known: set[str]) -> str:
    names = sorted(known - {"folder", "verbose", "tokenizing"})
    return f"there are: {', '.join(names)}" if names else "it is tokenized and filtered already"


def statistics(loaded: Loaded) -> Statistics:
    """Return the size of a loaded dataset; train and test count together.

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
    """Count the documents without words; they are kept, so that the number of documents is the published one."""
    parts = loaded if isinstance(loaded, tuple) else (loaded,)
    return sum(int((np.diff(part.offsets) == 0).sum()) for part in parts)
