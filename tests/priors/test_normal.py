"""The normal prior on log weights."""

import numpy as np
from scipy import sparse

from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.priors import Augmentation, Normal


def test_labels_of_a_complete_column_give_their_level_to_the_default_label_at_once():
    """Whatever the start: one label at a time, thousands of updates would be needed."""
    labels = NamedMatrix(sparse.csr_array(np.eye(2)), ("a", "b"))
    prior = Normal(Design.build(labels, 2).group("cc"), 0.1, 1.0, 0.5, 0.5, default_precision=0.04)
    scales, level = np.full(2, 1e4), np.log(0.02)  # so much data that a label moves by 0.1 given the others
    tables = 1e4 * np.exp(level) * np.array([[1.0], [1.0], [2.0]])
    state, rng, found = np.array([[level], [level], [0.0]]), np.random.default_rng(0), []
    for _ in range(200):
        precisions = prior.draw_precisions(state, rng)
        augmentation = Augmentation(tables, scales, np.ones(1))
        prior._draw(state, precisions, np.exp(np.full((2, 1), level), dtype=np.float32), False, augmentation, 0, 1, rng)
        found.append(state[:, 0].copy())
    a, b, default = np.array(found)[20:].T
    assert np.abs(np.median([a, b], axis=1)).max() < 1.5
    assert np.std(a) > 0.5
    np.testing.assert_allclose(a + default, level, atol=0.5)


def test_a_column_is_complete_whatever_the_names_of_its_labels():
    """A slash or a colon in a label means nothing unless the label is the sum of others."""
    labels = NamedMatrix(sparse.csr_array(np.eye(3)), ("C/C++", "Java", "std::vector"))
    (sum_,) = Design.build(labels, 3).group("ccc").sums
    assert (sum_[0].tolist(), sum_[1]) == ([0, 1, 2], 3)


def test_the_first_updates_find_the_scale_of_many_weights():
    """From the conditional given weights of 0, the scale would need a hundred iterations to rise."""
    rng = np.random.default_rng(0)
    n_words, n_features, n_topics = 300, 40, 50
    features = sparse.csr_array((rng.random((n_words, n_features)) < 0.3).astype(float))
    design = Design.build(NamedMatrix(features, tuple(map(str, range(n_features)))), n_words).group("f" * n_features)
    prior = Normal(design, 0.01, 1.0)
    weights = prior.start_weights(n_topics)
    truth = np.vstack([rng.normal(0, 0.5, (n_features, n_topics)), weights[-1:]])
    tables = design.matrix.T @ rng.poisson(500 * np.exp(design.matrix @ truth))
    augmentation = Augmentation(tables.astype(float), design.row_sizes, np.full(n_topics, 500.0))
    for _ in range(3):
        precisions = prior.draw_precisions(weights, rng)
        products = np.exp(design.matrix @ weights).astype(np.float32)
        prior._draw(weights, precisions, products, False, augmentation, 0, n_topics, rng)
    assert 0.4 < weights[:-1].std() < 0.6
