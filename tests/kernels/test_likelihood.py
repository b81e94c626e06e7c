"""The likelihood of a state against log-gammas written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from metalda.kernels.border import frozen
from metalda.kernels.likelihood import document_log_likelihood, word_log_likelihood
from metalda.samplers import count_assignments


@given(
    documents=st.lists(st.lists(st.integers(0, 3), max_size=60), min_size=1, max_size=4),
    n_topics=st.integers(1, 4),
    spread=st.sampled_from([0.5, 3.0, 5.0]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_likelihood_equals_two_dirichlet_multinomials(documents, n_topics, spread, seed):
    rng = np.random.default_rng(seed)
    words = np.array([v for d in documents for v in d], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    topics = rng.integers(0, n_topics, len(words)).astype(np.uint16)
    alpha = np.exp(rng.normal(0, spread, (len(documents), n_topics))).astype(np.float32)
    beta = np.exp(rng.normal(0, spread, (4, n_topics))).astype(np.float32)
    state = count_assignments(words, topics, 4, n_topics)
    found = document_log_likelihood(
        frozen(offsets, np.int64),
        frozen(np.arange(len(documents)), np.int32),
        frozen(topics, np.uint16),
        frozen(alpha, np.float32),
        frozen(alpha.sum(axis=1, dtype=np.float64), np.float64),
    ) + word_log_likelihood(
        frozen(state.word_topic_counts, np.int32),
        frozen(state.topic_totals, np.int64),
        frozen(np.arange(4), np.int32),
        frozen(beta, np.float32),
        frozen(beta.sum(axis=0, dtype=np.float64), np.float64),
    )
    nested = [topics[offsets[d] : offsets[d + 1]] for d in range(len(documents))]
    expected = reference.log_likelihood(documents, nested, alpha.astype(float), beta.T.astype(float))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-5)
