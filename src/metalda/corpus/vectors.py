"""Vectors of documents, such as embeddings: a matrix with a row per document, whose columns are numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from metalda.corpus.files import reading
from metalda.corpus.matrix import NamedMatrix
from metalda.errors import InputError, hint
from metalda.storage import Remote
from metalda.utils.checks import Array

VECTORS = "vectors"  # the group of all columns, which share a variance


def read_vectors(path: Path | Remote) -> Array:
    """Read a matrix with a row per document from an ``.npy`` file. Pickled objects are refused."""
    if isinstance(path, Remote):
        raise InputError(f"{path}: an .npy file must be on this machine: copy it")
    try:
        with reading(path):
            array = np.load(path, allow_pickle=False)
    except InputError:
        raise
    except Exception:  # NumPy raises many types for a damaged header, or for pickled objects
        raise InputError(f"{path}: not a matrix of numbers in NumPy's format; save it with numpy.save") from None
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path}: holds several arrays; save one matrix with numpy.save")
    return array


def vector_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of the columns: ``vector0``, ``vector1``, …."""
    return tuple(f"vector{j}" for j in range(n_columns))


def standardize_vectors(
    vectors: ArrayLike, n_documents: int, given: Mapping[str, Sequence[float] | None]
) -> tuple[NamedMatrix, dict[str, tuple[float, float]]]:
    """Return the standardized columns of a matrix, and their centers and scales: those `given`, if there are any."""
    values = _checked(vectors, n_documents)
    names = vector_names(values.shape[1])
    if given and len(given) != len(names):
        raise InputError(f"the vectors of documents have {len(names):,} columns, and those of training {len(given):,}")
    if given:
        centers, scales = np.array(list(given.values()), np.float64).T
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            centers, scales = values.mean(axis=0), values.std(axis=0)
        if not np.isfinite([centers, scales]).all():
            raise InputError("the vectors of documents have values too large to standardize: divide them first")
        constant = scales <= 1e-12 * np.abs(values).max(axis=0)
        if constant.all() and n_documents > 1:
            hint("the vectors of all documents are equal, so nothing can be learned from them")
        scales = np.where(constant, 1.0, scales)
        centers = np.where(constant, values[0], centers)
    with np.errstate(over="ignore"):
        found = NamedMatrix(csr_array((values - centers) / scales), names)
    return found, dict(zip(names, zip(centers.tolist(), scales.tolist(), strict=True), strict=True))


def _checked(vectors: ArrayLike, n_documents: int) -> NDArray[np.float64]:
    array = np.asarray(vectors)
    if array.dtype.kind not in "fiub" or array.ndim != 2 or not array.shape[1]:
        raise InputError(
            "the vectors of documents must be a dense matrix of numbers with a row per document, not an array of "
            f"{array.dtype} with the shape {array.shape}"
        )
    if len(array) != n_documents:
        raise InputError(
            f"the vectors of documents have {len(array):,} rows, but there are {n_documents:,} documents: the rows "
            "must be those of the documents, in their order"
        )
    values = array.astype(np.float64)
    if not (finite := np.isfinite(values)).all():
        row, column = np.argwhere(~finite)[0]
        raise InputError(
            f"the vectors of documents hold {values[row, column]} in row {row}, column {column}: replace it by a number"
        )
    return values
