"""Saved folders with one value changed, loaded and used in a child process: whatever happens there is reported.

The parent names jobs (a saved folder, an array or JSON field of it, and a mutation). The child applies each to a copy
of the save, with valid checksums, and prints the outcome. A crash or a hang ends the child; the parent then knows the
job, and starts another child for the rest.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

PATIENCE = 20  # seconds for a job

MODELS = ("MetaLDA", "LabeledLDA", "PTM", "LFLDA", "GPUDMM", "DMR")
CHECKPOINTS = ("MetaLDA", "LabeledLDA", "PTM", "LFLDA", "GPUDMM")

Job = tuple[str, str, str, str]  # save, "array" or "json", name of the array or path of the field, mutation


def make_saves(folder: Path) -> None:
    """Models, checkpoints and a prepared corpus, each whole."""
    from contracts import CASES, corpus
    from metalda import Corpus

    cases = {case.name: case for case in CASES}
    for name in MODELS:
        cases[name].make().fit(corpus()).save(folder / f"model-{name}")
    for name in CHECKPOINTS:
        with suppress(InterruptedError), stopped_after(9):
            cases[name].make(n_shards=2).fit(corpus(), checkpoint=folder / f"checkpoint-{name}", checkpoint_every=1)
    texts = folder / "texts.jsonl"
    documents = corpus()
    rows = [
        {"id": f"d{i}", "text": " ".join(documents.document(i)), "kind": ["pets", "home"] if i < 5 else ["sky"]}
        for i in range(len(documents))
    ]
    texts.write_text("\n".join(map(json.dumps, rows)))
    Corpus.prepare(texts, folder / "corpus-prepared", labels="kind")


@contextmanager
def stopped_after(n_sweeps: int) -> Iterator[None]:
    """Training dies after this number of sweeps, so that its checkpoint has draws, and sweeps are left to do."""
    from metalda.training import loop

    advance, done = loop._advance, []

    def dying(*arguments: Any) -> float:
        if len(done) == n_sweeps:
            raise InterruptedError
        done.append(1)
        return advance(*arguments)

    loop._advance = dying
    try:
        yield
    finally:
        loop._advance = advance


def jobs_of(folder: Path) -> list[Job]:
    """Every array and every JSON field of every save, with every mutation that applies."""
    from metalda.storage import read_folder

    jobs: list[Job] = []
    for save in sorted(path.name for path in folder.iterdir() if path.is_dir()):
        document, arrays = read_folder(folder / save, save.partition("-")[0])
        for name, array in sorted(arrays.items()):
            jobs += [(save, "array", name, mutation) for mutation in ARRAYS if _changes(array, mutation)]
        for path in _paths(document):
            jobs += [(save, "json", json.dumps(path), mutation) for mutation in FIELDS]
    return jobs


def _changes(array: np.ndarray, mutation: str) -> bool:
    if mutation == "missing":
        return True
    try:
        other = ARRAYS[mutation](array.copy(), np.random.default_rng(0))
    except (IndexError, ValueError, TypeError):
        return False
    if other.dtype != array.dtype or other.shape != array.shape:
        return True
    return not np.array_equal(other, array, equal_nan=array.dtype.kind == "f")


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[list[Any]]:
    """All fields of a JSON document; of a list, itself and its first element."""
    if path:
        yield list(path)
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _paths(each, (*path, name))
    elif isinstance(value, list | tuple) and value:
        yield from _paths(value[0], (*path, 0))


def _put(value: Any) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """One entry, not the first or the last where there are others, gets this value."""

    def put(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        number = value(array.dtype) if callable(value) else value
        array.reshape(-1)[rng.integers(1, array.size - 1) if array.size > 2 else array.size - 1] = number
        return array

    return put


def _only(kinds: str, change: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def changed(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if array.dtype.kind not in kinds:
            raise TypeError
        return change(array, rng)

    return changed


def _wrap(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Values whose differences overflow, so that they seem to rise."""
    flat = array.reshape(-1)
    flat[1:3] = np.iinfo(array.dtype).max, -2
    return array


def _swap(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    flat = array.reshape(-1)
    i = int(rng.integers(0, len(flat) - 1))
    flat[[i, i + 1]] = flat[[i + 1, i]]
    return array


def _noise(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other bytes in one entry."""
    flat = array.reshape(-1)
    i = int(rng.integers(0, len(flat)))
    flat[i : i + 1] = np.frombuffer(rng.bytes(array.dtype.itemsize), array.dtype)
    return array


ARRAYS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "missing": lambda array, rng: array,
    "empty": lambda array, rng: array[:0],
    "shorter": lambda array, rng: array[:-1],
    "longer": lambda array, rng: np.concatenate([array, array[-1:]]),
    "twice": lambda array, rng: np.concatenate([array, array]),
    "narrower": lambda array, rng: array.reshape(array.shape)[..., :-1],
    "wider": lambda array, rng: np.concatenate([array, array[..., -1:]], axis=-1),
    "nested": lambda array, rng: array[None],
    "flat": lambda array, rng: array.reshape(-1),
    "transposed": lambda array, rng: np.ascontiguousarray(array.T),
    "scalar": lambda array, rng: array.reshape(-1)[0].reshape(()),
    "float64": lambda array, rng: array.astype(np.float64),
    "float32": lambda array, rng: array.astype(np.float32),
    "int64": lambda array, rng: np.nan_to_num(array, neginf=-9, posinf=9).astype(np.int64),
    "uint64": _only("iu", lambda array, rng: array.astype(np.uint64)),
    "int8": _only("iu", lambda array, rng: array.astype(np.int8)),
    "bool": lambda array, rng: array.astype(bool),
    "largest": _only("iu", _put(lambda dtype: np.iinfo(dtype).max)),
    "smallest": _only("iu", _put(lambda dtype: np.iinfo(dtype).min)),
    "million": _only("iu", _put(lambda dtype: min(1_000_000, np.iinfo(dtype).max))),
    "negative": _only("if", _put(-1)),
    "nan": _only("f", _put(np.nan)),
    "inf": _only("f", _put(np.inf)),
    "-inf": _only("f", _put(-np.inf)),
    "huge": _only("f", _put(lambda dtype: np.finfo(dtype).max)),
    "-huge": _only("f", _put(lambda dtype: -np.finfo(dtype).max)),
    "all nan": _only("f", lambda array, rng: np.full_like(array, np.nan)),
    "all huge": _only("f", lambda array, rng: np.full_like(array, np.finfo(array.dtype).max)),
    "zeros": lambda array, rng: np.zeros_like(array),
    "ones": lambda array, rng: np.ones_like(array),
    "reversed": lambda array, rng: array.reshape(-1)[::-1].reshape(array.shape).copy(),
    "shuffled": lambda array, rng: rng.permutation(array.reshape(-1)).reshape(array.shape),
    "swapped": _swap,
    "wrapped": _only("i", _wrap),
    "noise": _noise,
}

FIELDS: dict[str, Any] = {
    "missing": None,
    "null": None,
    "true": True,
    "minus one": -1,
    "zero": 0,
    "large": 10**30,
    "fraction": 1.5,
    "string": "x",
    "empty string": "",
    "empty list": [],
    "empty object": {},
    "nested list": [[]],
    "object": {"x": [1]},
    "shorter": lambda value: value[:-1],
    "longer": lambda value: [*value, "another"],
    "repeated": lambda value: [*value, value[0]],
    "first twice": lambda value: [value[0]] * len(value),
    "reversed": lambda value: value[::-1],
}


def tamper(document: dict[str, Any], arrays: dict[str, np.ndarray], job: Job, seed: int) -> None:
    """Apply the mutation of a job in place."""
    _, kind, where, mutation = job
    if kind == "array":
        if mutation == "missing":
            del arrays[where]
        else:
            arrays[where] = ARRAYS[mutation](arrays[where].copy(), np.random.default_rng(seed))
        return
    *outer, last = json.loads(where)
    holder: Any = document
    for name in outer:
        holder = holder[name]
    if mutation == "missing":
        del holder[last]
    elif callable(FIELDS[mutation]):
        holder[last] = FIELDS[mutation](holder[last])
    else:
        holder[last] = copy.deepcopy(FIELDS[mutation])


def use(save: str, folder: Path) -> None:
    """Load and use what is saved, as a person would."""
    import metalda
    from contracts import CASES, corpus

    kind, _, name = save.partition("-")
    case = next((case for case in CASES if case.name == name), None)
    if kind == "model":
        use_model(metalda.load(folder))
    elif kind == "checkpoint":
        use_model(case.make(n_shards=2).fit(corpus(), checkpoint=folder, resume=True), briefly=True)
    else:
        for mmap in (True, False):
            documents = metalda.Corpus.load(folder, mmap=mmap)
            documents.counts()
            list(documents)
            list(documents.ids or ())
            repr(documents.split(random_state=0))
            documents._repr_html_()
            metalda.MetaLDA(2, n_iter=2, random_state=0, verbose=False).fit(documents)


def use_model(model: Any, briefly: bool = False) -> None:
    from contracts import corpus

    documents = corpus()
    results = [model.transform(documents), model.components_, model.doc_topics_]
    if not briefly:
        results.append(model.transform(documents.without_labels()))
        repr(model), model._repr_html_()
        model.topics()
        if model.schema_ is not None:
            model.transform(["cat and hail"])
        np.asarray(model.history_)
        perplexity = model.perplexity(documents, unseen="features", draws="each")
        results.append(np.asarray(perplexity if np.isnan(perplexity) else 0))  # it may be infinite
        if hasattr(model, "label_effects") and model.label_names_:
            results.append(model.label_effects(0.5)[["effect", "low", "high"]].to_numpy())
        if hasattr(model, "feature_effects") and model.feature_names_:
            results.append(model.feature_effects(0.5)[["effect", "low", "high"]].to_numpy())
        if model.uses_labels and model.label_names_:
            results.append(model.predict_label_probabilities(documents).to_numpy())
    for result in results:
        if not np.isfinite(result).all():
            raise ArithmeticError("the result is not finite")


def child(folder: Path, seed: int) -> None:
    """Read jobs from standard input, one JSON line each; print a line before and after each."""
    from metalda.errors import InputError, StorageError
    from metalda.storage import read_folder, write_folder

    os.fsync = lambda descriptor: None  # type: ignore[assignment]
    warnings.simplefilter("ignore")
    saved: dict[str, Any] = {}
    work = Path(tempfile.mkdtemp(prefix="tampered-"))
    try:
        for number, line in enumerate(sys.stdin):
            job = tuple(json.loads(line))
            save = job[0]
            kind = save.partition("-")[0]
            if save not in saved:
                saved[save] = read_folder(folder / save, kind)
                use(save, folder / save)  # so that kernels are compiled, and the save is known to be whole
            document, arrays = copy.deepcopy(saved[save][0]), dict(saved[save][1])
            signal.alarm(PATIENCE)
            print("begin", flush=True)
            try:
                tamper(document, arrays, job, seed)
            except (IndexError, KeyError, TypeError, AttributeError):
                print("same", flush=True)  # the mutation has no meaning for this field
                continue
            target = work / str(number)
            write_folder(target, kind, document, arrays, layout="npy" if kind == "corpus" else "safetensors")
            try:
                use(save, target)
                outcome = "works"
            except InputError as error:
                lines = str(error).splitlines()
                outcome = "refused" if len(lines) == 1 else f"error: {len(lines)} lines: {error!r}"
                if str(target) not in str(error) and (kind != "corpus" or isinstance(error, StorageError)):
                    outcome = f"unnamed: {error}"
            except Exception as error:
                outcome = f"error: {type(error).__name__}: {error}"
            finally:
                signal.alarm(0)
            print(outcome.replace("\n", " ")[:300], flush=True)
            shutil.rmtree(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def run(folder: Path, jobs: list[Job], seed: int = 0) -> dict[Job, str]:
    """What became of every job: "works", "refused", "same", "crash …", "hang", "error: …" or "unnamed: …"."""
    outcomes: dict[Job, str] = {}
    left = list(jobs)
    while left:
        program = [sys.executable, str(Path(__file__)), str(folder), str(seed)]
        given = "\n".join(map(json.dumps, left)) + "\n"
        path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        ended = subprocess.run(
            program, input=given, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        lines = ended.stdout.splitlines()
        finished = [line for line in lines if line != "begin"]
        outcomes.update(zip(left, finished, strict=False))
        if ended.returncode == 0:
            break
        at = len(finished) if lines.count("begin") > len(finished) else len(finished) - 1
        if ended.returncode > 0 or at < 0:
            raise RuntimeError(f"the child failed outside of a job: {ended.stderr[-2000:]}")
        # memory that a job corrupted may crash the child only after the job
        outcomes[left[at]] = "hang" if ended.returncode == -signal.SIGALRM else f"crash {ended.returncode}"
        left = left[at + 1 :]
    return outcomes


if __name__ == "__main__":
    child(Path(sys.argv[1]), int(sys.argv[2]))
