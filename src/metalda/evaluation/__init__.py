"""How good a model is, and models beside each other: calls models, and is called by nothing below the command line."""

from metalda.evaluation.comparison import compare
from metalda.evaluation.diversity import topic_diversity
from metalda.evaluation.prediction import label_accuracy

__all__ = ["compare", "label_accuracy", "topic_diversity"]
