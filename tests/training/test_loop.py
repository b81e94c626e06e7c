"""The training loop: which draws are kept, shards, and stopping early."""

import logging
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import CASES, FEATURES, corpus
from metalda import MetaLDA
from metalda.meta.design import Design
from metalda.priors import Gamma
from metalda.samplers import Problem, Tokens, TopicCounts
from metalda.samplers.shards import Shard, cut_blocks, group_words, order_by_group, shard_bounds
from metalda.training.gibbs import Generators, start_chain, sweep
from metalda.training.schedule import kept_iterations
from metalda.utils.threads import count_jobs


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ((100, 50, 10, 3), {80, 90, 100}),
        ((100, 50, 10, 50), {60, 70, 80, 90, 100}),
        ((100, 85, 10, 50), {90, 100}),
        ((5, 2, 10, 3), {5}),
        ((5, 99, 1, 3), {5}),
        ((3, 0, 1, 9), {1, 2, 3}),
    ],
)
def test_draws_are_counted_back_from_the_last_sweep(schedule, expected):
    assert kept_iterations(*schedule) == expected


@given(lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40), n_shards=st.integers(1, 8))
def test_shards_cover_every_document_once(lengths, n_shards):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    bounds = shard_bounds(offsets, n_shards)
    assert len(bounds) == n_shards + 1
    assert bounds[0] == 0
    assert bounds[-1] == len(lengths)
    assert (np.diff(bounds) >= 0).all()


@pytest.mark.parametrize(("n_shards", "n_threads"), [(1, 1), (2, 1), (5, 1), (5, 3)])
@pytest.mark.parametrize("features", [None, FEATURES], ids=["shared", "by word"])
def test_counts_recomputed_from_assignments_equal_the_kept_counts(n_shards, n_threads, features):
    documents = corpus()
    n_words = len(documents.vocabulary)
    doc_prior = Gamma(Design.build(documents.labels, len(documents)), 0.1, 1.0)
    rows = features.rows(documents.vocabulary) if features else None
    word_prior = Gamma(Design.build(rows, n_words), 0.01, 1.0)
    bounds = shard_bounds(documents.offsets, n_shards)
    words = order_by_group(documents.words, documents.offsets, group_words(documents.words, n_words, n_shards))
    problem = Problem(words, documents.offsets, n_words, 4, doc_prior, word_prior, Tokens(), bounds)
    rngs = Generators.spawn(0, problem)
    state = start_chain(problem, np.random.default_rng(0), n_threads)
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(20):
            state, _ = sweep(problem, state, rngs, pool.map)
    again = TopicCounts.count(words, state.topics, 4, word_prior.design)
    np.testing.assert_array_equal(again.to_matrix().toarray(), state.counts.to_matrix().toarray())
    np.testing.assert_array_equal(again.topic_totals, state.counts.topic_totals)


@pytest.mark.parametrize("n_groups", [1, 2, 3, 12])
def test_blocks_cover_every_token_once_and_groups_share_no_word(n_groups):
    documents = corpus()
    groups = group_words(documents.words, len(documents.vocabulary), n_groups)
    words = order_by_group(documents.words, documents.offsets, groups)
    for a, b in pairwise(documents.offsets):
        assert sorted(words[a:b]) == sorted(documents.words[a:b])
    shard = Shard.cut(words, documents.offsets, np.zeros(len(documents), np.int32), 0, len(documents))
    covered = np.zeros(len(words), int)
    for g, (begins, ends) in enumerate(cut_blocks(shard, groups)):
        for first, last in zip(begins, ends, strict=True):
            covered[first:last] += 1
            assert ((groups[g] <= words[first:last]) & (words[first:last] < groups[g + 1])).all()
    assert (covered == 1).all()


def test_tokens_in_another_order_are_refused():
    shard = Shard.cut(np.array([3, 0], np.int32), np.array([0, 2]), np.zeros(1, np.int32), 0, 1)
    with pytest.raises(ValueError, match="sorted by word group"):
        cut_blocks(shard, np.array([0, 2, 4]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ctrl_c_leaves_a_usable_model_and_says_how_far_it_came(case, caplog, interrupt):
    before = signal.getsignal(signal.SIGINT)
    interrupt(5)
    with caplog.at_level(logging.WARNING, logger="metalda"):
        model = case.make(n_iter=10_000_000).fit(corpus())
    assert model.n_iter_ == 5
    assert "Stopped after 5 of 10000000 iterations" in caplog.text
    assert len(model.history_) == model.n_iter_
    assert model.transform(corpus()).shape == (10, 3)
    assert signal.getsignal(signal.SIGINT) is before


def test_fitting_outside_the_main_thread_works():
    result = []
    thread = threading.Thread(target=lambda: result.append(CASES[0].make().fit(corpus())))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(result[0].components_, CASES[0].make().fit(corpus()).components_)


def test_jobs_follow_joblib(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 6)
    assert [count_jobs(n) for n in (None, 1, 3, -1, -2)] == [1, 1, 3, 6, 5]


def test_more_shards_than_documents_is_one_document_a_shard():
    model = MetaLDA(2, n_iter=2, n_shards=99, random_state=0, verbose=False).fit(corpus())
    assert model.n_shards_ == len(corpus())
