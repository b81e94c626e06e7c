"""Topic proportions on a grid of labels and numbers."""

import numpy as np
import pandas as pd
import pytest

import metalda
from metalda import DMR, LDA, Corpus, MetaLDA
from metalda.errors import InputError
from metalda.models.prevalence import default_values

OLD, NEW = ["steam", "coal", "farm", "mill"], ["web", "phone", "data", "app"]


@pytest.fixture(scope="module")
def corpus():
    """New words are common in the middle of the period, and in every year for the country fr."""
    rng = np.random.default_rng(0)
    years = rng.integers(1950, 2021, 400)
    country = rng.choice(["fr", "it"], 400)
    share = np.exp(-(((years - 1985) / 15.0) ** 2))
    is_new = rng.random(400) < np.where(country == "fr", 1.0, share)
    texts = [" ".join(rng.choice(NEW if new else OLD, 12)) for new in is_new]
    frame = pd.DataFrame({"text": texts, "year": years, "country": country})
    return Corpus.from_frame(frame, text="text", labels="country", numbers="year", max_df=1.0)


@pytest.fixture(scope="module")
def model(corpus):
    return MetaLDA(2, prevalence="country*s(year)", n_iter=200, random_state=0, verbose=False).fit(corpus)


def _new(model):
    return int(model.components_[:, model.vocabulary_.index("web")].argmax())


def test_a_curve_rises_and_falls_for_one_label_and_not_for_the_other(model):
    table = model.prevalence_at({"year": [1952, 1985, 2018], "country": ["fr", "it"]})
    assert list(table.columns) == ["year", "country", "topic", "mean", "low", "high"]
    assert table.groupby(["year", "country"])["mean"].sum().to_numpy() == pytest.approx(1)
    assert ((table["low"] <= table["mean"]) & (table["mean"] <= table["high"])).all()
    new = table[table["topic"] == _new(model)].pivot(index="year", columns="country", values="mean")
    assert (new["fr"] > 0.8).all()
    assert new["it"].to_list() == pytest.approx([0.02, 1, 0.02], abs=0.15)


def test_a_contrast_is_the_difference_from_the_first_value(model):
    points = model.prevalence_at({"year": [1952, 1985], "country": "it"})
    contrast = model.prevalence_at({"year": [1952, 1985], "country": "it"}, contrast="year")
    assert contrast["year"].tolist() == [1985, 1985]
    assert contrast["reference"].tolist() == [1952, 1952]
    means = points["mean"].to_numpy().reshape(2, 2)
    assert contrast["mean"].to_numpy() == pytest.approx(means[1] - means[0])
    row = contrast[contrast["topic"] == _new(model)].iloc[0]
    assert row["low"] > 0.5


def test_columns_that_are_not_given_are_average(corpus):
    model = MetaLDA(2, n_iter=100, random_state=0, verbose=False).fit(corpus)
    alone = model.prevalence_at({"year": [1985]})["mean"]
    at_both = model.prevalence_at({"year": [1985], "country": ["fr", "it"]})["mean"].to_numpy().reshape(2, 2)
    assert at_both.min(axis=0)[0] < alone[0] < at_both.max(axis=0)[0]


def test_a_saved_model_has_the_same_curves_and_reads_new_rows(model, corpus, tmp_path):
    model.save(tmp_path / "model")
    same = metalda.load(tmp_path / "model")
    at = {"year": np.arange(1950, 2021, 10), "country": ["it"]}
    pd.testing.assert_frame_equal(same.prevalence_at(at), model.prevalence_at(at))
    rows = pd.DataFrame({"text": ["web coal"] * 2, "year": [1950, 1985], "country": ["it", "it"]})
    theta = same.transform(rows)[:, _new(model)]
    assert theta[1] > theta[0] + 0.1
    with pytest.warns(UserWarning, match="not trained on are ignored: 1 distinct label"):
        same.transform(rows.assign(country=["es", "it"]))


def test_a_document_without_a_label_keeps_its_number(model):
    """Its topics are a mixture over the countries, at its own year."""
    rows = pd.DataFrame({"text": ["unknown"] * 2, "year": [1952, 1985], "country": [None, None]})
    with pytest.warns(UserWarning, match="no word that the model knows"):
        theta = model.transform(rows)[:, _new(model)]
    at = model.prevalence_at({"year": [1952, 1985], "country": ["fr", "it"]})
    of_new = at[at["topic"] == _new(model)].groupby("year")["mean"].mean()
    assert theta == pytest.approx(of_new.to_numpy(), abs=0.1)


def test_effects_have_no_rows_for_curvature(model):
    effects = model.label_effects()
    assert set(effects["label"]) == {"country=fr", "country=it", "year", "country=fr:year", "country=it:year"}
    assert set(model.pooling_["group"]) == {"country", "year", "s(year)", "country:year", "country:s(year)"}


def test_the_slope_of_a_number_with_interactions_is_the_average_over_labels(model, corpus):
    """The number is the sum of its interactions: the documents identify the slope of each label only."""
    names, weights = model.label_names_, model.fitted_.weights["label"].astype(float)
    slopes = [weights[:, names.index("year")] + weights[:, names.index(f"country={c}:year")] for c in ("fr", "it")]
    sizes = corpus.labels.matrix[:, :2].sum(axis=0)
    expected = np.average(np.mean(slopes, axis=1), axis=0, weights=sizes)
    effects = model.label_effects().set_index("label")["effect"]
    assert effects["year"].to_numpy() == pytest.approx(expected, abs=1e-6)
    expected = np.mean(slopes[1], axis=0) - expected
    assert effects["country=it:year"].to_numpy() == pytest.approx(expected, abs=1e-6)


def test_dmr_has_curves_without_intervals(corpus):
    model = DMR(2, prevalence="s(year)", n_iter=100, random_state=0, verbose=False).fit(corpus)
    table = model.prevalence_at({"year": [1952, 1985]})
    assert table["low"].isna().all()
    new = table[table["topic"] == _new(model)]["mean"].to_list()
    assert new[1] > new[0] + 0.2


def test_several_chains_are_pooled(corpus):
    model = MetaLDA(2, prevalence="s(year)", n_iter=60, n_chains=2, random_state=0, verbose=False).fit(corpus)
    table = model.prevalence_at({"year": [1985]})
    assert table["chains"].tolist() == [2, 2]
    alone = [chain.prevalence_at({"year": [1985]})["mean"].max() for chain in model.chains_]
    assert table["mean"].max() == pytest.approx(np.mean(alone), abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({},), "at is a mapping"),
        (({"year": []},), "has no values"),
        (({"age": [3]},), "no column 'age'"),
        (({"year": ["x"]},), "is a number"),
        (({"year": [float("inf")]},), "must be finite"),
        (({"year": [1990]}, 1.5), "interval must lie between 0 and 1"),
    ],
)
def test_a_bad_grid_is_one_clear_line(model, arguments, message):
    with pytest.raises(InputError, match=message):
        model.prevalence_at(*arguments)


def test_a_contrast_needs_two_values(model):
    with pytest.raises(InputError, match="two values or more"):
        model.prevalence_at({"year": [1990]}, contrast="year")


def test_models_without_labels_have_no_prevalence(corpus):
    model = LDA(2, n_iter=5, verbose=False).fit(corpus)
    assert not hasattr(model, "prevalence_at")
    with pytest.raises(InputError, match="the corpus has no columns"):
        MetaLDA(2, prevalence="year", n_iter=5, verbose=False).fit(corpus.without_labels())


def test_numbers_of_gamma_priors_are_refused_with_the_remedy(corpus):
    with pytest.raises(InputError, match="weight_prior='normal'"):
        MetaLDA(2, prevalence="s(year)", weight_prior="gamma", n_iter=5, verbose=False).fit(corpus)


def test_the_strength_of_a_column_can_be_fixed(corpus, tmp_path):
    model = MetaLDA(2, prevalence="country + s(year)", mu={"country": 0.3}, n_iter=60, random_state=0, verbose=False)
    model.fit(corpus)
    assert set(model.pooling_["group"]) == {"year", "s(year)"}
    model.save(tmp_path / "model")
    assert metalda.load(tmp_path / "model").mu == {"country": 0.3}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mu": {"land": 1.0}}, "no column 'land' for its shape .mu.; columns are: 'country', 'year'"),
        ({"mu": {"year": 1.0}}, "'year' holds numbers"),
        ({"mu": {"country": -1.0}}, "give positive numbers"),
        ({"mu": {"country": 1.0}, "weight_prior": "gamma", "prevalence": "country"}, 'needs weight_prior="normal"'),
    ],
)
def test_shapes_of_columns_that_cannot_be(corpus, parameters, message):
    with pytest.raises(InputError, match=message):
        MetaLDA(2, n_iter=5, verbose=False, **parameters).fit(corpus)


def test_labels_without_a_column_are_the_column_label(tmp_path):
    model = MetaLDA(2, n_iter=40, random_state=0, verbose=False)
    model.fit(["steam coal", "web phone"] * 10, ["old", "new"] * 10).save(tmp_path)
    for each in (model, metalda.load(tmp_path)):
        assert each.prevalence_at({"label": ["old", "new"]}).shape[0] == 4
        with pytest.raises(InputError, match=r"no column 'lable'; it has 'label'\. Did you mean 'label'\?"):
            each.prevalence_at({"lable": ["old"]})


def test_a_number_in_interactions_only_has_its_observed_range(corpus):
    model = MetaLDA(2, prevalence="country + country:year", n_iter=20, random_state=0, verbose=False).fit(corpus)
    assert "year" not in model.label_names_
    values = default_values(model.fitted_, "year", 5)
    assert (values[0], values[-1]) == pytest.approx((1950, 2020), abs=0.5)


def test_curvature_is_not_counted_as_labels(corpus, model):
    assert "2 topics, 7 words, 4 labels, 1 number;" in model._repr_html_inner()
    plain = MetaLDA(2, n_iter=4, random_state=0, verbose=False).fit(corpus)
    assert "2 labels, 1 number;" in plain._repr_html_inner()


def test_labels_with_colons_are_factors_of_interactions(corpus):
    """Else the slope of the number, which is the sum of those of all labels, would not be identified."""
    frame = pd.DataFrame({"text": ["steam coal", "web phone"] * 10, "k": ["a:b", "c"] * 10, "year": range(20)})
    model = MetaLDA(2, prevalence="k*year", n_iter=80, random_state=0, verbose=False)
    model.fit(Corpus.from_frame(frame, labels="k", numbers="year"))
    assert model.fitted_.labels.terms.factors_of("k=a:b:year") == ["k=a:b", "year"]
    assert model.label_effects()["effect"].notna().all()


def test_values_of_a_grid_are_not_lists(model):
    with pytest.raises(InputError, match="a value or a list of values"):
        model.prevalence_at({"year": np.array([[1990, 2000]])})
