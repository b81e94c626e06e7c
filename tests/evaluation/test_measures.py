"""Each measure equals what is worked out by hand, and tells good from bad."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from contracts import known_topics as known
from metalda.corpus import NamedMatrix, as_labels
from metalda.errors import InputError
from metalda.evaluation import label_accuracy, topic_diversity


def labels(*values: Any) -> NamedMatrix:
    matrix = as_labels(list(values), len(values))
    assert matrix is not None
    return matrix


def test_diversity_is_the_share_of_distinct_top_words() -> None:
    model = known([[0.5, 0.3, 0.2, 0], [0.5, 0.3, 0, 0.2], [0, 0, 0.6, 0.4]], "abcd")
    assert topic_diversity(model, top_n=1) == 2 / 3  # a, a, c
    assert topic_diversity(model, top_n=2) == 4 / 6  # ab, ab, cd
    assert topic_diversity(model, top_n=3) == 4 / 9  # abc, abd, cda
    assert topic_diversity(model, top_n=25) == 4 / 12  # no more than there are
    with pytest.raises(InputError, match="top_n"):
        topic_diversity(model, top_n=0)


def one_hot(*topics: int) -> np.ndarray:
    return np.eye(2)[list(topics)]


def test_accuracy_counts_documents_whose_only_label_is_told() -> None:
    train, test = [0, 0, 0, 1, 1, 1], [0, 1, 1, 0]
    score = label_accuracy(
        one_hot(*train),
        labels(*"aaabbb"),
        one_hot(*test),
        labels("a", "b", "a", "b"),  # the last two are wrong
    )
    assert score == ("accuracy", 0.5)
    assert label_accuracy(one_hot(*train), labels(*"aaabbb"), one_hot(*test), labels(*"abba")).value == 1


def test_labels_are_matched_by_name_and_new_ones_are_missed() -> None:
    theta, learnt = one_hot(0, 0, 1, 1), labels(*"aabb")
    assert label_accuracy(theta, learnt, one_hot(1, 1), labels(*"bb")).value == 1
    assert label_accuracy(theta, learnt, one_hot(1, 0), labels(*"bz")).value == 0.5


def test_documents_without_labels_are_left_out() -> None:
    theta = one_hot(0, 0, 1, 1, 0)
    score = label_accuracy(theta, labels("a", "a", "b", "b", None), one_hot(0, 1, 1), labels("a", "b", None))
    assert score == ("accuracy", 1)
    assert math.isnan(label_accuracy(theta, labels(*"aabb", None), one_hot(0), labels(None)).value)
    nothing = NamedMatrix(sparse.csr_array((5, 0)), ())
    assert math.isnan(label_accuracy(theta, nothing, one_hot(0), labels("a")).value)


def test_several_labels_are_judged_by_micro_f1_by_hand() -> None:
    theta = one_hot(0, 0, 0, 1, 1, 1)
    learnt = labels(["a", "x"], ["a", "x"], ["a", "x"], ["b", "x"], ["b", "x"], ["b", "x"])
    # told: {a, x}, {b, x}; true: {a, x}, {a, z}: hits a, x; wrong b, x; missed a, z
    score = label_accuracy(theta, learnt, one_hot(0, 1), labels(["a", "x"], ["a", "z"]))
    assert score == ("micro-F1", pytest.approx(2 * 2 / (2 * 2 + 2 + 2)))


def test_proportions_and_labels_must_be_as_many() -> None:
    with pytest.raises(InputError, match=r"2 documents, but labels of 1"):
        label_accuracy(one_hot(0, 1), labels("a"), one_hot(0), labels("a"))
