"""How good a model is, and models beside each other: calls models, and is called by nothing below the command line."""

from metalda.evaluation.chains import diagnose_chains
from metalda.evaluation.coherence import Coherence, coherence, score_topics
from metalda.evaluation.comparison import compare
from metalda.evaluation.diversity import exclusivity, topic_diversity
from metalda.evaluation.effect_plots import plot_effects
from metalda.evaluation.inference_data import to_inference_data
from metalda.evaluation.plotting import plot_search
from metalda.evaluation.prediction import label_accuracy
from metalda.evaluation.search import search_k
from metalda.evaluation.stability import Stability, stability
from metalda.evaluation.windows import WindowCounts, count_windows

__all__ = [
    "Coherence",
    "Stability",
    "WindowCounts",
    "coherence",
    "compare",
    "count_windows",
    "diagnose_chains",
    "exclusivity",
    "label_accuracy",
    "plot_effects",
    "plot_search",
    "score_topics",
    "search_k",
    "stability",
    "to_inference_data",
    "topic_diversity",
]
