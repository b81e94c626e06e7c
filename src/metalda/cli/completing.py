"""What the shell offers after TAB; it waits, so nothing heavy is loaded."""

from __future__ import annotations

from metalda.models.registry import NAMES


def one_model() -> list[str]:
    """The names of models."""
    return list(NAMES)


def several_models(incomplete: str) -> list[str]:
    """The same after the last comma, without those that are there already."""
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in NAMES if name not in before.split(",")]


def one_dataset() -> list[str]:
    """The names of datasets."""
    from metalda.datasets.catalog import DATASETS

    return list(DATASETS)
