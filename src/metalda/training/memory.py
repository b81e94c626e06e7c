"""The memory that a run needs, compared with the memory of the machine."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from metalda.errors import InputError
from metalda.samplers import Problem
from metalda.storage.arrays import is_mapped
from metalda.utils.chunks import CHUNK

logger = logging.getLogger("metalda.memory")


def estimate_memory(problem: Problem, n_draws: int, n_jobs: int) -> int:
    """Estimate the peak bytes of the arrays that grow with the corpus, the labels or the number of topics.

    Memory-mapped words are not counted, because the system can drop them from memory.
    """
    n_tokens, n_topics = len(problem.words), problem.n_topics
    n_documents, n_shards = len(problem.offsets) - 1, len(problem.shards)
    cells = problem.n_cells
    designs = problem.doc_prior.design, problem.word_prior.design
    weights = n_topics * sum(len(design.names) for design in designs)
    words = 0 if is_mapped(problem.words) else n_tokens * (8 if n_shards > 1 else 4)
    blocks = 8 * n_documents * (n_shards + 1 if n_shards > 1 else 0)
    training = (
        6 * cells  # n[k, v]
        + max(24 * cells, 20 * min(n_tokens, CHUNK))  # temporary arrays of the first count
        + 8 * weights * (2 + n_shards)  # log weights, and the tables of every shard
    )
    averaging = 2 * 4 * n_topics * problem.n_words  # components_, and a second copy while it is computed
    return (
        words
        + 2 * n_tokens  # z
        + blocks
        + problem.sampler.memory(problem, n_jobs)
        + max(training, averaging)
        + 4 * n_topics * sum(design.n_rows for design in designs)  # alpha and beta
        + 4 * n_topics * n_documents  # doc_topics_
        + n_draws * (8 * cells + 8 * weights)
    )


def require_memory(problem: Problem, n_draws: int, n_jobs: int) -> None:
    """Log the memory that training needs, and raise an error if the machine has less."""
    needed = estimate_memory(problem, n_draws, n_jobs)
    logger.info("Training needs %s of memory.", _readable(needed))
    available = available_memory()
    if available is not None and needed > available:
        raise InputError(
            f"training needs {_readable(needed)} of memory, but this machine has {_readable(available)} free; "
            "use fewer topics, fewer draws (n_draws), fewer threads (n_jobs) or a smaller vocabulary (min_df)"
        )


def available_memory() -> int | None:
    """Return the bytes available without swapping, at most the limit of the container; None if unknown."""
    known = [limit for limit in (_free_memory(), _container_limit()) if limit is not None]
    return min(known, default=None)


def _free_memory() -> int | None:
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container_limit() -> int | None:
    try:
        return int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):  # no container, or "max"
        return None


def _readable(n_bytes: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if n_bytes >= size:
            return f"about {n_bytes / size:.1f} {unit}"
    return "less than 1 MB"
