"""The training loop: sweeps with a progress bar, a trace, and the draws that are kept."""

from __future__ import annotations

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metalda.kernels.border import needs_compiling
from metalda.samplers import Draw, Problem
from metalda.training.checkpoint import Checkpoint, Progress
from metalda.training.gibbs import Generators, start_chain, sweep
from metalda.training.threads import deferred_interrupt

logger = logging.getLogger("metalda")


@dataclass(frozen=True, eq=False)
class Trained:
    """What a run leaves behind."""

    draws: tuple[Draw, ...]
    doc_topics: NDArray[np.float32]  # theta of the training documents, averaged over draws
    history: dict[str, NDArray[Any]]  # log-likelihood per token, seconds, and tokens moved, by sweep
    n_sweeps: int
    seed: int


def kept_sweeps(n_iter: int, burn_in: int | None, thin: int, n_draws: int) -> set[int]:
    """Which sweeps are kept: counted back from the last in steps of `thin`, and none from the burn-in but the last."""
    first = n_iter // 2 if burn_in is None else burn_in
    return {n_iter} | {n_iter - j * thin for j in range(n_draws) if n_iter - j * thin > first}


def train(
    problem: Problem,
    *,
    n_iter: int,
    keep: set[int],
    seed: int,
    n_jobs: int,
    verbose: bool,
    checkpoint: Checkpoint | None = None,
) -> Trained:
    """Run the chain, from its checkpoint if there is one. Ctrl-C ends it after the sweep under way, and keeps it."""
    n_jobs = min(n_jobs, max(len(problem.shards), len(problem.stripes)))
    pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None
    with pool or nullcontext(), deferred_interrupt() as interrupted:
        n_threads = min(n_jobs, len(problem.shards))
        if checkpoint is not None and checkpoint.exists:
            progress = checkpoint.load(problem, n_threads)
            logger.info("Going on after sweep %d of %d.", progress.n_sweeps, n_iter)
        else:
            progress = _start(problem, seed, n_threads)
        stop = False
        with _progress_bar(problem, progress.n_sweeps, n_iter, verbose) as bar:
            while progress.n_sweeps < n_iter and not stop:
                likelihood = _advance(problem, progress, keep, pool.map if pool else map)
                bar.set_postfix_str(f"log-likelihood {likelihood:.3f} per word", refresh=False)
                bar.update()
                stop = interrupted.is_set()
                done = progress.n_sweeps
                if checkpoint is not None and (stop or done == n_iter or done % checkpoint.every == 0):
                    checkpoint.save(progress)
    if progress.n_sweeps < n_iter:
        message = "Stopped after %d of %d sweeps; the model keeps what it had learnt by then."
        logger.warning(message, progress.n_sweeps, n_iter)
    if progress.n_sweeps not in keep:  # stopped early: the last state is always a draw
        _keep(progress)
    return _finish(progress)


def _start(problem: Problem, seed: int, n_threads: int) -> Progress:
    rngs = Generators.spawn(seed, problem)
    state = start_chain(problem, rngs.start, n_threads)
    doc_topics = np.zeros((len(problem.offsets) - 1, problem.n_topics), np.float32)
    return Progress(state, rngs, [], doc_topics, seed, [])


def _advance(problem: Problem, progress: Progress, keep: set[int], run: Any) -> float:
    """One sweep, and its draw if it is to be kept; returns the log-likelihood per word."""
    progress.state, record = sweep(problem, progress.state, progress.rngs, run)
    likelihood = record.log_likelihood / len(problem.words)
    progress.trace.append((likelihood, record.seconds, record.moved))
    if progress.n_sweeps in keep:
        _keep(progress)
    return likelihood


def _keep(progress: Progress) -> None:
    progress.draws.append(progress.state.keep())
    progress.state.assignment.add_theta(progress.state.alpha, progress.doc_topics)


def _finish(progress: Progress) -> Trained:
    likelihoods, seconds, moved = zip(*progress.trace, strict=True)
    history = {
        "sweep": np.arange(1, progress.n_sweeps + 1),
        "log_likelihood": np.array(likelihoods),
        "seconds": np.array(seconds),
        "moved": np.array(moved, np.int64),
    }
    progress.doc_topics /= np.float32(len(progress.draws))
    return Trained(tuple(progress.draws), progress.doc_topics, history, progress.n_sweeps, progress.seed)


def _progress_bar(problem: Problem, n_done: int, n_iter: int, verbose: bool) -> Any:
    from tqdm import tqdm

    shown = verbose and sys.stderr is not None and sys.stderr.isatty()
    if shown and needs_compiling(*problem.sampler.kernels):
        tqdm.write("Compiling the samplers: some seconds, on the first run only.", file=sys.stderr)
    return tqdm(
        total=n_iter,
        initial=n_done,
        desc="sweeps",
        unit="sweep",
        disable=not shown,
        dynamic_ncols=True,
        file=sys.stderr,
    )
