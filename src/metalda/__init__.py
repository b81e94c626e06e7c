"""metalda: topic models that use the labels of documents and the features of words.

Names are imported when they are first used, so that ``import metalda`` loads neither Numba nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
    "Corpus": "metalda.corpus",
    "Embeddings": "metalda.meta",
    "WordFeatures": "metalda.meta",
    "read_seeds": "metalda.meta",
    "stop_words": "metalda.corpus",
    "MetaLDA": "metalda.models",
    "LDA": "metalda.models",
    "LabeledLDA": "metalda.models",
    "PartiallyLabeledLDA": "metalda.models",
    "DMR": "metalda.models",
    "WFLDA": "metalda.models",
    "LFLDA": "metalda.models",
    "DMM": "metalda.models",
    "GPUDMM": "metalda.models",
    "PTM": "metalda.models",
    "load": "metalda.models",
    "read_mallet_state": "metalda.models",
    "read_names": "metalda.models",
    "WindowCounts": "metalda.evaluation",
    "coherence": "metalda.evaluation",
    "compare": "metalda.evaluation",
    "diagnose_chains": "metalda.evaluation",
    "exclusivity": "metalda.evaluation",
    "plot_search": "metalda.evaluation",
    "search_k": "metalda.evaluation",
    "stability": "metalda.evaluation",
    "to_inference_data": "metalda.evaluation",
    "topic_diversity": "metalda.evaluation",
    "count_windows": "metalda.evaluation",
    "score_intrusion": "metalda.evaluation",
    "score_topics": "metalda.evaluation",
    "plot_effects": "metalda.evaluation",
    "plot_prevalence": "metalda.evaluation",
    "write_intrusion_tasks": "metalda.report",
    "write_network": "metalda.report",
    "write_report": "metalda.report",
}

__all__ = [
    "DMM",
    "DMR",
    "GPUDMM",
    "LDA",
    "LFLDA",
    "PTM",
    "WFLDA",
    "Corpus",
    "Embeddings",
    "LabeledLDA",
    "MetaLDA",
    "PartiallyLabeledLDA",
    "WindowCounts",
    "WordFeatures",
    "__version__",
    "coherence",
    "compare",
    "count_windows",
    "diagnose_chains",
    "exclusivity",
    "load",
    "plot_effects",
    "plot_prevalence",
    "plot_search",
    "read_mallet_state",
    "read_names",
    "read_seeds",
    "score_intrusion",
    "score_topics",
    "search_k",
    "stability",
    "stop_words",
    "to_inference_data",
    "topic_diversity",
    "write_intrusion_tasks",
    "write_network",
    "write_report",
]

if TYPE_CHECKING:
    from metalda import datasets as datasets
    from metalda.corpus import Corpus, stop_words
    from metalda.evaluation import (
        WindowCounts,
        coherence,
        compare,
        count_windows,
        diagnose_chains,
        exclusivity,
        plot_effects,
        plot_prevalence,
        plot_search,
        score_intrusion,
        score_topics,
        search_k,
        stability,
        to_inference_data,
        topic_diversity,
    )
    from metalda.meta import Embeddings, WordFeatures, read_seeds
    from metalda.models import (
        DMM,
        DMR,
        GPUDMM,
        LDA,
        LFLDA,
        PTM,
        WFLDA,
        LabeledLDA,
        MetaLDA,
        PartiallyLabeledLDA,
        load,
        read_mallet_state,
        read_names,
    )
    from metalda.report import write_intrusion_tasks, write_network, write_report


def __getattr__(name: str) -> object:
    if name == "datasets":
        return import_module("metalda.datasets")
    if name not in _HOME:
        raise AttributeError(f"module 'metalda' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "datasets"])
