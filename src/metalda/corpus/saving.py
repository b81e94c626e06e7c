"""A corpus on disk: arrays that can be memory-mapped, names in JSON."""

import os
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from metalda.corpus.named import NamedMatrix
from metalda.errors import StorageError
from metalda.storage import read_folder, write_folder


def save_parts(
    path: str | os.PathLike[str],
    words: np.ndarray,
    offsets: np.ndarray,
    vocabulary: tuple[str, ...],
    labels: NamedMatrix | None,
    ids: tuple[str, ...] | None,
) -> None:
    """Write the fields of a corpus as a folder."""
    document = {"vocabulary": vocabulary, "ids": ids, "labels": None if labels is None else labels.names}
    arrays = {"words": words, "offsets": offsets}
    if labels is not None:
        matrix = labels.matrix
        arrays |= {"label_rows": matrix.indptr, "label_columns": matrix.indices, "label_values": matrix.data}
    write_folder(path, "corpus", document, arrays, layout="npy")


def load_parts(path: str | os.PathLike[str], *, mmap: bool) -> dict[str, Any]:
    """The fields of a saved corpus."""
    document, arrays = read_folder(path, "corpus", mmap=mmap)
    try:
        names, labels = document["labels"], None
        if names is not None:
            parts = (arrays["label_values"], arrays["label_columns"], arrays["label_rows"])
            shape = (len(arrays["offsets"]) - 1, len(names))
            labels = NamedMatrix(csr_array(parts, shape=shape), tuple(names))
        return {
            "words": arrays["words"],
            "offsets": arrays["offsets"],
            "vocabulary": tuple(document["vocabulary"]),
            "labels": labels,
            "ids": document["ids"],
        }
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{path}: damaged: {error}") from error
