"""Labeled LDA and Partially Labeled LDA."""

import numpy as np
import pytest

import metalda
from contracts import LABELS, PETS, QUICK, SKIES, corpus
from metalda import LDA, Corpus, LabeledLDA, PartiallyLabeledLDA
from metalda.errors import InputError

LONGER = {**QUICK, "n_iter": 200}


def test_with_every_label_on_every_document_it_is_lda():
    texts = PETS + SKIES
    labeled = LabeledLDA(**QUICK).fit(texts, [["a", "b", "c"]] * 10)
    plain = LDA(3, **QUICK).fit(texts)
    np.testing.assert_array_equal(labeled.components_, plain.components_)
    np.testing.assert_array_equal(labeled.doc_topics_, plain.doc_topics_)


def test_with_one_topic_per_label_and_none_shared_both_are_one_model():
    one, other = LabeledLDA(**QUICK).fit(corpus()), PartiallyLabeledLDA(1, n_shared=0, **QUICK).fit(corpus())
    np.testing.assert_array_equal(one.components_, other.components_)


def test_documents_have_no_topics_but_those_of_their_labels():
    model = PartiallyLabeledLDA(2, n_shared=1, **QUICK).fit(corpus())
    assert model.topic_labels_ == ("home", "home", "pets", "pets", "sky", "sky", "(shared)")
    of_labels = np.array(model.topic_labels_)
    for theta in (model.doc_topics_, model.transform(corpus())):
        for row, labels in zip(theta, [{"pets"}] * 4 + [{"pets", "home"}] + [{"sky"}] * 4, strict=False):
            allowed = np.isin(of_labels, [*labels, "(shared)"])
            assert (row[~allowed] == 0).all()
            assert (row[allowed] > 0).all()
        assert (theta[9] > 0).all(), "a document without labels may have every topic"


def test_with_one_label_each_the_topics_are_counted_not_sampled():
    """One label per document leaves no choice: phi is the relative frequency of words by label, smoothed."""
    model = LabeledLDA(word_prior=0.5, **QUICK).fit(PETS + SKIES, LABELS)
    table = Corpus.from_texts(PETS + SKIES).counts().toarray()
    by_label = np.array([table[:5].sum(axis=0), table[5:].sum(axis=0)]) + 0.5
    np.testing.assert_allclose(model.components_, by_label / by_label.sum(axis=1, keepdims=True), rtol=1e-5)


def test_labels_of_new_documents_are_predicted():
    model = PartiallyLabeledLDA(2, n_shared=1, **LONGER).fit(PETS + SKIES, LABELS)
    new = ["cat dog bark purr", "rain storm cloud", "dog leash bark"]
    probabilities = model.predict_label_probabilities(new)
    assert list(probabilities.columns) == ["pets", "sky"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert model.predict_labels(new).tolist() == ["pets", "sky", "pets"]
    hidden = Corpus.from_texts(new, ["sky", "sky", "sky"])
    assert model.predict_labels(hidden).tolist() == ["pets", "sky", "pets"], "labels that are given are not looked at"


def _simulate(rng, per_label, n_documents=600, length=30):
    """Documents with one or two of three labels, each with topics over words of its own."""
    n_topics, n_words = 3 * per_label, 60
    phi = rng.dirichlet(np.full(n_words, 0.05), n_topics)
    documents, labels = [], []
    for _ in range(n_documents):
        own = rng.choice(3, rng.integers(1, 3), replace=False)
        topics = np.concatenate([np.arange(per_label) + label * per_label for label in own])
        theta = rng.dirichlet(np.full(len(topics), 0.3))
        drawn = topics[rng.choice(len(topics), length, p=theta)]
        documents.append([f"w{rng.choice(n_words, p=phi[k]):02d}" for k in drawn])
        labels.append([f"label{label}" for label in sorted(own)])
    return documents, labels, phi


@pytest.mark.parametrize("per_label", [1, 2])
def test_topics_are_recovered_from_simulated_data(per_label):
    documents, labels, phi = _simulate(np.random.default_rng(per_label), per_label)
    model = PartiallyLabeledLDA(per_label, doc_prior=0.3, word_prior=0.05, **LONGER).fit(documents, labels)
    words = [int(word[1:]) for word in model.vocabulary_]
    for label in range(3):
        own = slice(label * per_label, (label + 1) * per_label)
        distance = np.abs(model.components_[own][:, None] - phi[own][:, words][None]).sum(axis=2) / 2
        assert (distance.min(axis=0) < 0.1).all(), "every topic of the label is found among its topics"


@pytest.mark.parametrize("make", [LabeledLDA, PartiallyLabeledLDA])
def test_without_labels_it_says_what_is_missing(make):
    for labels in (None, [[]] * 10):
        with pytest.raises(InputError, match="no document has a label"):
            make(**QUICK).fit(PETS + SKIES, labels)


def test_topics_are_listed_with_their_labels():
    model = PartiallyLabeledLDA(1, n_shared=1, **QUICK).fit(corpus())
    for table in (model.topics(), model.topics(2, format="wide")):
        assert table["label"].tolist() == ["home", "pets", "sky", "(shared)"]


def test_a_model_is_saved_with_the_parameters_it_was_fitted_with(tmp_path):
    model = PartiallyLabeledLDA(2, n_shared=1, n_iter=20, random_state=0).fit(PETS + SKIES, LABELS)
    expected = model.transform(PETS + SKIES)
    model.set_params(topics_per_label=7, n_shared=3, doc_prior=3.0, n_jobs=2)
    model.save(tmp_path / "model")
    assert model.topics_per_label == 7
    again = metalda.load(tmp_path / "model")
    assert again.get_params() == {**model.get_params(), "topics_per_label": 2, "n_shared": 1, "doc_prior": 0.1}
    np.testing.assert_array_equal(again.transform(PETS + SKIES), expected)
