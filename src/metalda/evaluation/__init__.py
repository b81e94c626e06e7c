"""Evaluation of models: coherence, prediction, stability, convergence, human validation, and comparisons."""

from metalda.evaluation.agreement import krippendorff_alpha
from metalda.evaluation.chains import diagnose_chains, to_inference_data
from metalda.evaluation.clustering import label_agreement
from metalda.evaluation.coherence import Coherence, coherence, score_topics
from metalda.evaluation.comparison import compare, search_k
from metalda.evaluation.intrusion import IntrusionKey, IntrusionTasks, make_intrusion_tasks
from metalda.evaluation.intrusion_scores import IntrusionAnswers, IntrusionScores, score_intrusion
from metalda.evaluation.matching import Stability, recurring_topics, stability
from metalda.evaluation.measures import exclusivity, label_accuracy, label_baseline, topic_diversity
from metalda.evaluation.plots import plot_effects, plot_prevalence, plot_search
from metalda.evaluation.windows import WindowCounts, count_windows

__all__ = [
    "Coherence",
    "IntrusionAnswers",
    "IntrusionKey",
    "IntrusionScores",
    "IntrusionTasks",
    "Stability",
    "WindowCounts",
    "coherence",
    "compare",
    "count_windows",
    "diagnose_chains",
    "exclusivity",
    "krippendorff_alpha",
    "label_accuracy",
    "label_agreement",
    "label_baseline",
    "make_intrusion_tasks",
    "plot_effects",
    "plot_prevalence",
    "plot_search",
    "recurring_topics",
    "score_intrusion",
    "score_topics",
    "search_k",
    "stability",
    "to_inference_data",
    "topic_diversity",
]
