"""Corpora to try things on: one that every Python brings along, and those of the paper."""

from metalda.datasets.newsgroups import load_newsgroups
from metalda.datasets.paper import load_tmn, load_ws
from metalda.datasets.python_docs import load_python_docs
from metalda.datasets.registry import Dataset, available, load
from metalda.datasets.reuters import load_reuters

__all__ = ["Dataset", "available", "load", "load_newsgroups", "load_python_docs", "load_reuters", "load_tmn", "load_ws"]
