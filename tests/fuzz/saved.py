"""Saved folders (models, checkpoints, prepared corpora) with changed values or bytes, loaded and used.

A change of a value is saved with valid checksums: it looks as if it came from a program with other intentions.
"""

from __future__ import annotations

import atexit
import copy
import json
import random
import re
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import mutations
from tests.fuzz.cases import Case, Kind, Violation, refusing

MODELS = ("MetaLDA", "MetaLDA-seeds", "LabeledLDA", "PTM", "LFLDA", "GPUDMM", "DMR")
CHECKPOINTS = ("MetaLDA", "LabeledLDA", "PTM", "LFLDA", "GPUDMM")
CHAINS, WORDING, CURATED = "-chains", "-wording", "-curated"
SAVES = {
    "model": [
        *(f"model-{name}" for name in MODELS),
        "model-MetaLDA-chains",
        "model-MetaLDA-wording",
        "model-MetaLDA-curated",
    ],
    "checkpoint": [
        *(f"checkpoint-{name}" for name in CHECKPOINTS),
        "checkpoint-MetaLDA-chains",
        "checkpoint-MetaLDA-wording",
    ],
    "corpus": ["corpus-prepared"],
}

Job = tuple[str, str, str, str]  # save, "array" or "json", name of the array or path of the field, mutation
BYTES, SIGNED = "bytes", "signed bytes"  # changes of a file; "signed" are those that the manifest agrees with


def kinds() -> list[Kind]:
    return [Kind(f"saved-{kind}", partial(make, kind), check, partial(prepare, kind)) for kind in SAVES]


def make(kind: str, rng: random.Random) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Choose a save, and one change or a few."""
    save = rng.choice(SAVES[kind])
    changes: list[tuple[str, str, str]] = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.2:
            changes.append((rng.choice((BYTES, SIGNED)), str(rng.randrange(99)), str(rng.randrange(10**9))))
        else:
            changes.append(rng.choice(jobs_of(save))[1:])
    return {}, {"save": save, "changes": changes, "seed": rng.randrange(10**9)}


def case_of(job: Job, seed: int = 0) -> Case:
    """Return the case with this change alone."""
    return Case(f"saved-{job[0].partition('-')[0]}", {}, {"save": job[0], "changes": [list(job[1:])], "seed": seed})


def prepare(kind: str) -> None:
    """Use every save as it is, so that kernels are compiled, and the saves are known to be whole."""
    for save in SAVES[kind]:
        use(save, find_save(save))


def check(case: Case) -> str:
    """Apply the changes to a copy of the save, then load and use it."""
    save, target = case.options["save"], Path("changed").absolute()
    if not _write_changed(case, target):
        return "accepted"  # no change has a meaning for its field
    outcome, message = refusing(lambda: use(save, target))
    if outcome == "refused" and str(target) not in message and (save != "corpus-prepared" or "damaged" in message):
        raise Violation("unnamed", f"the message does not name the folder: {message}")
    return outcome


def _write_changed(case: Case, target: Path) -> bool:
    """Write the changed save; False if none of the changes applies."""
    from metalda.storage import read_folder, write_folder

    save, rng = case.options["save"], np.random.default_rng(case.options["seed"])
    kind = save.partition("-")[0]
    document, arrays = read_folder(find_save(save), kind)
    is_changed = False
    for what, where, mutation in case.options["changes"]:
        if what not in (BYTES, SIGNED):
            with suppress(IndexError, KeyError, TypeError, ValueError, AttributeError):
                tamper(document, arrays, what, where, mutation, rng)
                is_changed = True
    try:
        write_folder(target, kind, document, arrays, layout="npy" if kind == "corpus" else "safetensors")
    except (ValueError, TypeError):
        return False
    for what, where, mutation in case.options["changes"]:
        if what in (BYTES, SIGNED):
            _change_file(target, kind, int(where), random.Random(int(mutation)), signed=what == SIGNED)
            is_changed = True
    return is_changed


def _change_file(folder: Path, kind: str, number: int, rng: random.Random, *, signed: bool) -> None:
    manifest = folder / f"{kind}.json"
    files = sorted(path for path in folder.iterdir() if path != manifest)
    path = ([manifest] if not signed else []) + files
    chosen = path[number % len(path)]
    data = chosen.read_bytes()
    head = 2000 if rng.random() < 0.7 else len(data)  # headers of array files are the more interesting part
    data = mutations.mutate(data[:head], rng) + data[head:]
    chosen.write_bytes(data)
    if signed:
        with suppress(ValueError, KeyError, TypeError, AttributeError):  # an earlier change has damaged the manifest
            content = json.loads(manifest.read_bytes())
            content["files"][chosen.name].update(bytes=len(data), crc32=zlib.crc32(data))
            manifest.write_text(json.dumps(content))


@cache
def find_save(name: str) -> Path:
    """Make a save in a temporary folder; another call returns the same one."""
    from metalda import Corpus

    folder = Path(tempfile.mkdtemp(prefix="saves-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    kind, _, of = name.partition("-")
    make = _maker(of)
    with _numbered_files():
        if kind == "model":
            model = make().fit(_corpus(of))
            if of.endswith(CURATED):
                model.rename({1: "sky"}).merge([0, 2], "pets").hide(["sky"])
            model.save(folder / name)
        elif kind == "checkpoint":
            with suppress(InterruptedError), stopped_after(18 if of.endswith(CHAINS) else 9):
                make(n_shards=2).fit(_corpus(of), checkpoint=folder / name, checkpoint_every=1)
        else:
            documents = _corpus(of)
            rows = [
                {"id": f"d{i}", "text": " ".join(words), "kind": ["pets", "home"] if i < 5 else ["sky"]}
                for i, words in enumerate(documents)
            ]
            (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
            Corpus.prepare(folder / "texts.jsonl", folder / name, labels="kind")
    return folder / name


def _maker(of: str) -> Callable[..., Any]:
    """Return what makes the model of a save; the suffix stands for two chains, or for wording by group."""
    from tests.contracts import CASES

    case = next((case for case in CASES if case.name == re.sub("-(chains|wording|curated)$", "", of)), None)
    make = getattr(case, "make", None)
    if of.endswith(WORDING):
        return partial(make, wording="label")
    return partial(make, n_chains=2) if of.endswith(CHAINS) else make


def _corpus(of: str) -> Any:
    """Return the documents of a save; with wording, a document has one label at most."""
    from tests.contracts import corpus

    return corpus().with_labels(["left", "right"] * 4 + ["left", None]) if of.endswith(WORDING) else corpus()


@contextmanager
def _numbered_files() -> Iterator[None]:
    """Names of array files follow from their order, so that a case is the same in every process."""
    token, numbers = secrets.token_hex, count()
    secrets.token_hex = lambda n=8: f"{next(numbers):0{2 * n}x}"  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        secrets.token_hex = token


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


@cache
def jobs_of(save: str) -> list[Job]:
    """Every array and every JSON field of a save, with every mutation that applies."""
    from metalda.storage import read_folder

    jobs: list[Job] = []
    document, arrays = read_folder(find_save(save), save.partition("-")[0])
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


def tamper(
    document: dict[str, Any],
    arrays: dict[str, np.ndarray],
    kind: str,
    where: str,
    mutation: str,
    rng: np.random.Generator,
) -> None:
    """Apply a mutation in place."""
    if kind == "array":
        if mutation == "missing":
            del arrays[where]
        else:
            arrays[where] = ARRAYS[mutation](arrays[where].copy(), rng)
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

    kind, _, name = save.partition("-")
    if kind == "model":
        use_model(metalda.load(folder))
    elif kind == "checkpoint":
        use_model(_maker(name)(n_shards=2).fit(_corpus(name), checkpoint=folder, resume=True), briefly=True)
    else:
        for mmap in (True, False):
            documents = metalda.Corpus.load(folder, mmap=mmap)
            documents.counts()
            list(documents)
            list(documents.ids or ())
            list(documents.texts or ())
            repr(documents.split(random_state=0))
            documents._repr_html_()
            metalda.MetaLDA(2, n_iter=2, random_state=0, verbose=False).fit(documents)


def use_model(model: Any, briefly: bool = False) -> None:
    from tests.contracts import corpus

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
            results.append(model.label_effects(0.5)[["difference", "effect", "proportion"]].to_numpy())
            for column, labels in model.fitted_.labels.terms.labels.items():
                results.append(model.prevalence_at({column: list(labels)}, 0.5)["mean"].to_numpy())
        if hasattr(model, "feature_effects") and model.feature_names_:
            # Changed words may have features that only occur together: NaN, with a warning that names them.
            results.append(model.feature_effects(0.5)["effect"].dropna().to_numpy())
        if model.fitted_.wording:
            group, *others = model.wording_groups_
            results.append(model.wording_[["concentration", "low", "high", "factor"]].to_numpy())
            results.append(model.group_components(group))
            for second in (None, others[0]):
                table = model.wording_contrasts(0, group, second, interval=0.5)
                results.append(table[["effect", "low", "high"]].to_numpy())
            results.append(model.transform(documents.with_labels([group] * len(documents))))
        if model.uses_labels and model.label_names_:
            results.append(model.predict_label_probabilities(documents).to_numpy())
    for result in results:
        if not np.isfinite(result).all():
            raise Violation("not finite", "a result of the model")
