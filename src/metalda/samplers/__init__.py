"""How topics are assigned to tokens."""

from metalda.samplers.counts import DenseCounts, SparseCounts, TopicCounts, counts_for

__all__ = ["DenseCounts", "SparseCounts", "TopicCounts", "counts_for"]
