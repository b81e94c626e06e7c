"""A corpus on disk: saved as arrays that can be memory-mapped, or prepared from texts of any size in bounded memory.

To prepare a corpus, documents are read once and tokenized in parts, by several processes if `n_jobs` > 1. Each part is
saved when it is complete, so that an interrupted preparation can be resumed. Then the parts are merged.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metalda.corpus.inspection import inspected
from metalda.corpus.matrix import NamedMatrix
from metalda.corpus.parts import (
    CorpusPart,
    Parts,
    PartWriter,
    in_parts,
    join_phrases,
    largest_part,
    merge_ids,
    merge_labels,
    merge_texts,
    merge_words,
    read_parts,
)
from metalda.corpus.readers import Document
from metalda.corpus.schema import Schema
from metalda.corpus.source import CorpusFields, Source, open_source
from metalda.corpus.stream import Location, Stream
from metalda.corpus.texts import TextLimit
from metalda.errors import InputError, StorageError
from metalda.storage import (
    SCRATCH,
    PathLike,
    Remote,
    check_writable,
    read_document,
    read_folder,
    write_document,
    write_folder,
)
from metalda.storage.arrays import Contents
from metalda.storage.manifest import package_version
from metalda.utils.checks import Arrays, check_array, check_indices, check_names, check_starts, reading_damage
from metalda.utils.packed import PackedStrings, pack_words
from metalda.utils.processes import run_in_processes
from metalda.utils.progress import progress_bar
from metalda.utils.threads import count_jobs

_CORPUS, _PREPARATION, _JOINED = "corpus", "preparation", "joined"
_TOKENIZING = ("lowercase", "token_pattern", "stop_words", "stem", "tokenizer", "ngram_range", "analyzer", "phrases")
_MERGING = ("min_df", "max_df", "max_features", "vocabulary", "phrase_min_count", "phrase_threshold")
_WITHOUT_EFFECT = ("max_document_bytes", "allow_tokenizer")  # on the parts: data above the limit have none


def save_parts(
    path: PathLike,
    words: NDArray[np.int32],
    offsets: NDArray[np.int64],
    vocabulary: tuple[str, ...],
    labels: NamedMatrix | None,
    ids: Sequence[str] | None,
    schema: Schema | None,
    texts: Sequence[str] | None,
) -> None:
    """Write the fields of a corpus as a folder."""
    arrays: dict[str, NDArray[np.generic]] = {"words": words, "offsets": offsets}
    if labels is not None:
        matrix = labels.matrix
        arrays |= {"label_rows": matrix.indptr, "label_columns": matrix.indices, "label_values": matrix.data}
    if ids is not None:
        arrays["id_bytes"], arrays["id_offsets"] = pack_words(ids)
    if texts is not None:
        arrays["text_bytes"], arrays["text_offsets"] = pack_words(texts)
    _write_corpus(path, vocabulary, None if labels is None else labels.names, arrays, schema)


def _write_corpus(
    path: PathLike,
    vocabulary: tuple[str, ...],
    label_names: tuple[str, ...] | None,
    arrays: Contents,
    schema: Schema | None,
) -> None:
    saved = None if schema is None else schema.to_json()
    document = {"vocabulary": vocabulary, "labels": label_names, "schema": saved}
    write_folder(path, _CORPUS, document, arrays, layout="npy")


def load_parts(path: PathLike, *, mmap: bool, allow_tokenizer: bool = False) -> CorpusFields:
    """Read the fields of a saved corpus."""
    document, arrays = read_folder(path, _CORPUS, mmap=mmap)
    with reading_damage(path, _CORPUS, "save or prepare it again"):
        words, offsets = arrays["words"], arrays["offsets"]
        check_array("words", words, np.int32, (None,))  # their values are checked by `Corpus`
        check_array("offsets", offsets, np.int64, (None,))
        for array in (words, offsets):
            array.flags.writeable = False
        schema = document["schema"]
        return {
            "words": words,
            "offsets": offsets,
            "vocabulary": check_names("vocabulary", document["vocabulary"]),
            "labels": None if document["labels"] is None else _load_labels(document["labels"], arrays),
            "ids": _load_strings("id", arrays, path),
            "schema": None if schema is None else Schema.from_json(schema, allow_tokenizer=allow_tokenizer),
            "texts": _load_strings("text", arrays, path),
        }


def _load_strings(name: str, arrays: Arrays, path: PathLike) -> PackedStrings | None:
    """Return ids or texts, which are decoded when they are accessed; None if the corpus has none."""
    if f"{name}_bytes" not in arrays:
        return None
    return PackedStrings(arrays[f"{name}_bytes"], arrays[f"{name}_offsets"], source=str(path), kind=f"{name}s")


def _load_labels(names: object, arrays: Arrays) -> NamedMatrix:
    columns, rows, values = arrays["label_columns"], arrays["label_rows"], arrays["label_values"]
    label_names = check_names("labels", names)
    check_starts("label_rows", rows, len(columns))
    check_indices("label_columns", columns, len(label_names))
    check_array("label_values", values, np.float64, columns.shape)
    check_array("label_rows", rows, (np.int32, np.int64), arrays["offsets"].shape)
    return NamedMatrix(csr_array((values, columns, rows), shape=(len(rows) - 1, len(label_names))), label_names)


def prepare_corpus(
    path: Location,
    folder: Path | Remote,
    schema: Schema,
    *,
    n_jobs: int | None = 1,
    verbose: bool = False,
    resume: bool = True,
    guess: bool = True,
) -> None:
    """Write the corpus of a file or folder to a folder, given its schema from `Schema.for_path`.

    With `guess` the first documents show the language and the script of the texts, as in `inspected`.
    """
    if n_jobs == 0:
        raise InputError("n_jobs=0: at least 1 process is needed, or -1 for all cores")
    _check_outside(path, folder)
    source = open_source(path, schema, verbose=verbose)
    check_writable(folder, _CORPUS)
    if guess:
        source = inspected(source)
        schema = source.schema
    if isinstance(path, Stream):
        parts = _scratch_of_stream(path, folder, resume)
    else:
        parts = _scratch(folder, _identity(path, schema), resume)
    with parts as scratch:
        writer = PartWriter(scratch, schema, source.texts, source.name)
        n_parts = _write_parts(source, writer, count_jobs(n_jobs))
        if n_parts == 0:
            raise InputError(f"{source.name}: no documents")
        _merge_parts(source, writer, n_parts, folder, verbose)


def _write_parts(source: Source, writer: PartWriter, n_jobs: int) -> int:
    """Tokenize the parts that are missing; returns the number of parts."""
    n_parts, texts = 0, TextLimit(source.schema.keep_text, texts=source.texts)

    def missing() -> Iterator[tuple[int, list[Document], bool]]:
        nonlocal n_parts
        for number, documents in in_parts(source.documents):
            n_parts, keeps_text = number + 1, texts.admit_all(documents)
            if not writer.has(number):
                yield number, documents, keeps_text

    try:
        run_in_processes(writer, missing(), n_jobs)
    except InputError as error:
        if not isinstance(error, StorageError):  # bad data: parts of corrected data will differ
            shutil.rmtree(writer.folder)
        raise
    return n_parts


def _merge_parts(source: Source, writer: PartWriter, n_parts: int, folder: Path | Remote, verbose: bool) -> None:
    """Write the corpus from its parts, in pieces."""
    as_read, phrases = partial(read_parts, writer.folder, n_parts), None
    parts = as_read
    if writer.schema.phrases is True:
        joined = writer.folder / _JOINED
        shutil.rmtree(joined, ignore_errors=True)  # of an interrupted call
        joined.mkdir()
        phrases = join_phrases(as_read, writer.schema, joined)
        parts = partial(read_parts, joined, n_parts)
    n_documents = sum(len(part) for part in parts())
    with tempfile.TemporaryFile(dir=writer.folder) as numbers:
        try:
            words = merge_words(parts, writer.schema, numbers, n_documents)
        except InputError as error:
            raise type(error)(f"{source.name}: {error}") from None
        labels = merge_labels(parts, source.numeric_labels())
        names = labels.all_names if source.has_labels(labels.all_names) else None
        arrays = words.arrays(partial(_with_bar, parts, n_parts, verbose), numbers, n_documents)
        if names is not None:
            arrays |= labels.arrays(parts, n_documents)
        arrays |= merge_ids(parts, n_documents) | merge_texts(as_read, n_documents)
        _write_corpus(folder, words.vocabulary, names, arrays, source.fitted_schema(phrases))


def _with_bar(parts: Parts, n_parts: int, verbose: bool) -> Iterator[CorpusPart]:
    yield from progress_bar(parts(), verbose=verbose, total=n_parts, desc="Writing", unit=" parts", leave=False)


@contextmanager
def _scratch(folder: Path | Remote, identity: Mapping[str, object], resume: bool) -> Iterator[Path]:
    """Make the folder for parts: inside the output, to resume from; for a remote output, a temporary folder."""
    if isinstance(folder, Remote):
        with tempfile.TemporaryDirectory(prefix="metalda-") as here:
            yield Path(here)
        return
    scratch, created = folder / SCRATCH, not folder.exists()
    note = scratch / f"{_PREPARATION}.json"
    try:
        if resume and note.exists():
            _check_identity(note, identity)
        else:
            if scratch.exists():
                shutil.rmtree(scratch)
            scratch.mkdir(parents=True)
            write_document(note, _PREPARATION, dict(identity))
        yield scratch
        shutil.rmtree(scratch)
    except KeyboardInterrupt:
        kept = f"finished parts are kept in {scratch}"
        raise KeyboardInterrupt(f"{kept}; give the same command again to resume") from None
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        if created:
            with suppress(OSError):
                folder.rmdir()  # only succeeds if it is empty


@contextmanager
def _scratch_of_stream(stream: Stream, folder: Path | Remote, resume: bool) -> Iterator[Path]:
    """Make the folder for parts of a stream, which cannot be resumed: parts are deleted in any case."""
    if isinstance(folder, Path) and resume and (folder / SCRATCH).exists():
        raise InputError(
            f"{folder}: holds an interrupted preparation, which {stream} cannot resume: a stream is read once; start "
            "anew with resume=False (--restart), or give another folder"
        )
    identity = {"source": secrets.token_hex(16)}  # differs from that of all other runs
    created = not folder.exists()
    try:
        with _scratch(folder, identity, resume=False) as scratch:
            yield scratch
    except BaseException as error:
        if isinstance(folder, Path):
            shutil.rmtree(folder / SCRATCH, ignore_errors=True)
            if created:
                with suppress(OSError):
                    folder.rmdir()  # only succeeds if it is empty
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"nothing is kept, because {stream} can be read only once") from None
        raise


def _check_identity(note: Path, identity: Mapping[str, object]) -> None:
    remedy = "start again with resume=False (--restart), or give another folder"
    try:
        before = read_document(note, _PREPARATION)
    except StorageError as error:
        raise StorageError(f"{error}; {remedy}") from None
    changed = [name for name in identity if before.get(name) != identity[name]]
    if changed:
        raise InputError(f"{note.parent}: left by another run ({', '.join(changed)} differ): {remedy}")


def _identity(path: Path | Remote, schema: Schema) -> dict[str, object]:
    """Return plain data that determines the parts. Filters by frequency are excluded: they apply to merged parts."""
    settings = {
        name: _plain(value) for name, value in vars(schema).items() if name not in (*_MERGING, *_WITHOUT_EFFECT)
    }
    tokenizing = {name: settings.pop(name) for name in _TOKENIZING}
    vocabulary = schema.vocabulary
    tokenizing["vocabulary"] = None if vocabulary is None else _digest("\0".join(vocabulary))
    return {
        "source": _plain({"path": str(path.resolve()), "state": _state(path)}),
        "fields": settings,
        "tokenizing": tokenizing,
        "parts": [package_version(), *largest_part()],
    }


def _state(path: Path | Remote) -> str:
    """Return a digest of the sizes and times of the files, which changes with the data."""
    if isinstance(path, Remote):
        found = [(name, each.system.ukey(each.path)) for name, each in path.files()] if path.is_dir() else []
        return _digest(str(sorted(found) or path.system.ukey(path.path)))
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return _digest(str([(str(file), *_size_and_time(file)) for file in files]))


def _size_and_time(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:  # a link to nothing, which the reader reports, or skips if it is hidden
        return ()
    return found.st_size, found.st_mtime_ns


def _plain(value: object) -> object:
    """Return a value as JSON would restore it; a function is represented by its name."""
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


def _check_outside(source: Location, folder: Path | Remote) -> None:
    if isinstance(source, Path) and isinstance(folder, Path):
        inner, outer = folder.resolve(), source.resolve()
        if inner == outer or (outer.is_dir() and inner.is_relative_to(outer)):
            raise InputError(f"{folder}: is inside the data {source}; choose a folder outside of them")
