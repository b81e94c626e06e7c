"""The frozen result of training, and how an estimator shows it."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import metalda
from contracts import CASES, LABELS, OFTEN, PETS, QUICK, SKIES, corpus
from metalda import DMR, LDA, Corpus, MetaLDA
from metalda.errors import InputError
from metalda.models.fitted import Fitted

ATTRIBUTES = [
    "components_",
    "doc_topics_",
    "draws_",
    "feature_names_",
    "fitted_",
    "history_",
    "label_names_",
    "label_sizes_",
    "n_iter_",
    "n_shards_",
    "schema_",
    "seed_",
    "vocabulary_",
]


@pytest.fixture(scope="module")
def model():
    return MetaLDA(3, **QUICK).fit(corpus())


def test_before_fitting_there_is_no_attribute_of_training():
    for name in ATTRIBUTES:
        assert not hasattr(LDA(), name)
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(LDA(), name)
    with pytest.raises(NotFittedError):
        check_is_fitted(LDA())


def test_the_result_cannot_be_changed(model):
    check_is_fitted(model)
    for name in ATTRIBUTES:
        with pytest.raises(AttributeError):
            setattr(model, name, None)
    with pytest.raises(FrozenInstanceError):
        model.fitted_.seed = 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fit_returns_the_estimator_and_a_clone_is_not_fitted(case):
    model = case.make(n_iter=4)
    assert model.fit(corpus()) is model
    assert not hasattr(clone(model), "fitted_")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_copies_and_pickles_predict_the_same(case, duplicate):
    model = case.make(n_iter=4).fit(corpus())
    again = duplicate(model)
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(again.transform(corpus()), model.transform(corpus()))


def test_a_failed_fit_is_not_a_fit():
    model = LDA(2, **QUICK)
    with pytest.raises(InputError):
        model.fit(np.zeros((2, 3)))  # scikit-learn has counted the columns by then
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_loading_restores_every_field(model, tmp_path):
    model.save(tmp_path / "model")
    before, after = model.fitted_, metalda.load(tmp_path / "model").fitted_
    compared = {"vocabulary", "schema", "seed", "n_iter", "n_shards", "named_words", "parameters"}
    compared |= {"topic_names", "wording", "curation"}
    for name in compared:
        assert getattr(after, name) == getattr(before, name)
    for name in ("phi", "doc_topics"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    for name in ("labels", "features"):
        one, other = getattr(before, name), getattr(after, name)
        assert one.names == other.names
        np.testing.assert_array_equal(one.row_of, other.row_of)
        np.testing.assert_array_equal(one.matrix.toarray(), other.matrix.toarray())
    assert after.history.keys() == before.history.keys()
    assert after.weights.keys() == before.weights.keys() == {"label"}
    for name, weights in before.weights.items():
        np.testing.assert_array_equal(after.weights[name], weights)
    assert len(after.draws) == len(before.draws)
    assert after.chains == before.chains == ()  # those of several chains: test_chains.py
    assert after.partners is before.partners is None
    seen = compared | {"phi", "proportions", "doc_prior", "word_prior", "history", "draws", "weights"}
    seen |= {"chains", "partners"}
    seen |= {"before_curation"}  # test_curation.py
    assert seen == {field.name for field in fields(Fitted)}, "a new field is saved and compared"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.linspace(0, 1, 10)[:, None], False),  # the first document has the number 0, so nothing is missing
        ([["a"]] * 9 + [[]], True),
        ([["a"]] * 10, False),
    ],
    ids=["numbers", "some", "all"],
)
def test_whether_alpha_of_unlabeled_documents_is_identified_survives_saving(labels, expected, tmp_path):
    model = DMR(2, **OFTEN, **QUICK).fit(PETS + SKIES, labels)
    model.save(tmp_path / "model")
    for each in (model, metalda.load(tmp_path / "model")):
        unlabeled = each._encode(Corpus.from_texts(["cat"]), ()).labels
        assert (each.fitted_.labels.stand_ins(unlabeled)[0].nnz == 0) is expected


def test_validate_raises_what_fit_would_raise():
    assert LDA(2).validate(corpus()) is not None
    with pytest.raises(ValueError, match="n_iter"):
        LDA(2, n_iter=0).validate()
    with pytest.raises(InputError, match="no document has a label"):
        metalda.LabeledLDA().validate(corpus().without_labels())
    assert not hasattr(LDA(2).validate(corpus()), "fitted_")


def test_documents_are_read_as_in_training():
    model = LDA(2, **QUICK).fit(Corpus.from_texts(PETS + SKIES, stop_words=["cat"]))
    assert list(model.to_corpus(["cat dog", "the cat"])) == [["dog"], ["the"]]


@pytest.mark.parametrize("documents", [PETS + SKIES, [text.split() for text in PETS + SKIES]], ids=["texts", "tokens"])
def test_models_without_labels_ignore_those_of_new_documents(documents):
    model = LDA(2, **QUICK).fit(documents)
    np.testing.assert_array_equal(model.transform(corpus(), LABELS), model.transform(corpus()))
