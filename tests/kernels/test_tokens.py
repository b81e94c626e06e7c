"""The token kernels against the reference, and the choice of a topic at its edges."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chisquare

import reference
from marks import examples, slow_after_first
from metalda.corpus import NamedMatrix
from metalda.kernels.border import COMPILED
from metalda.kernels.helpers import choose_topic
from metalda.meta.design import Design
from metalda.priors import Alpha, Beta
from metalda.samplers import TopicCounts
from metalda.samplers.shards import Shard

SMALLEST_STEP = 2.0**-24  # between float32 uniforms


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - SMALLEST_STEP, 1.0])
@pytest.mark.parametrize("n_topics", [1, 3, 32, 33, 100])
@pytest.mark.parametrize("positive", ["first", "last", "middle", "some"])
def test_a_topic_of_weight_zero_is_never_chosen(uniform, n_topics, positive):
    weights = np.zeros(n_topics, np.float32)
    where = {"first": [0], "last": [-1], "middle": [n_topics // 2], "some": [n_topics // 3, n_topics // 2]}[positive]
    weights[where] = [0.1, 0.7][: len(where)]
    chosen = choose_topic(weights, len(weights), np.float32(uniform * weights.sum()))
    assert weights[chosen] > 0


@given(
    weights=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]), min_size=1, max_size=80).filter(any),
    uniform=st.floats(0, 1, exclude_max=True),
)
@examples(100)
def test_choice_equals_the_first_topic_past_x(weights, uniform):
    weights = np.array(weights, np.float32)  # sums of these are exact
    x = np.float32(np.floor(uniform * weights.sum() * 8) / 8)
    assert choose_topic(weights, len(weights), x) == reference.choose_topic(weights, x)


def _flatten(documents):
    words = np.array([v for document in documents for v in document], np.int32)
    return words, np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)


def _alpha(values):
    values = np.asarray(values, np.float32)
    return Alpha(values, values.sum(axis=1, dtype=np.float64), False, np.log(values))


def _beta(values, row_of=slice(None)):
    values = np.asarray(values, np.float32)
    sums = values[row_of].sum(axis=0, dtype=np.float64)
    return Beta(values, sums, sums, np.log(values))


def _one_row_a_word(n_words):
    return Design.build(NamedMatrix(sparse.csr_array(np.eye(n_words)), tuple(map(str, range(n_words)))), n_words)


DOCUMENTS = st.lists(st.lists(st.integers(0, 4), max_size=6), min_size=1, max_size=4)


@given(documents=DOCUMENTS, n_topics=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
@examples(60)
def test_a_sweep_by_word_equals_the_formula_token_by_token(documents, n_topics, seed):
    rng = np.random.default_rng(seed)
    words, offsets = _flatten(documents)
    alpha = rng.gamma(1.0, 1.0, (len(documents), n_topics))
    beta = rng.gamma(1.0, 1.0, (n_topics, 5))
    before = rng.integers(0, n_topics, len(words)).astype(np.uint16)
    topics = before.copy()
    counts = TopicCounts.count(words, topics, n_topics, _one_row_a_word(5))
    shard = Shard.cut(words, offsets, np.arange(len(documents)), 0, len(documents))
    nested = [list(topics[a:b]) for a, b in pairwise(offsets)]

    moved, log_likelihood = counts.sweep(shard, topics, _alpha(alpha), _beta(beta.T), np.uint64(seed))
    reference.sweep_tokens(documents, nested, alpha, beta, reference.splitmix(seed))

    assert topics.tolist() == [k for document in nested for k in document]
    assert moved == (topics != before).sum()
    _assert_counts_follow(counts, words, topics, n_topics, _one_row_a_word(5))
    expected = sum(
        reference.dirichlet_multinomial(alpha[d], np.bincount(np.array(z, int), minlength=n_topics))
        for d, z in enumerate(nested)
    )
    assert log_likelihood == pytest.approx(expected, rel=1e-5, abs=1e-5)


def _assert_counts_follow(counts, words, topics, n_topics, design):
    again = TopicCounts.count(words, topics, n_topics, design)
    for found, expected in zip(counts._lists[:2], again._lists[:2], strict=True):
        np.testing.assert_array_equal(found, expected)
    for name in ("indices", "data"):  # in the order of the lists
        np.testing.assert_array_equal(getattr(counts.to_matrix(), name), getattr(again.to_matrix(), name))
    np.testing.assert_array_equal(counts.topic_totals, again.topic_totals)


@given(documents=DOCUMENTS, n_topics=st.integers(1, 70), n_rows=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
@examples(100)
def test_a_shared_sweep_keeps_counts_and_sorted_lists(documents, n_topics, n_rows, seed):
    rng = np.random.default_rng(seed)
    words, offsets = _flatten(documents)
    design = Design.build(None, 5)
    topics = rng.integers(0, n_topics, len(words)).astype(np.uint16)
    counts = TopicCounts.count(words, topics, n_topics, design)
    shard = Shard.cut(words, offsets, rng.integers(0, n_rows, len(documents)), 0, len(documents))
    alpha = _alpha(rng.gamma(0.3, 1.0, (n_rows, n_topics)) + 1e-6)
    beta = _beta(rng.gamma(0.3, 1.0, (1, n_topics)) + 1e-6)
    for _ in range(5):
        before = topics.copy()
        moved, log_likelihood = counts.sweep(shard, topics, alpha, beta, rng.integers(2**64, dtype=np.uint64))
        assert moved == (topics != before).sum()
        _assert_counts_follow(counts, words, topics, n_topics, design)
        expected = sum(
            reference.dirichlet_multinomial(
                alpha.values[shard.doc_rows[d]].astype(float), np.bincount(topics[a:b], minlength=n_topics)
            )
            for d, (a, b) in enumerate(pairwise(offsets))
        )
        assert log_likelihood == pytest.approx(expected, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("old", [0, 33])  # in either block of smoothing sums
def test_a_token_of_a_shared_sweep_follows_the_formula(old):
    """The first token, drawn many times, stays, or moves to a topic of its word, of its document, or to any other."""
    rng, n_topics, n = np.random.default_rng(old), 40, 20_000 if COMPILED else 1000
    words, offsets = _flatten([[0, 1, 1, 2, 0, 3], [0, 0, 2, 3]])
    start = np.array([old, 5, 5, 39, 7, old, 7, 9, 20, old], np.uint16)
    smooth = rng.gamma(1.0, 0.2, (1, n_topics))
    smooth[0, old] = 3.0
    alpha, beta = _alpha(smooth), _beta(rng.gamma(1.0, 0.2, (1, n_topics)))
    design, shard = Design.build(None, 4), Shard.cut(words, offsets, np.zeros(2, np.int32), 0, 2)
    m, n_word, totals = (np.bincount(z, minlength=n_topics) for z in (start[1:6], start[1:][words[1:] == 0], start[1:]))
    expected = (alpha.values[0] + m) * (beta.values[0] + n_word) / (beta.rescaled_sums + totals)
    drawn, counts = np.zeros(n_topics), TopicCounts.count(words, start, n_topics, design)
    for seed in rng.integers(2**64, size=n, dtype=np.uint64):
        topics = start.copy()
        counts.copy().sweep(shard, topics, alpha, beta, seed)
        drawn[topics[0]] += 1
    expected *= n / expected.sum()
    bins = np.where(expected < 5, 0, np.arange(1, n_topics + 1))  # rare topics share one
    found, law = (np.bincount(np.unique(bins, return_inverse=True)[1], each) for each in (drawn, expected))
    assert chisquare(found, law).pvalue > 1e-4


@pytest.mark.parametrize("n_shards", [2, 5])
def test_changes_of_shards_add_up_to_the_counts_of_all(n_shards):
    rng = np.random.default_rng(n_shards)
    words = rng.integers(0, 5, 200).astype(np.int32)
    before, after = rng.integers(0, 9, (2, 200)).astype(np.uint16)
    design = Design.build(None, 5)
    old = TopicCounts.count(words, before, 9, design)
    merged, own = old.copy(), old.copy()
    shard_of = rng.integers(0, n_shards, 200)
    for s in range(n_shards):
        own.copy_from(TopicCounts.count(words, np.where(shard_of == s, after, before), 9, design))
        merged.add_changes(old, own)
    _assert_counts_follow(merged, words, after, 9, design)


@given(documents=st.lists(st.lists(st.integers(0, 3), max_size=60), min_size=1, max_size=4), seed=st.integers(0, 999))
@examples(60)
@pytest.mark.parametrize("make_design", [partial(Design.build, None), _one_row_a_word], ids=["shared", "by word"])
def test_the_likelihood_of_words_is_a_dirichlet_multinomial_by_topic(make_design, documents, seed):
    rng = np.random.default_rng(seed)
    words, _ = _flatten(documents)
    topics = rng.integers(0, 3, len(words)).astype(np.uint16)
    design = make_design(4)
    rows = np.exp(rng.normal(0, 3, (design.n_rows, 3))).astype(np.float32)
    by_word = rows[design.row_of].astype(float)
    beta = _beta(rows, design.row_of)
    counts = TopicCounts.count(words, topics, 3, design)
    n = counts.to_matrix().toarray()
    expected = sum(reference.dirichlet_multinomial(by_word[:, k], n[:, k]) for k in range(3))
    assert counts.log_likelihood(beta) == pytest.approx(expected, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("alpha", [1e-38, 1e-20, 1.0, 1e30])
@pytest.mark.parametrize("beta", [1e-38, 1e-20, 1.0, 1e30])
@pytest.mark.parametrize("n_words", [1, 2])  # one row of beta, or one for each word
def test_extreme_priors_still_give_every_topic_its_chance(n_words, alpha, beta):
    """In one document of one token all topics have equal probability, also if float32 products under- or overflow."""
    words, offsets = _flatten([[0]])
    topics = np.zeros(1, np.uint16)
    counts = TopicCounts.count(words, topics, 4, Design.build(None, 1) if n_words == 1 else _one_row_a_word(2))
    shard = Shard.cut(words, offsets, np.zeros(1, np.int32), 0, 1)
    rng = np.random.default_rng(0)
    drawn = set()
    for _ in range(200):
        flat = _alpha(np.full((1, 4), alpha)), _beta(np.full((n_words, 4), beta))
        counts.sweep(shard, topics, *flat, rng.integers(2**64, dtype=np.uint64))
        drawn.add(int(topics[0]))
    assert drawn == {0, 1, 2, 3}


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("alpha_b", "beta"), slow_after_first([(1e-7, 2e-8), (1e-6, 1e-7), (1e-8, 1e-9), (1e-12, 1e-13)])
)
def test_small_weights_of_other_topics_are_not_canceled_by_the_old_topic(shared, alpha_b, beta):
    """A word occurs in topic A, the topic of the document, and in B: float32 must not cancel the weight of B."""
    words, offsets = _flatten([[0, 1, 1, 1, 1, 1], [0]])
    design = Design.build(None, 2) if shared else _one_row_a_word(2)
    alpha = _alpha([[1.0, alpha_b], [1e-30, 1.0]])
    by_word = np.full((design.n_rows, 2), beta, np.float32)
    sums = np.full(2, 2 * beta)
    betas = Beta(by_word, sums, sums, np.log(by_word))
    shard = Shard.cut(words[:6], offsets[:2], np.array([0]), 0, 1)
    start = np.array([0, 0, 0, 0, 0, 0, 1], np.uint16)
    a, b = 6.0 * beta / (5 + 2 * beta), alpha_b * (1 + beta) / (1 + 2 * beta)  # of the first token; the others stay
    rng, moved, n = np.random.default_rng(0), 0, 3000 if COMPILED else 1000
    for _ in range(n):
        topics = start.copy()
        counts = TopicCounts.count(words, topics, 2, design)
        counts.sweep(shard, topics, alpha, betas, rng.integers(2**64, dtype=np.uint64))
        moved += topics[0] == 1
    expected = b / (a + b)
    assert abs(moved / n - expected) < 5 * np.sqrt(expected * (1 - expected) / n)
