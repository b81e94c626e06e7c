"""The progress of a run on disk. A resumed run gives the same model as an uninterrupted one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metalda.errors import InputError, StorageError, hint
from metalda.samplers import Draw, Problem
from metalda.samplers.draws import pack_draws, unpack_draws
from metalda.storage import Remote, check_writable, locate, locked, read_folder, remove_unfinished, write_folder
from metalda.training.gibbs import ChainState, Generators, resume_chain
from metalda.utils.checks import (
    Array,
    Arrays,
    JsonObject,
    check_array,
    check_integer,
    check_object,
    check_range,
    reading_damage,
)

KIND = "checkpoint"
_REMEDY = "start again without it"

Packed = tuple[JsonObject, dict[str, Array]]  # a document for JSON, and arrays


class TraceRow(NamedTuple):
    """The trace of one iteration."""

    log_likelihood: float  # per token
    seconds: float
    moved: int
    doc_tables: int
    word_tables: int


class Kept(NamedTuple):
    """What a stage of a run has kept; fields as in `Progress`."""

    draws: list[Draw]
    weights: dict[str, dict[int, NDArray[np.float32]]]
    doc_topics: NDArray[np.float32]


@dataclass
class Progress:
    """Everything that an iteration of a chain changes."""

    state: ChainState
    rngs: Generators
    draws: list[Draw]
    weights: dict[str, dict[int, NDArray[np.float32]]]  # of labels and of features, by iteration
    doc_topics: NDArray[np.float32]  # sum over the draws so far
    seed: int
    trace: list[TraceRow]  # by iteration
    earlier: Kept | None = None  # of the stage before this one; not in a checkpoint

    @property
    def n_sweeps(self) -> int:
        return len(self.trace)

    def add(self, earlier: Kept) -> None:
        """Put what an earlier stage kept before what this one has."""
        self.draws = [*earlier.draws, *self.draws]
        self.weights = {name: {**own, **self.weights.get(name, {})} for name, own in earlier.weights.items()}
        self.doc_topics += earlier.doc_topics


@dataclass(frozen=True)
class Checkpoint:
    """A folder that holds the progress of one run, and the identity of that run.

    The identity consists of fingerprints of the data and of the parameters that decide the result.
    """

    folder: Path | Remote
    every: int
    identity: JsonObject

    @property
    def exists(self) -> bool:
        return (self.folder / f"{KIND}.json").exists()

    @contextmanager
    def hold(self, resume: bool) -> Iterator[None]:
        """Keep the folder for this run.

        Raises an error if another process uses it, if it holds the progress of an earlier run and `resume` is False, or
        if it cannot be written.
        """
        check_writable(self.folder, KIND)
        with locked(self.folder, KIND) as is_locked:
            if self.exists and not resume:
                raise InputError(
                    f"{self.folder}: there is a checkpoint already; resume from it with resume=True (--resume), "
                    "or give another folder"
                )
            if resume and not self.exists:
                hint(f"{self.folder}: there is no checkpoint to resume from, so training starts at the first iteration")
            if is_locked:
                remove_unfinished(self.folder, KIND)
            yield

    def save(self, chains: Sequence[Progress]) -> None:
        """Save all chains at once, so that they have the same number of iterations."""
        document, arrays = join_chains([_pack_progress(chain) for chain in chains])
        write_folder(self.folder, KIND, {"identity": dict(self.identity), **document}, arrays)

    def load(self, problem: Problem, n_iter: int, n_threads: int, n_chains: int) -> list[Progress]:
        """Return the progress of this run. A checkpoint of another run raises an error that names the difference."""
        document, arrays = read_folder(self.folder, KIND)
        self._check_identity(document.get("identity"))
        with reading_damage(self.folder, KIND, _REMEDY):
            packed = split_chains(document, arrays, n_chains)
            chains = [_unpack_progress(*own, problem, n_threads) for own in packed]
            if len({chain.n_sweeps for chain in chains}) > 1:
                raise StorageError("the traces of the chains have different lengths")
            if chains[0].n_sweeps > n_iter:
                raise StorageError(f"trace has more than {n_iter:,} iterations")
            return chains

    def _check_identity(self, saved: object) -> None:
        if not isinstance(saved, dict) or not isinstance(saved.get("parameters"), dict):
            raise StorageError(f"{self.folder}: the checkpoint is damaged (no identity); {_REMEDY}")
        for what, value in self.identity.items():
            if what != "parameters" and saved.get(what) != value:
                raise InputError(
                    f"{self.folder}: the checkpoint belongs to other data ({what} differ); "
                    "give the data it was made with, or another folder"
                )
        before, now = saved["parameters"], self.identity["parameters"]
        changed = [name for name in now if before.get(name) != now[name]]
        if changed:
            shown = ", ".join(f"{name}={before.get(name)!r}, now {now[name]!r}" for name in changed)
            raise InputError(
                f"{self.folder}: the checkpoint was made with other parameters ({shown}); "
                "give the same ones, or another folder"
            )


def join_chains(packed: Sequence[Packed]) -> Packed:
    """Return one document and its arrays: those of the first chain, and the others in ``chains`` and ``chain1.`` …."""
    (first, arrays), *others = packed
    document = {**first, "chains": [own for own, _ in others]} if others else dict(first)
    further = {f"chain{c}.{name}": array for c, (_, own) in enumerate(others, start=1) for name, array in own.items()}
    return document, {**arrays, **further}


def split_chains(document: JsonObject, arrays: Arrays, n_chains: int) -> list[Packed]:
    """Return what `join_chains` joined; StorageError unless there are so many chains."""
    others = document.get("chains", [])
    if not isinstance(others, list) or len(others) != n_chains - 1:
        raise StorageError(f"chains must be a list of {n_chains - 1:,}")
    found = []
    for c, own in enumerate(others, start=1):
        found.append((check_object("a chain", own), _under(arrays, f"chain{c}.")))
    taken = {f"chain{c}.{name}" for c, (_, own) in enumerate(found, start=1) for name in own}
    first = {name: array for name, array in arrays.items() if name not in taken}
    return [(dict(document), first), *found]


def _pack_progress(progress: Progress) -> Packed:
    """Return the progress of a chain as a document for JSON and arrays."""
    state = progress.state
    arrays: dict[str, Array] = {
        **{f"assignment.{name}": array for name, array in state.assignment.arrays.items()},
        "log_doc_weights": state.log_doc_weights,
        "log_word_weights": state.log_word_weights,
        "trace": np.array(progress.trace, np.float64).reshape(-1, len(TraceRow._fields)),
    }
    for name, weights in progress.weights.items():
        arrays[f"weights.{name}"] = stack_weights(weights)
        arrays[f"iterations.{name}"] = np.array(sorted(weights), np.int64)
    if progress.draws:  # doc_topics is the sum over draws
        arrays["doc_topics"] = progress.doc_topics
        arrays.update({f"draws.{name}": array for name, array in pack_draws(progress.draws).items()})
    generators = [rng.bit_generator.state for rng in progress.rngs.all]
    return {"seed": progress.seed, "generators": generators}, arrays


def _unpack_progress(document: JsonObject, arrays: Arrays, problem: Problem, n_threads: int) -> Progress:
    """Return the progress that `_pack_progress` packed. Every value is checked before it is used."""
    n_documents, n_topics = len(problem.offsets) - 1, problem.n_topics
    rngs = Generators.spawn(0, problem)
    for rng, saved in zip(rngs.all, document["generators"], strict=True):
        rng.bit_generator.state = _checked_generator(saved)
    log_doc_weights, log_word_weights = arrays["log_doc_weights"].copy(), arrays["log_word_weights"].copy()
    problem.doc_prior.check_weights("log_doc_weights", log_doc_weights, None, n_topics)
    problem.word_prior.check_weights("log_word_weights", log_word_weights, None, n_topics)
    check_array("trace", arrays["trace"], np.float64, (None, len(TraceRow._fields)))
    check_range("the seconds and counts of the trace", arrays["trace"][:, 1:], 0, 2**53)
    trace = [TraceRow(float(a), float(b), *map(int, counts)) for a, b, *counts in arrays["trace"]]
    assignment = _under(arrays, "assignment.")
    state = resume_chain(problem, assignment, log_doc_weights, log_word_weights, len(trace), n_threads)
    draws, doc_topics = [], np.zeros((n_documents, n_topics), np.float32)
    if packed := _under(arrays, "draws."):
        sampler = problem.sampler
        priors = problem.doc_prior, problem.word_prior
        draws = unpack_draws(packed, *priors, sampler.check_extra, sampler.n_wording_groups)
        if len(draws[0].mean_alpha) != n_topics:
            raise StorageError(f"the draws must have {n_topics:,} topics")
        for draw in draws:
            draw.check_mass(problem.word_prior)
        doc_topics = arrays["doc_topics"].copy()
        check_array("doc_topics", doc_topics, np.float32, (n_documents, n_topics))
        check_range("doc_topics", doc_topics, 0, len(draws) * (1 + 1e-3))
    weights = {}
    for name, prior in (("label", problem.doc_prior), ("feature", problem.word_prior)):
        if f"weights.{name}" in arrays:
            own, iterations = arrays[f"weights.{name}"], arrays[f"iterations.{name}"]
            prior.check_kept_weights(f"weights.{name}", own, n_topics)
            check_array(f"iterations.{name}", iterations, np.int64, (len(own),))
            check_range(f"iterations.{name}", iterations, 1, len(trace))
            weights[name] = dict(zip(iterations.tolist(), own.copy(), strict=True))
    return Progress(state, rngs, draws, weights, doc_topics, check_integer("seed", document["seed"], 0), trace)


def stack_weights(weights: Mapping[int, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return weights [draw, l, k] in the order of the chain."""
    return np.stack([weights[iteration] for iteration in sorted(weights)])


def _checked_generator(saved: object) -> JsonObject:
    """Return the state of a PCG64 generator, checked: an even increment could make it repeat one number forever."""
    outer = check_object("a generator", saved)
    inner = check_object("a generator", outer["state"])
    if outer["bit_generator"] != "PCG64" or not check_integer("inc", inner["inc"], 0, 2**128 - 1) % 2:
        raise StorageError("a generator has an impossible state")
    check_integer("state", inner["state"], 0, 2**128 - 1)
    check_integer("has_uint32", outer["has_uint32"], 0, 1)
    check_integer("uinteger", outer["uinteger"], 0, 2**32 - 1)
    return outer


def _under(arrays: Arrays, prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


@contextmanager
def open_checkpoint(
    folder: str | os.PathLike[str] | None, every: int, identify: Callable[[], JsonObject], resume: bool
) -> Iterator[Checkpoint | None]:
    """Yield the checkpoint of a run, or None. `identify` reads the whole corpus, so it is called only if needed."""
    if folder is None:
        if resume:
            raise InputError("resume needs the folder of the checkpoint: checkpoint= (--checkpoint)")
        yield None
        return
    if every < 1:
        raise InputError(f"checkpoint_every must be at least 1, not {every}")
    checkpoint = Checkpoint(locate(folder), every, {})
    with checkpoint.hold(resume):
        yield replace(checkpoint, identity=identify())
