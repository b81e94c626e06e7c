"""What a run of training is a run of: fingerprints of the data, and the parameters that decide the result."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from metalda.corpus import Corpus, NamedMatrix
from metalda.meta.words import pack_words

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_WITHOUT_EFFECT = ("n_jobs", "verbose", "vocabulary", "word_features")


def identify(
    model: TopicModel, corpus: Corpus, labels: NamedMatrix | None, features: NamedMatrix | None
) -> dict[str, Any]:
    """Plain data that is equal for two runs only if they give the same model."""
    parameters = {
        name: value if isinstance(value, str | int | float | None) else repr(value)
        for name, value in model.get_params(deep=False).items()
        if name not in _WITHOUT_EFFECT
    }
    return {
        "documents": _fingerprint(corpus.words, corpus.offsets, *pack_words(corpus.vocabulary)),
        "labels": _fingerprint_matrix(labels),
        "word features": _fingerprint_matrix(features),
        "parameters": {"model": type(model).__name__, **parameters},
    }


def _fingerprint_matrix(matrix: NamedMatrix | None) -> str:
    if matrix is None:
        return ""
    return _fingerprint(matrix.matrix.indptr, matrix.matrix.indices, *pack_words(matrix.names))


def _fingerprint(*arrays: np.ndarray) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(str((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
