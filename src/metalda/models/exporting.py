"""A fitted model in the terms of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from metalda.models.base import TopicModel


def pyldavis_arguments(model: TopicModel, X: Any, y: Any = None) -> dict[str, Any]:
    """See `Inspection.to_pyldavis`. Words that the model does not know are left out of lengths and frequencies."""
    check_is_fitted(model)
    corpus = model._read(X, y)
    known = model._encode(corpus, ()).all()
    return {
        "topic_term_dists": model.components_.astype(np.float64),
        "doc_topic_dists": np.asarray(model.transform(corpus), np.float64),
        "doc_lengths": np.diff(known.offsets),
        "vocab": list(model.vocabulary_),
        "term_frequency": np.bincount(known.words, minlength=len(model.vocabulary_)),
        "sort_topics": False,
    }
