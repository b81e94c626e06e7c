"""The experiments of the paper: its tables and its figure, with our results and the published ones."""

from metalda.experiments.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
