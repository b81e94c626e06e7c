"""The training loop: iterations of one or several chains with a progress bar, traces, and the draws that are kept."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from metalda.errors import ClusterError, warn
from metalda.kernels.border import needs_compiling
from metalda.priors import Learning
from metalda.samplers import Draw, Problem
from metalda.training.checkpoint import Checkpoint, Kept, Progress, TraceRow, stack_weights
from metalda.training.distributed.cluster import Cluster
from metalda.training.distributed.recovery import SNAPSHOT_EVERY, Recovery
from metalda.training.gibbs import Generators, start_chain, sweep
from metalda.training.schedule import ENOUGH_DRAWS, ENOUGH_EFFECTS, Stage, are_flat, has_new_weights, has_settled
from metalda.utils.checks import Arrays
from metalda.utils.progress import print_note, progress_bar, shows_progress
from metalda.utils.threads import RunEach, deferred_interrupt

if TYPE_CHECKING:
    from tqdm import tqdm

logger = logging.getLogger("metalda")

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of one chain."""

    draws: tuple[Draw, ...]
    weights: Mapping[str, NDArray[np.float32]]  # "label": log lambda[draw, l, k], "feature": log delta[draw, l, k]
    doc_topics: NDArray[np.float32]  # theta of the training documents, averaged over draws
    history: Arrays  # by iteration: log-likelihood per token, seconds, tokens moved, and tables of priors with tables
    n_sweeps: int
    seed: int


def chain_seeds(seed: int, n_chains: int) -> list[int]:
    """Return a seed for each chain. The first is the seed itself, and further chains do not change the earlier ones."""
    return [seed, *(int(np.random.default_rng([seed, chain]).integers(2**31)) for chain in range(1, n_chains))]


def train(
    problem: Problem,
    *,
    stages: Sequence[Stage],
    seeds: Sequence[int],
    n_jobs: int,
    verbose: bool,
    until_settled: bool = False,
    checkpoint: Checkpoint | None = None,
    cluster: Cluster | None = None,
) -> tuple[Trained, ...]:
    """Run a chain for each seed, from the checkpoint if there is one. Ctrl-C ends them after the current iteration.

    All chains finish an iteration before the next one starts, so they always have equally many iterations. The run has
    all stages, or with `until_settled` those up to the first that has settled.
    """
    limit, n_chains = stages[-1].n_iter, len(seeds)
    with ExitStack() as stack:
        run_chains = _pool(1 if cluster is not None else min(n_jobs, n_chains), stack)
        # With more threads than chains, the shards of all chains share a second pool.
        n_most = max(len(problem.shards), len(problem.stripes))
        n_threads = 1 if 1 < n_chains >= n_jobs else min(n_jobs, n_chains * n_most)
        run = _pool(n_threads, stack)
        n_threads = min(n_threads, len(problem.shards))
        interrupted = stack.enter_context(deferred_interrupt())
        if checkpoint is not None and checkpoint.exists:
            chains = checkpoint.load(problem, limit, n_threads, n_chains)
            logger.info("Resuming after iteration %d of %d.", chains[0].n_sweeps, limit)
        else:
            chains = [_start(problem, seed, n_threads) for seed in seeds]
        done, stop = chains[0].n_sweeps, False
        first, *others = (stage for stage in stages if stage.n_iter >= done)
        training = Training(problem, chains, first, run, cluster, interrupted.is_set, stack)
        stack.enter_context(_with_resume_advice(checkpoint))
        bar = stack.enter_context(_progress_bar(problem, done, first.n_iter, verbose, n_chains))
        for stage in (first, *others):
            if stage is not first:
                training.enter(stage)
                bar.total = stage.n_iter
            while done < stage.n_iter and not stop:
                likelihoods = list(run_chains(training.advance, range(n_chains)))
                bar.set_postfix_str(_likelihood_text(likelihoods), refresh=False)
                bar.update()
                stop, done = interrupted.is_set(), chains[0].n_sweeps
                due = checkpoint is not None and (stop or done == stage.n_iter or done % checkpoint.every == 0)
                if due or done in stage.keep or done % SNAPSHOT_EVERY == 0:
                    training.take_snapshots()
                if checkpoint is not None and due:
                    checkpoint.save(chains)
            if stop or (until_settled and has_settled(problem, stage, chains)):
                break
        else:
            if until_settled:
                _warn_of_limit(limit, are_flat(stages[-1], chains))
        training.finish()
    if stop and done < limit:
        message = "Stopped after %d of %d iterations; the model has the state of the last one."
        logger.warning(message, done, limit)
    return tuple(map(_finish, chains))


class Training:
    """Chains that advance together, in threads or on a cluster."""

    def __init__(
        self,
        problem: Problem,
        chains: Sequence[Progress],
        stage: Stage,
        run: RunEach,
        cluster: Cluster | None,
        is_interrupted: Callable[[], bool],
        stack: ExitStack,
    ) -> None:
        self._problem = problem
        self._chains = chains
        self._stage = stage
        self._run = run
        self._recoveries: list[Recovery] = []
        if cluster is not None:
            for chain in chains:
                recovery = Recovery(cluster, problem, chain, partial(self._repeat, chain), is_interrupted)
                self._recoveries.append(stack.enter_context(recovery))

    def advance(self, number: int) -> float:
        """Run one iteration of a chain; return the log-likelihood per token."""
        chain, stage = self._chains[number], self._stage
        return self._perform(number, lambda: _advance(self._problem, chain, stage.keep, stage.keep_weights, self._run))

    def take_snapshots(self) -> None:
        """Keep the states for the recovery from lost workers."""
        for recovery in self._recoveries:
            recovery(recovery.take_snapshot)

    def enter(self, stage: Stage) -> None:
        """Begin another stage. What the last stage kept is used only if Ctrl-C ends this one."""
        self._stage = stage
        for chain in self._chains:
            chain.earlier = Kept(chain.draws, chain.weights, chain.doc_topics)
            chain.draws, chain.weights, chain.doc_topics = [], {}, np.zeros_like(chain.doc_topics)
        self.take_snapshots()

    def finish(self) -> None:
        """Keep the last states. A stage that was ended early also has what the stage before it kept."""
        stage = self._stage
        for number, chain in enumerate(self._chains):
            self._perform(number, partial(_keep_last, chain, stage.keep))
            _keep_weights(chain, [name for name in stage.keep_weights if self._lacks_last(chain, name)])
            if chain.earlier is not None and chain.n_sweeps < stage.n_iter:
                chain.add(chain.earlier)

    def _lacks_last(self, chain: Progress, name: str) -> bool:
        """Return whether the last weights are no copy of those that are kept."""
        prior = self._problem.doc_prior if name == "label" else self._problem.word_prior
        is_new = isinstance(prior, Learning) and has_new_weights(prior, chain.n_sweeps)
        return is_new or not chain.weights.get(name)

    def _repeat(self, chain: Progress) -> float:
        """Run one iteration again after a loss, without keeping a draw."""
        return _sweep(self._problem, chain, self._stage.keep_weights, self._run)

    def _perform(self, number: int, action: Callable[[], T]) -> T:
        return self._recoveries[number](action) if self._recoveries else action()


def _warn_of_limit(limit: int, is_flat: bool) -> None:
    few = f"fewer than {ENOUGH_EFFECTS:.0%} of the label effects have {ENOUGH_DRAWS} effective draws"
    reason = few if is_flat else "the log-likelihood still has a trend"
    warn(
        f"after {limit:,} iterations {reason}: make n_iter_limit (--iteration-limit) larger, use more chains "
        "(n_chains, --chains), or fewer topics"
    )


def _pool(n_threads: int, stack: ExitStack) -> RunEach:
    """Return the map of a thread pool, or without threads the built-in one."""
    return stack.enter_context(ThreadPoolExecutor(n_threads)).map if n_threads > 1 else map


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


def _start(problem: Problem, seed: int, n_threads: int) -> Progress:
    rngs = Generators.spawn(seed, problem)
    state = start_chain(problem, rngs.start, n_threads)
    doc_topics = np.zeros((len(problem.offsets) - 1, problem.n_topics), np.float32)
    return Progress(state, rngs, [], {}, doc_topics, seed, [])


def _advance(
    problem: Problem, progress: Progress, keep: Set[int], keep_weights: Mapping[str, Set[int]], run: RunEach
) -> float:
    """Run one iteration, and keep its draw if it is due; return the log-likelihood per token."""
    likelihood = _sweep(problem, progress, keep_weights, run)
    if progress.n_sweeps in keep:
        _keep(progress)
    return likelihood


def _sweep(problem: Problem, progress: Progress, keep_weights: Mapping[str, Set[int]], run: RunEach) -> float:
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


def _keep_last(progress: Progress, keep: Set[int]) -> None:
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


def _likelihood_text(likelihoods: Sequence[float]) -> str:
    """Return the log-likelihood of the chain, or the lowest and the highest of several, for the progress bar."""
    lowest, highest = min(likelihoods), max(likelihoods)
    shown = f"{lowest:.3f}" if len(likelihoods) == 1 else f"{lowest:.3f} to {highest:.3f}"
    return f"log-likelihood {shown} per token"


def _progress_bar(problem: Problem, n_done: int, n_iter: int, verbose: bool, n_chains: int) -> tqdm:
    if shows_progress(verbose) and needs_compiling(*problem.sampler.kernels):
        print_note("Compiling the samplers. This takes a few seconds, on the first run only.")
    name = "iterations" if n_chains == 1 else f"iterations of {n_chains} chains"
    return progress_bar(verbose=verbose, total=n_iter, initial=n_done, desc=name, unit="iteration")
