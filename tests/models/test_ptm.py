"""What is particular to PTM: pseudo-documents."""

import itertools
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import reference
from contracts import PETS, QUICK, SKIES, best_chain, corpus
from exact import assert_visits_follow
from marks import slow_after_first
from metalda import LDA, PTM, Corpus
from metalda.errors import InputError
from metalda.samplers import TopicCounts
from metalda.samplers.pseudo import PseudoAssignment
from metalda.training.gibbs import Generators, start_chain, sweep

DOCUMENTS = [[0, 1], [0], [2, 1]]
ALPHA, BETA, LAMBDA = 0.4, 0.3, 0.7


def _tokens(documents):
    return Corpus.from_tokens([[f"word{v}" for v in document] for document in documents])


def _chain(model, documents, seed=0):
    problem = model._build_problem(documents)
    rngs = Generators.spawn(seed, problem)
    return problem, start_chain(problem, rngs.start), rngs


def _normalise(logs):
    p = np.exp(np.array(logs) - max(logs))
    return p / p.sum()


def _visit(problem, state, rngs, number, n_states, n_kept, thin=6):
    visits = np.zeros(n_states)
    for i in range(n_kept * thin):
        state, _ = sweep(problem, state, rngs)
        if i % thin == 0:
            visits[number(state.assignment)] += 1
    return visits


def _by_place(n_values, n_places):
    return n_values ** np.arange(n_places)[::-1]


@pytest.mark.parametrize(("n_pseudo", "n_kept"), slow_after_first([(2, 3_000), (3, 8_000)]))
def test_topics_and_pseudo_documents_follow_the_exact_posterior(n_pseudo, n_kept):
    n_topics, n_tokens, cuts = 2, 5, [2, 3]
    states = [
        (z, pseudo)
        for z in itertools.product(range(n_topics), repeat=n_tokens)
        for pseudo in itertools.product(range(n_pseudo), repeat=len(DOCUMENTS))
    ]
    alpha, beta = np.full(n_topics, ALPHA), np.full((n_topics, 3), BETA)
    logs = [
        reference.pseudo_log_likelihood(DOCUMENTS, np.split(np.array(z), cuts), pseudo, n_pseudo, alpha, LAMBDA, beta)
        for z, pseudo in states
    ]
    model = PTM(n_topics, n_pseudo_documents=n_pseudo, doc_prior=ALPHA, word_prior=BETA, concentration=LAMBDA)
    by_token, by_document = _by_place(n_topics, n_tokens), _by_place(n_pseudo, len(DOCUMENTS))

    def number(assignment):
        z, pseudo = assignment.topics.astype(int), assignment.pseudo
        return (by_token @ z) * n_pseudo ** len(DOCUMENTS) + by_document @ pseudo

    visits = _visit(*_chain(model, _tokens(DOCUMENTS), seed=1), number, len(states), n_kept)
    assert_visits_follow(visits, _normalise(logs))


class _Frozen(PseudoAssignment):
    """Every document stays in a pseudo-document of its own."""

    def _move_documents(self, *_):
        pass


def _frozen_chain(model, documents, seed):
    problem, state, rngs = _chain(model, documents, seed)
    own = np.arange(len(documents), dtype=np.int32)
    assignment = _Frozen(problem, problem.sampler, state.topics, own, 1)
    return problem, state._replace(assignment=assignment), rngs


def test_with_a_pseudo_document_for_each_document_its_sweep_is_that_of_lda():
    """Token by token, from the same topics and the same seeds."""
    documents = corpus()
    problem, state, rngs = _frozen_chain(PTM(4, n_pseudo_documents=10), documents, seed=3)
    plain = LDA(4)._build_problem(documents)
    other = plain.sampler.restore(plain, {"topics": state.topics}, 1)
    for _ in range(20):
        twin = np.random.default_rng(0)
        twin.bit_generator.state = rngs.shards[0].bit_generator.state
        seed = twin.integers(2**64, size=2, dtype=np.uint64)[1]
        state, _ = sweep(problem, state, rngs)
        other.counts.sweep(plain.shards[0], other.topics, state.alpha, state.beta, seed)
        np.testing.assert_array_equal(state.topics, other.topics)


def _nest(documents, array):
    return [array[a:b] for a, b in pairwise(documents.offsets)]


@pytest.mark.parametrize("n_shards", [1, 2, 5])
def test_kept_counts_and_likelihood_follow_from_the_assignments(n_shards):
    texts = ["", *PETS, *SKIES, "", "rain", "cat dog"]
    documents = Corpus.from_texts(texts)
    model = PTM(3, n_pseudo_documents=4, doc_prior=ALPHA, word_prior=BETA, concentration=LAMBDA, n_shards=n_shards)
    problem, state, rngs = _chain(model, documents)
    for _ in range(15):
        state, record = sweep(problem, state, rngs)
        assignment = state.assignment
        expected = np.zeros((4, 3), int)
        for pseudo, z in zip(assignment.pseudo, _nest(documents, state.topics), strict=True):
            assert (pseudo == 4) == (len(z) == 0)
            np.add.at(expected, (np.full(len(z), pseudo), z), 1)
        np.testing.assert_array_equal(assignment.pseudo_counts, expected)
        np.testing.assert_array_equal(assignment.pseudo_sizes, np.bincount(assignment.pseudo, minlength=5)[:4])
        again = TopicCounts.count(problem.words, state.topics, 3, problem.word_prior.design)
        np.testing.assert_array_equal(again.to_matrix().toarray(), state.counts.to_matrix().toarray())
        log_likelihood = reference.pseudo_log_likelihood(
            _nest(documents, problem.words),
            _nest(documents, state.topics),
            assignment.pseudo,
            4,
            np.full(3, ALPHA),
            LAMBDA,
            np.full((3, len(documents.vocabulary)), BETA),
        )
        assert record.log_likelihood == pytest.approx(log_likelihood, rel=1e-6)


def test_a_token_sees_what_other_shards_have_in_its_pseudo_document():
    """One pseudo-document: 50 tokens of topic 0 in the other shard say where a word that is nowhere else belongs."""
    model = PTM(2, n_pseudo_documents=1, doc_prior=0.01, word_prior=5.0, n_shards=2)
    problem, state, rngs = _chain(model, _tokens([[1] * 50, [0]]))
    assert problem.shard_bounds.tolist() == [0, 1, 2]
    with_others, alone = 50.01 * 5 / (50 + 10), 0.01 * 5 / 10  # weights of topics 0 and 1
    n, at_zero = 2000, 0
    for _ in range(n):
        topics = np.array([0] * 50 + [1], np.uint16)
        assignment = PseudoAssignment(problem, problem.sampler, topics, np.zeros(2, np.int32), 1)
        state, _ = sweep(problem, state._replace(assignment=assignment), rngs)
        at_zero += assignment.topics[-1] == 0
    assert at_zero / n == pytest.approx(with_others / (with_others + alone), abs=0.005)


def test_the_draws_hold_the_pseudo_documents_and_the_mean_alpha_goes_with_them():
    model = PTM(3, n_pseudo_documents=4, **QUICK).fit(corpus())
    for draw in model.draws_:
        counts, sizes = draw.extra["pseudo_counts"], draw.extra["pseudo_sizes"]
        assert sizes.sum() == len(corpus())
        np.testing.assert_array_equal(counts.sum(axis=0), draw.topic_totals)
        theta = (counts + 0.1) / (counts.sum(axis=1, keepdims=True) + 0.3)
        mean = (sizes + 0.1) @ theta / (sizes + 0.1).sum()
        np.testing.assert_allclose(draw.mean_alpha, 0.3 * mean, rtol=1e-6)


def test_new_documents_are_weighed_over_all_pseudo_documents_of_all_draws():
    """By the formula, where empty pseudo-documents are not put together."""
    model = PTM(3, n_pseudo_documents=8, concentration=0.3, **QUICK).fit(corpus())
    assert any((draw.extra["pseudo_sizes"] == 0).any() for draw in model.draws_)
    index = {word: v for v, word in enumerate(model.vocabulary_)}
    texts = ["cat dog rain", "sun sun sun storm", ""]
    expected = 0
    for draw in model.draws_:
        counts, sizes = draw.extra["pseudo_counts"], draw.extra["pseudo_sizes"]
        theta = (counts + 0.1) / (counts.sum(axis=1, keepdims=True) + 0.3)
        words = [[index[word] for word in text.split()] for text in texts]
        expected = expected + reference.mix_pseudo_documents(words, sizes + 0.3, theta, model.components_.T)
    np.testing.assert_allclose(model.transform(texts), expected / len(model.draws_), atol=1e-5)


def test_documents_of_a_pseudo_document_have_its_proportions_and_empty_ones_the_mean():
    model = PTM(3, n_pseudo_documents=4, **{**QUICK, "n_draws": 1}).fit([*PETS, "", *SKIES])
    draw = model.draws_[0]
    counts = draw.extra["pseudo_counts"]
    theta = (counts + 0.1) / (counts.sum(axis=1, keepdims=True) + 0.3)
    rows = np.delete(model.doc_topics_, 5, axis=0)
    nearest = np.abs(rows[:, None] - theta[None]).max(axis=2)
    assert nearest.min(axis=1).max() < 1e-6
    np.testing.assert_array_equal(
        np.sort(np.bincount(nearest.argmin(axis=1), minlength=4)), np.sort(draw.extra["pseudo_sizes"])
    )
    np.testing.assert_allclose(model.doc_topics_[5], draw.mean_alpha / draw.mean_alpha.sum(), rtol=1e-5)
    np.testing.assert_allclose(model.doc_topics_[5], model.transform([""])[0], rtol=1e-5)


def test_more_pseudo_documents_than_documents_is_one_clear_line():
    with pytest.raises(InputError, match="lower n_pseudo_documents to 10 or less") as error:
        PTM(3, n_pseudo_documents=1000, **QUICK).fit([*PETS, "", *SKIES])
    assert str(error.value).startswith("1,000 pseudo-documents are more than the 10 documents that have words")
    assert "\n" not in str(error.value)


def test_by_default_there_are_as_many_pseudo_documents_as_documents_but_at_most_1000():
    few = PTM(3, **QUICK).fit([*PETS, "", *SKIES])
    same = PTM(3, n_pseudo_documents=10, **QUICK).fit([*PETS, "", *SKIES])
    np.testing.assert_array_equal(few.components_, same.components_)
    many = 101 * PETS + 101 * SKIES
    settings = {"n_iter": 1, "random_state": 0, "verbose": False}
    default, given = (PTM(3, n_pseudo_documents=n, **settings).fit(many) for n in (None, 1000))
    np.testing.assert_array_equal(default.components_, given.components_)


@pytest.mark.parametrize("parameters", [{"n_pseudo_documents": 0}, {"concentration": 0.0}, {"concentration": -1.0}])
def test_impossible_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        PTM(3, **QUICK, **parameters).fit(corpus())


def _simulate(rng, n_documents=1500, n_pseudo=30, length=6):
    """Documents of six words, which have the proportions of one of thirty pseudo-documents each."""
    phi = np.full((4, 40), 0.02 / 40) + 0.98 * np.kron(np.eye(4), np.full(10, 0.1))
    theta = rng.dirichlet(np.full(4, 0.1), n_pseudo)
    pseudo = rng.integers(0, n_pseudo, n_documents)
    documents = [rng.choice(40, length, p=theta[p] @ phi) for p in pseudo]
    return documents, theta[pseudo], phi


@pytest.mark.parametrize("n_shards", slow_after_first([3, 1]))
def test_topics_and_proportions_of_simulated_pseudo_documents_are_recovered(n_shards):
    rng = np.random.default_rng(0)
    documents, theta, phi = _simulate(rng)
    settings = {"n_iter": 600, "n_shards": n_shards, "verbose": False}
    texts = [[f"{v:02}" for v in document] for document in documents]
    model = best_chain(PTM(4, n_pseudo_documents=60, **settings), texts)
    order = np.argsort(model.vocabulary_)
    found = model.components_[:, order]
    rows, columns = linear_sum_assignment(np.abs(phi[:, None] - found[None]).sum(axis=2))
    np.testing.assert_allclose(found[columns], phi[rows], atol=0.03)
    error = np.abs(model.doc_topics_[:, columns] - theta).mean()
    lda = best_chain(LDA(4, **settings), texts)
    _, matched = linear_sum_assignment(np.abs(phi[:, None] - lda.components_[:, order][None]).sum(axis=2))
    assert error < np.abs(lda.doc_topics_[:, matched] - theta).mean()
    assert np.abs(model.transform(texts)[:, columns] - theta).mean() < 0.08
