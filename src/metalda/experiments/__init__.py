"""The paper's tables and its figure, ours beside theirs: one file each, and runs that are kept."""

from metalda.experiments.coherence import TABLE_OF_COHERENCE
from metalda.experiments.perplexity import TABLE_OF_VARIANTS, TABLES_OF_PERPLEXITY
from metalda.experiments.speed import TABLE_OF_SPEED
from metalda.experiments.unseen import FIGURE_OF_UNSEEN_WORDS

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        TABLE_OF_VARIANTS,
        TABLES_OF_PERPLEXITY,
        FIGURE_OF_UNSEEN_WORDS,
        TABLE_OF_COHERENCE,
        TABLE_OF_SPEED,
    )
}

__all__ = ["EXPERIMENTS"]
