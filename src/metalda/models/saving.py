"""A fitted model as plain data: a document for JSON and arrays for safetensors, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from metalda.corpus import Schema
from metalda.meta import Embeddings, WordFeatures
from metalda.meta.design import DEFAULT, Design
from metalda.models.identity import plain
from metalda.samplers.draws import pack_draws, unpack_draws
from metalda.utils.packed import pack_words, unpack_words

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_PLAIN = ("seed_", "n_shards_", "n_iter_", "trained_unlabelled_", "named_words_", "metadata_")
_KEPT_ELSEWHERE = ("word_features", "embeddings", "vocabulary")
_NAMES = ("label_names_", "feature_names_")


def pack_model(model: TopicModel) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Everything that a model needs to be the same again; what follows from its draws is left out."""
    parameters = model.get_params(deep=False)
    features = model._word_features()
    document: dict[str, Any] = {
        "model": type(model).__name__,
        "parameters": {name: _storable(value) for name, value in parameters.items() if name not in _KEPT_ELSEWHERE},
        **{name: getattr(model, name) for name in _PLAIN},
        **{name: list(getattr(model, name)) for name in _NAMES},
        "named_columns": hasattr(model, "feature_names_in_"),
        "schema": None if model.schema_ is None else model.schema_.to_json(),
        "named_by_parameter": model.vocabulary is not None,
    }
    arrays = {f"draws.{name}": array for name, array in pack_draws(model.draws_).items()}
    arrays["doc_topics"] = model.doc_topics_
    arrays["label_sizes"] = model.label_sizes_
    if model._training_labels is not None:
        arrays.update({f"labels.{name}": array for name, array in _pack_design(model._training_labels).items()})
    arrays.update({f"history.{name}": column for name, column in model._history.items()})
    arrays["vocabulary.text"], arrays["vocabulary.ends"] = pack_words(model.vocabulary_)
    if features is not None:
        document["word_features"], packed = features.to_arrays()
        arrays.update({f"word_features.{name}": array for name, array in packed.items()})
    embeddings = parameters.get("embeddings")
    if embeddings is not None:
        document["embeddings"], packed = embeddings.to_arrays()
        arrays.update({f"embeddings.{name}": array for name, array in packed.items()})
    return document, arrays


def _storable(value: Any) -> Any:
    """What JSON can hold; a generator as random_state is not kept."""
    value = plain(value)
    return value if isinstance(value, str | int | float | list | None) else None


def unpack_model(model_class: type[TopicModel], document: Mapping[str, Any], arrays: Mapping[str, Any]) -> TopicModel:
    """The model that `pack_model` took apart."""
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
    for name in _PLAIN:
        setattr(model, name, document[name])
    for name in _NAMES:
        setattr(model, name, tuple(document[name]))
    model.schema_ = None if document["schema"] is None else Schema.from_json(document["schema"])
    model.vocabulary_ = vocabulary
    model.n_features_in_ = len(vocabulary)
    if document["named_columns"]:
        model.feature_names_in_ = np.array(vocabulary, dtype=object)
    model.doc_topics_ = arrays["doc_topics"]
    model.label_sizes_ = arrays["label_sizes"]
    model._training_labels = _unpack_design(model.label_names_, _under(arrays, "labels"))
    model._history = _under(arrays, "history")
    model.draws_ = tuple(unpack_draws(_under(arrays, "draws")))
    model._finish()
    return model


def _pack_design(design: Design) -> dict[str, np.ndarray]:
    """The labels of the training documents: distinct sets, and which document has which."""
    return {
        "row_of": design.row_of,
        "starts": design.row_starts,
        "labels": design.row_labels,
        "values": design.row_values,
    }


def _unpack_design(names: tuple[str, ...], arrays: Mapping[str, np.ndarray]) -> Design | None:
    """The design that `_pack_design` took apart; None of a model that was saved before it was kept."""
    if not arrays:
        return None
    shape = (len(arrays["starts"]) - 1, len(names) + 1)
    rows = sparse.csr_array((arrays["values"], arrays["labels"], arrays["starts"]), shape=shape)
    return Design.from_rows((*names, DEFAULT), arrays["row_of"], rows)


def _under(arrays: Mapping[str, Any], group: str) -> dict[str, Any]:
    return {name.removeprefix(f"{group}."): a for name, a in arrays.items() if name.startswith(f"{group}.")}
