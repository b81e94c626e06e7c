"""The token kernel against its twin, and the choice of a topic at its edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from metalda.kernels.tokens import choose_topic
from metalda.meta.design import Concentration
from metalda.samplers import Assignments, count_assignments, sweep_tokens

SMALLEST_STEP = 2.0**-24  # between float32 uniforms


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - SMALLEST_STEP, 1.0])
@pytest.mark.parametrize("n_topics", [1, 3, 32, 33, 100])
@pytest.mark.parametrize("positive", ["first", "last", "middle", "some"])
def test_a_topic_of_weight_zero_is_never_chosen(uniform, n_topics, positive):
    weights = np.zeros(n_topics, np.float32)
    where = {"first": [0], "last": [-1], "middle": [n_topics // 2], "some": [n_topics // 3, n_topics // 2]}[positive]
    weights[where] = [0.1, 0.7][: len(where)]
    chosen = choose_topic(weights, np.float32(uniform * weights.sum()))
    assert weights[chosen] > 0


@given(
    weights=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]), min_size=1, max_size=80).filter(any),
    uniform=st.floats(0, 1, exclude_max=True),
)
@settings(derandomize=True)
def test_choice_equals_the_first_topic_past_x(weights, uniform):
    weights = np.array(weights, np.float32)  # sums of these are exact
    x = np.float32(np.floor(uniform * weights.sum() * 8) / 8)
    assert choose_topic(weights, x) == reference.choose_topic(weights, x)


def _flatten(documents):
    words = np.array([v for document in documents for v in document], np.int32)
    return words, np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)


def _concentration(values):
    values = np.asarray(values, np.float32)
    return Concentration(values, values.sum(axis=1, dtype=np.float64), values.sum(axis=0, dtype=np.float64))


@given(data=st.data(), n_topics=st.integers(1, 40), n_words=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
@settings(derandomize=True, max_examples=60, deadline=None)
def test_a_sweep_equals_the_formula_token_by_token(data, n_topics, n_words, seed):
    documents = data.draw(st.lists(st.lists(st.integers(0, n_words - 1), max_size=6), min_size=1, max_size=4))
    rng = np.random.default_rng(seed)
    words, offsets = _flatten(documents)
    alpha = rng.gamma(1.0, 1.0, (len(documents), n_topics))
    beta = rng.gamma(1.0, 1.0, (n_topics, n_words))
    topics = rng.integers(0, n_topics, len(words)).astype(np.uint16)
    state = count_assignments(words, topics.copy(), n_words, n_topics)
    nested = [list(topics[offsets[d] : offsets[d + 1]]) for d in range(len(documents))]
    doc_rows, word_rows = np.arange(len(documents), dtype=np.int32), np.arange(n_words, dtype=np.int32)

    moved = sweep_tokens(
        words,
        offsets,
        doc_rows,
        _concentration(alpha),
        word_rows,
        _concentration(beta.T),
        state,
        np.random.default_rng(1),
    )
    reference.sweep_tokens(documents, nested, alpha, beta, np.random.default_rng(1))

    assert state.topics.tolist() == [k for document in nested for k in document]
    assert moved == (state.topics != topics).sum()
    _assert_counts_follow_from_topics(words, state, n_words, n_topics)


def _assert_counts_follow_from_topics(words, state: Assignments, n_words, n_topics):
    again = count_assignments(words, state.topics, n_words, n_topics)
    np.testing.assert_array_equal(state.word_topic_counts, again.word_topic_counts)
    np.testing.assert_array_equal(state.topic_totals, again.topic_totals)


@pytest.mark.parametrize("alpha", [1e-38, 1e-20, 1.0, 1e30])
@pytest.mark.parametrize("beta", [1e-38, 1e-20, 1.0, 1e30])
def test_extreme_priors_still_give_every_topic_its_chance(alpha, beta):
    """One word, one document of one token: all topics are alike, whatever float32 makes of the product."""
    words, offsets = _flatten([[0]])
    state = count_assignments(words, np.zeros(1, np.uint16), 1, 4)
    rng = np.random.default_rng(0)
    one = np.zeros(1, np.int32)
    drawn = set()
    for _ in range(200):
        flat = _concentration(np.full((1, 4), alpha)), _concentration(np.full((1, 4), beta))
        sweep_tokens(words, offsets, one, flat[0], one, flat[1], state, rng)
        drawn.add(int(state.topics[0]))
    assert drawn == {0, 1, 2, 3}
