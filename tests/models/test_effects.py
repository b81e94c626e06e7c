"""What labels and features do to topics: effects, contrasts and proportions, with intervals that cover the truth."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

import metalda
from contracts import FEATURES, OFTEN, PETS, QUICK, SKIES, corpus
from metalda import DMM, DMR, LDA, WFLDA, Corpus, LabeledLDA, MetaLDA
from metalda.corpus.labels import as_labels
from metalda.errors import InputError
from metalda.meta.design import Design
from metalda.models.weights import Weights, require_effects, weight_contrasts
from metalda.priors import LogLinear

HALF = 0.5  # an interval that six draws hold
YEARS = [["pets", "2019"], ["pets", "2020"], ["sky", "2019"], ["sky", "2020"], ["sky", "2020"]] * 2


@pytest.fixture(scope="module")
def grouped():
    """Every document has a section and a year."""
    return MetaLDA(3, word_features=FEATURES, **QUICK).fit(PETS + SKIES, YEARS)


def _cube(model, table, value):
    return table[value].to_numpy().reshape(-1, model.components_.shape[0])


def test_labels_of_a_kind_are_centered_on_its_average():
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, ["a"] * 7 + ["b"] * 3)
    effects = _cube(model, model.label_effects(HALF), "effect")
    np.testing.assert_allclose(7 * effects[0] + 3 * effects[1], 0, atol=1e-9)
    assert np.abs(effects).max() > 0.01


def test_kinds_are_centered_apart(grouped):
    """A section is compared with sections, and a year with years: of the ten documents four are of 2019."""
    effects = dict(zip(grouped.label_names_, _cube(grouped, grouped.label_effects(HALF), "effect"), strict=True))
    np.testing.assert_allclose(4 * effects["2019"] + 6 * effects["2020"], 0, atol=1e-6)
    np.testing.assert_allclose(4 * effects["pets"] + 6 * effects["sky"], 0, atol=1e-6)


def test_a_tag_is_compared_with_its_absence():
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, [["urgent"]] * 4 + [[]] * 6)
    raw = model.fitted_.weights["label"][:, 0].astype(float).mean(axis=0)
    np.testing.assert_allclose(model.label_effects(HALF)["effect"], raw)


def test_labels_that_cannot_be_told_apart_have_no_effect_and_are_named():
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, [["twin", "other twin"]] * 4 + [["c"]] * 3 + [["d"]] * 3)
    with pytest.warns(UserWarning, match="do not identify the effects of 2 labels \\('other twin', 'twin'\\)"):
        table = model.label_effects(HALF)
    unknown = table["label"].str.contains("twin")
    assert table.loc[unknown, ["effect", "low", "difference", "rhat"]].isna().all(axis=None)
    assert table.loc[~unknown].notna().all(axis=None)
    assert table["proportion"].notna().all(), "the proportions of documents that have it are known"


def test_the_difference_is_that_of_the_same_documents_without_the_effect(grouped):
    table = grouped.label_effects(HALF)
    alpha = {
        labels: np.mean(
            [
                _shares(np.log(_alpha(grouped, weights, [list(labels)])))[0]
                - _shares(np.log(_alpha(grouped, weights, [list(labels)])) - _effect(grouped, weights, "pets"))[0]
                for weights in grouped.fitted_.weights["label"].astype(float)
            ],
            axis=0,
        )
        for labels in (("pets", "2019"), ("pets", "2020"))
    }
    own = table[table["label"] == "pets"]
    np.testing.assert_allclose(own["difference"], (alpha["pets", "2019"] + alpha["pets", "2020"]) / 2, rtol=1e-4)
    np.testing.assert_allclose(own["difference"].sum(), 0, atol=1e-9)


def _effect(model, weights, label):
    other = {"pets": ("pets", "sky")}[label]
    own, rest = (weights[model.label_names_.index(name)] for name in other)
    return own - 0.4 * own - 0.6 * rest


def test_the_effect_of_a_number_is_its_own_weight():
    numbers = np.column_stack([np.linspace(-1.5, 1.5, 10), [1] * 5 + [0] * 5])
    model = DMR(3, **OFTEN, **QUICK).fit(PETS + SKIES, numbers)
    drawn = model.fitted_.weights["label"].astype(float)
    table = model.label_effects(HALF)
    np.testing.assert_allclose(_cube(model, table, "effect"), drawn.mean(axis=0)[:2])
    logs = np.column_stack([numbers, np.ones(10)]) @ drawn
    more = [_shares(own + draw[0]) - _shares(own) for own, draw in zip(logs, drawn, strict=True)]
    np.testing.assert_allclose(_cube(model, table, "difference")[0], np.mean(more, axis=(0, 1)), rtol=1e-6)
    proportions = _cube(model, table, "proportion")
    assert np.isnan(proportions[0]).all(), "no documents have the number for themselves"
    np.testing.assert_allclose(proportions[1].sum(), 1)


def test_contrasts_are_differences_of_log_alpha(grouped):
    labels = [["sky", "2020"], ["pets", "2020"]]
    logs = [np.log(_alpha(grouped, weights, labels)) for weights in grouped.fitted_.weights["label"].astype(float)]
    table = grouped.label_contrasts(*labels, interval=0.5)
    np.testing.assert_allclose(table["effect"], np.mean([a - b for a, b in logs], axis=0), rtol=1e-4)
    assert table["first"].tolist() == ["sky + 2020"] * 3
    assert table.attrs["n_draws"] == 6, "all iterations after the burn-in"
    same = grouped.label_contrasts("sky", "pets", interval=0.5)
    np.testing.assert_allclose(same["low"], table["low"], rtol=1e-9)  # what both have cancels
    swapped = grouped.label_contrasts("pets", "sky", interval=0.5)
    np.testing.assert_allclose(swapped[["low", "high"]], -same[["high", "low"]].to_numpy())


def _alpha(model, weights, labels):
    design = model._encode(Corpus.from_texts(["cat"] * len(labels), labels), ()).labels
    return model._prior_of_documents(design).products(weights)[design.row_of]


def test_a_contrast_that_only_the_prior_decides_is_warned_of(grouped):
    with pytest.warns(UserWarning, match="the prior decides its size"):
        grouped.label_contrasts("sky", "2020", HALF)
    with pytest.warns(UserWarning, match="the prior decides its size"):
        grouped.label_contrasts("sky", [], HALF)
    grouped.label_contrasts("2019", "2020", HALF)  # warnings are errors here
    MetaLDA(3, **QUICK).fit(corpus()).label_contrasts(
        "sky", [], HALF
    )  # a document without labels was there to compare with


def test_proportions_are_averages_over_the_documents_that_have_the_label(grouped):
    documents = Corpus.from_texts(PETS + SKIES, YEARS)
    alpha = [
        grouped._prior_of_documents(design).products(weights)[design.row_of]
        for design in [grouped._encode(documents, ()).labels]
        for weights in grouped.fitted_.weights["label"].astype(float)
    ]
    expected = np.mean([a / a.sum(axis=1, keepdims=True) for a in alpha], axis=0)
    table = grouped.label_proportions(HALF)
    for label in grouped.label_names_:
        has = [label in each for each in YEARS]
        own = table[table["label"] == label]
        np.testing.assert_allclose(own["proportion"], expected[has].mean(axis=0), rtol=1e-4)
        assert (own["low"] <= own["proportion"]).all()
        assert (own["proportion"] <= own["high"]).all()


def test_features_have_effects_and_contrasts(grouped):
    table = grouped.feature_contrasts("animal", ["weather", "noun"], HALF)
    log_delta = grouped.fitted_.weights["feature"].astype(float).mean(axis=0)
    names = grouped.feature_names_
    weights = {name: log_delta[names.index(name)] for name in names}
    np.testing.assert_allclose(table["effect"], weights["animal"] - weights["weather"] - weights["noun"], rtol=1e-6)
    model = WFLDA(3, word_features=FEATURES, **OFTEN, **QUICK).fit(PETS + SKIES)
    assert set(model.feature_effects(HALF)["feature"]) == {"animal", "noun", "weather"}
    assert not hasattr(model, "label_contrasts")


def test_effects_survive_saving(grouped, tmp_path):
    grouped.save(tmp_path / "m")
    loaded = metalda.load(tmp_path / "m")
    assert loaded.label_effects(HALF).equals(grouped.label_effects(HALF))
    features = [model.feature_contrasts("animal", ["weather", "noun"], HALF) for model in (loaded, grouped)]
    assert features[0].equals(features[1])


@pytest.mark.parametrize(
    ("n_iter", "interval", "needed"), [(2, 0.5, 3), (12, 0.9, 19), (36, 0.95, 39), (40, 0.999, 1999)]
)
def test_an_interval_that_the_draws_do_not_hold_is_refused(n_iter, interval, needed):
    """Half of the iterations are kept. The others of the table are there."""
    model = MetaLDA(2, **{**QUICK, "n_iter": n_iter}).fit(corpus())
    with pytest.warns(UserWarning, match=f"an interval of {interval:g} needs {needed:,} draws or more, but there"):
        effects = model.label_contrasts("pets", "sky", interval)
    assert effects[["low", "high"]].isna().all(axis=None)
    assert effects["effect"].notna().all()


def test_intervals_of_different_probabilities_differ():
    model = MetaLDA(2, **{**QUICK, "n_iter": 120}).fit(corpus())
    widths = [np.ptp(model.label_effects(p)[["low", "high"]].to_numpy(), axis=1) for p in (0.8, 0.9, 0.95)]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()


def test_models_fitted_without_labels_or_features_say_so(grouped):
    bare = MetaLDA(2, **QUICK).fit(PETS)
    for ask in (bare.label_effects, bare.label_proportions):
        with pytest.raises(InputError, match="learned from no labels"):
            ask()
    with pytest.raises(InputError, match="learned from no word features"):
        bare.feature_effects()
    with pytest.raises(InputError, match="no label 'pet'; did you mean 'pets'"):
        grouped.label_contrasts("sky", ["pet"])


@pytest.mark.parametrize(
    ("model", "labels", "features"),
    [
        (MetaLDA(), True, True),
        (MetaLDA(doc_prior=0.1), False, True),
        (MetaLDA(doc_prior="default"), False, True),
        (MetaLDA(word_prior="default"), True, False),
        (DMR(), True, False),
        (WFLDA(), False, True),
        (LDA(), False, False),
        (DMM(), False, False),
        (LabeledLDA(), False, False),
    ],
    ids=str,
)
def test_a_model_has_the_effects_that_its_parameters_allow(model, labels, features):
    for kind, methods in (("label", ("effects", "contrasts", "proportions")), ("feature", ("effects", "contrasts"))):
        has = labels if kind == "label" else features
        assert [hasattr(model, f"{kind}_{each}") for each in methods] == [has] * len(methods)
        if has:
            require_effects(model, kind)
        else:
            with pytest.raises(InputError, match=f"has no effects of {kind}s"):
                require_effects(model, kind)


# Coverage.


def test_a_further_draw_lies_below_the_low_end_as_often_as_it_should():
    """Of 19 draws the least has a further one below it with probability 1/20: it is the end of a 90 % interval."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(19, 3, 2))
    design = Design.build(as_labels(["a", "b"], 2), 2)
    weights = Weights("label", (draws,), ([(0,), (1,)],), design, {"topic": np.arange(2)})
    table = weight_contrasts(weights, "a", "b", 0.9)
    contrasts = draws[:, 0] - draws[:, 1]
    np.testing.assert_allclose(table["low"], contrasts.min(axis=0))
    np.testing.assert_allclose(table["high"], contrasts.max(axis=0))


@dataclass(frozen=True, eq=False)
class _Known(LogLinear):
    """Topics that are known: beta[k, v] = a million times phi[k, v], beside which the counts are nothing."""

    phi: np.ndarray

    def start_weights(self, n_topics):
        return np.log(1e6 * self.phi.T)


class _KnownTopics(MetaLDA):
    """MetaLDA with phi held fixed: every word has a feature of its own, whose weights are those of phi."""

    def _prior_of_words(self, words):
        return _Known(words, 1.0, np.vstack([self.phi.T, np.ones((1, len(self.phi))) / 1e6]).T)


def _simulate(rng, phi, labels, length):
    """Counts of documents under weights drawn from the prior, and these weights."""
    n_topics = len(phi)
    log_lambda = np.vstack([rng.normal(0, 0.8, (labels.shape[1], n_topics)), rng.normal(-0.5, 0.7, (1, n_topics))])
    alpha = np.exp(np.column_stack([labels, np.ones(len(labels))]) @ log_lambda)
    theta = [rng.dirichlet(a) for a in alpha]
    return np.array([rng.multinomial(length, t @ phi) for t in theta]), log_lambda


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    """30 corpora under normal weights; phi is known, so that topics keep their numbers and the truth is known.

    The words do not tell the topic for sure (each has two or three topics), so the topics of tokens are still sampled.
    """
    rng = np.random.default_rng(0)
    n_words, n_topics = 12, 4
    phi = rng.dirichlet(np.full(n_words, 0.3), n_topics) * 0.97 + 0.03 / n_words
    labels = np.repeat(np.eye(3), 40, axis=0)
    sizes = np.full(3, 1 / 3)
    features = {f"w{v:02d}": f"only{v:02d}" for v in range(n_words)}
    covered = {"effects": [], "contrasts": [], "proportions": []}
    for seed in range(30):
        counts, log_lambda = _simulate(rng, phi, labels, 25)
        model = _KnownTopics(
            n_topics,
            word_features=features,
            vocabulary=list(features),
            n_iter=1000,
            burn_in=250,
            random_state=seed,
            verbose=False,
        )
        model.phi = phi
        model.fit(sparse.csr_array(counts), labels)
        truth = {
            "effects": (log_lambda[:3] - sizes @ log_lambda[:3]).ravel(),
            "contrasts": log_lambda[0] - log_lambda[1],
            "proportions": _shares(log_lambda[:3] + log_lambda[3]).ravel(),
        }
        tables = model.label_effects(), model.label_contrasts("0", "1"), model.label_proportions()
        for (what, true), table in zip(truth.items(), tables, strict=True):
            covered[what] += list((table["low"] <= true) & (true <= table["high"]))
    for what, hits in covered.items():
        assert 0.82 <= np.mean(hits) <= 0.98, (what, np.mean(hits))  # three standard errors


def _shares(log_alpha):
    alpha = np.exp(log_alpha - log_alpha.max(axis=1, keepdims=True))
    return alpha / alpha.sum(axis=1, keepdims=True)
