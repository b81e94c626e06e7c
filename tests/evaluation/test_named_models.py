"""Names of models, with parameters."""

import pytest

import metalda.models
from contracts import FEATURES
from metalda import LDA, MetaLDA
from metalda.errors import InputError
from metalda.evaluation.named_models import name_models, split_names
from metalda.models.base import TopicModel
from metalda.models.registry import MODELS, NAMES, find_model, parameters_of

SETTINGS = {"n_components": 4, "n_iter": 7}


def test_the_registry_agrees_with_the_public_names() -> None:
    public = {name for name in metalda.__all__ if isinstance(getattr(metalda, name), type)}
    models = {name for name in public if issubclass(getattr(metalda, name), TopicModel)}
    others = {"load", "read_mallet_state", "read_names"}
    assert models == {entry.class_name for entry in MODELS} == set(metalda.models.__all__) - others
    for entry in MODELS:
        assert find_model(entry.name) is getattr(metalda, entry.class_name) is getattr(metalda.models, entry.class_name)
        assert entry.description
    assert len(set(NAMES)) == len(MODELS)


def test_an_unknown_model_is_an_error_that_lists_the_others() -> None:
    with pytest.raises(InputError, match="no model 'bert'; models are metalda, lda"):
        find_model("bert")


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["metalda,lda"], ["metalda", "lda"]),
        (["metalda", " lda ,"], ["metalda", "lda"]),
        (["metalda:mu=2,nu=3,lda"], ["metalda:mu=2,nu=3", "lda"]),
        (["lda:n_iter=5,lda:n_iter=6"], ["lda:n_iter=5", "lda:n_iter=6"]),
        (["lda,n_iter=5"], ["lda:n_iter=5"]),
        ([""], []),
    ],
)
def test_commas_separate_models_and_their_parameters(texts: list[str], names: list[str]) -> None:
    assert split_names(texts) == names


def test_parameters_of_a_name_win_over_the_common_ones() -> None:
    (first, second) = name_models("metalda:doc_prior=default,word_prior=0.01,n_iter=9,lda", SETTINGS)
    assert first.name == "metalda:doc_prior=default,word_prior=0.01,n_iter=9"
    assert isinstance(first.model, MetaLDA)
    values = first.model.get_params()
    assert (values["doc_prior"], values["word_prior"], values["n_iter"]) == ("default", 0.01, 9)
    assert (second.name, second.model.n_iter, second.model.n_components) == ("lda", 7, 4)


def test_a_model_gets_only_the_parameters_that_it_has() -> None:
    (meta, plain) = name_models(["metalda", "lda"], {**SETTINGS, "word_features": FEATURES})
    assert meta.model.word_features is FEATURES
    assert "word_features" not in parameters_of(type(plain.model))


def test_estimators_keep_their_own_parameters_and_may_have_names() -> None:
    own = LDA(3, n_iter=5)
    (named, by_name) = name_models({"mine": own, "theirs": "lda:n_components=2"}, SETTINGS)
    assert (named.name, named.model) == ("mine", own)
    assert (own.n_components, own.n_iter) == (3, 5)
    assert (by_name.name, by_name.model.n_components) == ("theirs", 2)
    assert [c.name for c in name_models([own, "metalda"], {})] == ["LDA", "metalda"]


@pytest.mark.parametrize(
    ("models", "common", "message"),
    [
        ("bert", {}, "there is no model 'bert'"),
        ("lda:mu=2", {}, "lda:mu=2: lda has no parameter 'mu'; it has .*doc_prior"),
        ("lda:word_prior", {}, "lda:word_prior: expected lda:parameter=value"),
        ("lda:word_prior=", {}, "expected lda:parameter=value"),
        ("lda:random_state=3", {}, "random_state cannot be part of a name"),
        ("lda:doc_prior=labels", {}, "lda:doc_prior=labels: The 'doc_prior' parameter of LDA must be"),
        ("metalda:mu=-1", {}, "metalda:mu=-1: The 'mu' parameter"),
        ("lda,lda", {}, "'lda' is given twice"),
        ("", {}, "no models to compare"),
        ("lda", {"mu": 2.0}, "'mu' is not a parameter of any"),
        ([LDA()], {"n_iter": 5}, "'n_iter' is not a parameter of any"),
        ([LDA], {}, "expected a model or the name of one"),
    ],
)
def test_what_makes_no_sense_is_refused(models: object, common: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        name_models(models, common)  # type: ignore[arg-type]
