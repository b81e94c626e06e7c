"""The training loop: iterations with a progress bar, a trace, and the draws that are kept."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metalda.errors import ClusterError
from metalda.kernels.border import needs_compiling
from metalda.priors import Learning
from metalda.samplers import Draw, Problem
from metalda.training.checkpoint import Checkpoint, Progress, TraceRow, stack_weights
from metalda.training.distributed.cluster import Cluster
from metalda.training.distributed.recovery import SNAPSHOT_EVERY, Recovery
from metalda.training.gibbs import Generators, start_chain, sweep
from metalda.utils.threads import Run, deferred_interrupt

logger = logging.getLogger("metalda")

MOST_WEIGHTS, LEAST_WEIGHT_DRAWS = 8_000_000, 19  # numbers: 32 MB; and the draws that a 90 % interval needs


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a run."""

    draws: tuple[Draw, ...]
    weights: Mapping[str, NDArray[np.float32]]  # "label": log lambda[draw, l, k], "feature": log delta[draw, l, k]
    doc_topics: NDArray[np.float32]  # theta of the training documents, averaged over draws
    history: dict[
        str, NDArray[Any]
    ]  # by iteration: log-likelihood per token, seconds, tokens moved, and tables of priors that draw them
    n_sweeps: int
    seed: int


def kept_iterations(n_iter: int, burn_in: int, thin: int | None, n_draws: int) -> set[int]:
    """Return the iterations whose states are kept as draws. The last iteration is always one.

    They are spread evenly over the iterations after the burn-in, or counted back from the last in steps of `thin`.
    """
    if thin is None:
        return {n_iter} | {n_iter - (n_iter - burn_in) * j // n_draws for j in range(n_draws) if n_iter > burn_in}
    return {n_iter} | {n_iter - j * thin for j in range(n_draws) if n_iter - j * thin > burn_in}


def weight_iterations(problem: Problem, n_iter: int, burn_in: int) -> dict[str, range]:
    """Return the iterations whose weights of labels and of features are kept: all after the burn-in, if they fit.

    Weights are small compared with a draw, and intervals of effects need many of them.
    """
    first = min(burn_in, n_iter - 1)
    iterations = {}
    for name, prior in (("label", problem.doc_prior), ("feature", problem.word_prior)):
        n_names = len(prior.design.names)
        if n_names > 1 and isinstance(prior, Learning):
            most = max(MOST_WEIGHTS // (n_names * problem.n_topics), LEAST_WEIGHT_DRAWS)
            iterations[name] = range(n_iter, first, -math.ceil((n_iter - first) / most))
    return iterations


def train(
    problem: Problem,
    *,
    n_iter: int,
    keep: set[int],
    keep_weights: Mapping[str, range],
    seed: int,
    n_jobs: int,
    verbose: bool,
    checkpoint: Checkpoint | None = None,
    cluster: Cluster | None = None,
) -> Trained:
    """Run the chain, from its checkpoint if there is one. Ctrl-C ends it after the current iteration."""
    n_jobs = min(n_jobs, max(len(problem.shards), len(problem.stripes)))
    pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None
    run = pool.map if pool else map
    with pool or nullcontext(), deferred_interrupt() as interrupted:
        n_threads = min(n_jobs, len(problem.shards))
        if checkpoint is not None and checkpoint.exists:
            progress = checkpoint.load(problem, n_iter, n_threads)
            logger.info("Resuming after iteration %d of %d.", progress.n_sweeps, n_iter)
        else:
            progress = _start(problem, seed, n_threads)
        survive = None
        if cluster is not None:
            step = partial(_sweep, problem, progress, keep_weights, run)
            survive = Recovery(cluster, problem, progress, step, interrupted.is_set)
        do = survive or _run_directly
        stop = False
        bar = _progress_bar(problem, progress.n_sweeps, n_iter, verbose)
        with survive or nullcontext(), _with_resume_advice(checkpoint), bar:
            while progress.n_sweeps < n_iter and not stop:
                likelihood = do(lambda: _advance(problem, progress, keep, keep_weights, run))
                bar.set_postfix_str(f"log-likelihood {likelihood:.3f} per token", refresh=False)
                bar.update()
                stop = interrupted.is_set()
                done = progress.n_sweeps
                due = checkpoint is not None and (stop or done == n_iter or done % checkpoint.every == 0)
                if survive is not None and (due or done in keep or done % SNAPSHOT_EVERY == 0):
                    survive(survive.take_snapshot)
                if checkpoint is not None and due:
                    checkpoint.save(progress)
            do(lambda: _keep_last(progress, keep))
            _keep_weights(progress, keep_weights)
    if progress.n_sweeps < n_iter:
        message = "Stopped after %d of %d iterations; the model has the state of the last one."
        logger.warning(message, progress.n_sweeps, n_iter)
    return _finish(progress)


@contextmanager
def _with_resume_advice(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Add to the error of a failed cluster the checkpoint from which training can resume."""
    try:
        yield
    except ClusterError as error:
        if checkpoint is None or not checkpoint.exists:
            raise
        advice = f"resume from the checkpoint in {checkpoint.folder} with resume=True (--resume)"
        raise ClusterError(f"{error}; {advice}") from error


def _run_directly(action: Callable[[], object]) -> Any:
    """Perform the action; on one machine no recovery is needed."""
    return action()


def _start(problem: Problem, seed: int, n_threads: int) -> Progress:
    rngs = Generators.spawn(seed, problem)
    state = start_chain(problem, rngs.start, n_threads)
    doc_topics = np.zeros((len(problem.offsets) - 1, problem.n_topics), np.float32)
    return Progress(state, rngs, [], {}, doc_topics, seed, [])


def _advance(
    problem: Problem, progress: Progress, keep: set[int], keep_weights: Mapping[str, range], run: Run
) -> float:
    """Run one iteration, and keep its draw if it is due; return the log-likelihood per token."""
    likelihood = _sweep(problem, progress, keep_weights, run)
    if progress.n_sweeps in keep:
        _keep(progress)
    return likelihood


def _sweep(problem: Problem, progress: Progress, keep_weights: Mapping[str, range], run: Run) -> float:
    start = time.perf_counter()
    progress.state, record = sweep(problem, progress.state, progress.rngs, run)
    seconds = time.perf_counter() - start
    likelihood = record.log_likelihood / len(problem.words)
    tables = record.n_doc_tables, record.n_word_tables
    progress.trace.append(TraceRow(likelihood, seconds, record.moved, *tables))
    _keep_weights(progress, [name for name, iterations in keep_weights.items() if progress.n_sweeps in iterations])
    return likelihood


def _keep(progress: Progress) -> None:
    """Keep the state as a draw. A lost worker may interrupt this, so the progress changes only after it is complete."""
    draw = progress.state.keep()
    progress.state.assignment.add_theta(progress.state.alpha, progress.doc_topics)
    progress.draws.append(draw)


def _keep_weights(progress: Progress, names: Iterable[str]) -> None:
    """Keep the weights of this iteration. An iteration that is repeated after a loss replaces its own."""
    state = progress.state
    for name in names:
        weights = state.log_doc_weights if name == "label" else state.log_word_weights
        progress.weights.setdefault(name, {})[progress.n_sweeps] = weights.astype(np.float32)


def _keep_last(progress: Progress, keep: set[int]) -> None:
    """Keep the last state of a chain that was stopped early, unless it is a draw already."""
    if progress.n_sweeps not in keep:
        _keep(progress)


def _finish(progress: Progress) -> Trained:
    columns = dict(zip(TraceRow._fields, zip(*progress.trace, strict=True), strict=True))
    history = {"iteration": np.arange(1, progress.n_sweeps + 1)}
    history |= {name: np.array(columns[name]) for name in ("log_likelihood", "seconds", "moved")}
    history |= {name: np.array(columns[name]) for name in ("doc_tables", "word_tables") if any(columns[name])}
    progress.doc_topics /= np.float32(len(progress.draws))
    return Trained(
        draws=tuple(progress.draws),
        weights={name: stack_weights(own) for name, own in progress.weights.items()},
        doc_topics=progress.doc_topics,
        history=history,
        n_sweeps=progress.n_sweeps,
        seed=progress.seed,
    )


def _progress_bar(problem: Problem, n_done: int, n_iter: int, verbose: bool) -> Any:
    from tqdm import tqdm

    shown = verbose and sys.stderr is not None and sys.stderr.isatty()
    if shown and needs_compiling(*problem.sampler.kernels):
        tqdm.write("Compiling the samplers. This takes a few seconds, on the first run only.", file=sys.stderr)
    return tqdm(
        total=n_iter,
        initial=n_done,
        desc="iterations",
        unit="iteration",
        disable=not shown,
        dynamic_ncols=True,
        file=sys.stderr,
    )
