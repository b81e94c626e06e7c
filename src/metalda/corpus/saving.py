"""A corpus on disk: arrays that can be memory-mapped, names in JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from metalda.corpus.checking import freeze
from metalda.corpus.named import NamedMatrix
from metalda.corpus.tokenising import Tokenising
from metalda.errors import StorageError
from metalda.storage import PathLike, locate, read_folder, write_folder
from metalda.storage.arrays import Contents
from metalda.storage.manifest import decode
from metalda.utils.packed import PackedStrings, pack_words

KIND = "corpus"


def is_saved(path: PathLike) -> bool:
    """Whether a folder holds a saved corpus."""
    return bool((locate(path) / f"{KIND}.json").is_file())


def save_parts(
    path: PathLike,
    words: np.ndarray,
    offsets: np.ndarray,
    vocabulary: tuple[str, ...],
    labels: NamedMatrix | None,
    ids: Sequence[str] | None,
    tokenising: Tokenising | None,
) -> None:
    """Write the fields of a corpus as a folder."""
    arrays = {"words": words, "offsets": offsets}
    if labels is not None:
        matrix = labels.matrix
        arrays |= {"label_rows": matrix.indptr, "label_columns": matrix.indices, "label_values": matrix.data}
    if ids is not None:
        arrays["id_bytes"], arrays["id_offsets"] = pack_words(ids)
    write_corpus(path, vocabulary, None if labels is None else labels.names, arrays, tokenising, {})


def write_corpus(
    path: PathLike,
    vocabulary: tuple[str, ...],
    label_names: tuple[str, ...] | None,
    arrays: Contents,
    tokenising: Tokenising | None,
    metadata: dict[str, Any],
) -> None:
    """Write the arrays of a corpus, which may be streamed, with its names and what else is known of it."""
    document = {"vocabulary": vocabulary, "labels": label_names, "metadata": metadata}
    document["tokenising"] = None if tokenising is None else tokenising.to_saved()
    write_folder(path, KIND, document, arrays, layout="npy")


def load_metadata(path: PathLike) -> dict[str, Any]:
    """What is known of a saved corpus beside its content."""
    metadata = decode(locate(path) / f"{KIND}.json", KIND).document.get("metadata", {})
    if not isinstance(metadata, dict):
        raise StorageError(f"{path}: damaged: its metadata make no sense")
    return metadata


def load_parts(path: PathLike, *, mmap: bool) -> dict[str, Any]:
    """The fields of a saved corpus."""
    document, arrays = read_folder(path, KIND, mmap=mmap)
    try:
        freeze(arrays["words"], arrays["offsets"])
        ids = document.get("ids")  # in the folders of older versions
        if "id_bytes" in arrays:
            ids = PackedStrings(arrays["id_bytes"], arrays["id_offsets"])
        names, labels = document["labels"], None
        if names is not None:
            parts = (arrays["label_values"], arrays["label_columns"], arrays["label_rows"])
            shape = (len(arrays["offsets"]) - 1, len(names))
            labels = NamedMatrix(csr_array(parts, shape=shape), tuple(names))
        tokenising = document.get("tokenising")
        return {
            "words": arrays["words"],
            "offsets": arrays["offsets"],
            "vocabulary": tuple(document["vocabulary"]),
            "labels": labels,
            "ids": ids,
            "tokenising": None if tokenising is None else Tokenising.from_saved(tokenising),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{path}: damaged: {error}") from error
