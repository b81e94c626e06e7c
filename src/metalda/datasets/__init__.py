"""Example corpora: docstrings of the Python standard library, the corpora of the paper, and larger ones."""

from metalda.datasets.catalog import Dataset, Statistics, cache_folder
from metalda.datasets.news import load_newsgroups, load_nyt, load_reuters
from metalda.datasets.preprocessing import NLTK_STOP_WORDS
from metalda.datasets.python_docs import load_python_docs
from metalda.datasets.registry import available, count_empty, describe, load, statistics
from metalda.datasets.tabular import load_an, load_arxiv, load_tmn, load_wikipedia, load_ws

__all__ = [
    "NLTK_STOP_WORDS",
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
