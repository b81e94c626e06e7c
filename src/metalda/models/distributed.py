"""New documents, shared by the workers of a cluster."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metalda.meta.design import Design
from metalda.samplers.folding import Documents
from metalda.samplers.shards import shard_bounds
from metalda.training.distributed.cluster import Cluster

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

TOKENS = 1 << 18  # that a worker takes at a time


def infer_on(
    cluster: Cluster, model: TopicModel, documents: Documents, labels: Design, phi: NDArray[np.float32]
) -> NDArray[np.float32]:
    """theta of new documents: the same as here, since a row depends on its own document only."""
    light = copy(model).set_params(n_jobs=1)
    light.doc_topics_ = model.doc_topics_[:0]  # of the training documents: nobody asks for them there
    bounds = shard_bounds(documents.offsets, 1 + len(documents.words) // TOKENS)
    parts = (_cut(documents, a, b) for a, b in pairwise(bounds))
    rows = replace(labels, row_of=labels.row_of[:0])  # documents have theirs with them
    return np.concatenate(list(cluster.map(_infer, parts, light, rows, phi, name="transform")))


def _cut(documents: Documents, first: int, last: int) -> Documents:
    offsets = documents.offsets[first : last + 1]
    words = documents.words[offsets[0] : offsets[-1]]
    return Documents(words, offsets - offsets[0], documents.doc_rows[first:last], documents.keys[first:last])


def _infer(documents: Documents, model: TopicModel, labels: Design, phi: NDArray[np.float32]) -> NDArray[np.float32]:
    return model._infer(model.draws_, documents, labels, phi)
