"""What is particular to DMM and GPU-DMM."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from contracts import EMBEDDINGS, PETS, QUICK, SKIES, best_chain, corpus
from metalda import DMM, GPUDMM, Embeddings
from metalda.corpus import as_labels
from metalda.errors import InputError
from metalda.evaluation import label_agreement

N_TOPICS, WORDS_PER_TOPIC = 4, 12
WORDS = [f"{topic}{i}" for topic in ("air", "bed", "cup", "dog") for i in range(WORDS_PER_TOPIC)]


def _simulate(rng, n_documents=500):
    """Documents of one topic each; every topic has words of its own, and a tenth of its mass elsewhere."""
    phi = np.full((N_TOPICS, len(WORDS)), 0.1 / len(WORDS))
    for k in range(N_TOPICS):
        phi[k, k * WORDS_PER_TOPIC :][:WORDS_PER_TOPIC] += 0.9 * rng.dirichlet(np.full(WORDS_PER_TOPIC, 3.0))
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    topics = rng.choice(N_TOPICS, n_documents, p=shares)
    return [[WORDS[v] for v in rng.choice(len(WORDS), rng.integers(4, 12), p=phi[k])] for k in topics], topics, phi


def _vectors(rng):
    """Words of a topic point the same way, more or less."""
    centres = np.repeat(np.eye(N_TOPICS), WORDS_PER_TOPIC, axis=0)
    return Embeddings(WORDS, centres + rng.normal(0, 0.15, centres.shape))


@pytest.mark.parametrize("promotes", [False, True])
def test_topics_are_recovered_from_simulated_data(promotes):
    rng = np.random.default_rng(0)
    texts, topics, phi = _simulate(rng)
    settings = {"n_components": N_TOPICS, "doc_prior": 1.0, "n_iter": 200, "verbose": False}
    model = best_chain(GPUDMM(embeddings=_vectors(rng), **settings) if promotes else DMM(**settings), texts)
    found = model.components_[:, [model.fitted_.word_index[word] for word in WORDS]]
    _, order = linear_sum_assignment(np.abs(phi[:, None] - found[None]).sum(axis=2))
    np.testing.assert_allclose(found[order], phi, atol=0.06 if promotes else 0.04)
    assert (model.doc_topics_[:, order].argmax(axis=1) == topics).mean() > 0.97
    assert (model.transform(texts)[:, order].argmax(axis=1) == topics).mean() > 0.97
    shares = np.mean([draw.mean_alpha for draw in model.draws_], axis=0)[order]
    np.testing.assert_allclose(shares, np.bincount(topics) + 1, rtol=0.1)


def test_promotion_brings_similar_words_into_a_topic():
    """A word that occurs once follows those that it is similar to."""
    rng = np.random.default_rng(1)
    texts, topics, _ = _simulate(rng)
    texts = [[word for word in text if word != "cup3"] or ["cup0"] for text in texts]
    texts[int(np.flatnonzero(topics == 2)[0])].append("cup3")
    settings = {"n_components": N_TOPICS, "n_iter": 100, "random_state": 0, "verbose": False}
    vectors = _vectors(rng)

    def odds(model):
        by_topic = model.components_[:, model.fitted_.word_index["cup3"]]
        return by_topic.max() / model.components_[by_topic.argmax(), model.fitted_.word_index["cup0"]]

    assert odds(GPUDMM(embeddings=vectors, **settings).fit(texts)) > 3 * odds(DMM(**settings).fit(texts))


@pytest.mark.parametrize("nobody", [{"similarity": 1.01}, {"max_neighbors": 0}])
def test_gpudmm_without_neighbours_is_dmm(nobody):
    plain = DMM(3, **QUICK).fit(corpus())
    urn = GPUDMM(3, embeddings=EMBEDDINGS, **nobody, **QUICK).fit(corpus())
    np.testing.assert_array_equal(urn.components_, plain.components_)
    np.testing.assert_array_equal(urn.doc_topics_, plain.doc_topics_)
    np.testing.assert_array_equal(urn.history_["log_likelihood"], plain.history_["log_likelihood"])
    assert urn.perplexity(corpus()) == plain.perplexity(corpus())
    promoting = GPUDMM(3, embeddings=EMBEDDINGS, **QUICK).fit(corpus())
    assert not np.array_equal(promoting.components_, plain.components_)


@pytest.mark.parametrize(("doc_prior", "expected"), [(None, 50.0), (0.2, 0.6)])
def test_topics_share_50_where_nothing_is_said_and_empty_documents_do_not_count(doc_prior, expected):
    model = DMM(3, doc_prior=doc_prior, **QUICK).fit(["", *PETS, "", *SKIES])
    for draw in model.draws_:
        assert draw.mean_alpha.sum() == pytest.approx(expected + 10, rel=1e-6)
    prior = np.mean([draw.mean_alpha / draw.mean_alpha.sum() for draw in model.draws_], axis=0)
    np.testing.assert_allclose(model.doc_topics_[[0, 6]], [prior, prior], rtol=1e-5)
    np.testing.assert_allclose(model.transform([""])[0], prior, rtol=1e-5)


def test_what_is_kept_of_gpudmm_has_promotions_and_sums_to_one():
    model = GPUDMM(3, embeddings=EMBEDDINGS, promotion=0.25, **QUICK).fit(corpus())
    for draw in model.draws_:
        counted = draw.word_topic_counts.toarray()
        np.testing.assert_array_equal(counted * 4 % 1, 0)
        assert counted.sum() > corpus().n_tokens == draw.topic_totals.sum()
        beta_sum = model.word_prior * len(model.vocabulary_)
        np.testing.assert_allclose(draw.word_mass, counted.sum(axis=0) + beta_sum, rtol=1e-6)
    counts = DMM(3, **QUICK).fit(corpus()).draws_[-1].word_topic_counts
    assert counts.dtype.kind == "i"


def test_vectors_are_asked_for_in_one_line():
    with pytest.raises(InputError, match=r"^GPUDMM needs word vectors: embeddings=Embeddings.read\(...\).*$"):
        GPUDMM(3, **QUICK).fit(corpus())
    with pytest.raises(InputError, match="none of the 11 words has a vector"):
        GPUDMM(3, embeddings=Embeddings(("Katze", "Hund"), np.eye(2)), **QUICK).fit(corpus())


@pytest.mark.parametrize("wrong", [{"similarity": -2}, {"promotion": -0.1}, {"promotion": 2}, {"max_neighbors": -1}])
def test_impossible_promotions_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GPUDMM(3, embeddings=EMBEDDINGS, **wrong, **QUICK).fit(corpus())


def test_changed_vectors_are_told_apart_from_those_of_the_checkpoint(tmp_path):
    GPUDMM(3, embeddings=EMBEDDINGS, **QUICK).fit(corpus(), checkpoint=tmp_path / "c")
    other = Embeddings(EMBEDDINGS.words, EMBEDDINGS.vectors[::-1])
    with pytest.raises(InputError, match="embeddings differ"):
        GPUDMM(3, embeddings=other, **QUICK).fit(corpus(), checkpoint=tmp_path / "c", resume=True)


def test_the_default_word_prior_finds_clusters_better_than_that_of_the_paper():
    rng = np.random.default_rng(2)
    shared, own = rng.dirichlet(np.full(1500, 0.05)), rng.dirichlet(np.full(1500, 0.03), size=8)
    labels = rng.integers(8, size=400)
    texts = [[f"w{v}" for v in rng.choice(1500, rng.poisson(15) + 2, p=(shared + own[k]) / 2)] for k in labels]

    def agreement(**settings):
        models = (DMM(8, n_iter=40, random_state=seed, verbose=False, **settings).fit(texts) for seed in range(3))
        found = [label_agreement(model.doc_topics_, as_labels(labels, 400)).nmi for model in models]
        return np.mean(found)

    assert agreement() > agreement(word_prior=0.01) + 0.03
    assert GPUDMM().word_prior == DMM().word_prior == 0.1
