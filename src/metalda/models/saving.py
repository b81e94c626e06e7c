"""Save and load models, and identify a training run by its parameters and fingerprints of its data."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.corpus import Corpus, NamedMatrix, Schema
from metalda.errors import StorageError
from metalda.meta import Embeddings, WordFeatures
from metalda.meta.design import DEFAULT, Design
from metalda.meta.groups import MOST_GROUPS
from metalda.meta.terms import Terms
from metalda.models.curation import Curation
from metalda.models.fitted import Fitted
from metalda.models.registry import CLASSES
from metalda.priors import Learning, LogLinear
from metalda.samplers import Problem
from metalda.samplers.draws import pack_draws, unpack_draws
from metalda.storage import Unread, read_parts
from metalda.training.checkpoint import Packed, join_chains, split_chains
from metalda.training.loop import Trained
from metalda.utils.checks import (
    Array,
    Arrays,
    JsonObject,
    check_array,
    check_finite,
    check_flag,
    check_integer,
    check_keys,
    check_names,
    check_object,
    check_range,
    reading_damage,
)
from metalda.utils.packed import pack_words, unpack_words

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_KEPT_ELSEWHERE = ("word_features", "embeddings", "vocabulary")
_LARGEST_PHI = 1.001  # of averages in float32
PROPORTIONS = "doc_topics"  # the array of a chain that `load` leaves unread, because it may be larger than all others
_WITHOUT_EFFECT = ("n_jobs", "verbose", *_KEPT_ELSEWHERE)


def load(path: str | os.PathLike[str], *, allow_tokenizer: bool = False) -> TopicModel:
    """Read a model that `TopicModel.save` wrote. No code in the folder is executed.

    Parameters
    ----------
    path : path-like
        The folder.
    allow_tokenizer : bool
        Allow the tokenizer that the model names (`model.schema_.tokenizer`), if it is the import path of a function,
        such as "jieba:lcut". Its module is imported when new texts are tokenized. Without it, new texts are an error,
        and everything else works.

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
    document, arrays, unread = read_parts(path, "model", (PROPORTIONS,))
    name = document.get("model")
    if not isinstance(name, str) or name not in CLASSES:
        raise StorageError(f"{path}: holds a model {str(name)[:40]!r}, which this version of metalda does not know")
    with reading_damage(path, "model", "save it again"):
        known = {**arrays, **{name: part.mapped for name, part in unread.items()}}
        readers = {name: partial(_read_proportions, part, str(path)) for name, part in unread.items()}
        return unpack_model(CLASSES[name].load(), document, known, readers, allow_tokenizer=allow_tokenizer)


def _read_proportions(unread: Unread, path: str) -> Array:
    """Return the proportions of the training documents, checked."""
    proportions = unread.read()
    with reading_damage(path, "model", "save it again"):
        _check_proportions(proportions)
    return proportions


def _check_proportions(proportions: Array) -> None:
    check_range(PROPORTIONS, proportions, 0, 1 + 1e-3)


def pack_model(model: TopicModel, fitted: Fitted) -> Packed:
    """Return a document for JSON and arrays for safetensors.

    phi follows from the draws. It is kept, because without it a command that prints topics would have to compile.
    """
    parameters = model.get_params(deep=False)
    document: JsonObject = {
        "model": type(model).__name__,
        "parameters": {name: _storable(value) for name, value in parameters.items() if name not in _KEPT_ELSEWHERE},
        "n_shards": fitted.n_shards,
        "named_words": fitted.named_words,
        "named_columns": hasattr(model, "feature_names_in_"),
        "named_by_parameter": model.vocabulary is not None,
        "label_names": list(fitted.label_names),
        "zero_is_a_number": fitted.labels.zero_is_a_number,
        "feature_names": list(fitted.feature_names),
        "schema": None if fitted.schema is None else fitted.schema.to_json(),
        "terms": None if fitted.labels.terms is None else fitted.labels.terms.to_json(),
    }
    if fitted.wording:
        document["wording"] = list(fitted.wording)
    if fitted.curation:
        document["curation"] = fitted.curation.to_json()
        fitted = fitted.trained
    of_chains, arrays = join_chains([_pack_chain(chain) for chain in fitted.chains or (fitted,)])
    document |= of_chains
    arrays.update({f"labels.{name}": array for name, array in fitted.labels.to_arrays().items()})
    arrays["vocabulary.text"], arrays["vocabulary.ends"] = pack_words(fitted.vocabulary)
    features, embeddings = model._word_features(), parameters.get("embeddings")
    if features is not None:
        document["word_features"], packed = features.to_arrays()
        arrays.update({f"word_features.{name}": array for name, array in packed.items()})
    if embeddings is not None:
        document["embeddings"], packed = embeddings.to_arrays()
        arrays.update({f"embeddings.{name}": array for name, array in packed.items()})
    return document, arrays


def _pack_chain(chain: Fitted) -> Packed:
    """Return what differs between the chains of one fit."""
    arrays = {f"draws.{name}": array for name, array in pack_draws(chain.draws).items()}
    arrays[PROPORTIONS], arrays["phi"] = chain.doc_topics, chain.phi
    arrays.update({f"weights.{name}": array for name, array in chain.weights.items()})
    arrays.update({f"history.{name}": column for name, column in chain.history.items()})
    return {"seed": chain.seed, "n_iter": chain.n_iter}, arrays


def unpack_model(
    model_class: type[TopicModel],
    document: JsonObject,
    arrays: Arrays,
    readers: Mapping[str, Callable[[], Array]],
    *,
    allow_tokenizer: bool = False,
) -> TopicModel:
    """Return the model that `pack_model` packed. Every value is checked before it is used: see `utils.checks`.

    `readers` return and check arrays of `arrays` that are mapped and still unread.
    """
    n_chains = check_integer("n_chains", check_object("parameters", document["parameters"])["n_chains"], 1)
    (document, arrays), *others = split_chains(document, arrays, n_chains)
    check_keys("the arrays", arrays, _array_names(document, arrays))
    vocabulary = check_names("vocabulary", unpack_words(arrays["vocabulary.text"], arrays["vocabulary.ends"]))
    model = _unpack_parameters(model_class, document, arrays, vocabulary)
    label_names = check_names("label_names", document["label_names"])
    feature_names = check_names("feature_names", document["feature_names"])
    zero_is_a_number = check_flag("zero_is_a_number", document["zero_is_a_number"])
    labels = Design.from_arrays((*label_names, DEFAULT), _under(arrays, "labels"), zero_is_a_number=zero_is_a_number)
    saved = document["schema"]
    schema = None if saved is None else Schema.from_json(saved, allow_tokenizer=allow_tokenizer)
    labels = labels.describe(_unpack_terms(document["terms"], model, label_names), schema)
    doc_prior, word_prior = model._prior_of_documents(labels), model._prior_by_name(vocabulary, feature_names)
    if label_names and not model.uses_labels:
        raise StorageError("label_names must be empty for a model without labels")
    if word_prior.design.names[:-1] != feature_names:
        raise StorageError("feature_names must be empty for a model without word features")
    if not (word_prior.design.label_sizes > 0).all():
        raise StorageError("feature_names has a feature that no word has")
    wording = _unpack_wording(document, model)
    chains = [_unpack_chain(model, document, arrays, doc_prior, word_prior, wording)]
    for own, its_arrays in others:
        check_keys("the arrays of a chain", its_arrays, _array_names_of_chain(its_arrays))
        chains.append(_unpack_chain(model, own, its_arrays, doc_prior, word_prior, wording))
    proportions = [readers.get(f"chain{c}.{PROPORTIONS}" if c else PROPORTIONS) for c in range(len(chains))]
    for chain, read in zip(chains, proportions, strict=True):
        if read is None:
            _check_proportions(chain.doc_topics)
    if (seeds := model._seeds()) is not None:
        if not set(seeds.features) <= set(feature_names):
            raise StorageError("feature_names must have a feature for each seed set")
        if len(seeds.sets) > len(chains[0].draws[0].mean_alpha):
            raise StorageError("there are more seed sets than topics")
    if len({len(chain.draws[0].mean_alpha) for chain in chains}) > 1:
        raise StorageError("the chains have different numbers of topics")
    model._keep_result(
        chains,
        vocabulary,
        doc_prior,
        word_prior,
        schema=schema,
        n_shards=check_integer("n_shards", document["n_shards"], 1),
        named_words=check_flag("named_words", document["named_words"]),
        wording=wording,
        phi=[_unpack_phi(own, chains[0]) for own in (arrays, *(its_arrays for _, its_arrays in others))],
        proportions=proportions,
    )
    for fitted in model.fitted_.chains or (model.fitted_,):
        _check_phi(fitted.phi)
    return model._curate(Curation.from_json(document["curation"])) if "curation" in document else model


def _unpack_wording(document: JsonObject, model: TopicModel) -> tuple[str, ...]:
    """Return the groups that word topics in their own way; there are two or more, or none."""
    names = check_names("wording", document.get("wording", []))
    if (len(names) == 1) or bool(names) != (model._wording is not None) or len(names) > MOST_GROUPS:
        raise StorageError(f"wording has {len(names):,} groups, which does not fit the parameters")
    return names


def _unpack_terms(saved: object, model: TopicModel, label_names: Sequence[str]) -> Terms | None:
    """Return the terms of the labels, checked against the formula and the names of the design's columns."""
    if saved is None:
        return None
    terms = Terms.from_json(saved)
    if terms.formula != model._prevalence:
        raise StorageError("the terms are of another formula")
    try:
        terms.groups_of(label_names)
    except KeyError:
        raise StorageError("label_names must be columns of the terms") from None
    return terms


def _unpack_chain(
    model: TopicModel,
    document: JsonObject,
    arrays: Arrays,
    doc_prior: LogLinear,
    word_prior: LogLinear,
    wording: tuple[str, ...],
) -> Trained:
    """Return the chain that `_pack_chain` packed, checked."""
    draws = unpack_draws(_under(arrays, "draws"), doc_prior, word_prior, model._check_extra, len(wording) or None)
    doc_topics, n_topics = arrays[PROPORTIONS], len(draws[0].mean_alpha)
    check_array(PROPORTIONS, doc_topics, np.float32, (len(doc_prior.design.row_of), n_topics))
    weights = _under(arrays, "weights")
    priors = {name: p for name, p in (("label", doc_prior), ("feature", word_prior)) if isinstance(p, Learning)}
    check_keys("weights", weights, [name for name, prior in priors.items() if len(prior.design.names) > 1])
    for name, own in weights.items():
        priors[name].check_kept_weights(f"weights.{name}", own, n_topics)
    n_iter = check_integer("n_iter", document["n_iter"], 0)
    history = _under(arrays, "history")
    for name, column in history.items():
        check_array(f"history.{name}", column, (np.int64, np.float64), (n_iter,))
        if name != "log_likelihood":  # which may be -inf for extreme parameters
            check_range(f"history.{name}", column, 0, 2**53)
    return Trained(tuple(draws), weights, doc_topics, history, n_iter, check_integer("seed", document["seed"], 0))


def _unpack_phi(arrays: Arrays, chain: Trained) -> NDArray[np.float32]:
    """Return phi [word, topic]."""
    check_array("phi", arrays["phi"], np.float32, chain.draws[0].word_topic_counts.shape)
    return arrays["phi"]


def _check_phi(phi: NDArray[np.float32]) -> None:
    """Check phi of a chain, and that of several chains, which follows from it."""
    check_finite("phi", phi, low=0)
    if phi.max(initial=0) > _LARGEST_PHI:
        raise StorageError("phi has probabilities above 1")
    if not phi.any(axis=0).all():
        raise StorageError("a topic has no word of positive probability")


def _array_names(document: JsonObject, arrays: Arrays) -> list[str]:
    """Return the names of the arrays of a model. Those of features and vectors have checks of their own."""
    names = ["vocabulary.text", "vocabulary.ends"]
    names += [f"labels.{name}" for name in ("row_of", "starts", "labels", "values")]
    groups = tuple(f"{name}." for name in ("word_features", "embeddings") if name in document)
    return [*names, *_array_names_of_chain(arrays), *(name for name in arrays if name.startswith(groups))]


def _array_names_of_chain(arrays: Arrays) -> list[str]:
    """Return the names of the arrays of a chain. Those of draws and weights have checks of their own."""
    names = [PROPORTIONS, "phi", *(f"history.{name}" for name in ("iteration", "log_likelihood", "seconds", "moved"))]
    optional = [f"history.{name}" for name in ("doc_tables", "word_tables")]
    return [*names, *(name for name in arrays if name in optional or name.startswith(("draws.", "weights.")))]


def _unpack_parameters(
    model_class: type[TopicModel],
    document: JsonObject,
    arrays: Arrays,
    vocabulary: tuple[str, ...],
) -> TopicModel:
    """Return the model before it is fitted."""
    parameters = dict(check_object("parameters", document["parameters"]))
    names = model_class._get_param_names()
    check_keys("parameters", parameters, [name for name in names if name not in _KEPT_ELSEWHERE])
    if check_flag("named_by_parameter", document["named_by_parameter"]):
        parameters["vocabulary"] = list(vocabulary)
    if "word_features" in document:
        parameters["word_features"] = WordFeatures.from_arrays(
            document["word_features"], _under(arrays, "word_features")
        )
    if "embeddings" in document:
        parameters["embeddings"] = Embeddings.from_arrays(document["embeddings"], _under(arrays, "embeddings"))
    model = model_class(**parameters)
    model._validate_params()
    if check_flag("named_columns", document["named_columns"]):
        model.feature_names_in_ = np.array(vocabulary, dtype=object)
    return model


def _under(arrays: Arrays, group: str) -> dict[str, Array]:
    return {name.removeprefix(f"{group}."): a for name, a in arrays.items() if name.startswith(f"{group}.")}


def _storable(value: object) -> object:
    """Return a value that JSON can hold; a generator as random_state is not kept."""
    value = _plain(value)
    return value if isinstance(value, str | int | float | list | dict | None) else None


def identify(model: TopicModel, corpus: Corpus, problem: Problem) -> JsonObject:
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
        "groups" if model._wording is not None else "embeddings": fingerprint(*problem.sampler.inputs),
        "parameters": {"model": type(model).__name__, **parameters},
    }


def _plain(value: object) -> object:
    """Return numbers, arrays and tuples as JSON restores them; other values unchanged."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    return [_plain(element) for element in value] if isinstance(value, list | tuple) else value


def _fingerprint_design(design: Design) -> str:
    values = (design.row_values,) if design.has_numbers else ()
    return fingerprint(design.row_of, design.row_starts, design.row_labels, *values, *pack_words(design.names))


def fingerprint_corpus(corpus: Corpus) -> str:
    """Return a fingerprint of everything that a result can depend on: words and their order, labels, and all names."""
    labels = () if corpus.labels is None else _label_arrays(corpus.labels)
    return fingerprint(corpus.words, corpus.offsets, *pack_words(corpus.vocabulary), *labels)


def fingerprint_labels(labels: NamedMatrix) -> str:
    """Return a fingerprint of labels and their names."""
    return fingerprint(*_label_arrays(labels))


def _label_arrays(labels: NamedMatrix) -> tuple[NDArray[np.generic], ...]:
    matrix = labels.matrix
    return matrix.data, matrix.indices, matrix.indptr, *pack_words(labels.names)


def fingerprint(*arrays: NDArray[np.generic]) -> str:
    """Return a hash of arrays: equal arrays have equal hashes, and different arrays in practice different ones."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(str((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
