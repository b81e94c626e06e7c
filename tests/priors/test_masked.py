"""Which topics a document may have."""

import numpy as np
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.priors import Masked

LABELS = [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]]


def _prior(**other):
    design = Design.build(NamedMatrix(sparse.csr_array(np.array(LABELS, float)), ("a", "b")), len(LABELS))
    return Masked(design, **{"start": 0.1, "topics_per_label": 2, "n_shared": 1, **other})


def test_documents_have_the_topics_of_their_labels_and_shared_ones():
    prior = _prior()
    alpha = prior.alpha(prior.start_weights(5))
    allowed = [[1, 1, 0, 0, 1], [0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 1]]
    np.testing.assert_allclose(alpha.values[prior.design.row_of], 0.1 * np.array(allowed), rtol=1e-6)
    np.testing.assert_allclose(alpha.row_sums[prior.design.row_of], 0.1 * np.sum(allowed, axis=1), rtol=1e-6)


def test_new_documents_without_labels_may_have_every_topic_whatever_training_had():
    prior = _prior(n_shared=0)
    bare = Masked(Design.build(NamedMatrix(sparse.csr_array((1, 2)), ("a", "b")), 1), 0.1, 2, 0)
    assert not prior.mixes_label_sets
    found = bare.products(prior.start_weights(4))
    np.testing.assert_allclose(found, [[0.1] * 4], rtol=1e-6)
