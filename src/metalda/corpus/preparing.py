"""A corpus of any size, from texts to a folder that can be memory-mapped, in bounded memory.

The documents are read once and tokenised in parts, by several processes if asked to; each part is kept as soon as it
is there, so that work that was stopped goes on. Then the parts are put together.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from metalda.corpus.building import Settings
from metalda.corpus.formats import Source, find_format, open_source
from metalda.corpus.merging import merge_ids, merge_labels, merge_words
from metalda.corpus.parts import PartWriter, in_parts, largest_part, read_parts
from metalda.corpus.saving import write_corpus
from metalda.corpus.tokenising import fixed_vocabulary
from metalda.errors import InputError, StorageError
from metalda.storage import SCRATCH, PathLike, Remote, check_writable, locate, read_document, write_document
from metalda.storage.manifest import package_version
from metalda.utils.processes import run_in_processes
from metalda.utils.threads import count_jobs

KIND = "preparation"


@dataclass(frozen=True)
class Sizes:
    """What a prepared corpus has."""

    n_documents: int
    n_tokens: int
    n_words: int
    label_names: tuple[str, ...] | None


def prepare_corpus(
    path: PathLike,
    output: PathLike,
    settings: Settings,
    *,
    n_jobs: int | None = 1,
    progress: bool = False,
    resume: bool = True,
    describe: Callable[[tuple[str, ...]], dict[str, Any]] = lambda label_names: {},
    **reading: Any,
) -> Sizes:
    """Write the corpus in a file or folder; see `Corpus.prepare`.

    `describe` says, given the names of the labels, what is to be kept beside the corpus; `reading` are the arguments of
    `open_source`.
    """
    source_path, folder = locate(path), locate(output)
    if n_jobs == 0:
        raise InputError("n_jobs=0: at least 1 process is needed, or -1 for all cores")
    _check_apart(source_path, folder)
    if settings.vocabulary is not None:
        settings = replace(settings, vocabulary=fixed_vocabulary(settings.vocabulary))
    _ = settings.filters  # wrong ones are told before the work
    reading["format"] = find_format(source_path, reading.get("format"), reading.get("encoding", "utf-8"))
    source = open_source(source_path, progress=progress, **reading)
    check_writable(folder, "corpus")
    with _scratch(folder, _identity(source_path, settings, reading), resume) as scratch:
        writer = PartWriter(scratch, settings, source.texts)
        n_parts = _write_parts(source, writer, count_jobs(n_jobs))
        if n_parts == 0:
            raise InputError(f"{source.name}: no documents")
        return _put_together(source, writer, n_parts, folder, describe, progress)


def _write_parts(source: Source, writer: PartWriter, n_jobs: int) -> int:
    """Tokenise what is not there yet; returns the number of parts."""
    n_parts = 0

    def missing() -> Iterator[tuple[int, Any]]:
        nonlocal n_parts
        for number, documents in in_parts(source.documents):
            n_parts = number + 1
            if not writer.has(number):
                yield number, documents

    try:
        run_in_processes(writer, missing(), n_jobs)
    except InputError as error:
        if not isinstance(error, StorageError):  # the data are at fault, and will be others once they are mended
            shutil.rmtree(writer.folder)
        raise
    return n_parts


def _put_together(
    source: Source,
    writer: PartWriter,
    n_parts: int,
    folder: Any,
    describe: Callable[[tuple[str, ...]], dict[str, Any]],
    progress: bool,
) -> Sizes:
    parts = partial(read_parts, writer.folder, n_parts)
    n_documents = sum(len(part) for part in parts())
    with tempfile.TemporaryFile(dir=writer.folder) as numbers:
        try:
            words = merge_words(parts, writer.settings, numbers, n_documents)
        except InputError as error:
            raise type(error)(f"{source.name}: {error}") from None
        labels = merge_labels(parts, source.numeric_labels())
        names = labels.all_names if source.has_labels(labels.all_names) else None
        arrays = words.arrays(partial(_with_bar, parts, n_parts, progress), numbers, n_documents)
        if names is not None:
            arrays |= labels.arrays(parts, n_documents)
        arrays |= merge_ids(parts, n_documents)
        tokenising = writer.settings.tokenising if writer.texts else None
        write_corpus(folder, words.vocabulary, names, arrays, tokenising, describe(names or ()))
    return Sizes(n_documents, words.n_tokens, len(words.vocabulary), names)


def _with_bar(parts: Callable[[], Iterable[Any]], n_parts: int, progress: bool) -> Iterator[Any]:
    if not progress:
        yield from parts()
        return
    from tqdm import tqdm

    yield from tqdm(parts(), total=n_parts, desc="Writing", unit=" parts", disable=None, leave=False)


@contextmanager
def _scratch(folder: Any, identity: Mapping[str, Any], resume: bool) -> Iterator[Path]:
    """Where parts are kept: in the folder itself, to go on from; for one elsewhere, in a temporary folder."""
    if isinstance(folder, Remote):
        with tempfile.TemporaryDirectory(prefix="metalda-") as here:
            yield Path(here)
        return
    scratch, created = folder / SCRATCH, not folder.exists()
    note = scratch / f"{KIND}.json"
    try:
        if resume and note.exists():
            _check_identity(note, identity)
        else:
            if scratch.exists():
                shutil.rmtree(scratch)
            scratch.mkdir(parents=True)
            write_document(note, KIND, dict(identity))
        yield scratch
        shutil.rmtree(scratch)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what is done is kept in {scratch}; give the same command again to go on") from None
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        if created:
            with suppress(OSError):
                folder.rmdir()  # only succeeds if nothing is in it


def _check_identity(note: Path, identity: Mapping[str, Any]) -> None:
    remedy = "start anew with resume=False (--restart), or give another folder"
    try:
        before = read_document(note, KIND)
    except StorageError as error:
        raise StorageError(f"{error}; {remedy}") from None
    changed = [name for name in identity if before.get(name) != identity[name]]
    if changed:
        raise InputError(f"{note.parent}: left by another run ({', '.join(changed)} differ): {remedy}")


def _identity(path: Any, settings: Settings, reading: Mapping[str, Any]) -> dict[str, Any]:
    """What parts depend on, as plain data; filters by frequency are for the time when they are put together."""
    tokenising = asdict(replace(settings, min_df=1, max_df=1.0, max_features=None, vocabulary=None))
    vocabulary = "\0".join(settings.vocabulary) if settings.vocabulary is not None else None
    return {
        "source": _plain({"path": str(path.resolve()), "state": _state(path)}),
        "fields": _plain(reading),
        "tokenising": _plain({**tokenising, "vocabulary": None if vocabulary is None else _digest(vocabulary)}),
        "parts": [package_version(), *largest_part()],
    }


def _state(path: Any) -> str:
    """Changes whenever the data do, as far as sizes and times tell."""
    if isinstance(path, Remote):
        found = [(name, each.system.ukey(each.path)) for name, each in path.files()] if path.is_dir() else []
        return _digest(str(sorted(found) or path.system.ukey(path.path)))
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return _digest(str([(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]))


def _plain(value: Any) -> Any:
    """As it comes back from JSON; a function is known by its name."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return value


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _check_apart(source: Any, folder: Any) -> None:
    if isinstance(source, Path) and isinstance(folder, Path):
        inner, outer = folder.resolve(), source.resolve()
        if inner == outer or (outer.is_dir() and inner.is_relative_to(outer)):
            raise InputError(f"{folder}: is in the data {source}; choose a folder outside of them")
