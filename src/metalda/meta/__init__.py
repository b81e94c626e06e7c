"""Meta information: the design matrix of labels and features, word features, embeddings and seed words."""

from metalda.meta.embeddings import Embeddings
from metalda.meta.seeds import read_seeds
from metalda.meta.word_features import WordFeatures, as_word_features

__all__ = ["Embeddings", "WordFeatures", "as_word_features", "read_seeds"]
