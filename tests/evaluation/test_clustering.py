"""Agreement of topics with labels equals scikit-learn's and what is worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from metalda.corpus import as_labels
from metalda.errors import InputError
from metalda.evaluation import label_agreement


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40))
def test_nmi_is_that_of_scikit_learn(pairs):
    topics, labels = map(np.array, zip(*pairs, strict=True))
    found = label_agreement(np.eye(5)[topics], as_labels(labels, len(labels)))
    assert found.nmi == pytest.approx(normalized_mutual_info_score(labels, topics), abs=1e-9)
    most = sum(np.bincount(labels[topics == k]).max() for k in set(topics))
    assert found.purity == pytest.approx(most / len(labels))


def test_documents_without_labels_are_left_out():
    theta = np.array([[0.7, 0.3], [0.6, 0.4], [0.1, 0.9], [0.9, 0.1]])
    assert label_agreement(theta, as_labels(["a", "a", "b", None], 4)) == (1, 1)
    nothing = label_agreement(theta, as_labels([None] * 4, 4))
    assert math.isnan(nothing.nmi)
    assert math.isnan(nothing.purity)
    numbers = label_agreement(theta, as_labels(np.array([[0.5], [1.5], [2.0], [0.0]]), 4))
    assert math.isnan(numbers.nmi)


def test_a_document_with_several_labels_counts_for_each_of_them():
    theta = np.eye(2)[[0, 0, 1, 1]]
    several = label_agreement(theta, as_labels([["a", "b"], ["a"], ["b"], ["b"]], 4))
    # the same as eight half documents, two for each
    halves = label_agreement(np.eye(2)[[0, 0, 0, 0, 1, 1, 1, 1]], as_labels(list("abaabbbb"), 8))
    assert several == pytest.approx(halves)
    assert several.purity == (1.5 + 2) / 4


def test_proportions_and_labels_must_be_as_many():
    with pytest.raises(InputError, match="of 1 documents, but labels of 2"):
        label_agreement(np.ones((1, 2)), as_labels(["a", "b"], 2))
