"""Chains are compared topic by topic, by what is identified, and with the figures of ArviZ."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contracts import PETS, SKIES, with_result
from metalda import LDA, Corpus, LabeledLDA, MetaLDA, diagnose_chains
from metalda.errors import InputError
from metalda.evaluation.chains import verdict

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # versions before 1 announce it at every import
    import arviz

SETTINGS: dict[str, Any] = {"n_components": 2, "n_iter": 60, "thin": 1, "n_draws": 25, "verbose": False}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_texts((PETS + SKIES) * 6, (["pets"] * 5 + ["sky"] * 5) * 6)


@pytest.fixture(scope="module")
def chains(corpus: Corpus) -> list[MetaLDA]:
    return [MetaLDA(random_state=seed, **SETTINGS).fit(corpus) for seed in range(3)]


def reordered(model: MetaLDA, order: list[int]) -> MetaLDA:
    """The same chain with its topics in another order."""
    fitted = model.fitted_
    return with_result(model, phi=fitted.phi[:, order], weights={"label": fitted.weights["label"][:, :, order]})


def test_the_log_likelihood_is_judged_after_the_burn_in_as_arviz_does(chains: list[MetaLDA]) -> None:
    first = diagnose_chains(chains).iloc[0]
    trace = np.stack([model.history_["log_likelihood"][30:] for model in chains])
    assert first["quantity"] == "log_likelihood"
    assert first["rhat"] == pytest.approx(float(arviz.rhat(trace)))
    assert first["ess"] == pytest.approx(float(arviz.ess(trace)))
    assert (first["chains"], first["draws"]) == (3, 30)


def test_effects_are_those_of_matched_topics_as_arviz_judges_them(chains: list[MetaLDA]) -> None:
    table = diagnose_chains(chains).set_index(["label", "topic"])
    with_pets = [int(model.label_effects().query("label == 'pets'")["effect"].to_numpy().argmax()) for model in chains]
    effects = []  # of pets on the topic that pets raise, in each chain
    for model, topic in zip(chains, with_pets, strict=True):
        weights = model.fitted_.weights["label"][:, :2].astype(np.float64)
        shares = model.label_sizes_[:2] / model.label_sizes_[:2].sum()
        effects.append(weights[:, 0, topic] - (weights * shares[:, None]).sum(axis=1)[:, topic])
    assert chains[0].label_names_ == ("pets", "sky")
    row = table.loc[("pets", with_pets[0])]
    assert row["rhat"] == pytest.approx(arviz.rhat(np.stack(effects)))
    assert row["ess"] == pytest.approx(arviz.ess(np.stack(effects)))
    assert row["draws"] == 30, "all iterations after the burn-in"
    assert 0.5 < row["similarity"] <= 1


def test_a_chain_may_number_its_topics_as_it_likes(chains: list[MetaLDA]) -> None:
    turned = [chains[0], reordered(chains[1], [1, 0]), chains[2]]
    assert diagnose_chains(turned).equals(diagnose_chains(chains))


def test_a_shift_between_label_and_default_is_not_seen(chains: list[MetaLDA]) -> None:
    """It leaves alpha as it is: raw weights are not identified."""
    shift = np.array([[5.0], [5.0], [-5.0]], np.float32)
    moved = with_result(chains[1], weights={"label": chains[1].fitted_.weights["label"] + shift})
    found, expected = diagnose_chains([chains[0], moved]), diagnose_chains(chains[:2])
    np.testing.assert_allclose(found["rhat"], expected["rhat"], rtol=1e-6)


def test_similar_topics_are_the_same_only_if_each_is_the_best_partner_of_the_other(chains: list[MetaLDA]) -> None:
    """A chain that split the first topic of the other in two has one topic that is not the partner of any."""
    first, second = chains[0].components_
    halves = with_result(chains[1], phi=np.stack([first, 0.9 * first + 0.1 * second], axis=1))
    verdicts = diagnose_chains([chains[0], halves]).iloc[1:].groupby("topic")["verdict"].unique()
    assert "not matched" not in verdicts[0]
    assert list(verdicts[1]) == ["not matched"]


def test_topics_that_a_chain_does_not_have_are_not_matched(chains: list[MetaLDA]) -> None:
    rare = np.full(len(chains[1].vocabulary_), 1e-6)
    rare[int(chains[0].components_.sum(axis=0).argmin())] = 1
    stranger = with_result(chains[1], phi=np.stack([chains[0].components_[0], rare / rare.sum()], axis=1))
    table = diagnose_chains([chains[0], stranger]).iloc[1:]
    verdicts = table.groupby("topic")["verdict"].unique()
    assert list(verdicts[1]) == ["not matched"]
    assert "not matched" not in verdicts[0]


@pytest.mark.parametrize(
    ("rhat", "ess", "expected"),
    [
        (1.0, 400, "mixed"),
        (1.009, 1000, "mixed"),
        (1.02, 1000, "not mixed"),
        (1.02, 399, "too few draws"),
        (1.0, 399, "too few draws"),
        (1.2, 20, "not mixed"),
        (float("inf"), 400, "not mixed"),
        (float("nan"), float("nan"), "too few draws"),
    ],
)
def test_the_verdict_asks_for_100_draws_a_chain_and_r_hat_near_one(rhat: float, ess: float, expected: str) -> None:
    assert verdict(rhat, ess, n_chains=4) == expected


def test_too_few_draws_are_said_and_not_computed(corpus: Corpus) -> None:
    few = [MetaLDA(random_state=seed, **{**SETTINGS, "n_iter": 6}).fit(corpus) for seed in range(2)]
    table = diagnose_chains(few).iloc[1:]
    assert table["rhat"].isna().all()
    assert set(table["verdict"]) <= {"too few draws", "not matched"}


def test_models_without_labels_or_effects_have_a_log_likelihood_alone(corpus: Corpus) -> None:
    for model in (LDA, LabeledLDA):
        settings = {name: value for name, value in SETTINGS.items() if name in model().get_params()}
        table = diagnose_chains([model(random_state=seed, **settings).fit(corpus) for seed in range(2)])
        assert list(table["quantity"]) == ["log_likelihood"]


def test_a_quantity_that_never_moves_is_no_error(corpus: Corpus) -> None:
    one_label = corpus.with_labels(["all"] * len(corpus))
    table = diagnose_chains([MetaLDA(random_state=s, **SETTINGS).fit(one_label) for s in range(2)])
    assert table["rhat"].iloc[1:].isna().all()
    assert set(table["verdict"].iloc[1:]) <= {"not identified", "not matched"}  # every document has the only label


def test_chains_of_different_lengths_are_compared_by_their_last_draws(corpus: Corpus, chains: list[MetaLDA]) -> None:
    longer = MetaLDA(random_state=9, **{**SETTINGS, "n_iter": 80, "n_draws": 30}).fit(corpus)
    table = diagnose_chains([chains[0], longer])
    assert list(table["draws"]) == [30] * 5
    trace = np.stack([chains[0].history_["log_likelihood"][-30:], longer.history_["log_likelihood"][-30:]])
    assert table["rhat"][0] == pytest.approx(arviz.rhat(trace))


def test_what_are_no_chains_is_refused(corpus: Corpus, chains: list[MetaLDA]) -> None:
    def fit(data: Corpus = corpus, **other: Any) -> MetaLDA:
        return MetaLDA(**{"random_state": 7, **SETTINGS, "n_iter": 4, **other}).fit(data)

    for other, message in (
        (LDA(random_state=7, **SETTINGS).fit(corpus), "model 1 has another kind of model than model 0"),
        (fit(corpus[:-3]), "another number of documents"),
        (fit(corpus[:5].trim()), "another vocabulary"),
        (fit(n_components=3), "another number of topics"),
        (fit(corpus.without_labels()), "another set of labels"),
        (chains[0], "has the seed of another"),
    ):
        with pytest.raises(InputError, match=message):
            diagnose_chains([chains[0], other])
    with pytest.raises(InputError, match="give two models or more, not 1"):
        diagnose_chains(chains[:1])


def test_columns_of_curves_are_not_judged() -> None:
    frame = pd.DataFrame({"text": PETS + SKIES, "year": range(10)})
    corpus = Corpus.from_frame(frame, numbers="year")
    chains = [MetaLDA(prevalence="s(year)", random_state=seed, **SETTINGS).fit(corpus) for seed in range(2)]
    assert set(diagnose_chains(chains)["label"].dropna()) == {"year"}
