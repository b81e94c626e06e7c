"""How topics are assigned to tokens."""

from metalda.samplers.tokens import Assignments, count_assignments, start_assignments, sweep_tokens

__all__ = ["Assignments", "count_assignments", "start_assignments", "sweep_tokens"]
