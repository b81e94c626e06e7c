"""Corpora to try things on: one that every Python brings along, those of the paper, and larger ones."""

from metalda.datasets.catalogue import Dataset, Statistics
from metalda.datasets.newsgroups import load_newsgroups
from metalda.datasets.nyt import load_nyt
from metalda.datasets.paper import load_an, load_tmn, load_ws
from metalda.datasets.places import cache_folder
from metalda.datasets.python_docs import load_python_docs
from metalda.datasets.registry import available, count_empty, describe, load, statistics
from metalda.datasets.reuters import load_reuters
from metalda.datasets.tables import load_arxiv, load_wikipedia

__all__ = [
    "Dataset",
    "Statistics",
    "available",
    "cache_folder",
    "count_empty",
    "describe",
    "load",
    "load_an",
    "load_arxiv",
    "load_newsgroups",
    "load_nyt",
    "load_python_docs",
    "load_reuters",
    "load_tmn",
    "load_wikipedia",
    "load_ws",
    "statistics",
]
