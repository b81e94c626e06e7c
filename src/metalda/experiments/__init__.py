"""The experiments of the paper: its tables and its figure, with our figures and the paper's."""

from metalda.experiments.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
