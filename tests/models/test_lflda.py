"""What is particular to LF-LDA: two kinds of tokens, vectors of topics, and unseen words that have a vector."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import reference
from contracts import EMBEDDINGS, QUICK, assert_distributions, corpus, quietly
from metalda import LDA, LFLDA, Corpus, Embeddings
from metalda.errors import InputError
from metalda.training.gibbs import Generators, start_chain, sweep

SETTINGS = {"embeddings": EMBEDDINGS, **QUICK}
WITHOUT_VECTOR = ("whisker", "wind")  # of the words of the corpus


def _chain(model, n_sweeps):
    problem = model._build_problem(corpus())
    rngs = Generators.spawn(0, problem)
    state = start_chain(problem, rngs.start)
    for _ in range(n_sweeps):
        state, _ = sweep(problem, state, rngs)
        yield problem, state.assignment


@pytest.mark.parametrize("n_shards", [1, 3])
def test_counts_follow_from_topics_and_kinds(n_shards):
    for problem, assignment in _chain(LFLDA(3, **SETTINGS, initial_iterations=4, n_shards=n_shards), 12):
        expected = np.zeros((2, problem.n_words, 3), int)
        np.add.at(expected, (assignment.kinds, problem.words, assignment.topics), 1)
        counts, totals = assignment.kind_counts.arrays
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_array_equal(totals, expected.sum(axis=1))
        assert expected.sum(axis=(1, 2)).all(), "there are tokens of both kinds"


def test_words_without_a_vector_never_come_from_vectors():
    ids = [corpus().vocabulary.index(word) for word in WITHOUT_VECTOR]
    for problem, assignment in _chain(LFLDA(3, **SETTINGS, initial_iterations=10), 20):
        rare = np.isin(problem.words, ids)
        assert not assignment.kinds[rare].any()
        assert assignment.kinds[~rare].any()


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_with_a_weight_of_zero_or_one_there_is_one_kind_of_tokens(weight):
    only = Corpus.from_tokens([[word for word in d if word not in WITHOUT_VECTOR] for d in corpus()])
    model = LFLDA(3, **SETTINGS, weight=weight, initial_iterations=6).fit(only)
    for draw in model.draws_:
        assert draw.word_topic_counts.sum() == (0 if weight else only.n_tokens)
    assert_distributions(model.components_)
    assert np.isfinite(model.perplexity(only))


def test_vectors_of_topics_are_fitted_only_after_the_initial_iterations():
    fitted = [a.topic_vectors.any() for _, a in _chain(LFLDA(3, **SETTINGS, initial_iterations=5), 8)]
    assert fitted == [False] * 5 + [True] * 3


def test_by_default_three_quarters_of_the_iterations_are_initial_ones():
    assert LFLDA(**SETTINGS)._sampler(corpus()).initial_sweeps == 9
    assert LFLDA(**{**SETTINGS, "n_iter": 2000})._sampler(corpus()).initial_sweeps == 1500
    assert LFLDA(**SETTINGS, initial_iterations=0)._sampler(corpus()).initial_sweeps == 0


def test_a_run_that_ends_within_the_initial_iterations_predicts_by_vectors_all_the_same():
    model = LFLDA(3, **SETTINGS, initial_iterations=100).fit(corpus())
    assert_distributions(model.components_)
    assert all(draw.extra["topic_vectors"].any() for draw in model.draws_)
    kitten, hail = model._phi_of_unseen(["kitten", "hail"])[1]
    assert kitten.argmax() != hail.argmax()


def mean_phi(model, draws, unseen=()):
    return model._mean_phi(draws, model.vocabulary_, model.fitted_.word_prior, unseen)


def test_components_are_the_mixture_of_counts_and_softmax():
    model = LFLDA(3, **SETTINGS, weight=0.3, word_prior=0.2).fit(corpus())
    draw = model.draws_[-1]
    counts = draw.word_topic_counts.toarray().T + 0.2
    vectors, known = EMBEDDINGS.look_up(model.vocabulary_)
    softmax = reference.softmax(draw.extra["topic_vectors"], vectors, known)
    expected = 0.7 * counts / counts.sum(axis=1, keepdims=True) + 0.3 * softmax
    np.testing.assert_allclose(mean_phi(model, [draw]).T, expected, rtol=1e-4)
    np.testing.assert_allclose(
        model.components_.T, np.mean([mean_phi(model, [d]) for d in model.draws_], axis=0), rtol=1e-5
    )


def test_topics_sum_to_one_with_unseen_words_too():
    model = LFLDA(3, **SETTINGS).fit(corpus())
    unseen = ["kitten", "hail", "zebra"]  # zebra has no vector
    phi = mean_phi(model, model.draws_, unseen)
    np.testing.assert_allclose(phi.sum(axis=0), 1, rtol=1e-5)
    assert (phi[-3:-1] > 10 * phi[-1]).any(), "vectors make words more probable"
    assert (phi[: len(model.vocabulary_)] <= model.components_.T).all()


def test_an_unseen_word_alone_has_the_probability_of_joining_the_vocabulary_by_itself():
    model = LFLDA(3, **SETTINGS).fit(corpus())
    alone = model._phi_of_unseen(["kitten", "hail"])[1]
    for u, word in enumerate(["kitten", "hail"]):
        np.testing.assert_allclose(alone[u], mean_phi(model, model.draws_, [word])[-1], rtol=1e-4)


def test_unseen_words_say_something_where_they_have_a_vector():
    model = LFLDA(3, **SETTINGS).fit(corpus())
    kitten, hail, nothing = quietly(model.transform, ["kitten kitten", "hail hail", "zebra"])
    assert np.abs(kitten - hail).max() > 0.1
    assert np.abs(kitten - nothing).max() > 0.05
    plain = LFLDA(3, **SETTINGS, weight=0.0).fit(corpus())
    np.testing.assert_array_equal(*quietly(plain.transform, ["kitten", "hail"]))


def test_with_weight_zero_it_predicts_as_lda_does():
    """In distribution: over many short runs the log-likelihoods of both agree."""
    runs = [
        [m.fit(corpus()).history_["log_likelihood"].iloc[-1] for m in models]
        for models in (
            [LDA(3, **{**QUICK, "random_state": seed}) for seed in range(60)],
            [LFLDA(3, **{**SETTINGS, "random_state": seed}, weight=0.0) for seed in range(60)],
        )
    ]
    (mean_lda, mean_lf), error = np.mean(runs, axis=1), np.sqrt(np.var(runs, axis=1).sum() / 60)
    assert abs(mean_lda - mean_lf) < 4 * error


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"embeddings": None}, "LFLDA needs word vectors: embeddings="),
        ({"embeddings": Embeddings(("Cat",), [[1.0]])}, r"none of the 11 words has a vector; .*'Cat'"),
        ({"weight": 1.0}, r"weight=1 allows no words .* 2 of 11 have none, such as 'whisker'"),
    ],
)
def test_vectors_that_are_missing_are_explained_in_one_line(parameters, message):
    with pytest.raises(InputError, match=message) as raised:
        LFLDA(3, **{**SETTINGS, **parameters}).fit(corpus())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "parameters", [{"weight": -0.1}, {"weight": 1.1}, {"regularization": 0.0}, {"initial_iterations": -1}]
)
def test_impossible_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        LFLDA(3, **SETTINGS, **parameters).fit(corpus())


def test_other_vectors_make_another_run_of_a_checkpoint(tmp_path):
    LFLDA(3, **SETTINGS).fit(corpus(), checkpoint=tmp_path / "c")
    other = Embeddings(EMBEDDINGS.words, 2 * EMBEDDINGS.vectors)
    with pytest.raises(InputError, match="embeddings differ"):
        LFLDA(3, **{**SETTINGS, "embeddings": other}).fit(corpus(), checkpoint=tmp_path / "c", resume=True)


# Data simulated from the model itself.


def test_topics_and_their_vectors_are_recovered():
    """Half of what a topic says comes from its vector, the other half from a Dirichlet."""
    rng = np.random.default_rng(0)
    n_topics, n_words, dimension, weight = 4, 120, 5, 0.5
    words = [f"w{v}" for v in range(n_words)]
    new_words = [f"new{v}" for v in range(40)]  # that have a vector, but are never seen
    vectors = rng.normal(0, 1, (n_words + 40, dimension))
    has_vector = np.arange(n_words + 40) % 10 != 0
    topic_vectors = rng.normal(0, 1, (n_topics, dimension))
    softmax = reference.softmax(topic_vectors, vectors[:n_words], has_vector[:n_words])
    true = (1 - weight) * rng.dirichlet(np.full(n_words, 0.05), n_topics) + weight * softmax
    theta = rng.dirichlet(np.full(n_topics, 0.2), 500)
    documents = [[words[v] for v in rng.choice(n_words, 40, p=t @ true)] for t in theta]
    embeddings = Embeddings(np.array(words + new_words)[has_vector].tolist(), vectors[has_vector])
    model = LFLDA(
        n_topics,
        embeddings=embeddings,
        weight=weight,
        n_iter=300,
        initial_iterations=150,
        random_state=0,
        verbose=False,
    ).fit(documents)

    order = [words.index(word) for word in model.vocabulary_]
    distance = np.abs(model.components_[:, None] - true[None, :, order]).sum(axis=2)
    found, meant = linear_sum_assignment(distance)
    assert (distance[found, meant] < 0.2).all()
    assert distance.max(axis=1).min() > 0.7, "topics are not alike"
    named = np.flatnonzero(has_vector[n_words:])
    unseen = model._phi_of_unseen([new_words[v] for v in named])[1]
    for k, t in zip(found, meant, strict=True):  # what only vectors can tell
        expected = vectors[n_words:][named] @ topic_vectors[t]
        assert np.corrcoef(np.log(unseen[:, k]), expected)[0, 1] > 0.95
    by_counts = np.mean([draw.word_topic_counts.sum() for draw in model.draws_]) / (500 * 40)
    assert by_counts == pytest.approx(1 - weight, abs=0.1)
