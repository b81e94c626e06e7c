"""Convert the documents that `fit` and `transform` accept to a corpus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from metalda.corpus import Corpus, Schema
from metalda.errors import EmptyVocabularyError, InputError, MissingLabelsError
from metalda.utils.frames import Frame, collect_frame, column_names, column_values, is_frame

if TYPE_CHECKING:
    from metalda.models.transform import FoldingIn


def read_input(
    estimator: FoldingIn,
    X: object,
    y: object,
    vocabulary: Collection[str] | None,
    *,
    fitting: bool,
    names_needed: bool = False,
    schema: Schema | None = None,
) -> Corpus:
    """Return a corpus with labels from a Corpus, a count matrix, texts, token lists, or rows that fit the schema."""
    if fitting and hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit
    if isinstance(X, Corpus):
        if y is None:
            return X
        if X.labels is not None:
            raise InputError("labels given twice: in the corpus and as y; drop one (corpus.without_labels())")
        return X.with_labels(y)
    if isinstance(X, str):
        raise InputError("X is a single string; give a list of documents, or Corpus.read for a file")
    if _is_texts(X):
        if fitting:
            return Corpus.from_texts(X, y)
        if schema is None:  # a model of tokens or counts has a fixed vocabulary
            schema = Schema(stop_words=None).fitted()
        return _tokenize(partial(_texts_like, schema), X, y, vocabulary)
    if schema is not None and schema.fits(X):
        return _read_rows(X, y, schema, vocabulary)
    if _is_tokens(X):
        return _tokenize(Corpus.from_tokens, X, y, None if fitting else vocabulary)
    if isinstance(X, list | tuple) and not X:
        raise InputError("X is empty: there is no document in it")
    if is_frame(X) and not hasattr(X, "columns"):  # a dataset, or a table of Arrow
        raise InputError(
            f"X is a {type(X).__name__}, which has columns: give Corpus.from_frame(X, text=..., labels=...), or the "
            "column of the texts alone"
        )
    names = getattr(X, "columns", ())
    has_names = len(names) > 0 and all(isinstance(name, str) for name in names)
    if has_names and not fitting and estimator.fitted_.named_words and not hasattr(estimator, "feature_names_in_"):
        if schema is not None and schema.text and not estimator.fitted_.word_index.keys() & set(names):
            raise InputError(
                f"the frame has neither the text column {schema.text[0]!r} nor a column for a word of the model; "
                f"its columns are: {', '.join(map(str, names[:20]))}. Read it with "
                "Corpus.from_frame(X, text=..., schema=model.schema_)"
            )
        _require_counts(X)
        return Corpus.from_counts(X, y)  # columns are matched by name, in any order
    if has_names:
        _require_counts(X)
    from sklearn.utils.validation import validate_data

    matrix = validate_data(estimator, X, reset=fitting, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True)
    if vocabulary is None and has_names:
        vocabulary = list(names)
    if vocabulary is None and names_needed:
        raise InputError(
            "word features, word vectors and seed words need the names of the words: give vocabulary=, one name per "
            "column of X"
        )
    if vocabulary is not None and len(vocabulary) != matrix.shape[1]:
        raise InputError(f"vocabulary names {len(vocabulary):,} columns, but X has {matrix.shape[1]:,}")
    return Corpus.from_counts(matrix, y, vocabulary=vocabulary)


def _require_counts(frame: Frame) -> None:
    """Raise InputError if a column of a frame holds texts, because a frame is read as counts of words."""
    frame = collect_frame(frame)
    longest: dict[str, int] = {}
    for j, name in enumerate(column_names(frame)):
        texts = [cell for cell in column_values(frame, j) if isinstance(cell, str)]
        if texts:
            longest[name] = max(map(len, texts))
    if longest:
        text = max(longest, key=longest.__getitem__)
        raise InputError(
            f"a frame without a schema holds counts, a column per word, but its column {text!r} holds texts: give "
            f"X[{text!r}], or Corpus.from_frame(X, text={text!r}), which also reads labels"
        )


def has_words(X: object) -> bool:
    """Return whether documents have words by name instead of numbered columns."""
    return isinstance(X, Corpus) or _is_texts(X) or _is_tokens(X)


def _tokenize(make: Callable[..., Corpus], X: object, y: object, vocabulary: Collection[str] | None) -> Corpus:
    """Make a corpus. If new documents have no words, it gets the vocabulary of the model."""
    try:
        return make(X, y)
    except EmptyVocabularyError:
        if vocabulary is None:
            raise
        return make(X, y, vocabulary=vocabulary)


def _texts_like(
    schema: Schema, X: Iterable[str | None], y: object, vocabulary: Collection[str] | None = None
) -> Corpus:
    return Corpus.texts_like(X, y, schema if vocabulary is None else schema.override(vocabulary=vocabulary))


def _read_rows(X: Frame, y: object, schema: Schema, vocabulary: Collection[str] | None) -> Corpus:
    """Read the rows of a frame like the training data; y replaces the labels of the schema."""
    if y is not None:
        schema = schema.override(labels=())

    def read(X: Frame, y: object, vocabulary: Collection[str] | None = None) -> Corpus:
        try:
            own = schema if vocabulary is None else schema.override(vocabulary=vocabulary)
            corpus = Corpus.from_frame(X, schema=own)
        except MissingLabelsError as error:
            raise InputError(
                f"{error}; for documents without labels give Corpus.from_frame(X, labels=[], schema=model.schema_)"
            ) from None
        return corpus if y is None else corpus.with_labels(y)

    return _tokenize(read, X, y, vocabulary)


def without_labels(X: object, schema: Schema | None, vocabulary: Collection[str] | None) -> object:
    """Return documents without the labels that a corpus, or the rows of a frame, may have."""
    if schema is not None and schema.fits(X):
        return _read_rows(X, None, schema.override(labels=()), vocabulary)
    return X.without_labels() if isinstance(X, Corpus) else X


def _is_texts(X: object) -> TypeGuard[Iterable[str | None]]:
    """Return whether X has a text, or nothing but missing texts."""
    documents = list(_items(X))
    return any(isinstance(document, str) for document in documents) or (
        bool(documents) and all(document is None for document in documents)
    )


def _is_tokens(X: object) -> TypeGuard[Iterable[Sequence[str]]]:
    """Return whether X is a list of lists of strings, which may be empty."""
    lists = [document for document in _items(X) if isinstance(document, list | tuple | np.ndarray)]
    return bool(lists) and all(len(each) == 0 or isinstance(each[0], str) for each in lists)


def _items(X: Any) -> Iterable[object]:
    """Return the documents of a list, an array of objects or strings, or a column of a frame; none for a matrix."""
    if isinstance(X, Sequence):  # a list, or a column of a dataset of Hugging Face
        return X
    if not hasattr(X, "ndim"):
        return X.to_list() if hasattr(X, "to_list") else ()  # a column of polars
    one_column = X.ndim == 1 and getattr(X.dtype, "kind", "O") in "OU"
    return X.tolist() if one_column and hasattr(X, "tolist") else ()
