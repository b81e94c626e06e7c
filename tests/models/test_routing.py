"""scikit-learn routes labels of documents through a pipeline whose target is something else."""

from collections.abc import Iterator

import numpy as np
import pytest
import sklearn
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from metalda import LDA, Corpus, MetaLDA
from metalda.errors import InputError

TEXTS = ["cat dog purr", "dog bark dog", "rain sun cloud", "sun storm rain"] * 5
SECTIONS = ["pets", "pets", "sky", "sky"] * 5
STARS = [1, 0, 1, 0] * 5
QUICK = {"n_iter": 20, "random_state": 0, "verbose": False}


@pytest.fixture(autouse=True)
def _routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def pipeline(classifier: object) -> Pipeline:
    model = MetaLDA(2, **QUICK).set_fit_request(labels=True).set_transform_request(labels=True)
    return make_pipeline(CountVectorizer(), model, classifier)


def test_labels_reach_fit_and_transform_and_the_target_does_not() -> None:
    routed = pipeline(LogisticRegression()).fit(TEXTS, STARS, labels=SECTIONS)
    model = routed[1]
    assert model.label_names_ == ("pets", "sky")
    counts = routed[0].transform(TEXTS)
    expected = MetaLDA(2, **QUICK).fit(counts, SECTIONS)
    np.testing.assert_array_equal(model.components_, expected.components_)
    swapped = ["sky", "sky", "pets", "pets"] * 5
    np.testing.assert_array_equal(routed[:-1].transform(TEXTS, labels=swapped), expected.transform(counts, swapped))
    assert (expected.transform(counts, swapped) != expected.transform(counts, SECTIONS)).any()
    assert (
        routed.predict(TEXTS, labels=SECTIONS).tolist()
        == routed[2].predict(expected.transform(counts, SECTIONS)).tolist()
    )


def test_folds_of_a_cross_validation_get_their_own_labels() -> None:
    scores = cross_val_score(pipeline(LogisticRegression()), TEXTS, STARS, cv=2, params={"labels": SECTIONS})
    assert np.isfinite(scores).all()


def test_labels_can_be_given_without_a_pipeline() -> None:
    by_y, by_name = MetaLDA(2, **QUICK).fit(TEXTS, SECTIONS), MetaLDA(2, **QUICK).fit(TEXTS, STARS, labels=SECTIONS)
    np.testing.assert_array_equal(by_name.components_, by_y.components_)
    np.testing.assert_array_equal(by_name.transform(TEXTS, labels=SECTIONS), by_y.transform(TEXTS, SECTIONS))
    fitted = MetaLDA(2, **QUICK).fit_transform(TEXTS, STARS, labels=SECTIONS)
    np.testing.assert_array_equal(fitted, by_y.transform(TEXTS, SECTIONS))
    assert LDA(2, **QUICK).fit(TEXTS, labels=SECTIONS).label_names_ == ()


def test_labels_given_twice_are_refused() -> None:
    model = MetaLDA(2, **QUICK).fit(TEXTS, SECTIONS)
    with pytest.raises(InputError, match="given twice"):
        model.transform(TEXTS, SECTIONS, labels=SECTIONS)
    with pytest.raises(InputError, match="given twice"):
        model.fit(Corpus.from_texts(TEXTS, SECTIONS), labels=SECTIONS)
