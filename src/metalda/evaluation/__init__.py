"""How good a model is, and models beside each other: calls models, and is called by nothing below the command line."""

from metalda.evaluation.chains import diagnose_chains
from metalda.evaluation.comparison import compare
from metalda.evaluation.diversity import exclusivity, topic_diversity
from metalda.evaluation.plotting import plot_search
from metalda.evaluation.prediction import label_accuracy
from metalda.evaluation.search import search_k
from metalda.evaluation.stability import Stability, stability

__all__ = [
    "Stability",
    "compare",
    "diagnose_chains",
    "exclusivity",
    "label_accuracy",
    "plot_search",
    "search_k",
    "stability",
    "topic_diversity",
]
