"""The memory that a run needs, compared with the memory of the machine."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np

from metalda.errors import InputError
from metalda.samplers import Problem
from metalda.storage.arrays import is_mapped
from metalda.utils.chunks import CHUNK, tally

logger = logging.getLogger("metalda.memory")

NOTICE = 25  # between INFO and WARNING; `metalda fit` prints it
LARGE = 10**9  # bytes
ROWS = 4096  # documents or words whose proportions are computed at a time


def estimate_memory(problem: Problem, n_draws: int, n_jobs: int, n_chains: int = 1) -> int:
    """Estimate the peak bytes that `fit` and `save` add to those of Python, its modules and the corpus.

    Only arrays that grow with the corpus, the labels, the topics or the draws are counted. Memory-mapped words are not,
    because the system can drop them from memory. Draws are taken to have as many nonzero n[k, v] as random topics
    give; learned topics have fewer. docs/performance.md compares the estimate with measurements.
    """
    n_tokens, n_topics, n_words = len(problem.words), problem.n_topics, problem.n_words
    n_documents, n_shards = len(problem.offsets) - 1, len(problem.shards)
    cells = problem.n_cells
    designs = problem.doc_prior.design, problem.word_prior.design
    weights = n_topics * sum(len(design.names) for design in designs)
    # log weights, n[k, v], its row starts, three vectors over topics, and what the sampler adds
    each = 8 * weights + 8 * _expected_cells(problem) + 4 * n_words + 24 * n_topics
    draws = n_draws * (each + problem.sampler.draw_memory(problem))
    doc_topics, phi = 4 * n_topics * n_documents, 4 * n_topics * n_words
    words = 0 if is_mapped(problem.words) else n_tokens * (8 if n_shards > 1 else 4)
    blocks = 8 * n_documents * (n_shards + 1 if n_shards > 1 else 0)
    state = (
        2 * n_tokens  # z
        + blocks
        + problem.sampler.memory(problem, n_jobs)
        + 6 * cells  # n[k, v]
        + 8 * weights * (2 + n_shards)  # log weights, and the tables of every shard
        + 4 * n_topics * sum(design.n_rows for design in designs)  # alpha and beta
        + doc_topics
    )
    first_count = max(24 * cells, 20 * min(n_tokens, CHUNK))
    theta = 8 * n_topics * min(n_documents, ROWS)  # of the documents that are added at a time
    mean_phi = phi + 12 * n_topics * min(n_words, ROWS)
    pooled = doc_topics + phi if n_chains > 1 else 0
    kept = n_chains * draws + max(theta, n_chains * mean_phi) + pooled
    training = words + n_chains * state + max(first_count, kept)
    saving = n_chains * (doc_topics + phi + 2 * draws) + pooled  # draws are packed
    return max(training, saving)


def _expected_cells(problem: Problem) -> int:
    """Return the expected number of nonzero n[k, v] if every token has a random topic."""
    counts = np.bincount(tally(problem.words, problem.n_words))  # words by their number of tokens
    n_tokens = np.arange(len(counts))
    return int(counts @ (problem.n_topics * (1 - (1 - 1 / problem.n_topics) ** n_tokens)))


def require_memory(problem: Problem, n_draws: int, n_jobs: int, n_chains: int = 1) -> None:
    """Log the memory that training needs, and raise an error if the machine has less."""
    needed = estimate_memory(problem, n_draws, n_jobs, n_chains)
    available = available_memory()
    is_much = needed > LARGE or (available is not None and needed > available / 4)
    logger.log(NOTICE if is_much else logging.INFO, "Training needs up to %s of memory.", _readable(needed))
    if available is not None and needed > available:
        raise InputError(
            f"training needs up to {_readable(needed)} of memory, but this machine has {_readable(available)} free; "
            f"use fewer topics, fewer draws (n_draws), {'fewer chains (n_chains), ' if n_chains > 1 else ''}"
            "fewer threads (n_jobs) or a smaller vocabulary (min_df)"
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
    return "1 MB"
