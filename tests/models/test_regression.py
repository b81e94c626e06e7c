"""DMR and WF-LDA."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from contracts import OFTEN, PETS, QUICK, SKIES, corpus
from metalda import DMR, LDA, WFLDA, MetaLDA, WordFeatures
from metalda.errors import InputError

LONGER = {"n_iter": 300, "thin": 10, "n_draws": 10, "random_state": 0, "verbose": False, "optimize_burn_in": 50}


def _draw_documents(rng, alpha, phi, length):
    documents = []
    for row in alpha:
        topics = rng.choice(len(row), length, p=rng.dirichlet(row))
        documents.append([f"w{rng.choice(phi.shape[1], p=phi[k]):02d}" for k in topics])
    return documents


def _match(found, truth):
    """For each true topic the one found that is nearest."""
    distance = np.abs(found[None] - truth[:, None]).sum(axis=2) / 2
    assert (distance.min(axis=1) < 0.12).all()
    order = distance.argmin(axis=1)
    assert len(set(order)) == len(truth)
    return order


@pytest.mark.parametrize("real", [False, True])
def test_weights_of_labels_are_recovered_from_simulated_data(real):
    rng = np.random.default_rng(real)
    n_documents, n_topics = 1500, 3
    phi = rng.dirichlet(np.full(40, 0.05), n_topics)
    values = rng.normal(size=(n_documents, 1)) if real else rng.integers(0, 2, (n_documents, 1)).astype(float)
    weights = np.array([[1.2, -1.2, 0.0], [-0.5, -0.5, -0.5]])
    alpha = np.exp(np.column_stack([values, np.ones(n_documents)]) @ weights)
    documents = _draw_documents(rng, alpha, phi, 30)
    model = DMR(n_topics, **LONGER).fit(documents, pd.DataFrame(values, columns=["x"]))
    words = [int(word[1:]) for word in model.vocabulary_]
    order = _match(model.components_, phi[:, words])
    found = np.mean([draw.log_doc_weights for draw in model.draws_], axis=0)[:, order]
    np.testing.assert_allclose(found, weights, atol=0.25)


def test_weights_of_word_features_are_recovered_from_simulated_data():
    rng = np.random.default_rng(0)
    n_words, n_topics = 300, 2
    features = rng.integers(0, 2, (n_words, 2)).astype(float)
    weights = np.array([[2.0, -1.0], [-1.0, 2.0], [-2.0, -2.0]])
    beta = np.exp(np.column_stack([features, np.ones(n_words)]) @ weights).T
    phi = np.array([rng.dirichlet(row) for row in beta])
    documents = _draw_documents(rng, np.full((1500, n_topics), 0.1), phi, 40)
    names = [f"w{v:02d}" for v in range(n_words)]
    table = WordFeatures.from_frame(pd.DataFrame(features.astype(int), index=names, columns=["a", "b"]))
    model = WFLDA(n_topics, word_features=table, **LONGER).fit(documents)
    words = [int(word[1:]) for word in model.vocabulary_]
    order = _match(model.components_, phi[:, words])
    found = np.mean([draw.log_word_weights for draw in model.draws_], axis=0)[:, order]
    np.testing.assert_allclose(found, weights, atol=0.5)


def test_before_the_first_optimisation_it_is_lda_and_says_so():
    with pytest.warns(UserWarning, match=r"so they stay 0: make n_iter \(12\) larger, or optimize_burn_in \(99\)"):
        model = DMR(3, optimize_burn_in=99, **QUICK).fit(corpus())
    np.testing.assert_array_equal(model.components_, LDA(3, **QUICK).fit(corpus()).components_)


def test_dmr_without_labels_learns_one_prior_for_all():
    model = DMR(3, **QUICK, **OFTEN).fit(PETS + SKIES)
    assert model.label_names_ == ()
    assert len(np.unique(np.exp(model.draws_[-1].log_doc_weights))) > 1


def test_numbers_are_used_as_numbers_and_new_documents_too():
    ages = sparse.csr_array(np.linspace(-1, 1, 10)[:, None])
    model = DMR(2, **{**LONGER, "n_iter": 200}).fit(PETS + SKIES, ages)
    young, old = model.transform(["", ""], np.array([[-1.0], [1.0]]))
    assert np.abs(young - old).max() > 0.2
    assert np.isfinite(model.perplexity(PETS + SKIES, ages))


def test_a_number_that_is_0_is_a_number():
    ages = np.linspace(-1, 1, 10)[:, None] + 0.5
    model = DMR(2, **{**LONGER, "n_iter": 200}).fit(PETS + SKIES, ages)
    zero, nearly = model.transform(["", ""], np.array([[0.0], [1e-6]]))
    np.testing.assert_allclose(zero, nearly, atol=1e-4)
    unknown = model.transform([""])[0]
    expected = np.mean([draw.mean_alpha / draw.mean_alpha.sum() for draw in model.draws_], axis=0)
    np.testing.assert_allclose(unknown, expected, atol=0.02)
    assert np.abs(zero - unknown).max() > 0.02


def test_models_with_gamma_priors_say_that_numbers_must_be_cut_into_bins():
    with pytest.raises(InputError, match="bins"):
        MetaLDA(2, weight_prior="gamma", **QUICK).fit(PETS + SKIES, np.linspace(-1, 1, 10)[:, None])


def test_unseen_words_are_predicted_from_their_features():
    features = dict.fromkeys(("cat", "dog", "purr", "bark", "leash", "whisker", "kitten"), "animal")
    model = WFLDA(2, word_features=features, **{**LONGER, "n_iter": 200}).fit(PETS + SKIES)
    theta = model.transform(["kitten kitten kitten", "cat dog bark"])
    assert theta[0].argmax() == theta[1].argmax()
