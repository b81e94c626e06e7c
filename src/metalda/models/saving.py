"""Save and load models, and identify a training run by its parameters and fingerprints of its data."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metalda.corpus import Corpus, Schema
from metalda.errors import InputError, StorageError
from metalda.meta import Embeddings, WordFeatures
from metalda.meta.design import DEFAULT, Design
from metalda.models.fitted import Fitted
from metalda.models.registry import CLASSES
from metalda.samplers import Problem
from metalda.samplers.draws import pack_draws, unpack_draws
from metalda.storage import read_folder
from metalda.training.loop import Trained
from metalda.utils.packed import pack_words, unpack_words

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_KEPT_ELSEWHERE = ("word_features", "embeddings", "vocabulary")
_WITHOUT_EFFECT = ("n_jobs", "verbose", *_KEPT_ELSEWHERE)


def load(path: str | os.PathLike[str]) -> TopicModel:
    """Read a model that `TopicModel.save` wrote. No code in the folder is executed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from metalda import LDA, load
    >>> model = LDA(2, n_iter=20, random_state=0).fit(["cat dog cat", "rain sun"])
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "model"))
    ...     same = load(Path(folder, "model"))
    >>> bool((same.transform(["cat"]) == model.transform(["cat"])).all())
    True
    """
    document, arrays = read_folder(path, "model")
    name = document.get("model")
    if name not in CLASSES:
        raise StorageError(f"{path}: holds a model {name!r}, which this version of metalda does not know")
    try:
        return unpack_model(CLASSES[name].load(), document, arrays)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise StorageError(f"{path}: the model is damaged ({type(error).__name__}: {error}); save it again") from error


def pack_model(model: TopicModel, fitted: Fitted) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a document for JSON and arrays for safetensors. phi is left out, because it follows from the draws."""
    parameters = model.get_params(deep=False)
    document: dict[str, Any] = {
        "model": type(model).__name__,
        "parameters": {name: _storable(value) for name, value in parameters.items() if name not in _KEPT_ELSEWHERE},
        "seed": fitted.seed,
        "n_iter": fitted.n_iter,
        "n_shards": fitted.n_shards,
        "named_words": fitted.named_words,
        "named_columns": hasattr(model, "feature_names_in_"),
        "named_by_parameter": model.vocabulary is not None,
        "label_names": list(fitted.label_names),
        "zero_is_a_number": fitted.labels.zero_is_a_number,
        "feature_names": list(fitted.feature_names),
        "schema": None if fitted.schema is None else fitted.schema.to_json(),
    }
    arrays = {f"draws.{name}": array for name, array in pack_draws(fitted.draws).items()}
    arrays["doc_topics"] = fitted.doc_topics
    arrays["labels.row_of"] = fitted.labels.row_of
    arrays["labels.starts"] = fitted.labels.row_starts
    arrays["labels.labels"] = fitted.labels.row_labels
    arrays["labels.values"] = fitted.labels.row_values
    arrays.update({f"history.{name}": column for name, column in fitted.history.items()})
    arrays["vocabulary.text"], arrays["vocabulary.ends"] = pack_words(fitted.vocabulary)
    features, embeddings = model._word_features(), parameters.get("embeddings")
    if features is not None:
        document["word_features"], packed = features.to_arrays()
        arrays.update({f"word_features.{name}": array for name, array in packed.items()})
    if embeddings is not None:
        document["embeddings"], packed = embeddings.to_arrays()
        arrays.update({f"embeddings.{name}": array for name, array in packed.items()})
    return document, arrays


def unpack_model(
    model_class: type[TopicModel], document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> TopicModel:
    """Return the model that `pack_model` packed."""
    parameters = dict(document["parameters"])
    vocabulary = unpack_words(arrays["vocabulary.text"], arrays["vocabulary.ends"])
    if document["named_by_parameter"]:
        parameters["vocabulary"] = list(vocabulary)
    if "word_features" in document:
        parameters["word_features"] = WordFeatures.from_arrays(
            document["word_features"], _under(arrays, "word_features")
        )
    if "embeddings" in document:
        parameters["embeddings"] = Embeddings.from_arrays(document["embeddings"], _under(arrays, "embeddings"))
    model = model_class(**parameters)
    if document["named_columns"]:
        model.feature_names_in_ = np.array(vocabulary, dtype=object)
    trained = Trained(
        tuple(unpack_draws(_under(arrays, "draws"))),
        arrays["doc_topics"],
        _under(arrays, "history"),
        document["n_iter"],
        document["seed"],
    )
    labels = _unpack_labels(document, _under(arrays, "labels"))
    return model._keep_result(
        trained,
        vocabulary,
        model._prior_of_documents(labels),
        model._prior_by_name(vocabulary, tuple(document["feature_names"])),
        schema=None if document["schema"] is None else Schema.from_json(document["schema"]),
        n_shards=document["n_shards"],
        named_words=document["named_words"],
    )


def _unpack_labels(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Design:
    names = (*document["label_names"], DEFAULT)
    shape = (len(arrays["starts"]) - 1, len(names))
    rows = sparse.csr_array((arrays["values"], arrays["labels"], arrays["starts"]), shape=shape)
    return Design.from_rows(names, arrays["row_of"], rows, zero_is_a_number=document["zero_is_a_number"])


def _under(arrays: Mapping[str, NDArray[Any]], group: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(f"{group}."): a for name, a in arrays.items() if name.startswith(f"{group}.")}


def _storable(value: Any) -> Any:
    """Return a value that JSON can hold; a generator as random_state is not kept."""
    value = _plain(value)
    return value if isinstance(value, str | int | float | list | None) else None


def identify(model: TopicModel, corpus: Corpus, problem: Problem) -> dict[str, Any]:
    """Return plain data that is equal for two training runs only if they give the same model."""
    parameters = {
        name: _plain(value) for name, value in model.get_params(deep=False).items() if name not in _WITHOUT_EFFECT
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


def _plain(value: Any) -> Any:
    """Return numbers, arrays and tuples as JSON restores them; other values unchanged."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [_plain(element) for element in value] if isinstance(value, list | tuple) else value


def _fingerprint_design(design: Design) -> str:
    values = (design.row_values,) if design.has_numbers else ()
    return fingerprint(design.row_of, design.row_starts, design.row_labels, *values, *pack_words(design.names))


def fingerprint_corpus(corpus: Corpus) -> str:
    """Return a fingerprint of everything that a result can depend on: words and their order, labels, and all names."""
    labels: tuple[NDArray[Any], ...] = ()
    if corpus.labels is not None:
        matrix = corpus.labels.matrix
        labels = (matrix.data, matrix.indices, matrix.indptr, *pack_words(corpus.labels.names))
    return fingerprint(corpus.words, corpus.offsets, *pack_words(corpus.vocabulary), *labels)


def fingerprint(*arrays: NDArray[Any]) -> str:
    """Return a hash of arrays: equal arrays have equal hashes, and different arrays in practice different ones."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(str((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
