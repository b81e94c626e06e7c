"""How topics are assigned to tokens."""

from metalda.samplers.counts import TopicCounts

__all__ = ["TopicCounts"]
