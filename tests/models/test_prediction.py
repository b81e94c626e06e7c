"""Labels of documents whose labels are not known, by MetaLDA and DMR."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import metalda
import reference
from contracts import LABELS, OFTEN, PETS, QUICK, SKIES, corpus
from metalda import DMR, LDA, WFLDA, Corpus, LabeledLDA, MetaLDA
from metalda.errors import InputError
from metalda.samplers import folding
from metalda.samplers.draws import mean_alpha

LONGER = {**QUICK, "n_iter": 200, "n_draws": 5}
NEW = ["cat dog bark purr", "rain storm cloud", "dog leash bark"]


@pytest.mark.parametrize("make", [MetaLDA, DMR])
def test_labels_of_new_documents_are_predicted(make, tmp_path):
    model = make(2, **LONGER).fit(PETS + SKIES, LABELS)
    probabilities = model.predict_label_probabilities(NEW)
    assert list(probabilities.columns) == ["pets", "sky"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert model.predict_labels(NEW).tolist() == ["pets", "sky", "pets"]
    hidden = Corpus.from_texts(NEW, ["sky", "sky", "sky"])
    assert model.predict_labels(hidden).tolist() == ["pets", "sky", "pets"], "labels that are given are not looked at"
    model.save(tmp_path / "m")
    again = metalda.load(tmp_path / "m").set_params(n_jobs=2).predict_label_probabilities(NEW[::-1])
    np.testing.assert_array_equal(again.to_numpy()[::-1], probabilities)  # whatever the batch and the threads


def test_without_words_the_labels_are_as_frequent_as_in_training():
    model = MetaLDA(2, **QUICK).fit(PETS + SKIES, ["pets"] * 7 + ["sky"] * 3)
    with pytest.warns(UserWarning, match="no word that the model knows"):
        nothing = model.predict_label_probabilities(["zebra"])
    np.testing.assert_allclose(nothing, [[0.7, 0.3]], rtol=1e-5)


def test_a_label_has_the_probability_of_all_sets_with_it():
    labels = [["pets"], ["pets", "home"], ["pets", "home"], ["pets"], []] + [["sky"]] * 5
    model = MetaLDA(2, **LONGER).fit(3 * (PETS + SKIES), 3 * labels)
    probabilities = model.predict_label_probabilities(NEW)
    assert (probabilities["home"] <= probabilities["pets"]).all(), "home never came without pets"
    np.testing.assert_allclose(probabilities["pets"] + probabilities["sky"], 1, rtol=1e-5)  # unlabeled: not a set
    assert model.predict_labels(NEW, threshold=1e-9)[0][0] == "pets"
    assert set(model.predict_labels(NEW, threshold=1e-9)[0]) == {"pets", "home", "sky"}
    assert model.predict_labels(NEW, threshold=0.99999) != model.predict_labels(NEW, threshold=1e-9)


def test_of_very_many_sets_the_most_frequent_are_considered(monkeypatch):
    monkeypatch.setattr(folding, "MAX_LABEL_SETS", 2)
    model = MetaLDA(2, **QUICK).fit(corpus())
    probabilities = model.predict_label_probabilities(NEW)
    assert (probabilities["home"] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("make", [partial(MetaLDA, 2), LabeledLDA])
def test_with_several_label_columns_a_value_of_each_is_predicted(make, tmp_path):
    frame = pd.DataFrame({"text": PETS + SKIES, "section": LABELS, "author": ["ann", "bob"] * 5})
    model = make(**LONGER).fit(Corpus.from_frame(frame, text="text", labels=["section", "author"]))
    found = model.predict_labels(NEW)
    assert list(found.columns) == ["author", "section"] or list(found.columns) == ["section", "author"]
    assert found["section"].tolist() == ["pets", "sky", "pets"]
    assert set(found["author"]) <= {"ann", "bob"}
    probabilities = model.predict_label_probabilities(NEW)
    best = probabilities[["author=ann", "author=bob"]].idxmax(axis=1).str.removeprefix("author=")
    assert found["author"].tolist() == best.tolist()
    model.save(tmp_path / "m")
    pd.testing.assert_frame_equal(metalda.load(tmp_path / "m").predict_labels(NEW), found)
    assert isinstance(model.predict_labels(NEW, threshold=0.5), list)


def test_predicted_labels_do_not_depend_on_a_seed():
    model = MetaLDA(2, **QUICK).fit(PETS + SKIES, LABELS)
    expected = model.predict_label_probabilities(NEW)
    model._fitted = replace(model.fitted_, seed=model.fitted_.seed + 1)
    pd.testing.assert_frame_equal(model.predict_label_probabilities(NEW), expected)


def test_long_documents_are_less_certain_than_their_words_taken_as_independent():
    """Up to twelve words count fully; eight times as many count twice as much as twelve, not eight times."""
    assert folding.temper(np.array([0, 1, 12, 96])).tolist() == pytest.approx([1, 1, 1, 0.5])
    model = MetaLDA(2, **LONGER).fit(PETS + SKIES, LABELS)
    short, long = model.predict_label_probabilities([" ".join(["cat"] * n) for n in (12, 96)])["pets"]
    design = model.fitted_.labels
    alpha = mean_alpha(model.draws_, model.fitted_.doc_prior)
    cat = [model.vocabulary_.index("cat")] * 96
    shares = design.row_sizes / design.row_sizes.sum()
    expected, _ = reference.mix_label_sets(cat, model.fitted_.phi.astype(float), shares, alpha, power=0.5)
    pets = [row for row in range(2) if design.names[design.row_labels[design.row_starts[row]]] == "pets"]
    np.testing.assert_allclose(long, expected[pets[0]], rtol=1e-3)
    assert short > 0.5


def test_the_labeled_models_have_the_same_interface():
    model = LabeledLDA(**LONGER).fit(PETS + SKIES, LABELS)
    assert model.predict_labels(NEW, threshold=0.5) == [("pets",), ("sky",), ("pets",)]


def test_models_that_cannot_predict_labels_say_so():
    for never in (LDA(), WFLDA(), MetaLDA(doc_prior=0.1)):
        assert not hasattr(never, "predict_labels")
        assert not hasattr(never, "predict_label_probabilities")
    with pytest.raises(InputError, match="learned from no labels"):
        MetaLDA(2, **QUICK).fit(PETS).predict_labels(NEW)
    numbers = DMR(2, **OFTEN, **QUICK).fit(PETS, np.linspace(-1, 1, 5)[:, None])
    with pytest.raises(InputError, match="learned from numbers"):
        numbers.predict_labels(NEW)
    with pytest.raises(InputError, match="threshold"):
        MetaLDA(2, **QUICK).fit(PETS + SKIES, LABELS).predict_labels(NEW, threshold=50)


def test_interactions_and_upper_levels_are_not_predicted():
    frame = pd.DataFrame(
        {"text": PETS + SKIES, "kind": ["a/pets"] * 5 + ["a/sky"] * 5, "city": ["Rome", "Oslo"] * 5},
    )
    documents = Corpus.from_frame(frame, labels=["kind", "city"])
    model = MetaLDA(2, prevalence="levels(kind) + city + kind:city", **LONGER).fit(documents)
    names = ["kind=a/pets", "kind=a/sky", "city=Oslo", "city=Rome"]
    assert list(model.predict_label_probabilities(NEW).columns) == names
    predicted = model.predict_labels(NEW)
    assert predicted["kind"].tolist() == ["a/pets", "a/sky", "a/pets"]
    assert set(predicted["city"]) <= {"Oslo", "Rome"}
    with pytest.raises(InputError, match="interactions only"):
        MetaLDA(2, prevalence="kind:city", **QUICK).fit(documents).predict_labels(NEW)
