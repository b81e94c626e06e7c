"""Text in: documents as flat word ids, their labels as a named sparse matrix, and the readers that make them."""

from metalda.corpus.corpus import Corpus
from metalda.corpus.labels import as_labels
from metalda.corpus.named import NamedMatrix

__all__ = ["Corpus", "NamedMatrix", "as_labels"]
