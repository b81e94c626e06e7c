"""Wording by group: kernels against their formulas, and sweeps against exact posteriors."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import chisquare

import reference
from exact import assert_visits_follow
from metalda.errors import StorageError
from metalda.kernels.border import COMPILED, frozen
from metalda.kernels.wording import add_word_changes, draw_concentrations, draw_wordings
from metalda.meta.design import Design
from metalda.priors import Alpha, Fixed
from metalda.samplers import GroupTokens, Problem, TopicCounts
from metalda.samplers.group_topics import SHAPES, frequent_words
from metalda.samplers.shards import group_words, order_by_group, shard_bounds
from metalda.samplers.tokens import TokenAssignment
from metalda.samplers.wording import GroupAssignment, _frozen_lists
from metalda.training.gibbs import Generators, start_chain, sweep


def _problem(documents, groups, n_groups, n_topics, n_words=3, alpha=0.6, beta=0.4, prior=(), n_shards=1):
    words = np.array([v for document in documents for v in document], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    if n_shards > 1:
        words = order_by_group(words, offsets, group_words(words, n_words, n_shards))
    priors = Fixed(Design.build(None, len(documents)), alpha), Fixed(Design.build(None, n_words), beta)
    sampler = GroupTokens(np.array(groups, np.int32), n_groups, 0, *prior)
    return Problem(words, offsets, n_words, n_topics, *priors, sampler, shard_bounds(offsets, n_shards))


def _group_counts(problem, topics):
    """n[g][v][k], counted token by token."""
    counts = np.zeros((problem.sampler.n_groups, problem.n_words, problem.n_topics), int)
    documents = np.repeat(np.arange(len(problem.offsets) - 1), np.diff(problem.offsets))
    np.add.at(counts, (problem.sampler.groups[documents], problem.words, topics), 1)
    return counts


DOCUMENTS, GROUPS = [[0, 1, 0], [2, 1], [0], [1, 1]], [0, 1, 1, 0]
FIXED = 1e8  # shape of a prior that holds c in its place


def _exact(documents, groups, n_groups, alpha, beta, concentration, n_topics=2):
    """p(z | w) for every assignment, in the order of itertools.product."""
    words, documents_of = (
        np.array(x) for x in zip(*[(v, d) for d, own in enumerate(documents) for v in own], strict=True)
    )
    logs = []
    for state in itertools.product(range(n_topics), repeat=len(words)):
        found = 0.0
        for d in range(len(documents)):
            own = np.bincount(np.array(state)[documents_of == d], minlength=n_topics)
            found += reference.dirichlet_multinomial(np.full(n_topics, alpha), own)
        for k in range(n_topics):
            counts = np.zeros((n_groups, 3), int)
            chosen = np.array(state) == k
            np.add.at(counts, (np.array(groups)[documents_of[chosen]], words[chosen]), 1)
            if concentration is None:
                found += reference.dirichlet_multinomial(np.full(3, beta), counts.sum(axis=0))
            else:
                found += reference.wording_log_likelihood(counts, concentration, np.full(3, beta))
        logs.append(found)
    p = np.exp(np.array(logs) - max(logs))
    return p / p.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "n_groups", "concentration", "as_without_groups"),
    [(GROUPS, 2, 2.5, False), ([0] * 4, 1, 2.5, False), ([0] * 4, 1, 1e7, True), (GROUPS, 2, 1e7, True)],
    ids=["two groups", "one group", "one group that keeps to the shared wording", "two groups that talk alike"],
)
def test_topics_follow_the_exact_posterior(groups, n_groups, concentration, as_without_groups):
    """If c is large, groups have the wording that they share, and the posterior is that of the model without groups."""
    problem = _problem(DOCUMENTS, groups, n_groups, 2, prior=(FIXED, FIXED / concentration))
    expected = _exact(DOCUMENTS, groups, n_groups, 0.6, 0.4, None if as_without_groups else concentration)
    rngs = Generators.spawn(1, problem)
    state = start_chain(problem, rngs.start)
    state.assignment.concentrations[:] = concentration
    place, visits = 2 ** np.arange(len(problem.words))[::-1], np.zeros(2 ** len(problem.words))
    for i in range(3 * 8_000):
        state, _ = sweep(problem, state, rngs)
        if i % 3 == 0:
            visits[place @ state.topics.astype(int)] += 1
    np.testing.assert_allclose(state.assignment.concentrations, concentration, rtol=0.01)
    assert_visits_follow(visits, expected)


def test_without_groups_the_posterior_is_another_one():
    """The test above can tell the two models apart."""
    with_groups, without = (_exact(DOCUMENTS, GROUPS, 2, 0.6, 0.4, c) for c in (2.5, None))
    assert np.abs(with_groups - without).sum() > 0.2


@given(
    documents=st.lists(st.lists(st.integers(0, 4), max_size=7), min_size=1, max_size=5),
    n_topics=st.integers(1, 12),
    n_groups=st.integers(1, 3),
    n_shards=st.integers(1, 2),
    seed=st.integers(0, 2**32 - 1),
)
@settings(derandomize=True, max_examples=30, deadline=None)
def test_a_sweep_keeps_counts_and_tables_that_fit_the_topics(documents, n_topics, n_groups, n_shards, seed):
    if not any(documents):
        return
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, len(documents))
    problem = _problem(documents, groups, n_groups, n_topics, 5, n_shards=n_shards)
    rngs = Generators.spawn(seed, problem)
    state = start_chain(problem, rngs.start)
    for _ in range(3):
        before = state.topics.copy()
        state, record = sweep(problem, state, rngs)
        assert record.moved == (before != state.topics).sum()
    assignment, counts = state.assignment, _group_counts(problem, state.topics)
    found = assignment.tokens.counts.to_matrix().toarray().reshape(5, n_groups, n_topics)
    np.testing.assert_array_equal(found, counts.swapaxes(0, 1))
    np.testing.assert_array_equal(np.atleast_2d(assignment.tokens.counts.topic_totals), counts.sum(axis=1))
    tables = assignment.counts.to_matrix().toarray()
    np.testing.assert_array_equal(assignment.counts.topic_totals, tables.sum(axis=0))
    assert (tables >= (counts > 0).sum(axis=0)).all()
    assert (tables <= counts.sum(axis=0)).all()
    again = problem.sampler.restore(problem, assignment.arrays, 1)
    for name, array in again.arrays.items():
        np.testing.assert_array_equal(array, assignment.arrays[name])


@given(
    documents=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=40), min_size=1, max_size=4),
    n_topics=st.integers(1, 3),
    factor=st.sampled_from([1e-3, 0.7, 1.3, 50.0]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_the_change_of_the_likelihood_with_c_equals_the_formula(documents, n_topics, factor, seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, len(documents))
    problem = _problem(documents, groups, 2, n_topics, prior=(1.0, 1e-12))
    assignment = start_chain(problem, rng).assignment
    concentrations = rng.gamma(1.0, 10.0, n_topics) + 0.1
    phi = rng.dirichlet(np.ones(3), n_topics).T
    shared = assignment.tokens.problem.word_prior.beta(np.log(concentrations * phi).astype(np.float32))
    changes = _changes(assignment, shared, np.full(n_topics, factor))
    counts = _group_counts(problem, assignment.topics)
    for k in range(n_topics):
        values = shared.values[:, k].astype(float)
        totals = counts[:, :, k].sum(axis=1)
        expected = reference.concentration_change(counts[:, :, k], values, factor)
        sums = sum(_log_rising(factor * values.sum(), n) - _log_rising(values.sum(), n) for n in totals)
        assert changes[k] - sums == pytest.approx(expected, rel=1e-6, abs=1e-6)


def _log_rising(a, n):
    return sum(np.log(a + j) for j in range(n))


def _changes(assignment, shared, factors):
    changes, lists = np.zeros(len(factors)), _frozen_lists(assignment.tokens.counts)
    n_words = assignment.problem.n_words
    values = frozen(shared.values, np.float32)
    add_word_changes(*lists, 2, values, frozen(factors, np.float64), 0, n_words, changes)
    return changes


def test_concentrations_follow_their_density_given_the_tables():
    totals, n_tables, prior = np.array([30, 0, 12]), 17, (0.5, 0.02)
    points = np.linspace(1e-3, 400, 5000)
    density = [reference.log_concentration_density(c, totals[totals > 0], n_tables, *prior) for c in points]
    density = np.exp(np.array(density) - max(density))
    mean = (points * density).sum() / density.sum()
    spread = np.sqrt(((points - mean) ** 2 * density).sum() / density.sum())
    rng, concentrations, drawn = np.random.default_rng(0), np.full(200, 20.0), []
    group_totals = frozen(np.repeat(totals[:, None], 200, axis=1), np.int64)
    for _ in range(150):
        draw_concentrations(group_totals, frozen(np.full(200, n_tables), np.int64), *prior, concentrations, rng)
        drawn.append(concentrations.copy())
    drawn = np.array(drawn[20:])
    assert drawn.mean() == pytest.approx(mean, abs=5 * spread / np.sqrt(200 * 20))
    assert drawn.std() == pytest.approx(spread, rel=0.05)


def test_the_shared_topic_has_the_mean_of_its_conditional():
    """phi[k] ~ Dirichlet(beta + tables)."""
    problem = _problem([[0, 1, 0, 2, 2, 2], [1, 1]], [0, 1], 2, 2, beta=0.4)
    rngs = Generators.spawn(0, problem)
    state = start_chain(problem, rngs.start)
    tables = state.assignment.counts.to_matrix().toarray()
    drawn = [state.assignment.draw_shared(state.beta, rngs.shards, map) for _ in range(4000)]
    phi = np.mean([each.values / state.assignment.concentrations for each in drawn], axis=0)
    expected = (tables + 0.4) / (tables + 0.4).sum(axis=0)
    np.testing.assert_allclose(phi, expected, atol=0.02)
    np.testing.assert_allclose(drawn[0].rescaled_sums, state.assignment.concentrations, rtol=1e-5)


def test_tables_have_their_distribution():
    """The sum over two groups of the tables of 5 and 3 customers, with c phi = 1.7."""
    problem = _problem([[0] * 5, [0] * 3], [0, 1], 2, 1, n_words=2)
    rngs = Generators.spawn(0, problem)
    assignment = start_chain(problem, rngs.start).assignment
    assert isinstance(assignment, GroupAssignment)
    shared = assignment.tokens.problem.word_prior.beta(np.log(np.array([[1.7], [0.3]], np.float32)))
    found = []
    for _ in range(4000):
        assignment.draw_tables(shared, rngs.shards, map)
        found.append(int(assignment.counts.topic_totals[0]))
    of_five, of_three = (np.asarray(reference.table_probabilities(1.7, n)) for n in (5, 3))
    expected = np.convolve(of_five, of_three)
    observed = np.bincount(found, minlength=len(expected)) / len(found)
    np.testing.assert_allclose(observed, expected, atol=0.03)


def test_faint_words_and_topics_without_tokens_stay_finite():
    problem = _problem([[0, 1, 0], [1, 1]], [0, 1], 2, 30, n_words=4, beta=1e-35)
    rngs = Generators.spawn(0, problem)
    state = start_chain(problem, rngs.start)
    for _ in range(50):
        state, record = sweep(problem, state, rngs)
        assert np.isfinite(record.log_likelihood)
    assert np.isfinite(state.assignment.concentrations).all()
    shared = state.assignment.draw_shared(state.beta, rngs.shards, map)
    assert (shared.values > 0).all()
    assert np.isfinite(shared.values).all()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("concentrations", lambda a: a * 0, "concentrations"),
        ("concentrations", lambda a: a[:1], "concentrations"),
        ("table_counts", lambda a: a + 100, "tables do not fit"),
        ("table_counts", lambda a: a * 0, "tables do not fit"),
        ("table_sizes", lambda a: a + 1, "table"),
        ("table_sizes", lambda a: -a, "table_sizes"),
        ("table_topics", lambda a: a + np.uint16(9), "table_topics"),
        ("table_topics", lambda a: a[::-1], "table"),
        ("topics", lambda a: 1 - a, "tables do not fit"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change, message):
    problem = _problem(DOCUMENTS, GROUPS, 2, 2)
    arrays = dict(start_chain(problem, np.random.default_rng(1)).assignment.arrays)
    arrays[name] = change(arrays[name])
    with pytest.raises(StorageError, match=message):
        problem.sampler.restore(problem, arrays, 1)


def test_documents_are_swept_group_after_group():
    """A group's totals are its own: with two groups, a sweep equals two sweeps of half the documents each."""
    documents, groups = [[0, 1, 2], [2, 2], [], [1, 0, 0, 2]], np.array([1, 0, 0, 1])
    problem = _problem(documents, groups, 2, 3)
    by_group = problem.sampler.by_group(problem)
    rng = np.random.default_rng(0)
    topics = rng.integers(0, 3, len(problem.words)).astype(np.uint16)
    counts = TopicCounts.count(by_group.words, topics, 3, by_group.word_prior.design, 2)
    beta = by_group.word_prior.beta(np.log(rng.gamma(1.0, 1.0, (3, 3))).astype(np.float32))
    alpha = Alpha(np.full((1, 3), 0.5, np.float32), np.array([1.5]), False, np.log(np.full((1, 3), 0.5)))
    expected = topics.copy()
    seeds = np.random.default_rng(7).integers(2**64, size=2, dtype=np.uint64)
    nested = [list(map(int, topics[a:b])) for a, b in itertools.pairwise(problem.offsets)]
    for g in range(2):
        own = [d for d in range(4) if groups[d] == g]
        part = [nested[d] for d in own]
        alphas = np.full((len(own), 3), 0.5)
        reference.sweep_tokens(
            [documents[d] for d in own], part, alphas, beta.values.T.astype(float), reference.splitmix(seeds[g])
        )
        for d, each in zip(own, part, strict=True):
            expected[problem.offsets[d] : problem.offsets[d + 1]] = each
    counts.sweep(by_group.shards[0], topics, alpha, beta, np.uint64(7))
    np.testing.assert_array_equal(topics, expected)


def _ranks(seed, n_words=10, totals=(60, 110), n_kept=99, thin=4):
    """Simulate counts from the prior of contrasts, and return ranks of truths among their draws.

    The truths are the log ratio of the most frequent word, and the average size of all log ratios.
    """
    rng = np.random.default_rng(seed)
    weights, beta = rng.dirichlet(np.ones(len(SHAPES))), np.full(n_words, 0.5)
    shapes = rng.choice(SHAPES, (n_words, 2), p=weights)
    deviations = rng.gamma(shapes, 1 / shapes)
    p = rng.gamma(beta)[:, None] * deviations
    counts = np.stack([rng.multinomial(n, q / q.sum()) for n, q in zip(totals, p.T, strict=True)], axis=1)
    distinct, levels = np.unique(counts, return_inverse=True)
    logs = np.empty((50 + n_kept * thin, 2, n_words))
    draw_wordings(
        frozen(counts, np.int64),
        frozen(levels.reshape(counts.shape), np.int64),
        frozen(beta, np.float64),
        frozen(SHAPES, np.float64),
        frozen(gammaln(SHAPES + distinct[:, None]) - gammaln(SHAPES) + SHAPES * np.log(SHAPES), np.float64),
        np.zeros(len(SHAPES)),
        np.ones((n_words, 2)),
        counts.sum(axis=0).astype(float),
        logs,
        rng,
    )
    np.testing.assert_allclose(np.exp(logs).sum(axis=2), 1, rtol=1e-9)
    drawn, word = logs[50::thin, 0] - logs[50::thin, 1], counts.sum(axis=1).argmax()
    true = np.log(p[:, 0] / p[:, 1]) - np.log(p[:, 0].sum() / p[:, 1].sum())
    return (drawn[:, word] < true[word]).sum(), (np.abs(drawn).mean(axis=1) < np.abs(true).mean()).sum()


def test_contrasts_are_draws_of_their_posterior():
    """Simulation-based calibration: the rank of the truth among draws of the posterior is uniform."""
    ranks = np.array([_ranks(seed) for seed in range(1000 if COMPILED else 10)])
    for own in ranks.T:
        assert chisquare(np.bincount(own // 10, minlength=10)).pvalue > 1e-3


def test_words_of_a_merged_topic_are_counted_in_all_its_parts():
    problem = _problem([[0, 0, 1, 1, 1, 2]], [0], 2, 2)
    tokens = TokenAssignment(GroupTokens(np.zeros(1, np.int32), 2).by_group(problem), np.array([0, 1, 0, 1, 1, 0]))
    draw = SimpleNamespace(word_topic_counts=np.zeros((3, 2)), group_counts=tokens.counts.to_matrix())
    assert frequent_words([draw], [0]).tolist() == []
    assert frequent_words([draw], [0, 1]).tolist() == [1]
