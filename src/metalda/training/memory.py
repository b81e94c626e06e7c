"""How much memory a run will take, and whether the machine has it."""

from __future__ import annotations

import logging
import os

import numpy as np

from metalda.errors import InputError
from metalda.training.gibbs import Problem

logger = logging.getLogger("metalda")


def estimate_memory(problem: Problem, n_draws: int, n_jobs: int) -> int:
    """Bytes for the arrays that grow with the corpus or with the number of topics."""
    n_tokens, n_topics = len(problem.words), problem.n_topics
    n_documents = len(problem.offsets) - 1
    n_replicas = min(n_jobs, len(problem.shards))
    frequencies = np.bincount(problem.words, minlength=problem.n_words)
    cells = int(np.minimum(frequencies, n_topics).sum())  # of n[k, v] that can be other than 0
    word_rows = problem.word_prior.design.n_rows
    return (
        n_tokens * (4 + 2 + (2 if len(problem.shards) > 1 else 0))
        + 6 * cells * n_replicas  # n[k, v]
        + 4 * n_topics * (word_rows + problem.doc_prior.design.n_rows)  # beta and alpha
        + 4 * n_topics * n_documents  # doc_topics_
        + 8 * cells * n_draws
        + 2 * 4 * n_topics * problem.n_words  # components_, and one more while it is averaged
    )


def require_memory(problem: Problem, n_draws: int, n_jobs: int) -> None:
    """Say what will be needed, and stop before it is too late."""
    needed = estimate_memory(problem, n_draws, n_jobs)
    logger.info("Training needs about %s of memory.", _readable(needed))
    available = available_memory()
    if available is not None and needed > available:
        raise InputError(
            f"training needs about {_readable(needed)} of memory, but this machine has {_readable(available)} free; "
            "take fewer topics, fewer draws (n_draws), fewer threads (n_jobs) or a smaller vocabulary (min_df)"
        )


def available_memory() -> int | None:
    """Bytes that can be had without swapping, where the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _readable(n_bytes: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return "less than 1 MB"
