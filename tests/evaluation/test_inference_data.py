"""ArviZ gets the draws of matched topics under their names."""

import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contracts import FEATURES, PETS, SKIES, with_result
from metalda import LDA, Corpus, LabeledLDA, MetaLDA, to_inference_data
from metalda.errors import InputError, MissingExtraError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # versions before 1 announce it at every import
    arviz = pytest.importorskip("arviz")

SETTINGS: dict[str, Any] = {"n_iter": 40, "thin": 2, "n_draws": 6, "verbose": False}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_texts((PETS + SKIES) * 4, (["pets"] * 5 + ["sky"] * 5) * 4)


@pytest.fixture(scope="module")
def chains(corpus: Corpus) -> list[MetaLDA]:
    return [MetaLDA(2, word_features=FEATURES, random_state=s, **SETTINGS).fit(corpus) for s in range(2)]


def test_posterior_has_shares_and_effects_by_name(chains: list[MetaLDA]) -> None:
    posterior = to_inference_data(chains).posterior
    effects = posterior["label_effect"]
    assert effects.dims == ("chain", "draw", "label", "topic")
    assert effects.shape == (2, 6, 2, 2)
    fitted = chains[0].fitted_
    for j, label in enumerate(chains[0].label_names_):
        expected = [fitted.labels.references.center(draw.log_doc_weights)[j] for draw in fitted.draws]
        np.testing.assert_allclose(effects.sel(chain=0, label=label), expected)
    features = posterior["feature_effect"].sel(chain=0, feature="animal")
    expected = [fitted.features.references.center(draw.log_word_weights)[0] for draw in fitted.draws]
    np.testing.assert_allclose(features, expected)
    np.testing.assert_allclose(posterior["topic_share"].sel(chain=0).mean("draw"), chains[0].topics()["share"])


def test_topics_of_a_chain_stand_in_the_order_of_the_first(chains: list[MetaLDA]) -> None:
    names = ("log_doc_weights", "log_word_weights", "topic_totals")
    draws = tuple(replace(draw, **{n: getattr(draw, n)[..., ::-1] for n in names}) for draw in chains[1].draws_)
    turned = with_result(chains[1], phi=chains[1].fitted_.phi[:, ::-1], draws=draws)
    found, expected = to_inference_data([chains[0], turned]), to_inference_data(chains)
    for name in ("topic_share", "label_effect", "feature_effect"):
        np.testing.assert_array_equal(found.posterior[name], expected.posterior[name])
    assert (found.constant_data["similarity"] > 0.5).all()


def test_the_log_likelihood_is_that_of_the_kept_iterations(chains: list[MetaLDA]) -> None:
    lp = to_inference_data(chains).sample_stats["lp"]
    for chain, model in enumerate(chains):
        expected = model.history_.set_index("iteration")["log_likelihood"][[30, 32, 34, 36, 38, 40]]
        np.testing.assert_array_equal(lp[chain], expected)


def test_one_model_is_one_chain_and_chains_are_cut_to_the_shortest(corpus: Corpus, chains: list[MetaLDA]) -> None:
    assert dict(to_inference_data(chains[0]).posterior.sizes)["chain"] == 1
    shorter = MetaLDA(2, word_features=FEATURES, random_state=5, **{**SETTINGS, "n_draws": 3}).fit(corpus)
    found = to_inference_data([chains[0], shorter])
    assert found.posterior.sizes["draw"] == found.sample_stats.sizes["draw"] == 3
    weights = to_inference_data(chains[0]).posterior["topic_share"][0, -3:]
    np.testing.assert_array_equal(found.posterior["topic_share"][0], weights)


def test_models_without_effects_have_shares_alone(corpus: Corpus) -> None:
    for model in (LDA(2, **SETTINGS), LabeledLDA(**SETTINGS)):
        assert list(to_inference_data(model.fit(corpus)).posterior) == ["topic_share"]


def test_from_version_1_on_arviz_gets_one_dictionary_of_groups(
    chains: list[MetaLDA], monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_dict(data: Any, *, name: Any = None, sample_dims: Any = None, coords: Any = None, dims: Any = None) -> Any:
        return data, coords, dims

    monkeypatch.setitem(sys.modules, "arviz", SimpleNamespace(from_dict=from_dict))
    groups, coords, dims = to_inference_data(chains)
    assert set(groups) == {"posterior", "sample_stats", "constant_data"}
    assert groups["posterior"]["label_effect"].shape == (2, 6, 2, 2)
    assert coords["label"] == ["pets", "sky"]
    assert dims["label_effect"] == ["label", "topic"]


def test_what_are_no_chains_is_refused(chains: list[MetaLDA], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no model"):
        to_inference_data([])
    with pytest.raises(InputError, match="seed of another"):
        to_inference_data([chains[0], chains[0]])
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'metalda\[chains\]'"):
        to_inference_data(chains)
