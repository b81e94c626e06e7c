"""Meta information: the design matrix of labels and features, word features and embeddings."""

from metalda.meta.embeddings import Embeddings
from metalda.meta.word_features import WordFeatures, as_word_features

__all__ = ["Embeddings", "WordFeatures", "as_word_features"]
