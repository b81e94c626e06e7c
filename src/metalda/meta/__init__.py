"""Meta information of words: embeddings, and the binary features that a word prior uses."""

from metalda.meta.embeddings import Embeddings
from metalda.meta.word_features import WordFeatures, as_word_features

__all__ = ["Embeddings", "WordFeatures", "as_word_features"]
