"""Corpora: documents as flat word ids, their labels as a named sparse matrix, and the schema by which they are read.

Names are imported when they are first used, so that the command line can list formats without loading SciPy.
"""

from typing import TYPE_CHECKING

__all__ = ["FORMATS", "Corpus", "NamedMatrix", "Schema", "as_labels", "stop_words"]

_HOME = {
    "FORMATS": "formats",
    "Corpus": "corpus",
    "NamedMatrix": "matrix",
    "Schema": "schema",
    "as_labels": "labels",
    "stop_words": "languages",
}

if TYPE_CHECKING:
    from metalda.corpus.corpus import Corpus
    from metalda.corpus.formats import FORMATS
    from metalda.corpus.labels import as_labels
    from metalda.corpus.languages import stop_words
    from metalda.corpus.matrix import NamedMatrix
    from metalda.corpus.schema import Schema


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'metalda.corpus' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"metalda.corpus.{_HOME[name]}"), name)
