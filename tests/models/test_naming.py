"""Automatic names of topics."""

import numpy as np

from contracts import QUICK, corpus, with_result
from metalda import LDA
from metalda.models.naming import automatic_names

WORDS = ("the", "cat", "cats", "dog", "sun", "rain", "sky")


def named(phi: list[list[float]]) -> list[str]:
    """Names of topics with these probabilities of words."""
    model = LDA(len(phi), **QUICK).fit(corpus())
    rows = np.array(phi, np.float32) / np.sum(phi, axis=1, keepdims=True)
    shares = model.fitted_.topic_shares
    fitted = with_result(model, phi=rows.T, vocabulary=WORDS).fitted_
    object.__setattr__(fitted, "topic_shares", np.full(len(shares), 1 / len(shares)))
    object.__setattr__(fitted, "is_background", np.zeros(len(shares), bool))
    return automatic_names(fitted)


def test_names_are_relevant_words_without_plurals_or_words_of_all_topics() -> None:
    assert named([[9, 8, 7, 6, 0.1, 0.1, 0.1], [9, 0.1, 0.1, 0.1, 8, 7, 6]]) == ["cat · dog", "sun · rain"]


def test_topics_with_the_same_words_have_different_names() -> None:
    row = [9, 8, 0.1, 7, 6, 5, 4.0]
    names = named([row, row, row, row, row, row])
    assert len(set(names)) == 6
    assert names[0].count("·") == 1
    assert names[1].startswith(names[0])
    assert names[-1] == f"{names[0]} (3)"
