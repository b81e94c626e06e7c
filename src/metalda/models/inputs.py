"""What `fit` and `transform` accept, and how it becomes a corpus."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from metalda.corpus import Corpus
from metalda.errors import InputError


def read_input(estimator: BaseEstimator, X: Any, y: Any, vocabulary: Any, *, fitting: bool) -> Corpus:
    """A corpus with labels from a Corpus, a count matrix, texts or token lists, and optional labels y."""
    if isinstance(X, Corpus):
        if y is None:
            return X
        if X.labels is not None:
            raise InputError("labels given twice: in the corpus and as y; drop one (corpus.without_labels())")
        return X.with_labels(y)
    if isinstance(X, str):
        raise InputError("X is a single string; give a list of documents, or Corpus.read for a file")
    first = _first_document(X)
    if isinstance(first, str):
        return Corpus.from_texts(X, y)
    if isinstance(first, list | tuple | np.ndarray) and any(isinstance(token, str) for token in first):
        return Corpus.from_tokens(X, y)
    names = getattr(X, "columns", None)
    matrix = validate_data(estimator, X, reset=fitting, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True)
    if vocabulary is None and names is not None and all(isinstance(name, str) for name in names):
        vocabulary = list(names)
    if vocabulary is not None and len(vocabulary) != matrix.shape[1]:
        raise InputError(f"vocabulary names {len(vocabulary):,} columns, but X has {matrix.shape[1]:,}")
    return Corpus.from_counts(matrix, y, vocabulary=vocabulary)


def _first_document(X: Any) -> Any:
    """The first document that is not empty, where X is a sequence of texts or token lists."""
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OU":
        return None
    if hasattr(X, "iloc") and getattr(X, "ndim", 1) == 1:  # a pandas Series
        X = X.tolist()
    if not isinstance(X, list | tuple | np.ndarray) or getattr(X, "ndim", 1) != 1:
        return None
    return next(
        (document for document in X if document is not None and len(np.shape(document)) + _length(document)), None
    )


def _length(document: Any) -> int:
    return len(document) if hasattr(document, "__len__") else 0
