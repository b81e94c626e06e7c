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
from metalda.models.effects import Weights, require_effects, weight_contrasts
from metalda.priors import LogLinear

YEARS = [["pets", "2019"], ["pets", "2020"], ["sky", "2019"], ["sky", "2020"], ["sky", "2020"]] * 2


@pytest.fixture(scope="module")
def grouped():
    """Every document has a section and a year."""
    return MetaLDA(3, word_features=FEATURES, **QUICK).fit(PETS + SKIES, YEARS)


def _cube(model, table, value):
    return table[value].to_numpy().reshape(-1, model.components_.shape[0])


def test_effects_are_centered_on_the_average_label():
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, ["a"] * 7 + ["b"] * 3)
    effects = _cube(model, model.label_effects(), "effect")
    np.testing.assert_allclose(7 * effects[0] + 3 * effects[1], 0, atol=1e-9)
    assert np.abs(effects).max() > 0.01


def test_a_document_without_labels_counts_as_a_label_that_does_nothing():
    """With a single label the average over labels alone would make its effect 0, whatever it does."""
    model = MetaLDA(3, **QUICK).fit(PETS + SKIES, [["urgent"]] * 4 + [[]] * 6)
    raw = np.mean([draw.log_doc_weights[0] for draw in model.draws_], axis=0)
    np.testing.assert_allclose(model.label_effects()["effect"], 0.6 * raw)


def test_the_effect_of_a_number_is_its_own_weight():
    numbers = np.column_stack([np.linspace(-1.5, 1.5, 10), [1] * 5 + [0] * 5])
    model = DMR(3, **OFTEN, **QUICK).fit(PETS + SKIES, numbers)
    weights = np.mean([draw.log_doc_weights for draw in model.draws_], axis=0)
    table = model.label_effects()
    np.testing.assert_allclose(_cube(model, table, "effect"), [weights[0], 0.5 * weights[1]])
    proportions = _cube(model, table, "proportion")
    assert np.isnan(proportions[0]).all(), "no documents have the number for themselves"
    np.testing.assert_allclose(proportions[1].sum(), 1)


def test_contrasts_are_differences_of_log_alpha(grouped):
    labels = [["sky", "2020"], ["pets", "2020"]]
    logs = [np.log(_alpha(grouped, draw, labels)) for draw in grouped.draws_]
    table = grouped.label_contrasts(*labels, interval=0.5)
    np.testing.assert_allclose(table["effect"], np.mean([a - b for a, b in logs], axis=0), rtol=1e-4)
    assert table["first"].tolist() == ["sky + 2020"] * 3
    assert table.attrs["n_draws"] == 3
    same = grouped.label_contrasts("sky", "pets", interval=0.5)
    np.testing.assert_allclose(same["low"], table["low"], rtol=1e-9)  # what both have cancels
    swapped = grouped.label_contrasts("pets", "sky", interval=0.5)
    np.testing.assert_allclose(swapped[["low", "high"]], -same[["high", "low"]].to_numpy())


def _alpha(model, draw, labels):
    design = model._encode(Corpus.from_texts(["cat", "dog"], labels), ()).labels
    return model._prior_of_documents(design).products(draw.log_doc_weights)[design.row_of]


def test_a_contrast_that_only_the_prior_decides_is_warned_of(grouped):
    with pytest.warns(UserWarning, match="the prior decides its size"):
        grouped.label_contrasts("sky", "2020")
    with pytest.warns(UserWarning, match="the prior decides its size"):
        grouped.label_contrasts("sky", [])
    grouped.label_contrasts("2019", "2020")  # warnings are errors here
    MetaLDA(3, **QUICK).fit(corpus()).label_contrasts("sky", [])  # a document without labels was there to compare with


def test_proportions_are_averages_over_the_documents_that_have_the_label(grouped):
    documents = Corpus.from_texts(PETS + SKIES, YEARS)
    alpha = [
        grouped._prior_of_documents(design).products(draw.log_doc_weights)[design.row_of]
        for design in [grouped._encode(documents, ()).labels]
        for draw in grouped.draws_
    ]
    expected = np.mean([a / a.sum(axis=1, keepdims=True) for a in alpha], axis=0)
    table = grouped.label_proportions()
    for label in grouped.label_names_:
        has = [label in each for each in YEARS]
        own = table[table["label"] == label]
        np.testing.assert_allclose(own["proportion"], expected[has].mean(axis=0), rtol=1e-4)
        assert (own["low"] <= own["proportion"]).all()
        assert (own["proportion"] <= own["high"]).all()


def test_features_have_effects_and_contrasts(grouped):
    table = grouped.feature_contrasts("animal", ["weather", "noun"])
    log_delta = np.mean([draw.log_word_weights for draw in grouped.draws_], axis=0)
    names = grouped.feature_names_
    weights = {name: log_delta[names.index(name)] for name in names}
    np.testing.assert_allclose(table["effect"], weights["animal"] - weights["weather"] - weights["noun"])
    model = WFLDA(3, word_features=FEATURES, **OFTEN, **QUICK).fit(PETS + SKIES)
    assert set(model.feature_effects()["feature"]) == {"animal", "noun", "weather"}
    assert not hasattr(model, "label_contrasts")


def test_effects_survive_saving(grouped, tmp_path):
    grouped.save(tmp_path / "m")
    loaded = metalda.load(tmp_path / "m")
    for ask in ("label_effects", "label_proportions", "feature_effects"):
        assert getattr(loaded, ask)().equals(getattr(grouped, ask)())


def test_one_draw_has_no_interval_and_says_so():
    model = MetaLDA(2, **{**QUICK, "n_draws": 1}).fit(corpus())
    with pytest.warns(UserWarning, match="the model kept one draw, so intervals have no width"):
        effects = model.label_effects()
    assert (effects["low"] == effects["high"]).all()


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
    draws = [rng.normal(size=(3, 2)) for _ in range(19)]
    weights = Weights("label", draws, Design.build(as_labels(["a", "b"], 2), 2))
    table = weight_contrasts(weights, "a", "b", 0.9)
    contrasts = [draw[0] - draw[1] for draw in draws]
    np.testing.assert_allclose(table["low"], np.min(contrasts, axis=0))
    np.testing.assert_allclose(table["high"], np.max(contrasts, axis=0))


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
    log_lambda = np.log(np.maximum(rng.standard_gamma(1.0, (labels.shape[1] + 1, n_topics)), 1e-300))
    alpha = np.exp(np.column_stack([labels, np.ones(len(labels))]) @ log_lambda)
    theta = [rng.dirichlet(a) for a in alpha]
    return np.array([rng.multinomial(length, t @ phi) for t in theta]), log_lambda


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    """50 corpora under weights from the prior; phi is known, so that topics keep their numbers and the truth is known.

    The words do not tell the topic for sure (each has two or three topics), so the topics of tokens are still sampled.
    """
    rng = np.random.default_rng(0)
    n_words, n_topics = 12, 4
    phi = rng.dirichlet(np.full(n_words, 0.3), n_topics) * 0.97 + 0.03 / n_words
    labels = np.repeat(np.eye(3), 40, axis=0)
    sizes = np.full(3, 1 / 3)
    features = {f"w{v:02d}": f"only{v:02d}" for v in range(n_words)}
    covered = {"effects": [], "contrasts": [], "proportions": []}
    for seed in range(50):
        counts, log_lambda = _simulate(rng, phi, labels, 25)
        model = _KnownTopics(
            n_topics,
            word_features=features,
            vocabulary=list(features),
            n_iter=400,
            burn_in=100,
            n_draws=30,
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
        assert 0.85 <= np.mean(hits) <= 0.95, (what, np.mean(hits))


def _shares(log_alpha):
    alpha = np.exp(log_alpha - log_alpha.max(axis=1, keepdims=True))
    return alpha / alpha.sum(axis=1, keepdims=True)
