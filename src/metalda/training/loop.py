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
from metalda.kernels.sparse import sweep_sparse
from metalda.training.draws import Draw
from metalda.training.gibbs import ChainState, Generators, Problem, start_chain, sweep
from metalda.training.threads import deferred_interrupt

logger = logging.getLogger("metalda")


@dataclass(frozen=True, eq=False)
class Trained:
    """What a run leaves behind."""

    draws: tuple[Draw, ...]
    doc_topics: NDArray[np.float32]  # theta of the training documents, averaged over draws
    history: dict[str, NDArray[Any]]  # log-likelihood per token, seconds, and tokens moved, by sweep
    n_sweeps: int


def kept_sweeps(n_iter: int, burn_in: int | None, thin: int, n_draws: int) -> set[int]:
    """Which sweeps are kept: counted back from the last in steps of `thin`, and none from the burn-in but the last."""
    first = n_iter // 2 if burn_in is None else burn_in
    return {n_iter} | {n_iter - j * thin for j in range(n_draws) if n_iter - j * thin > first}


def train(problem: Problem, *, n_iter: int, keep: set[int], seed: int, n_jobs: int, verbose: bool) -> Trained:
    """Run the chain. Ctrl-C ends it after the sweep under way and keeps what was learnt."""
    n_jobs = min(n_jobs, max(len(problem.shards), len(problem.stripes)))
    rngs = Generators.spawn(seed, problem)
    state = start_chain(problem, rngs.doc_weights, min(n_jobs, len(problem.shards)))
    draws: list[Draw] = []
    doc_topics = np.zeros((len(problem.offsets) - 1, problem.n_topics), np.float32)
    trace: list[tuple[float, float, int]] = []
    pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None
    with pool or nullcontext(), deferred_interrupt() as interrupted, _progress(n_iter, verbose) as bar:
        for number in range(1, n_iter + 1):
            state, record = sweep(problem, state, rngs, pool.map if pool else map)
            likelihood = record.log_likelihood / len(problem.words)
            trace.append((likelihood, record.seconds, record.moved))
            if number in keep or (interrupted.is_set() and not draws):
                draws.append(Draw.keep(problem, state))
                _add_theta(problem, state, doc_topics)
            bar.set_postfix_str(f"log-likelihood {likelihood:.3f} per word", refresh=False)
            bar.update()
            if interrupted.is_set() and number < n_iter:
                logger.warning(
                    "Stopped after %d of %d sweeps; the model keeps what it had learnt by then.", number, n_iter
                )
                break
    doc_topics /= np.float32(len(draws))
    likelihoods, seconds, moved = zip(*trace, strict=True)
    history = {
        "sweep": np.arange(1, len(trace) + 1),
        "log_likelihood": np.array(likelihoods),
        "seconds": np.array(seconds),
        "moved": np.array(moved, np.int64),
    }
    return Trained(tuple(draws), doc_topics, history, len(trace))


def _add_theta(problem: Problem, state: ChainState, total: NDArray[np.float32]) -> None:
    """Add (alpha[d, k] + m[d, k]) / (alpha[d, .] + N[d]) of this state, some documents at a time."""
    rows, offsets = problem.doc_prior.design.row_of, problem.offsets
    for first in range(0, len(total), 4096):
        last = min(first + 4096, len(total))
        documents = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
        theta = state.alpha.values[rows[first:last]]
        np.add.at(theta, (documents, state.topics[offsets[first] : offsets[last]]), np.float32(1))
        total[first:last] += theta / theta.sum(axis=1, keepdims=True)


def _progress(n_iter: int, verbose: bool) -> Any:
    from tqdm import tqdm

    shown = verbose and sys.stderr is not None and sys.stderr.isatty()
    if shown and needs_compiling(sweep_sparse):
        tqdm.write("Compiling the samplers: some seconds, on the first run only.", file=sys.stderr)
    return tqdm(total=n_iter, desc="sweeps", unit="sweep", disable=not shown, dynamic_ncols=True, file=sys.stderr)
