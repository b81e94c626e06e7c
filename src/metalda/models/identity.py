"""What a run of training is a run of: fingerprints of the data, and the parameters that decide the result."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from metalda.corpus import Corpus
from metalda.meta.design import Design
from metalda.samplers import Problem
from metalda.utils.packed import pack_words

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_WITHOUT_EFFECT = ("n_jobs", "verbose", "vocabulary", "word_features", "embeddings")


def identify(model: TopicModel, corpus: Corpus, problem: Problem) -> dict[str, Any]:
    """Plain data that is equal for two runs only if they give the same model."""
    parameters = {
        name: plain(value) for name, value in model.get_params(deep=False).items() if name not in _WITHOUT_EFFECT
    }
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = "a generator"
    return {
        "documents": fingerprint(corpus.words, corpus.offsets, *pack_words(corpus.vocabulary)),
        "labels": _fingerprint_design(problem.doc_prior.design),
        "word features": _fingerprint_design(problem.word_prior.design),
        "embeddings": fingerprint(*problem.sampler.inputs),
        "parameters": {"model": type(model).__name__, **parameters},
    }


def plain(value: Any) -> Any:
    """Numbers, arrays and tuples as they come back from JSON; anything else as it is."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [plain(element) for element in value] if isinstance(value, list | tuple) else value


def _fingerprint_design(design: Design) -> str:
    values = (design.row_values,) if design.has_numbers else ()
    return fingerprint(design.row_of, design.row_starts, design.row_labels, *values, *pack_words(design.names))


def fingerprint_corpus(corpus: Corpus) -> str:
    """Of everything in a corpus that a result can depend on: words and their order, labels, and all names."""
    labels: tuple[np.ndarray, ...] = ()
    if corpus.labels is not None:
        matrix = corpus.labels.matrix
        labels = (matrix.data, matrix.indices, matrix.indptr, *pack_words(corpus.labels.names))
    return fingerprint(corpus.words, corpus.offsets, *pack_words(corpus.vocabulary), *labels)


def fingerprint(*arrays: np.ndarray) -> str:
    """Equal for equal arrays, and in practice for no others."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(str((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
